"""CPU seconds of commands, and the work that they did in them."""

import collections.abc
import dataclasses

#: Unit of work -> how many of them CPU seconds are given for, and its name.
_PER = {"B": (1e9, "GB"), "ops": (1e3, "1000 operations")}


@dataclasses.dataclass(frozen=True)
class Usage:
    """The CPU usage of all runs of one command.

    :param workload: its title, with its label
    :param runs: how many they are, over machines and repetitions
    :param seconds: of wall time
    :param user: CPU seconds in user mode
    :param system: CPU seconds in the kernel
    :param work: amount of work; None where one of them does not report it
    :param unit: of the work, ``B`` or ``ops``
    """

    workload: str
    command: str
    runs: int
    seconds: float
    user: float
    system: float
    work: float | None = None
    unit: str = ""

    def __add__(self, other: "Usage") -> "Usage":
        """Return the usage of both, added up.

        :raises ValueError: for another command
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
        """CPU seconds for a unit of work, with what that is; None if unknown.

        For commands that wait for a disk or a network they show what the work
        costs the machine, which its rate does not.
        """
        if not self.work or self.unit not in _PER:
            return None
        amount, name = _PER[self.unit]
        return (self.user + self.system) / self.work * amount, name


def total(usages: collections.abc.Iterable[Usage]) -> tuple[Usage, ...]:
    """Return the usage of each command, added up, in order."""
    found: dict[tuple[str, str], Usage] = {}
    for one in usages:
        key = (one.workload, one.command)
        found[key] = found[key] + one if key in found else one
    return tuple(found.values())
