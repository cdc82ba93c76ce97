# SPDX-License-Identifier: Apache-2.0
"""Results of commands, as their machines reported them."""

import dataclasses
import typing as t

from rally_vmperf.measurement.samples import cpu_seconds


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandResult:
    """The output of a command, and the times measured on its machine.

    :param exit_status: The exit status; 128 + signal after a signal.
    :param seconds: The wall time in seconds on the machine that ran it.
    :param started: The start on the clock of that machine, in seconds since
        the epoch.
    :param ended: The end on the same clock.
    :param user: The CPU seconds of the command and its children in user mode;
        None if they are not measured.
    :param system: The CPU seconds in the kernel; None if they are not
        measured.
    """

    name: str
    exit_status: int
    seconds: float
    started: float
    ended: float
    stdout: str
    stderr: str
    user: float | None = None
    system: float | None = None

    def without_output(self) -> t.Self:
        """Return a copy without the output, to limit memory."""
        return dataclasses.replace(self, stdout="", stderr="")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CommandRun:
    """The result of a command with the workload and the machine.

    :param workload: The title of the workload, with its label.
    :param work: The amount of work in ``work_unit``; None if not reported.
    :param clock_offset: The seconds by which the clock of the machine is ahead
        of the controller's; None if not required.
    :param clock_error: The uncertainty of the offset in seconds.
    """

    workload: str
    machine: str
    result: CommandResult
    work: float | None = None
    work_unit: str = ""
    clock_offset: float | None = None
    clock_error: float | None = None

    def usage(self) -> cpu_seconds.Usage | None:
        """Return the CPU seconds; None if it failed or was not measured."""
        result = self.result
        if result.exit_status or result.user is None or result.system is None:
            return None
        return cpu_seconds.Usage(
            workload=self.workload,
            command=result.name,
            runs=1,
            seconds=result.seconds,
            user=result.user,
            system=result.system,
            work=self.work,
            unit=self.work_unit,
        )
