"""The limits of a density run, and at which numbers of guests they hold."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import judge
from rally_vmperf.measurement import limits
from rally_vmperf.measurement.density import points

#: Numbers of guests at which a limit is held, or all of them.
At = t.Literal["every"] | int | collections.abc.Sequence[int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Criteria(judge.Criteria):
    """At which numbers of guests limits are held, and how strictly.

    :param at: numbers of guests, or ``every``
    :raises ValueError: for what is no number of guests
    """

    at: At = "every"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.at == "every":
            return
        if not self.numbers or not all(map(_counts, self.numbers)):
            raise ValueError(
                f"at is {self.at!r}, use every or numbers of guests from 1"
            )

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """The numbers of guests; None for every one."""
        if self.at == "every":
            return None
        return (self.at,) if isinstance(self.at, int) else tuple(self.at)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Degradation(Criteria):
    """The limits of losses.

    :param max_percent: largest tolerated loss, in percent of the rate
    :raises ValueError: for a criterion that cannot be meant
    """

    max_percent: limits.Limits
    of: points.Of = "mean"
    against: points.Against = "one_guest"

    def __post_init__(self) -> None:
        super().__post_init__()
        _one_of("of", self.of, t.get_args(points.Of))
        _one_of("against", self.against, t.get_args(points.Against))
        if self.against == "one_guest" and 1 in (self.numbers or ()):
            raise ValueError(
                "at names 1 guest, which loses nothing against itself, "
                "use larger numbers or against: bare_metal"
            )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fairness(Criteria):
    """The limits of how unevenly guests may share.

    :param min_index: smallest tolerated index of Jain, above 0 to 1
    :param max_spread_percent: largest tolerated spread between guests
    """

    min_index: limits.Limits
    max_spread_percent: limits.Limits


def _counts(number: object) -> bool:
    return (
        isinstance(number, int)
        and not isinstance(number, bool)
        and number >= 1
    )


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}, use {' or '.join(allowed)}")
