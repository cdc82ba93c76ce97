"""The values of one metric, taken out of many repetitions."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample

#: Why a metric has no samples of guests.
NOBODY = "no counted repetition holds it of every guest"

Observations = tuple[sample.Observation, ...]


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
    metric: sample.Metric,
    repetitions: collections.abc.Iterable[repetition.Repetition],
) -> tuple[Gathered, ...]:
    """Return what counted repetitions say about a metric.

    Of a repetition that is not complete, the metric is taken only if every
    guest reported it: a mean over the guests that got through would flatter
    the others.
    """
    counted = [entry for entry in repetitions if entry.counted]
    reporting = {
        one.source
        for entry in counted
        for one in _of(metric, entry.observations)
    }
    found = []
    for entry in counted:
        observations = _of(metric, entry.observations)
        sources = {one.source for one in observations}
        wanted = reporting | _missing(metric, entry)
        if observations and (entry.state == "complete" or sources >= wanted):
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


def _missing(metric: sample.Metric, entry: repetition.Repetition) -> set[str]:
    """Return who did not deliver this metric, or what it is part of."""
    others = {one.name for one in entry.expected} - {metric.name}
    return {gap.source for gap in entry.missing if gap.what not in others}
