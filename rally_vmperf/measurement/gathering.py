"""The samples of one metric in several repetitions."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample

#: The reason why a metric has no samples of guests.
NO_COMPLETE_SAMPLES = "no counted repetition has it for every guest"

Observations = tuple[sample.Observation, ...]
Conditions = collections.abc.Sequence[repetition.Condition]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MetricSamples:
    """The samples of one metric in one repetition.

    :param number: The number of the repetition.
    :param observations: The observations of this metric, one or more for each
        guest or copy.
    :param merged: The percentile of the values of all machines together; None
        for a metric that is not a percentile.
    """

    number: int
    observations: Observations
    merged: float | None = None

    @property
    def values(self) -> tuple[float, ...]:
        """The values, in the order of the observations.

        A percentile has one value, of all machines together, because a mean
        of percentiles is not a percentile.
        """
        if self.merged is not None:
            return (self.merged,)
        return tuple(
            observation.sample.value for observation in self.observations
        )


def guest_samples(
    metric: sample.Metric, conditions: Conditions
) -> tuple[MetricSamples, ...]:
    """Return the samples of a metric in counted repetitions.

    A repetition that is not complete counts only if every guest reported the
    metric: a mean over the guests that finished would look too good.
    """
    counted = [condition for condition in conditions if condition.counted]
    usual_sources: collections.Counter[str] = collections.Counter()
    for condition in counted:
        usual_sources |= _sources(_of_metric(metric, condition.observations))
    most_machines = max(
        (_merged_machines(metric, condition) for condition in counted),
        default=0,
    )
    gathered = []
    for condition in counted:
        observations = _of_metric(metric, condition.observations)
        merged = condition.distribution(metric)
        if merged is not None:
            is_complete = (
                condition.state == "complete"
                or merged.machines >= most_machines
            )
        else:
            is_complete = bool(observations) and _is_reported_by_all(
                metric, condition, usual_sources
            )
        if is_complete:
            gathered.append(
                MetricSamples(
                    number=condition.number,
                    observations=observations,
                    merged=merged.values()[metric] if merged else None,
                )
            )
    return tuple(gathered)


def _merged_machines(
    metric: sample.Metric, condition: repetition.Condition
) -> int:
    """Return the number of machines in the distribution of a percentile."""
    merged = condition.distribution(metric)
    return merged.machines if merged else 0


def bare_metal_samples(
    metric: sample.Metric, reference: repetition.Reference
) -> tuple[MetricSamples, ...]:
    """Return the samples of a metric in the repetitions of the baseline."""
    gathered = []
    for number, repetition_observations in enumerate(
        reference.repetitions, start=1
    ):
        observations = _of_metric(metric, repetition_observations)
        percentiles = reference.percentiles[number - 1 : number]
        merged = percentiles[0].get(metric) if percentiles else None
        if observations or merged is not None:
            gathered.append(
                MetricSamples(
                    number=number, observations=observations, merged=merged
                )
            )
    return tuple(gathered)


def _of_metric(
    metric: sample.Metric, observations: Observations
) -> Observations:
    return tuple(
        observation
        for observation in observations
        if observation.sample.metric == metric
    )


def _sources(observations: Observations) -> collections.Counter[str]:
    return collections.Counter(
        observation.source for observation in observations
    )


def _is_reported_by_all(
    metric: sample.Metric,
    condition: repetition.Condition,
    usual_sources: collections.Counter[str],
) -> bool:
    """Return whether every guest reported a metric in a condition.

    Missing guests are derived from the missing measurements of the condition,
    and from the reports of the metric in other repetitions. In a record that
    is marked complete, all guests that participated count.
    """
    if condition.state == "complete":
        expected_sources = {
            source: number
            for source, number in usual_sources.items()
            if source in condition.machines or not condition.machines
        }
        sources = _sources(_of_metric(metric, condition.observations))
        return (
            metric not in condition.expected_metrics
            or sources >= collections.Counter(expected_sources)
        )
    if any(gap.name == metric.name for gap in condition.missing):
        return False
    expected_names = {expected.name for expected in condition.expected_metrics}
    silent = {
        gap.machine
        for gap in condition.missing
        if gap.name not in expected_names
    }
    sources = _sources(_of_metric(metric, condition.observations))
    return sources >= usual_sources and silent <= set(sources)


def metrics(conditions: Conditions) -> list[sample.Metric]:
    """Return each metric once: expected, observed, then percentiles."""
    expected = [
        metric
        for condition in conditions
        for metric in condition.expected_metrics
    ]
    observed = [
        observation.sample.metric
        for condition in conditions
        for observation in condition.observations
    ]
    percentiles = [
        metric
        for condition in conditions
        for distribution in condition.distributions
        for metric in distribution.values()
    ]
    return list(dict.fromkeys(expected + observed + percentiles))
