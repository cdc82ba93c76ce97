# SPDX-License-Identifier: Apache-2.0
"""The metrics of an event, and figures with their errors.

They can be zero, so that they have absolute limits only, and each event must
keep them. The error of a figure is the ``step`` of its metric.
"""

import collections.abc
import dataclasses
import functools

from rally_vmperf.measurement.samples import sample

_create_metric = functools.partial(
    sample.Metric, better="lower", scale="count", optional=True
)
#: The time in which the guest does not run.
DOWNTIME = _create_metric("guest.event.downtime", "s")
#: The longest time without a reply to a ping.
PACKET_GAP = _create_metric("guest.event.packet_gap", "s")
#: The time from the request until the event is completed.
DURATION = _create_metric("guest.event.duration", "s")
#: The loss of the rate of the guest of the event in its deepest dip.
DIP = _create_metric("guest.event.dip_percent", "%")
#: The duration of that dip.
DIP_DURATION = _create_metric("guest.event.dip_duration", "s")
#: The time from the request until the rate is within 5 % of the usual one.
RECOVERY_TIME = _create_metric("guest.event.recovery_time", "s")
#: The time after the request in which the rate was not within 5 % until the
#: end of the phase, the least recovery time; 0 if the rate recovered.
NOT_RECOVERED = _create_metric("guest.event.not_recovered", "s")
#: The loss of the rate of each other guest until the end of the event.
OTHERS_LOSS = _create_metric("guest.event.others_loss_percent", "%")
#: The increase of the response time of each other guest until then.
OTHERS_SLOWDOWN = _create_metric("guest.event.others_slowdown_percent", "%")
#: The loss of the control machine until the end of the event.
CONTROL_LOSS = _create_metric("guest.event.control_loss_percent", "%")
#: The metrics of every event.
METRICS = (
    DOWNTIME,
    PACKET_GAP,
    DURATION,
    DIP,
    DIP_DURATION,
    RECOVERY_TIME,
    OTHERS_LOSS,
    OTHERS_SLOWDOWN,
    CONTROL_LOSS,
)
#: The names, less those of the workload, of metrics with response times that
#: workloads report over time.
_TIMES = ("response_time_mean", "response_time_p95", "latency_mean")
#: The prefixes of figures that each of these metrics has.
PEAK_PREFIX, SPIKE_PREFIX = (
    "guest.event.peak.",
    "guest.event.spike_duration.",
)
#: The digits of a figure after the point.
_DIGITS = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Approximation:
    """A figure that cannot be negative, with its error.

    :param value: The figure in its unit.
    :param error: The largest error: of a bound, or of an interval with a
        confidence of 95 %.
    """

    value: float
    error: float

    def contains(self, truth: float) -> bool:
        """Return whether a value is within the interval."""
        return self.value - self.error <= truth <= self.value + self.error


def create_peak(metric: sample.Metric) -> sample.Metric:
    """Return the metric of the peak of a response time."""
    return _create_metric(f"{PEAK_PREFIX}{metric.name}", metric.unit)


def create_spike_duration(metric: sample.Metric) -> sample.Metric:
    """Return the metric of the duration of a response time's spike."""
    return _create_metric(f"{SPIKE_PREFIX}{metric.name}", "s")


def list_time_figures(
    metrics: collections.abc.Iterable[sample.Metric],
) -> tuple[sample.Metric, ...]:
    """Return the figures of the response times among metrics."""
    return tuple(
        create(metric)
        for metric in metrics
        if metric.name.rpartition(".")[2] in _TIMES
        for create in (create_peak, create_spike_duration)
    )


def observe(
    metric: sample.Metric, source: str, estimate: Approximation
) -> sample.Observation:
    """Return an estimate as an observation.

    :param source: The name of the guest.
    """
    exact = dataclasses.replace(metric, step=round(estimate.error, _DIGITS))
    return sample.Observation(
        source, sample.Sample(exact, round(estimate.value, _DIGITS))
    )
