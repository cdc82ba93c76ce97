"""Numbers of guests on a host: in which order, and when to stop."""

import collections.abc
import dataclasses
import itertools
import statistics
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.measurement import limits
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import rates as density_rates

Observations = collections.abc.Iterable[sample.Observation]
#: Numbers of guests with what was measured, in ascending order.
Measured = collections.abc.Sequence[tuple[int, Observations]]
#: What each guest gave.
_Rates = dict[sample.Metric, list[float]]
Given = collections.abc.Sequence[int] | collections.abc.Mapping[str, t.Any]

_NUMBER: dict[str, t.Any] = {"type": "integer", "minimum": 1, "maximum": 32}

#: JSON Schema of the levels of a task.
SCHEMA: dict[str, t.Any] = {
    "description": "Numbers of guests: [1, 2, 3], {from: 1, to: 8} or "
    "{doubling_to: 8}.",
    "oneOf": [
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": _NUMBER,
        },
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["to"],
            "properties": {"from": _NUMBER, "to": _NUMBER},
        },
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["doubling_to"],
            "properties": {"doubling_to": _NUMBER},
        },
    ],
}


class LevelError(ValueError):
    """Levels are not what a task may ask for; one line."""


def expand(given: t.Any) -> tuple[int, ...]:
    """Return the numbers of guests that a task asks for, in its order.

    :raises LevelError: for what is none of the forms
    """
    import jsonschema

    if not jsonschema.Draft7Validator(SCHEMA).is_valid(given):
        raise LevelError(
            f"levels {given!r:.80}: must be a list of different whole numbers "
            "from 1 to 32, or {from: 1, to: 8}, or {doubling_to: 8}"
        )
    if isinstance(given, collections.abc.Mapping):
        return _range(given)
    return tuple(int(one) for one in given)


def _range(given: collections.abc.Mapping[str, int]) -> tuple[int, ...]:
    if "doubling_to" in given:
        most = int(given["doubling_to"])
        return tuple(1 << power for power in range(most.bit_length()))
    first, last = int(given.get("from", 1)), int(given["to"])
    if first > last:
        raise LevelError(
            f"levels: from {first} is beyond to {last}; exchange them"
        )
    return tuple(range(first, last + 1))


def minutes(
    assignments: collections.abc.Iterable[assignment.Assignment],
    repetitions: int,
    levels: collections.abc.Sequence[int],
    *,
    stops: bool,
) -> int:
    """Return about how many minutes a run through the levels takes.

    :param stops: guests are stopped while they take no part
    """
    boots = rises(levels, repetitions) if stops else 0
    return estimate.minutes(assignments, repetitions, len(levels), boots)


def rises(levels: collections.abc.Sequence[int], repetitions: int) -> int:
    """Return how often a level has more guests than the one before.

    Each repetition goes on from the last level of the one before.
    """
    return sum(a < b for a, b in itertools.pairwise([*levels] * repetitions))


def ascending(levels: collections.abc.Sequence[int]) -> bool:
    """Tell whether each level has more guests than the one before."""
    return all(a < b for a, b in itertools.pairwise(levels))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """The rule of a task, put to the levels of one repetition.

    It looks at point estimates: whether a loss is significant is a question
    to all repetitions.

    :param max_percent: metric or glob -> loss of the mean guest against the
        lone one beyond which no guests are added
    :param total_falls: add none either once no metric's total rises any more
    """

    max_percent: collections.abc.Mapping[str, float] = dataclasses.field(
        default_factory=dict
    )
    total_falls: bool = False

    def reached(self, levels: Measured) -> str:
        """Return why there is to be no further level, or nothing."""
        if len(levels) < 2:
            return ""
        rates = [_rates(observations) for _, observations in levels]
        guests = levels[-1][0]
        return self._broken(rates[0], rates[-1], guests) or (
            _fallen(rates[-2], rates[-1], guests) if self.total_falls else ""
        )

    def _broken(self, alone: _Rates, now: _Rates, guests: int) -> str:
        held = limits.Limits(self.max_percent)
        both = {one.name: one for one in alone.keys() & now.keys()}
        for name, metric in sorted(both.items()):
            limit = held.for_metric(name, both)
            if limit is None:
                continue
            mean = statistics.geometric_mean(now[metric])
            loss = 1 - mean / statistics.geometric_mean(alone[metric])
            if loss * 100 > limit[0]:
                return (
                    f"{metric.name} lost {loss:.1%} with {guests} guests, "
                    f"more than {limit[0]:g} % ({limit[1]})"
                )
        return ""


def _rates(observations: Observations) -> _Rates:
    """Return what each guest gave, as rates; counts have none."""
    rates: _Rates = {}
    for one in observations:
        metric = one.sample.metric
        if metric.scale == "ratio":
            rate = density_rates.convert(metric, one.sample.value)
            rates.setdefault(metric, []).append(rate)
    return rates


def _fallen(before: _Rates, now: _Rates, guests: int) -> str:
    """Return whether no total rises; of latencies there is no total."""
    totals = [
        metric for metric in before.keys() & now.keys() if metric.adds_up
    ]
    if not totals or any(sum(now[m]) > sum(before[m]) for m in totals):
        return ""
    return f"no total rose any more with {guests} guests"
