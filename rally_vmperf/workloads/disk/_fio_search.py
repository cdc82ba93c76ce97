"""What fio says of the steps of a search within a limit on latency."""

import collections.abc

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads.disk import _fio_agreement
from rally_vmperf.workloads.disk import _fio_result
from rally_vmperf.workloads.scripts import fio_search

#: Steps at most: each power of two, and those between two of them.
MOST = fio_search.DEEPEST.bit_length() + fio_search.REFINED
_IOPS = sample.Metric("disk.fio.search.iops", "ops/s", "higher")
METRICS = (_IOPS,)
#: The job of a step, and the side of it.
_JOB = "search.read"


def read(
    text: str,
    argv: collections.abc.Sequence[str],
    block: int,
    runtime: float,
    limit: float,
) -> list[sample.Reading]:
    """Return the highest rate within the limit, and that of each step.

    :param argv: the command of a step, without its depth
    :param block: bytes of a request
    :param runtime: seconds of a step
    :param limit: of the 99th percentile, in nanoseconds
    :raises base.WorkloadError: for steps that the search does not take, and
        where none is within the limit
    """
    steps: list[tuple[int, bool]] = []
    rates: list[float] = []
    begin = 0
    for report in document.Document.each(text, "fio"):
        depth = fio_search.next_depth(steps)
        if depth is None:
            raise _error("has more steps than there are to take")
        one = text[begin : report.end]
        begin = report.end
        _fio_agreement.check(_JOB, one, [*argv, f"--iodepth={depth}"], block)
        told = report.find("jobs", 0, "job options", "iodepth")
        if told != str(depth):
            raise _error(f"has no step with {depth} requests in flight")
        iops, *_ = _fio_result.read(_JOB, one, runtime)
        latency = report.number(
            *("jobs", 0, "read", "clat_ns", "percentile"),
            fio_search.PERCENTILE,
        )
        steps.append((depth, latency <= limit))
        rates.append(iops.value)
    if fio_search.next_depth(steps) is not None:
        raise _error(f"ended after {len(steps)} steps")
    if text[begin:].strip():
        raise _error("printed something after its last step")
    kept = [x for x, (_, ok) in zip(rates, steps, strict=True) if ok]
    if not kept:
        raise _error(
            f"is beyond {limit / 1000:g} us with one request in flight; "
            "raise search_latency_us"
        )
    points = tuple((runtime * at, rate) for at, rate in enumerate(rates, 1))
    found: list[sample.Reading] = [sample.Sample(_IOPS, max(kept))]
    if len(points) > 1:
        found.append(sample.Series(metric=_IOPS, points=points))
    return found


def _error(what: str) -> base.WorkloadError:
    return base.WorkloadError(f"fio: search {what}; look at the raw output")
