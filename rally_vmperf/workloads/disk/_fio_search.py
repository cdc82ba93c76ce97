# SPDX-License-Identifier: Apache-2.0
"""The results of fio for the steps of a search with a latency limit."""

import collections.abc
import itertools

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import document
from rally_vmperf.workloads import outputs
from rally_vmperf.workloads.disk import _fio_agreement
from rally_vmperf.workloads.disk import _fio_result
from rally_vmperf.workloads.scripts import fio_search

#: Maximum number of steps: the powers of two, and the steps between two.
MAX_STEPS = fio_search.DEEPEST.bit_length() + fio_search.REFINED
_IOPS = sample.Metric("disk.fio.search.iops", "ops/s", "higher")
METRICS = (_IOPS,)
_OUTPUT = outputs.Reader("fio: search")
#: The job of a step and its side.
_JOB = "search.read"


def parse(
    text: str,
    argv: collections.abc.Sequence[str],
    runtime: float,
    limit: float,
) -> list[sample.Reading]:
    """Return the sample of the best rate, and the series of all steps.

    :param argv: The command line of a step without its depth.
    :param runtime: The duration of a step in seconds.
    :param limit: The limit on the 99th percentile in nanoseconds.
    :raises base.WorkloadError: If the steps are not those of the search, or
        no step is within the limit.
    """
    steps: list[tuple[int, bool]] = []
    rates: list[float] = []
    begin = 0
    for report in document.Document.parse_all(text, "fio"):
        depth = fio_search.next_depth(steps)
        if depth is None:
            raise _OUTPUT.error("has more steps than expected")
        step_output = text[begin : report.end]
        begin = report.end
        _fio_agreement.check(_JOB, step_output, [*argv, f"--iodepth={depth}"])
        iops, *_ = _fio_result.parse(_JOB, step_output, runtime)
        percentiles = report.at("jobs", 0, "read", "clat_ns", "percentile")
        latency = percentiles.number(fio_search.PERCENTILE)
        steps.append((depth, latency <= limit))
        rates.append(iops.value)
    if fio_search.next_depth(steps) is not None:
        raise _OUTPUT.error(f"ended after {len(steps)} steps")
    if text[begin:].strip():
        raise _OUTPUT.error("printed text after its last step")
    is_within = (within for _, within in steps)
    accepted_rates = list(itertools.compress(rates, is_within))
    if not accepted_rates:
        raise _OUTPUT.error(
            f"exceeds {limit / 1000:g} us with one request in flight; "
            "raise search_latency_us"
        )
    readings: list[sample.Reading] = [
        sample.Sample(_IOPS, max(accepted_rates))
    ]
    if len(rates) > 1:
        points = ((runtime * step, rate) for step, rate in enumerate(rates, 1))
        readings.append(sample.Series(metric=_IOPS, points=tuple(points)))
    return readings
