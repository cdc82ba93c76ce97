"""The judges of density: the loss of guests, and their fairness."""

import collections.abc
import typing as t

from rally_vmperf.judging import density_findings
from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import curve
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample

#: The numbers of guests to which a limit applies, or all of them.
Levels = t.Literal["all"] | int | collections.abc.Sequence[int]


class _Judge(judge.Judge):
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
        self, repetitions: judge.Repetitions, rows: judge.Rows
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        curves = [each for each in curve.group(rows) if each.points]
        return density_findings.collect(repetitions, curves)

    def run_wide_findings(
        self,
        findings: collections.abc.Iterable[finding.Finding],
        repetitions: judge.Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about whole repetitions, as a set."""
        return density_levels.repetition_wide_findings(findings, repetitions)

    def _build_points(
        self, metric: sample.Metric, measured: density_levels.RunMetrics
    ) -> tuple[points.Point, ...]:
        """Return the rates of a metric at all levels, as a tuple."""
        return density_levels.build_points(
            metric,
            measured,
            self.confidence,
            self.tolerate,
            self.numbers or (),
        )

    def _limited_levels(
        self, measured: collections.abc.Iterable[int]
    ) -> list[int]:
        """Return the numbers of guests to which a limit applies, sorted.

        :param measured: The measured numbers of guests, ascending.
        """
        return list(measured) if self.numbers is None else self.numbers


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

    def figures(self, repetitions: judge.Repetitions) -> list[result.Result]:
        """Return rows of the losses, then of the absolute figures, a list."""
        return [
            *self._build_losses(repetitions),
            *self._build_absolute(repetitions),
        ]

    def _build_absolute(self, repetitions: judge.Repetitions) -> build.Results:
        """Yield a row for each absolute figure with a limit or a count."""
        metrics = density_levels.metrics(repetitions)
        names = [metric.name for metric in metrics]
        levels = self._limited_levels(density_levels.guest_counts(repetitions))
        for metric in metrics:
            for guests in levels:
                conditions = density_levels.counted_conditions(
                    repetitions, guests
                )
                void = density_levels.void_reason(
                    metric, repetitions, conditions, self.tolerate
                )
                executed = [
                    each for each in conditions if not each.skip_reason
                ]
                reference = repetition.NO_REFERENCE
                yield from build.build_absolute(
                    metric,
                    executed,
                    executed[0].reference if executed else reference,
                    self.limits,
                    names,
                    self.confidence,
                    guests=guests,
                    void=void,
                    is_void=bool(void),
                    skipped=len(conditions) - len(executed),
                )

    def _build_losses(self, repetitions: judge.Repetitions) -> build.Results:
        """Yield the rows of each metric's loss."""
        measured = density_levels.RunMetrics.collect(repetitions)
        names = [metric.name for metric in measured.ratios]
        first = 2 if self.compare_to == "solo_guest" else 1
        levels = self._limited_levels(
            number
            for number in density_levels.guest_counts(repetitions)
            if number >= first
        )
        for metric in measured.ratios:
            yield from build.build_degradation(
                self._build_points(metric, measured),
                self.limits["max_percent"].for_metric(metric.name, names),
                levels,
                self.statistic,
                self.compare_to,
                self.tolerate,
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

    def figures(self, repetitions: judge.Repetitions) -> list[result.Result]:
        """Return the rows of fairness of the metrics, a list."""
        rows: list[result.Result] = []
        measured = density_levels.RunMetrics.collect(repetitions)
        names = [metric.name for metric in measured.ratios]
        for metric in measured.ratios:
            all_points = self._build_points(metric, measured)
            shared = self._limited_levels(
                point.guests
                for point in all_points
                if point.guests > 1 or point.fairness is not None
            )
            index = self.limits["min_index"].for_metric(metric.name, names)
            spread = self.limits["max_spread_percent"].for_metric(
                metric.name, names
            )
            if index or not spread:
                rows += build.build_fairness(
                    all_points, "index", index, shared
                )
            if spread:
                rows += build.build_fairness(
                    all_points, "spread", spread, shared
                )
        return rows
