"""The judges of density: the loss of guests, and their fairness."""

import collections.abc
import dataclasses
import itertools
import typing as t

from rally_vmperf.judging import density_findings
from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import density_result
from rally_vmperf.judging.results import figure_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import max_guests
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample

#: The numbers of guests to which a limit applies, or all of them.
Levels = t.Literal["all"] | int | collections.abc.Sequence[int]
#: A limit and the pattern that gave it.
Limit = tuple[float, str] | None
#: A loss or fairness over numbers of guests.
Curve = density_result.DensityResult
#: The same, or an absolute figure at a level.
Result = Curve | figure_result.FigureResult
Rows = collections.abc.Sequence[Result]

#: The statuses, the most severe one first.
_BY_SEVERITY = ("failed", "void", "inconclusive", "passed")


def _select_curves(rows: Rows) -> tuple[Curve, ...]:
    """Return the rows without absolute figures, as a tuple."""
    return tuple(row for row in rows if isinstance(row, Curve))


class _Judge(judge.Judge[Result]):
    """The base class of judges of conditions with numbers of guests.

    :param levels: The numbers of guests with limits, or ``all``.
    :param strictness: The options of the base judge.
    """

    def __init__(
        self,
        levels: Levels,
        compare_to: points.CompareTo = "solo_guest",
        **strictness: t.Any,
    ) -> None:
        super().__init__(**strictness)
        if compare_to != "bare_metal":
            self.tolerate = {*self.tolerate, *finding.ABOUT_BARE_METAL}
        numbers = [levels] if isinstance(levels, int) else levels
        #: None for every one.
        self.numbers = None if numbers == "all" else sorted({*numbers})

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether the conditions of a repetition have levels."""
        return run_repetition.has_axis(repetition.GUESTS)

    def findings(
        self, repetitions: judge.Repetitions, rows: Rows
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        return density_findings.collect(repetitions, _select_curves(rows))

    def run_wide_findings(
        self,
        findings: collections.abc.Iterable[finding.Finding],
        repetitions: judge.Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about whole repetitions, as a set."""
        return density_levels.repetition_wide_findings(findings, repetitions)

    def _rows(
        self,
        metric: sample.Metric,
        measured: density_levels.RunMetrics,
        figures: collections.abc.Mapping[density_result.Figure, Limit],
        **options: t.Any,
    ) -> list[Curve]:
        """Return an unjudged row for each figure of a metric, as a list."""
        all_points = density_levels.build_points(
            metric, measured, self.confidence, self.tolerate
        )
        reasons = [point.reason for point in all_points if point.reason]
        has_figures = any(point.mean is not None for point in all_points)
        return [
            Curve(
                metric=metric,
                points=all_points,
                figure=figure,
                limit=limit and limit[0],
                pattern=limit and limit[1],
                reason="" if has_figures or not reasons else reasons[0],
                confidence=self.confidence,
                **options,
            )
            for figure, limit in figures.items()
        ]

    def _limited_levels(
        self, measured: collections.abc.Iterable[int]
    ) -> list[int]:
        """Return the numbers of guests to which a limit applies, sorted.

        :param measured: The measured numbers of guests, ascending.
        """
        return list(measured) if self.numbers is None else self.numbers


def _with_statuses(
    row: Curve,
    statuses: dict[int, verdict.Status],
    **changes: t.Any,
) -> Curve:
    """Return a copy of a row with verdicts; inconclusive without any."""
    status = next(
        (status for status in _BY_SEVERITY if status in statuses.values()),
        "inconclusive",
    )
    return dataclasses.replace(
        row,
        statuses=statuses,
        status=t.cast(verdict.Status, status),
        **changes,
    )


class DegradationJudge(_Judge):
    """The judge of the loss of guests as their number grows.

    The options with limits are ``max_percent``, ``max`` and ``min``.

    :param levels: The numbers of guests with limits, or ``all``.
    :param statistic: The guest to which limits apply, mean or worst.
    :param compare_to: The reference of the loss.
    :param options: The options of the base judge.
    """

    def __init__(
        self,
        *,
        levels: Levels = "all",
        statistic: points.Statistic = "mean",
        compare_to: points.CompareTo = "solo_guest",
        **options: t.Any,
    ) -> None:
        super().__init__(levels, compare_to, **options)
        self.statistic = statistic
        self.compare_to = compare_to

    def figures(self, repetitions: judge.Repetitions) -> list[Result]:
        """Return rows of the losses, then of the absolute figures, a list."""
        return [
            *self._judge_losses(repetitions),
            *self._judge_absolute(repetitions),
        ]

    def _judge_absolute(
        self, repetitions: judge.Repetitions
    ) -> collections.abc.Iterator[figure_result.FigureResult]:
        """Yield a row for each absolute figure with a limit or a count."""
        metrics = density_levels.metrics(repetitions)
        names = [metric.name for metric in metrics]
        limited_levels = self._limited_levels(
            density_levels.guest_counts(repetitions)
        )
        limited_metrics = [
            metric
            for metric in metrics
            if limits.absolute_figures(metric, self.limits)
        ]
        for metric, guests in itertools.product(
            limited_metrics, limited_levels
        ):
            conditions = density_levels.counted_conditions(repetitions, guests)
            yield from density_levels.absolute_rows(
                metric,
                conditions,
                guests,
                density_levels.void_reason(
                    metric, repetitions, conditions, self.tolerate
                ),
                self.limits,
                names,
                self.confidence,
            )

    def _judge_losses(
        self, repetitions: judge.Repetitions
    ) -> collections.abc.Iterator[Curve]:
        """Yield the row of each metric's loss, judged if it has a limit."""
        measured = density_levels.RunMetrics.collect(repetitions)
        names = [metric.name for metric in measured.ratios]
        for metric in measured.ratios:
            limit = self.limits["max_percent"].for_metric(metric.name, names)
            (row,) = self._rows(
                metric,
                measured,
                {"loss": limit},
                statistic=self.statistic,
                compare_to=self.compare_to,
            )
            yield self._apply_limit(row, limit[0]) if limit else row

    def _apply_limit(self, row: Curve, limit: float) -> Curve:
        """Return a row with a verdict on its loss at each limited level."""
        against_solo = self.compare_to == "solo_guest"
        verdicts = {
            point.guests: row.decide(point.guests, limit, self.tolerate)
            for point in row.points
        }
        limited = self._limited_levels(
            n for n in verdicts if not against_solo or n > 1
        )
        if against_solo and (solo := row.point(1)) and solo.usable:
            # The solo guest loses nothing against itself.
            verdicts[1] = "passed" if limit >= 0 else "failed"
        return _with_statuses(
            row,
            {
                guests: verdicts.get(guests, "inconclusive")
                for guests in limited
            },
            max_guests=max_guests.max_guests(verdicts),
        )


class FairnessJudge(_Judge):
    """The judge of the fairness between guests.

    The options with limits are ``min_index``, the smallest tolerated Jain
    index, and ``max_spread_percent``.

    :param levels: The numbers of guests with limits, or ``all``.
    :param options: The options of the base judge.
    """

    def __init__(self, *, levels: Levels = "all", **options: t.Any) -> None:
        super().__init__(levels, **options)

    def figures(self, repetitions: judge.Repetitions) -> list[Result]:
        """Return the judged rows of fairness of the metrics, a list."""
        rows: list[Result] = []
        measured = density_levels.RunMetrics.collect(repetitions)
        names = [metric.name for metric in measured.ratios]
        for metric in measured.ratios:
            index = self.limits["min_index"].for_metric(metric.name, names)
            spread = self.limits["max_spread_percent"].for_metric(
                metric.name, names
            )
            limited: dict[density_result.Figure, Limit] = {}
            if index or not spread:
                limited["index"] = index
            if spread:
                limited["spread"] = spread
            rows += [
                row if row.limit is None else self._apply_limit(row, row.limit)
                for row in self._rows(metric, measured, limited)
            ]
        return rows

    def _apply_limit(self, row: Curve, limit: float) -> Curve:
        """Return a row with a verdict on fairness at each limited level."""
        shared = (
            point.guests
            for point in row.points
            if point.guests > 1 or point.fairness is not None
        )
        return _with_statuses(
            row,
            {n: row.decide(n, limit) for n in self._limited_levels(shared)},
        )
