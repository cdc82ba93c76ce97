"""Results of workloads: samples, runs of commands, missing metrics."""

import dataclasses
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import sample

#: Called with what each command printed, as soon as it is there.
KeepRaw = t.Callable[[dict[str, t.Any]], None]


def keep_none(output: dict[str, t.Any]) -> None:
    """Keep no raw outputs."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandRun:
    """One command on one machine, by that machine's own clock.

    :param started: seconds since the epoch
    :param user: CPU seconds in user mode; None where nobody measured them
    :param system: CPU seconds in the kernel, likewise
    :param work: how much it did, where its output tells, and in which unit
    :param clock_offset: seconds by which that clock is ahead of the
        controller's; None where it was not needed
    :param clock_error: seconds by which that may be wrong
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
        """Return its CPU usage; None if it failed or was not measured."""
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
    """Results, collected as workloads run, so that a failure loses none.

    :param readings: distributions and series, each with its machine
    :param keep_raw: where raw outputs go, for they are not held here; it
        raises nothing
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

    def miss(self, what: str, source: str, reason: str) -> None:
        """Note what was not measured, and why."""
        self.missing.append(
            repetition.Missing(name=what, machine=source, reason=reason)
        )
