"""What a run is judged by."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import limits

OnInconclusive = t.Literal["fail", "pass"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Strictness:
    """How strictly the limits of a task are held, whatever they limit.

    :param confidence: of the intervals, between 0.5 and 1
    :param on_inconclusive: whether an undecided run passes
    :param tolerate: kinds of findings that do not void
    :raises ValueError: for a term that cannot be meant
    """

    confidence: float = 0.95
    on_inconclusive: OnInconclusive = "fail"
    tolerate: collections.abc.Collection[str] = ()

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1:
            raise ValueError(
                f"confidence is {self.confidence}, but must be at least 0.5 "
                "and below 1"
            )
        if self.on_inconclusive not in t.get_args(OnInconclusive):
            raise ValueError(
                f"on_inconclusive is {self.on_inconclusive!r}, "
                "use fail or pass"
            )
        for kind in self.tolerate:
            finding.check(kind)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Terms(Strictness):
    """The limits of a task, and how strictly they are held.

    :param max_percent: largest tolerated overhead, in percent
    :param max_count: largest tolerated count
    """

    max_percent: limits.Limits
    max_count: limits.Limits
