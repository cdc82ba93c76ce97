"""The values of one metric, taken out of many repetitions."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample

#: Why a metric has no samples of guests.
NOBODY = "no counted repetition holds it of every guest"

Observations = tuple[sample.Observation, ...]
Conditions = collections.abc.Sequence[repetition.Condition]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gathered:
    """What one repetition says about one metric.

    :param number: of the repetition
    :param observations: of this metric, one or more a guest or copy
    """

    number: int
    observations: Observations

    @property
    def values(self) -> tuple[float, ...]:
        """The bare values, in the order of the observations."""
        return tuple(one.sample.value for one in self.observations)


def guests(
    metric: sample.Metric, repetitions: Conditions
) -> tuple[Gathered, ...]:
    """Return what counted repetitions say about a metric.

    Of a repetition that is not complete, the metric is taken only if every
    guest reported it: a mean over the guests that got through would flatter
    the others.
    """
    counted = [entry for entry in repetitions if entry.counted]
    usual: collections.Counter[str] = collections.Counter()
    for entry in counted:
        usual |= _sources(_of(metric, entry.observations))
    found = []
    for entry in counted:
        observations = _of(metric, entry.observations)
        if observations and _whole(metric, entry, usual):
            found.append(
                Gathered(number=entry.number, observations=observations)
            )
    return tuple(found)


def bare(
    metric: sample.Metric, reference: repetition.Reference
) -> tuple[Gathered, ...]:
    """Return what the repetitions of the baseline say about a metric."""
    return tuple(
        Gathered(number=number, observations=observations)
        for number, entry in enumerate(reference.repetitions, start=1)
        if (observations := _of(metric, entry))
    )


def _of(metric: sample.Metric, observations: Observations) -> Observations:
    return tuple(one for one in observations if one.sample.metric == metric)


def _sources(observations: Observations) -> collections.Counter[str]:
    return collections.Counter(one.source for one in observations)


def _whole(
    metric: sample.Metric,
    entry: repetition.Condition,
    usual: collections.Counter[str],
) -> bool:
    """Return whether every guest reported a metric in this repetition.

    Who is missing is taken from the gaps of the repetition, and from who
    reports the metric, and how often, in other repetitions.
    """
    if entry.state == "complete":
        return True
    if any(gap.what == metric.name for gap in entry.missing):
        return False
    others = {one.name for one in entry.expected}
    silent = {gap.source for gap in entry.missing if gap.what not in others}
    there = _sources(_of(metric, entry.observations))
    return there >= usual and silent <= set(there)


def metrics(entries: Conditions) -> list[sample.Metric]:
    """Return every metric once: the expected ones, then the others."""
    expected = [one for entry in entries for one in entry.expected]
    observed = [
        one.sample.metric for entry in entries for one in entry.observations
    ]
    return list(dict.fromkeys(expected + observed))
