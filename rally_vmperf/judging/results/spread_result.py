"""The spread of a metric: the variation between or within repetitions."""

import dataclasses
import functools
import statistics as stdlib
import sys
import typing as t

from rally_vmperf.judging.results import figure_result
from rally_vmperf.judging.results import metric_result
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import spread
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

Figure = t.Literal["range_percent", "cv_percent", "gsd_ratio"]
#: Figure -> its name; the option of its limit is ``max_`` and the figure.
NAMES: dict[Figure, str] = {
    "range_percent": "range",
    "cv_percent": "coefficient of variation",
    "gsd_ratio": "geometric standard deviation",
}
Values = tuple[float, ...]
#: Substitute for zero, which has no logarithm, as a share of the mean.
_NEAR_ZERO = 1e-9


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpreadResult(metric_result.MetricResult):
    """One figure of the spread of a metric, with its limit.

    :param compared: The samples of the metric, compared with bare metal.
    :param series: The mean values over time, per counted repetition, if the
        spread within repetitions is judged; None if it is that of the means.
    :param limit: The limit in percent, or as a ratio.
    """

    figure: Figure
    compared: figure_result.FigureResult
    series: tuple[Values, ...] | None = None

    @functools.cached_property
    def guest(self) -> Values:
        """The guests' mean of each counted repetition, or its spread."""
        if self.series is None:
            return gathering.geometric_means(self.compared.guest)
        return tuple(map(self._figure_within, self.series))

    @functools.cached_property
    def bare(self) -> Values:
        """The copies' mean value of each baseline repetition, a tuple.

        A baseline only keeps the mean of its repetitions over time.
        """
        if self.series is not None:
            return ()
        return gathering.geometric_means(self.compared.bare)

    @functools.cached_property
    def ratio(self) -> spread.Ratio | None:
        """The ratio of spreads, guest to bare metal; None without one."""
        return spread.ratio(self.bare, self.guest, self.confidence)

    @property
    def measured(self) -> bool:
        """Whether each required side has samples."""
        return bool(self.guest and (self.bare or not self._is_ratio))

    @functools.cached_property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the figure; None without one, as of a range."""
        return self._interval(self.confidence)

    def _interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the interval of the figure at a confidence, or None.

        Readings of a repetition are not independent and have no interval.
        """
        if self._is_ratio:
            ratio = spread.ratio(self.bare, self.guest, confidence)
            if ratio is None or ratio.low is None or ratio.high is None:
                return None
            return ratio.low, ratio.high
        value = self.of(self.guest)
        if (
            self.figure != "cv_percent"
            or value is None
            or self.series is not None
        ):
            return None
        return spread.cv_interval(value, len(self.guest), confidence)

    @property
    def is_only_undecided(self) -> bool:
        """Whether the figure has an interval."""
        return self.interval is not None

    @property
    def _is_ratio(self) -> bool:
        """Whether the figure is a ratio of guest to bare metal."""
        return self.figure == "gsd_ratio"

    def of(self, values: Values) -> float | None:
        """Return the spread of values, or their mean if they are spreads.

        The spread of fewer than two values is None.
        """
        if self.series is not None:
            return stdlib.fmean(values) if values else None
        spread_ = spread.spread(values)
        return None if spread_ is None else self._value(spread_)

    def _value(self, spread_: spread.Spread) -> float:
        """Return the number in a spread that the figure stands for."""
        if self.figure == "range_percent":
            return spread_.range_percent
        return spread_.gsd if self._is_ratio else spread_.cv_percent

    def show(self, figure: float) -> str:
        """Return a number of the figure as text, with its unit."""
        if self._is_ratio:
            return f"{figure:.4f}" if figure < 10 else f"{figure:.3g}"
        return units.show(figure, "%")

    @property
    def shown_limit(self) -> str:
        """The limit as text; "" without one."""
        if self.limit is None:
            return ""
        percent = " %" if self.figure.endswith("_percent") else ""
        return f"{self.limit:g}{percent}"

    @property
    def shown_ends(self) -> str:
        """The ends of the interval as text, "" without one.

        An end is not rounded to the limit.
        """
        if self.interval is None:
            return ""
        percent = "" if self._is_ratio else " %"
        for digits in range(3, 7):
            ends = [f"{end:.{digits}g}" for end in self.interval]
            if self.limit not in [float(end) for end in ends]:
                break
        return " to ".join(ends) + percent

    @property
    def shown_interval(self) -> str:
        """The interval as text, "no interval" without one."""
        ends = self.shown_ends
        sure = f"{self.confidence * 100:g} % interval"
        return f"{sure} {ends}" if ends else "no interval"

    def _figure_within(self, readings: Values) -> float:
        """Return the spread of readings within a repetition, a number."""
        lowest = max(stdlib.fmean(readings) * _NEAR_ZERO, sys.float_info.min)
        spread_ = spread.spread([max(reading, lowest) for reading in readings])
        return self._value(t.cast(spread.Spread, spread_))

    @property
    def reason(self) -> str:
        """The reason why the figure is missing as text, or ""."""
        if not self.guest:
            return gathering.NO_COMPLETE_SAMPLES
        if self.series is not None:
            is_ratio = self._is_ratio
            return "a ratio over intervals does not exist" if is_ratio else ""
        if self._is_ratio and not self.bare:
            return self.compared.reason
        few = len(self.guest) < spread.FEWEST
        if few or (self._is_ratio and len(self.bare) < spread.FEWEST):
            side = "the guest" if few else "bare metal"
            return f"1 repetition of {side} has no {NAMES[self.figure]}"
        if self._is_ratio and self.ratio is None:
            return (
                "all repetitions of bare metal are equal, so that a ratio to "
                "them does not exist, record a baseline with more repetitions"
            )
        return ""

    def sentence(self) -> str:
        """Return figure, limit and verdict, or why none, as text."""
        text = (
            f"{self.metric_title}: {self.reason or self._describe_figures()}"
        )
        if self.limit is None or self.status is None:
            text += ", no limit"
        elif self.measured:
            limit = f"{self.shown_limit}{self.limit_origin}"
            text += f", limit {limit}: {self.status}"
            if self.status == "inconclusive":
                text += self._describe_required()
        return ". ".join([text, *self.void_reasons()])

    def _describe_figures(self) -> str:
        """Return the figures of guest and bare metal as text."""
        value, bare = self.of(self.guest), self.of(self.bare)
        shown = self.show(t.cast(float, value))
        if self.series is not None:
            number = units.number_of("repetition", len(self.guest))
            name = f"{NAMES[self.figure]} over intervals"
            return f"guest's {name} {shown}, mean of {number}"
        text = f"guest's {NAMES[self.figure]} {shown}"
        if self.figure == "cv_percent":
            text += f" ({self.shown_interval})"
        text += f" over {len(self.guest)} repetitions"
        if bare is not None:
            text += f", bare metal's {self.show(bare)} over {len(self.bare)}"
        if self._is_ratio and self.ratio is not None:
            text += (
                f", ratio on logarithms {self.ratio.value:.3g} "
                f"({self.shown_interval})"
            )
        return text

    def cells(self) -> metric_result.Cells:
        """Return figure, interval and limit as texts for a table."""
        limit = f"limit {self.shown_limit}"
        name = self.figure.removesuffix("_percent").replace("_", " ")
        figure = self._compute_figure(self.guest)
        if self._is_ratio and figure is not None:
            value = f"{name} {figure:.3g}"
            return metric_result.Cells(value, self.shown_ends, limit)
        if figure is None:
            return metric_result.Cells("", "", limit)
        value = f"{name} {self.show(figure)}"
        return metric_result.Cells(value, self.shown_ends, limit)

    def _likely_values(self) -> Values:
        """Return values that could give the lowest figure if repeated."""
        if self.series is not None:
            return self.guest
        return (*self.guest, statistics.geometric_mean(self.guest))

    def _describe_required(self) -> str:
        """Return which side requires more repetitions as text, or ""."""
        guest = len(self.guest)
        if not self._is_ratio:
            return f", {verdict.more_repetitions(guest)}"
        bare = len(self.bare)
        if min(bare, guest) >= statistics.FEWEST and self.ratio is None:
            return ""
        return f", {verdict.more_repetitions(guest, bare)}"

    def is_failure_final(self, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        The remaining repetitions are assumed to give the lowest figure. An
        interval at 99.9 % must be beyond the limit as well.
        """
        if self.status != "failed" or self.limit is None:
            return False
        remaining = max(0, planned - len(self.guest))
        for likely in set(self._likely_values()):
            value = self._compute_figure((*self.guest, *[likely] * remaining))
            if value is None or value <= self.limit:
                return False
        if self.interval is None:
            return True
        final = self._interval(needed.FINAL_CONFIDENCE)
        return final is not None and final[0] > self.limit

    def _compute_figure(self, guest: Values) -> float | None:
        """Return the figure for these values of the guest, or None."""
        if not self._is_ratio:
            return self.of(guest)
        ratio = spread.ratio(self.bare, guest, self.confidence)
        return ratio.value if ratio else None

    def _status(self, limit: float) -> verdict.Status:
        """Return whether the figure is within a limit, as a status."""
        if len(self.guest) < statistics.FEWEST:
            return "inconclusive"
        if self.interval is not None:
            return verdict.decide_interval(*self.interval, limit)
        value = self.of(self.guest)
        if self._is_ratio or value is None:
            return "inconclusive"
        return "failed" if value > limit else "passed"
