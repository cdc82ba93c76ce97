"""The absolute value of a metric in guests, for limits in its own unit."""

import dataclasses
import functools
import sys
import typing as t

from rally_vmperf.judging.results import figure as figures
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorstCount:
    """The count of the worst guest in its worst repetition.

    :param repetition: The number of that repetition.
    :param guest: The name of that guest; "" for a single guest.
    """

    value: float
    repetition: int
    guest: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbsoluteValue(figures.Figure):
    """The absolute value of a metric in the guests, in the metric's unit.

    The value of a rate or a time is the geometric mean over repetitions. A
    count can be zero and has no geometric mean: its value is that of the
    worst guest in its worst repetition, and has an interval only if the
    count has an error.

    :param side: Whether the limit is the largest or the least value.
    :param guest: The samples of the guests, per counted repetition.
    :param bare: The samples of bare metal, per repetition of the baseline.
    """

    side: limits.AbsoluteFigure
    guest: contrasts.RepetitionSamples
    bare: contrasts.RepetitionSamples = ()

    @property
    def name(self) -> str:
        """The name of the figure for other programs."""
        return self.side

    @property
    def unit(self) -> str:
        """The unit of the metric."""
        return self.metric.unit

    @property
    def decimals(self) -> None:
        """None: values have significant digits."""
        return None

    @property
    def is_minimum(self) -> bool:
        """Whether the limit is the smallest tolerated value."""
        return self.side == "min"

    @property
    def sides(
        self,
    ) -> tuple[contrasts.RepetitionSamples, contrasts.RepetitionSamples]:
        """The samples of bare metal and of the guests, per repetition."""
        return self.bare, self.guest

    @property
    def means(self) -> tuple[float, float] | None:
        """The values of bare metal and of the guests; None without both."""
        if self.bare_value is None or self._estimate is None:
            return None
        return self.bare_value, self._estimate.value

    @functools.cached_property
    def worst_count(self) -> WorstCount | None:
        """The worst count; None for a rate or a time, and without samples.

        A mean over guests would hide the count of a single guest.
        """
        counts = [
            (observation.sample.value, samples.number, observation.source)
            for samples in self.guest
            for observation in samples.observations
        ]
        if self.metric.scale != "count" or not counts:
            return None
        value, number, guest = self._pick(counts, key=lambda count: count[0])
        is_one = len({source for *_, source in counts}) == 1
        return WorstCount(
            value=value, repetition=number, guest="" if is_one else guest
        )

    @functools.cached_property
    def _count_ends(self) -> tuple[float, ...]:
        """The ends of the interval of a count; () without errors."""
        samples = [
            observation.sample
            for repetition_samples in self.guest
            for observation in repetition_samples.observations
        ]
        ends = [
            (max(0.0, count.value - error), count.value + error)
            for count in samples
            if (error := count.metric.step) is not None
        ]
        if len(ends) < len(samples):
            return ()
        return (
            self._pick(low for low, _ in ends),
            self._pick(high for _, high in ends),
        )

    @property
    def _pick(self) -> t.Callable[..., t.Any]:
        """The function that selects the worst of several counts."""
        return min if self.is_minimum else max

    @functools.cached_property
    def bare_value(self) -> float | None:
        """The same figure of bare metal; None if it has none."""
        if self.metric.scale == "count":
            counts = [
                observation.sample.value
                for samples in self.bare
                for observation in samples.observations
            ]
            return t.cast(float | None, self._pick(counts, default=None))
        means = gathering.geometric_means(self.bare)
        return statistics.geometric_mean(means) if means else None

    def estimate(
        self, status: verdict.Status | None = None
    ) -> figures.Estimate | None:
        """Return the value of the guests; None without samples."""
        return self._estimate

    @functools.cached_property
    def _estimate(self) -> figures.Estimate | None:
        """The value of the guests; None without samples."""
        if not self.guest:
            return None
        if self.worst_count:
            return figures.Estimate(self.worst_count.value, *self._count_ends)
        # The interval of a mean is that of its ratio to what does not vary.
        compared = self.compare_with(1.0)
        means = gathering.geometric_means(self.guest)
        ends = sorted(
            loss.ratio(compared.metric, end)
            for end in (compared.low, compared.high)
            if end is not None
        )
        return figures.Estimate(statistics.geometric_mean(means), *ends)

    def compare_with(self, constant: float) -> loss.Comparison:
        """Return the loss of the guests against a constant, a comparison.

        The loss is positive if the value is beyond the constant, whatever is
        better.

        :param constant: The constant in the unit of the metric.
        """
        better: sample.Better = "higher" if self.is_minimum else "lower"
        return loss.compare(
            dataclasses.replace(self.metric, better=better),
            [[max(constant, sys.float_info.min)]] * statistics.FEWEST,
            [samples.values for samples in self.guest],
            self.confidence,
            exact=True,
            usual=gathering.geometric_means(self.bare),
        )

    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the value against a limit.

        A count beyond its limit fails with any number of repetitions. To pass
        it needs three, because one can pass by chance.
        """
        if not self.guest:
            return "inconclusive"
        if self.worst_count is None:
            return verdict.decide(self.compare_with(limit), 0.0)
        value = self.worst_count.value
        excesses = [end - limit for end in self._count_ends or (value, value)]
        if self.is_minimum:
            excesses = [-excess for excess in excesses]
        if min(excesses) > 0:
            return "failed"
        is_few = len(self.guest) < statistics.FEWEST
        return "inconclusive" if is_few or max(excesses) > 0 else "passed"

    def may_be_within(self, limit: float) -> bool:
        """Return whether an interval reaches the limit; counts have none."""
        if self.worst_count or not self.guest:
            return False
        return verdict.may_be_within(self.compare_with(limit), 0.0)

    def is_failure_final(self, limit: float, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        A count that is beyond its limit in one of three repetitions or more
        stays there, as its worst repetition is judged.
        """
        if self.worst_count or not self.guest:
            return len(self.guest) >= statistics.FEWEST
        best = needed.lowest_possible_loss(self.compare_with(limit), planned)
        return best is not None and best > 0

    def describe(
        self, limit: float | None, status: verdict.Status | None
    ) -> str:
        """Return the value with its interval, and bare metal, as a clause."""
        value, low, high = self._estimate or (0.0, None, None)
        text = f"guest {units.show(value, self.unit)}"
        if self.worst_count:
            guest = self.worst_count.guest
            text += f" of its worst guest ({guest})" if guest else ""
            text += f" in its worst repetition ({self.worst_count.repetition})"
        if low is not None and high is not None:
            ends = " to ".join(
                units.show(end, self.unit) for end in (low, high)
            )
            text += f" ({self.confidence * 100:g} % interval {ends})"
        elif not self.worst_count:
            text += " (no interval)"
        if self.bare_value is not None:
            text += f", bare metal {units.show(self.bare_value, self.unit)}"
        return text

    def advise(self, limit: float) -> str:
        """Return what would decide an inconclusive value, as a clause."""
        if self.worst_count:
            return verdict.more_repetitions(len(self.guest))
        return verdict.would_decide(self.compare_with(limit))
