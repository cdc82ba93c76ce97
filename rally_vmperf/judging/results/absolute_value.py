"""The absolute value of a metric in guests, for limits in its own unit."""

import dataclasses
import sys
import typing as t

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: Samples of a side, per repetition.
RepetitionSamples = tuple[sample.MetricSamples, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbsoluteValue:
    """The absolute value of a metric in the guests, in the metric's unit.

    The value of a rate or a time is the geometric mean over repetitions. A
    count can be zero and has no geometric mean: its value is that of the
    worst guest in its worst repetition.

    :param low: The lower end of the interval; None for a count, and for
        fewer than three repetitions.
    :param high: The upper end of the interval; None as for ``low``.
    :param repetition: The number of the worst repetition of a count.
    :param worst: The guest with that count, if there are several guests.
    :param bare: The same figure of bare metal; None if it has none.
    """

    value: float
    low: float | None = None
    high: float | None = None
    repetition: int | None = None
    worst: str = ""
    bare: float | None = None

    def ends(self, unit: str) -> str:
        """Return the ends of the interval as text; "" without one."""
        if self.low is None or self.high is None:
            return ""
        return f"{units.show(self.low, unit)} to {units.show(self.high, unit)}"


def compute_value(
    metric: sample.Metric,
    figure: limits.AbsoluteFigure,
    guest: RepetitionSamples,
    bare: RepetitionSamples,
    confidence: float,
) -> AbsoluteValue:
    """Return the absolute value of guests with its interval.

    :param figure: Whether the limit is the largest or the least value.
    :raises ValueError: If the guests have no samples.
    """
    if metric.scale == "count":
        return _find_worst_count(max if figure == "max" else min, guest, bare)
    # The interval of a mean is that of its ratio to what does not vary.
    compared = compare_with_constant(
        metric, figure, guest, bare, confidence, 1.0
    )
    low, high = sorted(
        loss.ratio(compared.metric, end)
        for end in (compared.low, compared.high)
        if end is not None
    ) or (None, None)
    bare_means = gathering.geometric_means(bare)
    return AbsoluteValue(
        value=statistics.geometric_mean(gathering.geometric_means(guest)),
        low=low,
        high=high,
        bare=statistics.geometric_mean(bare_means) if bare else None,
    )


def compare_with_constant(
    metric: sample.Metric,
    figure: limits.AbsoluteFigure,
    guest: RepetitionSamples,
    bare: RepetitionSamples,
    confidence: float,
    constant: float,
) -> loss.Comparison:
    """Return the loss of the guest against a constant, a comparison.

    :param constant: The constant in the unit of the metric.
    """
    better: sample.Better = "lower" if figure == "max" else "higher"
    return loss.compare(
        dataclasses.replace(metric, better=better),
        [[max(constant, sys.float_info.min)]] * statistics.FEWEST,
        [samples.values for samples in guest],
        confidence,
        exact=True,
        usual=gathering.geometric_means(bare),
    )


def _find_worst_count(
    pick: t.Callable[..., t.Any],
    guest: RepetitionSamples,
    bare: RepetitionSamples,
) -> AbsoluteValue:
    """Return the count of the worst guest in its worst repetition.

    A mean over guests would hide the count of a single guest.

    :param pick: The function that selects the worst of several counts.
    """
    counts = [
        (observation.sample.value, samples.number, observation.source)
        for samples in guest
        for observation in samples.observations
    ]
    value, number, worst = pick(counts, key=lambda count: count[0])
    bare_counts = [
        observation.sample.value
        for samples in bare
        for observation in samples.observations
    ]
    return AbsoluteValue(
        value=value,
        repetition=number,
        worst=worst if len({source for *_, source in counts}) > 1 else "",
        bare=pick(bare_counts, default=None),
    )
