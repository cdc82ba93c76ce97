"""The values of one metric, taken out of many repetitions."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample

#: Why a metric has no samples of guests.
NOBODY = "no counted repetition has it for every guest"

Observations = tuple[sample.Observation, ...]
Conditions = collections.abc.Sequence[repetition.Condition]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gathered:
    """What one repetition says about one metric.

    :param number: of the repetition
    :param observations: of this metric, one or more a guest or copy
    :param merged: of a percentile the one of all machines' values together
    """

    number: int
    observations: Observations
    merged: float | None = None

    @property
    def values(self) -> tuple[float, ...]:
        """The bare values, in the order of the observations.

        Of a percentile it is that of all machines together, because a mean of
        percentiles is not a percentile.
        """
        if self.merged is not None:
            return (self.merged,)
        return tuple(one.sample.value for one in self.observations)


def guests(
    metric: sample.Metric, repetitions: Conditions
) -> tuple[Gathered, ...]:
    """Return the samples of a metric in counted repetitions.

    A repetition that is not complete counts only if every guest reported the
    metric: a mean over the guests that finished would look too good.
    """
    counted = [entry for entry in repetitions if entry.counted]
    usual: collections.Counter[str] = collections.Counter()
    for entry in counted:
        usual |= _sources(_of(metric, entry.observations))
    most = max((_merged_of(metric, entry) for entry in counted), default=0)
    found = []
    for entry in counted:
        observations = _of(metric, entry.observations)
        merged = entry.distribution(metric)
        if merged is not None:
            whole = entry.state == "complete" or merged.machines >= most
        else:
            whole = bool(observations) and _whole(metric, entry, usual)
        if whole:
            found.append(
                Gathered(
                    number=entry.number,
                    observations=observations,
                    merged=merged.values()[metric] if merged else None,
                )
            )
    return tuple(found)


def _merged_of(metric: sample.Metric, entry: repetition.Condition) -> int:
    """Return how many machines are in the distribution of a percentile."""
    merged = entry.distribution(metric)
    return merged.machines if merged else 0


def bare(
    metric: sample.Metric, reference: repetition.Reference
) -> tuple[Gathered, ...]:
    """Return the samples of a metric in the repetitions of the baseline."""
    found = []
    for number, entry in enumerate(reference.repetitions, start=1):
        observations = _of(metric, entry)
        percentiles = reference.percentiles[number - 1 : number]
        merged = percentiles[0].get(metric) if percentiles else None
        if observations or merged is not None:
            found.append(
                Gathered(
                    number=number, observations=observations, merged=merged
                )
            )
    return tuple(found)


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
    reports the metric, and how often, in other repetitions. For a record
    marked complete, all guests that took part count.
    """
    if entry.state == "complete":
        own = {
            source: number
            for source, number in usual.items()
            if source in entry.machines or not entry.machines
        }
        there = _sources(_of(metric, entry.observations))
        return (
            metric not in entry.expected_metrics
            or there >= collections.Counter(own)
        )
    if any(gap.name == metric.name for gap in entry.missing):
        return False
    others = {one.name for one in entry.expected_metrics}
    silent = {gap.machine for gap in entry.missing if gap.name not in others}
    there = _sources(_of(metric, entry.observations))
    return there >= usual and silent <= set(there)


def metrics(entries: Conditions) -> list[sample.Metric]:
    """Return every metric once: expected ones, others, then percentiles."""
    expected = [one for entry in entries for one in entry.expected_metrics]
    observed = [
        one.sample.metric for entry in entries for one in entry.observations
    ]
    percentiles = [
        metric
        for entry in entries
        for one in entry.distributions
        for metric in one.values()
    ]
    return list(dict.fromkeys(expected + observed + percentiles))
