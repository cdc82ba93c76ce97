# SPDX-License-Identifier: Apache-2.0
"""The absolute value of a metric in guests, for limits in its own unit."""

import collections.abc
import dataclasses
import functools
import sys
import typing as t

from rally_vmperf.judging.results import figure as figures
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import loss
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
class AbsoluteValue(figures.GuestFigure):
    """The absolute value of a metric in the guests, in the metric's unit.

    The value of a rate or a time is the geometric mean over repetitions. A
    count can be zero and has no geometric mean: its value is that of the
    worst guest in its worst repetition, and has an interval only if the
    count has an error.

    :param side: Whether the limit is the largest or the least value.
    :param guest: The samples of the guests, per counted repetition.
    :param bare: The samples of bare metal, per repetition of the baseline.
    :param hosts: The hosts of the guests, as far as they are known.
    """

    side: verdict.AbsoluteFigure
    guest: contrasts.RepetitionSamples
    bare: contrasts.RepetitionSamples = ()
    hosts: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )

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
        estimate = self.estimate()
        if self.bare_value is None or estimate is None:
            return None
        return self.bare_value, estimate.value

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
    ) -> units.Estimate | None:
        """Return the value that decides; None without samples."""
        if self.worst_count:
            return units.Estimate(self.worst_count.value, *self._count_ends)
        comparison, _ = self.contrast.find_decisive(self.statistic, status)
        if comparison is None:
            return None
        # The interval of a mean is that of its ratio to what does not vary.
        ends = sorted(
            loss.ratio(comparison.metric, end)
            for end in (comparison.low, comparison.high)
            if end is not None
        )
        return units.Estimate(comparison.guest, *ends)

    def find_subject(self, status: verdict.Status | None) -> figures.Subject:
        """Return the guests that the figure speaks of."""
        if self.worst_count and self.worst_count.guest:
            guest = self.worst_count.guest
            host = self.hosts.get(guest, "")
            return figures.Subject(figures.WORST_GUEST, guest, host)
        return super().find_subject(status)

    @functools.cached_property
    def contrast(self) -> contrasts.Contrast:
        """The contrast with a value of 1 in the unit of the metric.

        The loss is positive if the value is beyond it, whatever is better.
        Counts can be zero, and have none.
        """
        better: sample.Better = "higher" if self.is_minimum else "lower"
        is_count = self.metric.scale == "count"
        return contrasts.Contrast(
            metric=dataclasses.replace(self.metric, better=better),
            reference=self.bare,
            other=() if is_count else self.guest,
            confidence=self.confidence,
            constant=1.0,
            hosts=self.hosts,
        )

    def find_contrast(self, limit: float) -> tuple[contrasts.Contrast, float]:
        """Return the contrast, and the loss of the limit against 1."""
        value = statistics.geometric_mean([max(limit, sys.float_info.min)])
        return self.contrast, loss.percent(self.contrast.metric, value)

    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the value against a limit.

        A count beyond its limit fails with any number of repetitions. To pass
        it needs three, because one can pass by chance.
        """
        if self.worst_count is None:
            return super().decide(limit)
        value = self.worst_count.value
        excesses = [end - limit for end in self._count_ends or (value, value)]
        if self.is_minimum:
            excesses = [-excess for excess in excesses]
        if min(excesses) > 0:
            return "failed"
        is_few = len(self.guest) < statistics.FEWEST
        return "inconclusive" if is_few or max(excesses) > 0 else "passed"

    def is_failure_final(self, limit: float, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        A count that is beyond its limit in one of three repetitions or more
        stays there, as its worst repetition is judged.
        """
        if self.worst_count:
            return len(self.guest) >= statistics.FEWEST
        return super().is_failure_final(limit, planned)

    def show_turn(self, percent: float) -> str:
        """Return the value of a guest in a repetition as text."""
        return units.show(loss.ratio(self.contrast.metric, percent), self.unit)

    def describe_guests(
        self, beyond: contrasts.Comparisons, limit: float
    ) -> str:
        """Return as text which guests are beyond a limit."""
        worst = max(beyond, key=lambda guest: beyond[guest].overhead_percent)
        guests = units.number_of("guest", self.guest_count)
        return (
            f"{len(beyond)} of {guests} beyond the {self.show_limit(limit)}: "
            f"{worst} has {units.show(beyond[worst].guest, self.unit)}"
        )

    def describe(
        self, limit: float | None, status: verdict.Status | None
    ) -> str:
        """Return the value with its interval, and bare metal, as a clause."""
        value, interval = self.show(
            self.estimate(status) or units.Estimate(0.0), limit
        )
        text = f"{self.label_worst(status) or 'guest'} {value}"
        if self.worst_count:
            guest = self.worst_count.guest
            text += f" of its worst guest ({guest})" if guest else ""
            text += f" in its worst repetition ({self.worst_count.repetition})"
        if interval:
            sure = self._describe_confidence(status)
            text += f" ({sure} interval {interval})"
        elif not self.worst_count:
            text += " (no interval)"
        if self.bare_value is not None:
            text += f", bare metal {units.show(self.bare_value, self.unit)}"
        return text

    def _describe_confidence(self, status: verdict.Status | None) -> str:
        """Return the confidence of the interval that decides, as text."""
        comparison, guests = self.contrast.find_decisive(
            self.statistic, status
        )
        confidence = comparison.confidence if comparison else self.confidence
        sure = f"{confidence * 100:.5g} %"
        return f"{sure}, as one of {guests} guests," if guests > 1 else sure

    def label(self, status: verdict.Status | None) -> str:
        """Return the worst guest before the figure in a table, or ""."""
        return self.label_worst(status)

    def advise(self, limit: float) -> str:
        """Return what would decide an inconclusive value, as a clause."""
        if self.worst_count:
            return verdict.more_repetitions(len(self.guest))
        return super().advise(limit)
