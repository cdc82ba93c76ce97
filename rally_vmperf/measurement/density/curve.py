"""One complete curve: one repetition at every number of guests."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import repetition

Bound = t.Literal["time", "size"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Start:
    """How well a command ran on all machines at once.

    :param bound: ``time`` for work of fixed duration, ``size`` for work that
        ends when it is done
    :param skew: seconds between the first start and the last, corrected for
        the clocks; None where fewer than two machines ran it
    :param uncertainty: seconds by which ``skew`` may be wrong
    :param overlap: share of the run, 0 to 1, in which all machines worked:
        of the longest run for ``time``, of the worst counted run for
        ``size``; None as for ``skew``
    """

    workload: str
    command: str
    bound: Bound
    skew: float | None
    uncertainty: float | None
    overlap: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Level:
    """What one repetition measured with so many guests at once.

    :param guests: how many on each host
    :param position: place in the order in which the levels ran, from 1
    :param skipped: why the level was not run at all, or nothing
    :param machines: names of the guests that were to take part
    :param repetition: samples, gaps and findings of this level alone; its
        reference is bare metal in as many copies, without repetitions where
        the baseline has none
    """

    guests: int
    position: int
    skipped: str
    machines: tuple[str, ...]
    starts: tuple[Start, ...]
    repetition: repetition.Repetition


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve:
    """One repetition of a density task: all its levels.

    :param number: 1 for the first repetition, warm-up ones included
    :param planned: how many counted repetitions the task asks for
    :param counted: False for a warm-up, whose samples are kept, not judged
    :param levels: in ascending number of guests, one for each that the task
        names, skipped ones included; fewer where it was cut off
    :param hosts: guest -> host, as far as the cloud tells: a name, or what
        stands for one
    :param whole: all of it as one repetition without samples, for counting
        what is missing and for the findings of the whole run
    """

    number: int
    planned: int
    counted: bool
    levels: tuple[Level, ...]
    hosts: collections.abc.Mapping[str, str]
    whole: repetition.Repetition

    def level(self, guests: int) -> Level | None:
        """Return the level with so many guests, if it is there."""
        return next((one for one in self.levels if one.guests == guests), None)
