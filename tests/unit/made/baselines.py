# SPDX-License-Identifier: Apache-2.0
"""Baselines of sysbench."""

from rally_vmperf.baseline import document
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from tests.unit.made import common_records
from tests.unit.made import repetitions

P95 = sample.Metric("cpu.sysbench.latency_p95", "s", "lower")
#: The value of each repetition by metric.
_VALUES = {
    repetitions.EVENTS: (100.0, 101.0, 99.0),
    P95: (0.01, 0.009901, 0.010101),
}


def entry(by_metric=None, **changes):
    """Return an entry of a baseline with some fields changed.

    :param by_metric: The value of each repetition by metric, of all copies.
    """
    by_metric = by_metric or _VALUES
    fields = {
        "workload": "sysbench",
        "arguments": {"threads": 1, "time": 10, "max_prime": 10000},
        "shape": document.Shape(1, 1024),
        "limited_by": "cgroup v2",
        "metrics": tuple(by_metric),
        **changes,
    }
    copies = fields["shape"].copies if fields["shape"] else 1
    bare_metal = repetitions.reference(by_metric, copies)
    fields.setdefault(
        "reference",
        repetition.Reference(repetitions=bare_metal.repetitions),
    )
    return document.BaselineEntry(**fields)


def baseline(**changes):
    """Return a valid baseline with some fields changed."""
    fields = {
        "name": "metal",
        "session": common_records.SESSION,
        "recorded_at": "2026-01-01T00:00:00+00:00",
        "software": {"rally-vmperf": "1"},
        "machine": document.BaselineMachine(
            name="host-1", fingerprint={"kernel": "6.1"}
        ),
        "entries": (entry(),),
    }
    return document.Baseline(**{**fields, **changes})
