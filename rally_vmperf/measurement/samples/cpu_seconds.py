# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of commands, and the amount of their work."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import formats

#: Unit of work -> the amount that CPU seconds refer to, and its name.
_PER = {"B": (1e9, "GB"), "ops": (1e3, "1000 operations")}


@dataclasses.dataclass(frozen=True)
class Usage:
    """The CPU usage of all runs of one command.

    :param workload: The title of the workload, with its label.
    :param runs: The number of runs, over machines and repetitions.
    :param seconds: The wall time in seconds.
    :param user: The CPU seconds in user mode.
    :param system: The CPU seconds in the kernel.
    :param work: The amount of work; None if a run does not report it.
    :param unit: The unit of the work, ``B`` or ``ops``.
    """

    workload: str
    command: str
    runs: formats.Positive
    seconds: formats.Amount
    user: formats.Amount
    system: formats.Amount
    work: formats.Amount | None = None
    unit: t.Annotated[str, formats.one_of("", "B", "ops")] = ""

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum of both.

        :raises ValueError: If the commands differ.
        """
        if (self.workload, self.command) != (other.workload, other.command):
            raise ValueError(
                f"{self.workload} {self.command} and {other.workload} "
                f"{other.command} are not the same command"
            )
        work = None
        if None not in (self.work, other.work) and self.unit == other.unit:
            work = (self.work or 0) + (other.work or 0)
        return dataclasses.replace(
            self,
            runs=self.runs + other.runs,
            seconds=self.seconds + other.seconds,
            user=self.user + other.user,
            system=self.system + other.system,
            work=work,
            unit="" if work is None else self.unit,
        )

    @property
    def per_work(self) -> tuple[float, str] | None:
        """CPU seconds per unit of work, and the unit; None if unknown.

        For commands that wait for a disk or a network they show the cost of
        the work to the machine, which the rate does not.
        """
        if not self.work or self.unit not in _PER:
            return None
        amount, name = _PER[self.unit]
        return (self.user + self.system) / self.work * amount, name


def total(usages: collections.abc.Iterable[Usage]) -> tuple[Usage, ...]:
    """Return the summed usage of each command, as a tuple in order."""
    totals: dict[tuple[str, str], Usage] = {}
    for usage in usages:
        key = (usage.workload, usage.command)
        totals[key] = totals[key] + usage if key in totals else usage
    return tuple(totals.values())
