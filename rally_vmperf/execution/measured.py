"""Results of workloads: samples, runs of commands, missing metrics."""

import dataclasses
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import sample

#: Called with the output of each command when it is available.
KeepRaw = t.Callable[[dict[str, t.Any]], None]


def keep_none(output: dict[str, t.Any]) -> None:
    """Discard a raw output."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandRun:
    """One command on one machine, with the times of its clock.

    :param started: The start in seconds since the epoch.
    :param user: The CPU seconds in user mode; None if not measured.
    :param system: The CPU seconds in the kernel; None if not measured.
    :param work: The amount of work in ``work_unit``; None if not reported.
    :param clock_offset: The seconds by which that clock is ahead of the
        controller's; None if not required.
    :param clock_error: The uncertainty of the offset in seconds.
    """

    workload: str
    command: str
    machine: str
    started: float
    ended: float
    seconds: float
    exit_status: int
    user: float | None = None
    system: float | None = None
    work: float | None = None
    work_unit: str = ""
    clock_offset: float | None = None
    clock_error: float | None = None

    def usage(self) -> cpu_seconds.Usage | None:
        """Return the CPU seconds; None if it failed or was not measured."""
        if self.exit_status or self.user is None or self.system is None:
            return None
        return cpu_seconds.Usage(
            workload=self.workload,
            command=self.command,
            runs=1,
            seconds=self.seconds,
            user=self.user,
            system=self.system,
            work=self.work,
            unit=self.work_unit,
        )


@dataclasses.dataclass(kw_only=True)
class Measured:
    """The results of workloads, collected while they run.

    :param readings: The distributions and series, each with its machine.
    :param keep_raw: A function that stores a raw output and does not raise.
    """

    observations: list[sample.Observation] = dataclasses.field(
        default_factory=list
    )
    readings: list[tuple[str, sample.Distribution | sample.Series]] = (
        dataclasses.field(default_factory=list)
    )
    runs: list[CommandRun] = dataclasses.field(default_factory=list)
    missing: list[repetition.Missing] = dataclasses.field(default_factory=list)
    starts: list[repetition.Synchronisation] = dataclasses.field(
        default_factory=list
    )
    keep_raw: KeepRaw = keep_none

    def miss(self, name: str, machine: str, reason: str) -> None:
        """Note a metric that was not measured, and the reason."""
        self.missing.append(
            repetition.Missing(name=name, machine=machine, reason=reason)
        )
