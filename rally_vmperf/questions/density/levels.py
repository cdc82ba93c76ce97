# SPDX-License-Identifier: Apache-2.0
"""Levels, the numbers of guests on a host, and the stop rule."""

import collections.abc
import dataclasses
import itertools
import math
import statistics
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import schema
from rally_vmperf.measurement.comparison import rates as density_rates
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.common import task

Observations = collections.abc.Iterable[sample.Observation]
#: The rate of each guest.
_Rates = dict[sample.Metric, list[float]]
#: The solo guest: a different one in each repetition, or all, one at a time.
SoloGuest = t.Literal["rotate", "all"]

_NUMBER = json_schema.integer(minimum=1, maximum=schema.MAX_GUESTS)
#: JSON Schema of the levels of a task.
SCHEMA: documents.Schema = {
    "description": "Numbers of guests: [1, 2, 3], {from: 1, to: 8}, "
    "{doubling_to: 8}, or vCPUs per CPU: {ratio: [0.5, 1, 2], host_cpus: 64, "
    "vcpus: 4}.",
    "oneOf": [
        json_schema.array(_NUMBER, minItems=1, uniqueItems=True),
        json_schema.closed_mapping(
            {
                "from": {
                    **_NUMBER,
                    "description": "First number of guests; default 1.",
                },
                "to": {**_NUMBER, "description": "Last number of guests."},
            },
            "to",
        ),
        json_schema.closed_mapping(
            {
                "doubling_to": {
                    **_NUMBER,
                    "description": "Maximum of the powers of 2.",
                }
            },
            "doubling_to",
        ),
        json_schema.closed_mapping(
            {
                "ratio": json_schema.array(
                    json_schema.number(exclusiveMinimum=0),
                    "vCPUs of all guests per CPU of the host; rounded down to "
                    "guests. A solo guest, with which others are compared, is "
                    "added.",
                    minItems=1,
                    uniqueItems=True,
                ),
                "host_cpus": json_schema.integer(
                    "CPUs of the host, as Nova reports them; 0, the default: "
                    "those that Nova shows to an administrator.",
                    minimum=0,
                ),
                "vcpus": json_schema.integer(
                    "vCPUs of the flavor.", minimum=1
                ),
            },
            *("ratio", "vcpus"),
        ),
    ],
}


def expand_levels(argument: t.Any) -> tuple[int, ...]:
    """Return the numbers of guests of an argument, a tuple in its order.

    :raises InvalidTask: If the argument is not valid.
    """
    if documents.first_error(SCHEMA, argument) is not None:
        raise task.InvalidTask(
            f"levels={argument!r:.80}: must be a list of different integers "
            f"from 1 to {schema.MAX_GUESTS}, or {{from: 1, to: 8}}, or "
            "{doubling_to: 8}, or {ratio: [0.5, 1, 2], host_cpus: 64, vcpus: "
            "4}"
        )
    if isinstance(argument, collections.abc.Mapping) and "ratio" in argument:
        if not argument.get("host_cpus"):
            raise task.InvalidTask(
                "levels: host_cpus is missing; set it to the number of CPUs "
                "of the host"
            )
        return _expand_ratios(**argument)
    if isinstance(argument, collections.abc.Mapping):
        return _expand_range(argument)
    return tuple(int(level) for level in argument)


def _expand_range(
    argument: collections.abc.Mapping[str, int],
) -> tuple[int, ...]:
    """Return the numbers of guests of a range or of repeated doubling."""
    if "doubling_to" in argument:
        largest = int(argument["doubling_to"])
        return tuple(1 << power for power in range(largest.bit_length()))
    first, last = int(argument.get("from", 1)), int(argument["to"])
    if first > last:
        raise task.InvalidTask(
            f"levels: from={first}: must not exceed to={last}"
        )
    return tuple(range(first, last + 1))


def _expand_ratios(
    ratio: list[float], host_cpus: int, vcpus: int
) -> tuple[int, ...]:
    """Return the numbers of guests for vCPUs per CPU, and a solo guest.

    :param ratio: The vCPUs of all guests per CPU.
    :param host_cpus: The number of CPUs of the host.
    :param vcpus: The number of vCPUs of a guest.
    """
    numbers = [1]
    for each in ratio:
        # A product such as 0.1 * 30 can be just below the integer.
        guests = math.floor(each * host_cpus / vcpus + 1e-9)
        if not 1 <= guests <= schema.MAX_GUESTS:
            raise task.InvalidTask(
                f"levels: ratio={each:g}: is {guests} guests of {vcpus} vCPUs "
                f"on {host_cpus} CPUs; must be from 1 to {schema.MAX_GUESTS}"
            )
        numbers.append(guests)
    return tuple(dict.fromkeys(numbers))


def count_rises(
    levels: collections.abc.Sequence[int], repetitions: int
) -> int:
    """Return how many levels have more guests than the previous one.

    Each repetition continues from the last level of the previous one.
    """
    return sum(a < b for a, b in itertools.pairwise([*levels] * repetitions))


def is_ascending(levels: collections.abc.Sequence[int]) -> bool:
    """Return whether each level has more guests than the previous one."""
    return all(a < b for a, b in itertools.pairwise(levels))


class Level(t.NamedTuple):
    """The samples of a level in one repetition.

    :param turns: The number of groups that ran one after another.
    """

    guests: int
    observations: Observations
    turns: int = 1


#: The levels of a repetition, in ascending order.
MeasuredLevels = collections.abc.Sequence[Level]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StopRule:
    """The stop rule of a task, applied to all repetitions so far.

    The rule compares point estimates over all repetitions that have both
    levels, because a single repetition depends on chance. The final verdict
    decides whether a loss is significant.

    :param max_percent: The loss of the mean guest against the solo guest, by
        metric or glob, above which no guests are added.
    :param total_falls: Whether to add no guests if no metric's total rises.
    """

    max_percent: verdict.Limits = dataclasses.field(
        default_factory=lambda: verdict.Limits({})
    )
    total_falls: bool = False

    def find_reason(
        self, repetitions: collections.abc.Sequence[MeasuredLevels]
    ) -> str:
        """Return why to stop after this level as text, or "".

        :param repetitions: The counted repetitions; the last one is running.
        """
        current = repetitions[-1]
        if len(current) < 2:
            return ""
        first, before, last = (current[i].guests for i in (0, -2, -1))
        reason = self._find_exceeded(
            _pair_levels(repetitions, first, last), last
        )
        if not reason and self.total_falls:
            reason = _find_falling_total(
                _pair_levels(repetitions, before, last), last
            )
        number = len(_pair_levels(repetitions, first, last))
        return (
            f"{reason}, over {number} repetitions"
            if reason and number > 1
            else reason
        )

    def _find_exceeded(
        self, pairs: list[tuple[Level, Level]], guests: int
    ) -> str:
        """Return which metric lost more than its limit as text, or ""."""
        ratios = _compute_ratios(pairs, statistics.geometric_mean)
        names = [metric.name for metric in ratios]
        for metric, ratio in sorted(
            ratios.items(), key=lambda pair: pair[0].name
        ):
            limit = self.max_percent.for_metric(metric.name, names)
            if limit is not None and (1 - ratio) * 100 > limit[0]:
                return (
                    f"{metric.name} lost {1 - ratio:.1%} with {guests} "
                    f"guests, more than {limit[0]:g} % ({limit[1]})"
                )
        return ""


def create_stop_rule(stop: documents.Arguments) -> StopRule:
    """Return the stop rule in an argument of the task."""
    return StopRule(
        max_percent=verdict.Limits(stop.get("max_percent", {}), ("ratio",)),
        total_falls=stop.get("total_falls", False),
    )


def _pair_levels(
    repetitions: collections.abc.Iterable[MeasuredLevels], few: int, many: int
) -> list[tuple[Level, Level]]:
    """Return two levels of each repetition that has both, as pairs."""
    by_guests = [
        {level.guests: level for level in repetition}
        for repetition in repetitions
    ]
    return [
        (levels[few], levels[many])
        for levels in by_guests
        if few in levels and many in levels
    ]


def _compute_ratios(
    pairs: list[tuple[Level, Level]],
    figure: t.Callable[[list[float]], float],
) -> dict[sample.Metric, float]:
    """Return the ratio of the second level to the first by metric.

    The ratio is a geometric mean over repetitions.

    :param figure: A function that aggregates the rates of a level's guests.
    """
    ratios: dict[sample.Metric, list[float]] = {}
    for few, many in pairs:
        before = _collect_rates(few.observations)
        now = _collect_rates(many.observations)
        for metric in before.keys() & now.keys():
            ratio = figure(now[metric]) / figure(before[metric])
            ratios.setdefault(metric, []).append(ratio)
    return {
        metric: statistics.geometric_mean(metric_ratios)
        for metric, metric_ratios in ratios.items()
    }


def _collect_rates(observations: Observations) -> _Rates:
    """Return a list of rates by metric, in a dict without counts."""
    rates: _Rates = {}
    for observation in observations:
        metric = observation.sample.metric
        if metric.scale == "ratio":
            rate = density_rates.convert(metric, observation.sample.value)
            rates.setdefault(metric, []).append(rate)
    return rates


def _find_falling_total(pairs: list[tuple[Level, Level]], guests: int) -> str:
    """Return why to stop as text if no metric's total rises, or "".

    Latencies have no total.
    """
    turns = max((few.turns for few, _ in pairs), default=1)
    rises = [
        ratio * turns
        for metric, ratio in _compute_ratios(pairs, math.fsum).items()
        if metric.additive
    ]
    if not rises or max(rises) > 1:
        return ""
    return f"no total rises with {guests} guests"
