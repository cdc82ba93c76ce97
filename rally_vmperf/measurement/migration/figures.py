"""The metrics of a live migration.

They can be zero, so that they have absolute limits only, and each migration
must keep them. The error of a figure is the ``step`` of its metric.
"""

import dataclasses
import functools

from rally_vmperf.measurement.migration import estimates
from rally_vmperf.measurement.samples import sample

_create_metric = functools.partial(
    sample.Metric, better="lower", scale="count", optional=True
)
#: The time in which the guest does not run.
DOWNTIME = _create_metric("guest.migration.downtime", "s")
#: The longest time without a reply to a ping.
PACKET_GAP = _create_metric("guest.migration.packet_gap", "s")
#: The time from the request until the migration is completed.
DURATION = _create_metric("guest.migration.duration", "s")
#: The loss of the rate of the migrated guest in its deepest dip.
DIP = _create_metric("guest.migration.dip_percent", "%")
#: The duration of that dip.
DIP_DURATION = _create_metric("guest.migration.dip_duration", "s")
#: The time from the request until the rate is within 5 % of the usual one.
RECOVERY_TIME = _create_metric("guest.migration.recovery_time", "s")
#: The loss of the rate of each other guest while the migration runs.
OTHERS_LOSS = _create_metric("guest.migration.others_loss_percent", "%")
#: The loss of the control machine while the migration runs.
CONTROL_LOSS = _create_metric("guest.migration.control_loss_percent", "%")
#: All metrics of a migration.
METRICS = (
    DOWNTIME,
    PACKET_GAP,
    DURATION,
    DIP,
    DIP_DURATION,
    RECOVERY_TIME,
    OTHERS_LOSS,
    CONTROL_LOSS,
)
#: The digits of a figure after the point.
_DIGITS = 4


def observe(
    metric: sample.Metric, source: str, estimate: estimates.Estimate
) -> sample.Observation:
    """Return an estimate as an observation.

    :param source: The name of the guest.
    """
    exact = dataclasses.replace(metric, step=round(estimate.error, _DIGITS))
    return sample.Observation(
        source, sample.Sample(exact, round(estimate.value, _DIGITS))
    )
