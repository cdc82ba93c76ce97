"""Labels keep two entries of one workload in a task apart.

A task may run fio twice, once as a database and once as a log would; with
the labels ``db`` and ``log`` the metrics are ``disk.fio.db.randread.iops`` and
``disk.fio.log.write.iops``, and no limit can mean the wrong one.
"""

import dataclasses
import re

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base

#: What a label looks like, for JSON Schema and for messages.
PATTERN = "^[a-z][a-z0-9_-]{0,31}$"

_ALLOWED = re.compile(PATTERN[:-1])


def relabel_name(name: str, label: str) -> str:
    """Insert a label behind the tool in a metric's name.

    :param label: an empty one leaves the name as it is
    :raises base.WorkloadError: for a label that is not allowed
    """
    if not label:
        return name
    if not _ALLOWED.fullmatch(label):
        raise base.WorkloadError(
            f"label {label!r} is not allowed; use a lower-case letter, then "
            "up to 31 of a-z, 0-9, _ and -"
        )
    part, tool, *what = name.split(".")
    return ".".join([part, tool, label, *what])


def relabel(metric: sample.Metric, label: str) -> sample.Metric:
    """Return the same metric under its labelled name."""
    return dataclasses.replace(metric, name=relabel_name(metric.name, label))
