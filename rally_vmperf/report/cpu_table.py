"""CPU seconds of commands: of guests, beside those of bare metal."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import cpu_seconds
from rally_vmperf.measurement import repetition

Key = tuple[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """One command under one condition.

    :param condition: in words, empty where there is only one
    :param guest: what its counted runs took, added up
    :param bare: likewise, of bare metal; None where it is not known
    """

    condition: str
    guest: cpu_seconds.Usage
    bare: cpu_seconds.Usage | None


def lines(
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> list[Line]:
    """Return a line for each condition and command, in their order."""
    guests: dict[str, list[cpu_seconds.Usage]] = {}
    metal: dict[str, dict[Key, cpu_seconds.Usage]] = {}
    for entry in repetitions:
        for one in entry.conditions if entry.counted else ():
            words = ", ".join(f"{key} {at}" for key, at in one.axes.items())
            guests.setdefault(words, []).extend(one.commands)
            metal[words] = {
                (used.workload, used.command): used
                for used in one.reference.commands
            }
    return [
        Line(
            condition=words,
            guest=used,
            bare=metal[words].get((used.workload, used.command)),
        )
        for words, usages in guests.items()
        for used in cpu_seconds.total(usages)
    ]


def mean(used: cpu_seconds.Usage) -> str:
    """Return user and system CPU seconds of a run."""
    return (
        f"{used.user / used.runs:.3g} + {used.system / used.runs:.3g} s of "
        f"{used.seconds / used.runs:.3g} s"
    )


def per_work(used: cpu_seconds.Usage) -> str:
    """Return CPU seconds per unit of work, a dash where it is not known."""
    found = used.per_work
    return f"{found[0]:.3g} s per {found[1]}" if found else "-"
