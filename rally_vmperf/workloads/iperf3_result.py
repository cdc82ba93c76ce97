"""What iperf3 says of one direction, in base units."""

import collections.abc

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import document
from rally_vmperf.workloads import limits
from rally_vmperf.workloads import outputs

#: Share of the time below which a run has ended early.
_LEAST = 0.9


def metrics(direction: str) -> tuple[sample.Metric, sample.Metric]:
    """Return throughput and retransmits of a direction."""
    return (
        sample.Metric(
            name=f"network.{direction}.throughput",
            unit="bit/s",
            better="higher",
        ),
        sample.Metric(
            name=f"network.{direction}.retransmits",
            unit="1",
            better="lower",
            scale="count",
        ),
    )


def read(
    direction: str,
    outcomes: collections.abc.Mapping[str, base.Outcome],
    time: float,
) -> list[sample.Sample]:
    """Return the samples in iperf3's JSON, none without an outcome.

    What arrived is counted, and not what was sent.

    :param time: seconds that were asked for
    :raises base.WorkloadError: with iperf3's own words when it has failed
    """
    _raise_reported(direction, outcomes)
    outcome = outputs.taken(outcomes, direction)
    if outcome is None:
        return []
    result = document.Document(outcome.stdout, "iperf3")
    lasted = result.number("end", "sum_received", "seconds")
    if lasted < _LEAST * time:
        raise base.WorkloadError(
            f"iperf3: {direction} ended after {lasted:g} s of {time:g} s; "
            "look at the raw output"
        )
    throughput, retransmits = metrics(direction)
    return [
        limits.measured(
            throughput,
            result.number("end", "sum_received", "bits_per_second"),
        ),
        limits.measured(
            retransmits, result.number("end", "sum_sent", "retransmits")
        ),
    ]


def _raise_reported(
    direction: str, outcomes: collections.abc.Mapping[str, base.Outcome]
) -> None:
    """Raise iperf3's own error, which stands in its output and not beside."""
    outcome = outcomes.get(direction)
    if outcome is None or len(outcome.stdout) > outputs.LONGEST:
        return
    try:
        reported = document.Document(outcome.stdout, "iperf3").find("error")
    except base.WorkloadError:
        return
    if isinstance(reported, str):
        raise base.WorkloadError(
            f"iperf3: {direction}: {outputs.printable(reported)}; look "
            "whether the other end can be reached at that port"
        )
