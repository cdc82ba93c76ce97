# SPDX-License-Identifier: Apache-2.0
"""The metrics of every guest, whatever workloads it runs: boot and CPU time.

They can be zero, so that they have absolute limits only: one slow boot, or one
condition with much stolen time, is what a limit must find.
"""

import collections.abc
import dataclasses
import functools

from rally_vmperf.measurement.samples import sample

_Observations = tuple[sample.Observation, ...]

_create_metric = functools.partial(
    sample.Metric, better="lower", scale="count", optional=True
)
#: The time from the request for a boot until Nova shows the guest as ACTIVE.
BOOT_ACTIVE_TIME = _create_metric("guest.boot.active_time", "s")
#: The time from the request for a boot until the guest answers SSH.
BOOT_SSH_TIME = _create_metric("guest.boot.ssh_time", "s")
#: The share of the CPU time requested by a guest that its host did not give.
STEAL_PERCENT = _create_metric("guest.cpu.steal_percent", "%")
#: The share of the time of its vCPUs in which a guest ran.
USED_PERCENT = _create_metric("guest.cpu.used_percent", "%")
#: All metrics of every guest.
METRICS = (BOOT_ACTIVE_TIME, BOOT_SSH_TIME, STEAL_PERCENT, USED_PERCENT)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CpuTime:
    """The CPU time of a guest during a condition, in ticks.

    :param requested: The time that was used or stolen.
    :param available: The elapsed time of all its vCPUs by the clock: a kernel
        without steal omits the stolen ticks, and adds up less. Zero if
        unknown.
    """

    stolen: int = 0
    requested: int = 0
    available: float = 0.0

    def __add__(self, other: "CpuTime") -> "CpuTime":
        return CpuTime(
            stolen=self.stolen + other.stolen,
            requested=self.requested + other.requested,
            available=self.available + other.available,
        )

    @property
    def stolen_share(self) -> float:
        """The share of the requested time that was stolen."""
        return self.stolen / self.requested if self.requested else 0.0

    @property
    def used_share(self) -> float | None:
        """The share of the available time in which it ran; None if unknown."""
        if not self.available:
            return None
        return min(1.0, (self.requested - self.stolen) / self.available)


def list_cpu_shares(
    cpu_times: collections.abc.Mapping[str, CpuTime],
) -> _Observations:
    """Return the observations of the stolen and of the used CPU time.

    :param cpu_times: The CPU times by name of the guest.
    """
    return tuple(
        sample.Observation(name, sample.Sample(metric, round(100 * share, 3)))
        for name, cpu_time in cpu_times.items()
        for metric, share in (
            (STEAL_PERCENT, cpu_time.stolen_share),
            (USED_PERCENT, cpu_time.used_share),
        )
        if share is not None
    )


def find_requested_percent(stolen: float, used: float) -> float:
    """Return the share of its vCPUs' time that a guest used or lost.

    :param stolen: The stolen share of the requested time, in percent.
    :param used: The used share of the available time, in percent; at least,
        if all requested time was stolen.
    """
    return 100 * used / (100 - stolen) if stolen < 100 else used


def list_boot_times(
    name: str, active_seconds: float, ssh_seconds: float
) -> _Observations:
    """Return the observations of the boot of a guest.

    :param name: The name of the guest.
    """
    return tuple(
        sample.Observation(name, sample.Sample(metric, round(seconds, 1)))
        for metric, seconds in (
            (BOOT_ACTIVE_TIME, active_seconds),
            (BOOT_SSH_TIME, ssh_seconds),
        )
    )
