"""Numbers of guests on a host: in which order, and when to stop."""

import collections.abc
import dataclasses
import itertools
import math
import statistics
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.guests import schema
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.density import rates as density_rates
from rally_vmperf.measurement.samples import sample

Observations = collections.abc.Iterable[sample.Observation]
#: What each guest gave.
_Rates = dict[sample.Metric, list[float]]
#: Which guest is the lone one: another in each repetition, or each of them.
SoloGuest = t.Literal["rotate", "all"]
Given = collections.abc.Sequence[int] | collections.abc.Mapping[str, t.Any]

_NUMBER: dict[str, t.Any] = {
    "type": "integer",
    "minimum": 1,
    "maximum": schema.MAX_GUESTS,
}

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


class LevelError(errors.VMPerfError):
    """The levels of a task are not allowed; one line."""


def expand(given: t.Any) -> tuple[int, ...]:
    """Return the numbers of guests that a task asks for, in its order.

    :raises LevelError: for what is none of the forms
    """
    if documents.first_error(SCHEMA, given) is not None:
        raise LevelError(
            f"levels {given!r:.80}: must be a list of different whole numbers "
            f"from 1 to {schema.MAX_GUESTS}, or "
            "{from: 1, to: 8}, or {doubling_to: 8}"
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


def rises(levels: collections.abc.Sequence[int], repetitions: int) -> int:
    """Return how often a level has more guests than the one before.

    Each repetition goes on from the last level of the one before.
    """
    return sum(a < b for a, b in itertools.pairwise([*levels] * repetitions))


def ascending(levels: collections.abc.Sequence[int]) -> bool:
    """Tell whether each level has more guests than the one before."""
    return all(a < b for a, b in itertools.pairwise(levels))


class Level(t.NamedTuple):
    """The samples of so many guests in one repetition.

    :param turns: in how many groups, one after another, they ran
    """

    guests: int
    observations: Observations
    turns: int = 1


#: The levels of a repetition, in ascending order.
Measured = collections.abc.Sequence[Level]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stop:
    """The stop rule of a task, applied to all repetitions so far.

    It looks at point estimates, of all repetitions that have both levels that
    are compared: by one of them alone, levels would run where the ones before
    were lucky. Whether a loss is significant is judged in the end.

    :param max_percent: metric or glob -> loss of the mean guest against the
        lone one beyond which no guests are added
    :param total_falls: also add none once no metric's total rises any more
    """

    max_percent: collections.abc.Mapping[str, float] = dataclasses.field(
        default_factory=dict
    )
    total_falls: bool = False

    def reached(self, repetitions: collections.abc.Sequence[Measured]) -> str:
        """Return why there is to be no further level, or nothing.

        :param repetitions: counted ones, and last the one that goes on
        """
        current = repetitions[-1]
        if len(current) < 2:
            return ""
        first, before, last = (current[i].guests for i in (0, -2, -1))
        why = self._broken(_both(repetitions, first, last), last)
        if not why and self.total_falls:
            why = _fallen(_both(repetitions, before, last), last)
        of = len(_both(repetitions, first, last))
        return f"{why}, over {of} repetitions" if why and of > 1 else why

    def _broken(self, pairs: list[tuple[Level, Level]], guests: int) -> str:
        held = limits.Limits(self.max_percent)
        ratios = _ratios(pairs, statistics.geometric_mean)
        names = [metric.name for metric in ratios]
        for metric, ratio in sorted(ratios.items(), key=lambda x: x[0].name):
            limit = held.for_metric(metric.name, names)
            if limit is not None and (1 - ratio) * 100 > limit[0]:
                return (
                    f"{metric.name} lost {1 - ratio:.1%} with {guests} "
                    f"guests, more than {limit[0]:g} % ({limit[1]})"
                )
        return ""


def _both(
    repetitions: collections.abc.Iterable[Measured], few: int, many: int
) -> list[tuple[Level, Level]]:
    """Return two levels of each repetition that has them."""
    by_guests = [{x.guests: x for x in one} for one in repetitions]
    return [
        (one[few], one[many])
        for one in by_guests
        if few in one and many in one
    ]


def _ratios(
    pairs: list[tuple[Level, Level]],
    figure: t.Callable[[list[float]], float],
) -> dict[sample.Metric, float]:
    """Return metric -> how many times the figure of the smaller level.

    The geometric mean over repetitions.

    :param figure: of the rates of the guests of a level
    """
    found: dict[sample.Metric, list[float]] = {}
    for few, many in pairs:
        before, now = _rates(few.observations), _rates(many.observations)
        for metric in before.keys() & now.keys():
            ratio = figure(now[metric]) / figure(before[metric])
            found.setdefault(metric, []).append(ratio)
    return {
        metric: statistics.geometric_mean(ratios)
        for metric, ratios in found.items()
    }


def _rates(observations: Observations) -> _Rates:
    """Return the values of each guest as rates; counts have none."""
    rates: _Rates = {}
    for one in observations:
        metric = one.sample.metric
        if metric.scale == "ratio":
            rate = density_rates.convert(metric, one.sample.value)
            rates.setdefault(metric, []).append(rate)
    return rates


def _fallen(pairs: list[tuple[Level, Level]], guests: int) -> str:
    """Return whether no metric's total rises; latencies have no total."""
    turns = max((few.turns for few, _ in pairs), default=1)
    rises = [
        ratio * turns
        for metric, ratio in _ratios(pairs, math.fsum).items()
        if metric.additive
    ]
    if not rises or max(rises) > 1:
        return ""
    return f"no total rose any more with {guests} guests"
