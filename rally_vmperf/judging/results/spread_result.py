"""The spread of a metric: the variation between repetitions."""

import dataclasses
import functools
import typing as t

from rally_vmperf.judging.results import figure_result
from rally_vmperf.judging.results import metric_result
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import spread
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

Figure = t.Literal["range_percent", "cv_percent"]
#: Figure -> its name; the option of its limit is ``max_`` and the figure.
NAMES: dict[Figure, str] = {
    "range_percent": "range",
    "cv_percent": "coefficient of variation",
}
Values = tuple[float, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpreadResult(metric_result.MetricResult):
    """One figure of the spread of a metric, with its limit.

    :param compared: The samples of the metric, compared with bare metal.
    :param limit: The limit in percent.
    """

    figure: Figure
    compared: figure_result.FigureResult

    @functools.cached_property
    def guest(self) -> Values:
        """The guests' mean value of each counted repetition, a tuple."""
        return gathering.geometric_means(self.compared.guest)

    @functools.cached_property
    def bare(self) -> Values:
        """The copies' mean value of each baseline repetition, a tuple."""
        return gathering.geometric_means(self.compared.bare)

    @property
    def measured(self) -> bool:
        """Whether the guest has samples."""
        return bool(self.guest)

    @functools.cached_property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the figure; None without one, as of a range."""
        return self._interval(self.confidence)

    def _interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the interval of the figure at a confidence, or None."""
        value = self.of(self.guest)
        if self.figure != "cv_percent" or value is None:
            return None
        return spread.cv_interval(value, len(self.guest), confidence)

    @property
    def is_only_undecided(self) -> bool:
        """Whether the figure has an interval."""
        return self.interval is not None

    def of(self, values: Values) -> float | None:
        """Return the spread of values; None for fewer than two."""
        figures = spread.spread(values)
        if figures is None:
            return None
        is_range = self.figure == "range_percent"
        return figures.range_percent if is_range else figures.cv_percent

    def show(self, figure: float) -> str:
        """Return a number of the figure as text, with its unit."""
        return units.show(figure, "%")

    @property
    def shown_limit(self) -> str:
        """The limit as text; "" without one."""
        return "" if self.limit is None else f"{self.limit:g} %"

    @property
    def shown_ends(self) -> str:
        """The ends of the interval as text, "" without one.

        An end is not rounded to the limit.
        """
        if self.interval is None:
            return ""
        for digits in range(3, 7):
            ends = [f"{end:.{digits}g}" for end in self.interval]
            if self.limit not in [float(end) for end in ends]:
                break
        return " to ".join(ends) + " %"

    @property
    def shown_interval(self) -> str:
        """The interval as text, "no interval" without one."""
        ends = self.shown_ends
        sure = f"{self.confidence * 100:g} % interval"
        return f"{sure} {ends}" if ends else "no interval"

    @property
    def reason(self) -> str:
        """The reason why the figure is missing as text, or ""."""
        if not self.guest:
            return gathering.NO_COMPLETE_SAMPLES
        if len(self.guest) < spread.FEWEST:
            return f"1 repetition of the guest has no {NAMES[self.figure]}"
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
                text += f", {verdict.more_repetitions(len(self.guest))}"
        return ". ".join([text, *self.void_reasons()])

    def _describe_figures(self) -> str:
        """Return the figures of guest and bare metal as text."""
        value, bare = self.of(self.guest), self.of(self.bare)
        shown = self.show(t.cast(float, value))
        text = f"guest's {NAMES[self.figure]} {shown}"
        if self.figure == "cv_percent":
            text += f" ({self.shown_interval})"
        text += f" over {len(self.guest)} repetitions"
        if bare is not None:
            text += f", bare metal's {self.show(bare)} over {len(self.bare)}"
        return text

    def cells(self) -> metric_result.Cells:
        """Return figure, interval and limit as texts for a table."""
        limit = f"limit {self.shown_limit}"
        value = self.of(self.guest)
        if value is None:
            return metric_result.Cells("", "", limit)
        name = self.figure.removesuffix("_percent")
        return metric_result.Cells(
            f"{name} {self.show(value)}", self.shown_ends, limit
        )

    def is_failure_final(self, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        The remaining repetitions are assumed to give the lowest figure. An
        interval at 99.9 % must be beyond the limit as well.
        """
        if self.status != "failed" or self.limit is None:
            return False
        remaining = max(0, planned - len(self.guest))
        mean = statistics.geometric_mean(self.guest)
        for likely in {*self.guest, mean}:
            value = self.of((*self.guest, *[likely] * remaining))
            if value is None or value <= self.limit:
                return False
        if self.interval is None:
            return True
        final = self._interval(needed.FINAL_CONFIDENCE)
        return final is not None and final[0] > self.limit

    def _status(self, limit: float) -> verdict.Status:
        """Return whether the figure is within a limit, as a status."""
        value = self.of(self.guest)
        if len(self.guest) < statistics.FEWEST or value is None:
            return "inconclusive"
        if self.interval is not None:
            return verdict.decide_interval(*self.interval, limit)
        return "failed" if value > limit else "passed"
