# SPDX-License-Identifier: Apache-2.0
"""The spread of repetitions, and the fairness between guests."""

import dataclasses
import functools
import typing as t

from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import fairness
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import units

SpreadName = t.Literal["range_percent", "cv_percent"]
#: Figure -> its name; the option of its limit is ``max_`` and the figure.
NAMES: dict[SpreadName, str] = {
    "range_percent": "range",
    "cv_percent": "coefficient of variation",
}
Values = tuple[float, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpreadFigure(figures.Figure):
    """The spread of the repetitions of a metric.

    :param kind: The figure of the spread.
    :param compared: The samples of the metric, compared with bare metal.
    :param statistic: The guest to which a limit applies.
    """

    kind: SpreadName
    compared: result.Result
    statistic: contrasts.Statistic = "mean"

    @property
    def name(self) -> str:
        """The name of the figure for other programs."""
        return self.kind

    def label(self, status: verdict.Status | None) -> str:
        """Return the text before the figure in a table."""
        return self.kind.removesuffix("_percent")

    @property
    def decimals(self) -> int:
        """The least number of decimals."""
        return 2

    @property
    def measured(self) -> bool:
        """Whether the guests have samples of the figure."""
        return bool(self.guest)

    @functools.cached_property
    def guest(self) -> Values:
        """The guests' mean value of each counted repetition, a tuple."""
        return gathering.geometric_means(self.compared.figure.sides[1])

    @functools.cached_property
    def bare(self) -> Values:
        """The copies' mean value of each baseline repetition, a tuple."""
        return gathering.geometric_means(self.compared.figure.sides[0])

    @functools.cached_property
    def guests(self) -> dict[str, Values]:
        """The values of each guest; empty if there is only one."""
        figure = self.compared.figure
        if not isinstance(figure, figures.GuestFigure):
            return {}
        return {
            guest: tuple(map(statistics.geometric_mean, values))
            for guest, values in figure.of_guests.guests.items()
        }

    @functools.cached_property
    def _worst(self) -> str:
        """The guest with the largest spread; "" if the mean is judged."""
        if self.statistic == "mean":
            return ""
        return max(
            sorted(self.guests),
            key=lambda guest: self.of(self.guests[guest]) or 0.0,
            default="",
        )

    @property
    def decisive(self) -> Values:
        """The values that a limit applies to: of all guests, or the worst."""
        return self.guests[self._worst] if self._worst else self.guest

    def find_subject(self, status: verdict.Status | None) -> figures.Subject:
        """Return the guests that the figure speaks of."""
        if self._worst:
            return figures.Subject(figures.WORST_GUEST, self._worst)
        return figures.select_subject(self.compared.figure.sides[1])

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval of the figure; None without one, as of a range."""
        return self._compute_interval(self.decisive, self.confidence)

    def _compute_interval(
        self, values: Values, confidence: float
    ) -> tuple[float, float] | None:
        """Return the interval of the figure of values, or None."""
        value = self.of(values)
        if self.kind != "cv_percent" or value is None:
            return None
        return statistics.cv_interval(value, len(values), confidence)

    def of(self, values: Values) -> float | None:
        """Return the spread of values; None for fewer than two."""
        spreads = statistics.find_spread(values)
        if spreads is None:
            return None
        is_range = self.kind == "range_percent"
        return spreads.range_percent if is_range else spreads.cv_percent

    def explain_missing(self) -> str:
        """Return why the figure is missing as text, or ""."""
        if not self.guest:
            return gathering.NO_COMPLETE_SAMPLES
        if len(self.guest) < statistics.FEWEST_TO_SPREAD:
            return f"1 repetition of the guest has no {NAMES[self.kind]}"
        return ""

    def estimate(
        self, status: verdict.Status | None = None
    ) -> units.Estimate | None:
        """Return the spread of the guests; None if it is missing."""
        value = self.of(self.decisive)
        if value is None:
            return None
        return units.Estimate(value, *(self.interval or ()))

    def decide(self, limit: float) -> verdict.Status:
        """Return whether the figure is within a limit, as a status.

        If the worst guest is judged, each guest passes without correction.
        """
        if not self._worst:
            return self._decide_values(self.guest, limit, self.confidence)
        corrected = verdict.correct_confidence(
            self.confidence, len(self.guests)
        )
        statuses, of_failure = (
            {
                self._decide_values(values, limit, confidence)
                for values in self.guests.values()
            }
            for confidence in (self.confidence, corrected)
        )
        if statuses == {"passed"}:
            return "passed"
        return "failed" if "failed" in of_failure else "inconclusive"

    def _decide_values(
        self, values: Values, limit: float, confidence: float
    ) -> verdict.Status:
        """Return whether the spread of values is within a limit."""
        value = self.of(values)
        if len(values) < statistics.FEWEST or value is None:
            return "inconclusive"
        interval = self._compute_interval(values, confidence)
        if interval is not None:
            return verdict.decide_interval(*interval, limit)
        return "failed" if value > limit else "passed"

    def describe_differing(self, limit: float) -> str:
        """Return which guests are beyond the limit of all guests, or ""."""
        if self.statistic == "worst":
            return ""
        beyond = {
            guest: self.of(values) or 0.0
            for guest, values in self.guests.items()
            if self._decide_values(values, limit, self.confidence) == "failed"
        }
        if not beyond:
            return ""
        worst = max(beyond, key=beyond.__getitem__)
        guests = units.number_of("guest", len(self.guests))
        return (
            f"{len(beyond)} of {guests} beyond the {self.show_limit(limit)}: "
            f"the {NAMES[self.kind]} of {worst} is "
            f"{self.show(units.Estimate(beyond[worst]), limit).value}"
        )

    def may_be_within(self, limit: float) -> bool:
        """Return whether the figure has an interval."""
        return self.interval is not None

    def is_failure_final(self, limit: float, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        The remaining repetitions are assumed to give the lowest figure. An
        interval at 99.9 % must be beyond the limit as well.
        """
        values = self.decisive
        remaining = max(0, planned - len(values))
        mean = statistics.geometric_mean(values)
        for likely in {*values, mean}:
            value = self.of((*values, *[likely] * remaining))
            if value is None or value <= limit:
                return False
        if self.interval is None:
            return True
        final = self._compute_interval(values, needed.FINAL_CONFIDENCE)
        return final is not None and final[0] > limit

    def describe(
        self, limit: float | None, status: verdict.Status | None
    ) -> str:
        """Return the figures of guest and bare metal as a clause."""
        shown, interval = self.show(
            self.estimate() or units.Estimate(0.0), limit
        )
        subject = f"{self._worst}'s" if self._worst else "guest's"
        text = f"{subject} {NAMES[self.kind]} {shown}"
        if self.kind == "cv_percent":
            sure = f"{self.confidence * 100:g} % interval {interval}"
            text += f" ({sure if interval else 'no interval'})"
        text += f" over {len(self.decisive)} repetitions"
        bare = self.of(self.bare)
        if bare is not None:
            shown, _ = self.show(units.Estimate(bare), None)
            text += f", bare metal's {shown} over {len(self.bare)}"
        return text

    def advise(self, limit: float) -> str:
        """Return what would decide an inconclusive spread, as a clause."""
        return verdict.more_repetitions(len(self.guest))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fairness(figures.Figure):
    """The differences between the guests at a number of guests.

    :param kind: Jain's index, or the spread in percent.
    """

    kind: fairness.Figure
    point: points.Point

    @property
    def name(self) -> str:
        """The name of the figure for other programs."""
        return self.kind

    def label(self, status: verdict.Status | None) -> str:
        """Return the text before the figure in a table."""
        return self.kind

    @property
    def decimals(self) -> int:
        """The least number of decimals."""
        return 3 if self.kind == "index" else 1

    @property
    def unit(self) -> str:
        """The unit: an index has none."""
        return "1" if self.kind == "index" else "%"

    @property
    def is_minimum(self) -> bool:
        """Whether the limit is the smallest tolerated figure."""
        return self.kind == "index"

    @functools.cached_property
    def unevenness(self) -> fairness.Unevenness | None:
        """The differences between the guests; None for a single guest."""
        return self.point.unevenness(self.kind)

    def estimate(
        self, status: verdict.Status | None = None
    ) -> units.Estimate | None:
        """Return the mean over repetitions; None for a single guest."""
        uneven = self.unevenness
        if uneven is None:
            return None
        ends = map(uneven.to_figure, uneven.interval(self.confidence) or ())
        return units.Estimate(uneven.to_figure(uneven.mean), *sorted(ends))

    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the fairness against a limit."""
        if self.unevenness is None:
            return "inconclusive"
        return self.unevenness.decide(limit, self.confidence)

    def may_be_within(self, limit: float) -> bool:
        """Return whether the figure has an interval."""
        uneven = self.unevenness
        if uneven is None or self.point.skipped:
            return False
        return uneven.interval(self.confidence) is not None

    def is_failure_final(self, limit: float, planned: int) -> bool:
        """Return whether no further repetitions can meet the limit."""
        return self.unevenness is not None and (
            self.unevenness.is_failure_final(
                limit, needed.FINAL_CONFIDENCE, planned
            )
        )

    def describe(
        self, limit: float | None, status: verdict.Status | None
    ) -> str:
        """Return the figure, its interval and its worst value as a clause."""
        uneven = self.unevenness
        estimate = self.estimate()
        if uneven is None or estimate is None:
            return ""
        most = max(uneven.values)
        number = self.point.samples[uneven.values.index(most)].number
        mean, interval = self.show(estimate, limit)
        worst, _ = self.show(
            estimate._replace(value=uneven.to_figure(most)), limit
        )
        sure = f"{self.confidence * 100:g} % interval {interval}"
        name = "fairness index" if self.kind == "index" else "spread"
        return (
            f"{name} {mean} ({sure if interval else 'no interval'}), {worst} "
            f"in its worst repetition ({number})"
        )

    def advise(self, limit: float) -> str:
        """Return what would decide an inconclusive figure, as a clause."""
        values = self.unevenness.values if self.unevenness else ()
        return verdict.more_repetitions(len(values))
