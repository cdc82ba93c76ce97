"""The judge of neighbours: losses caused by the load of other guests."""

import collections.abc
import typing as t

from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import figure_result
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample

#: The heading of the verdict.
HEADING = "Neighbours"
#: The axis of the number of guests that run another workload.
NEIGHBOURS = "neighbours"
#: The reason why there is no pair.
_NO_PAIR = "no counted repetition has it with and without neighbours"

#: The names of both sides and of the loss in sentences.
_NAMES = ("without neighbours", "with neighbours", "loss")

Conditions = list[repetition.Condition]


class NeighboursJudge(judge.Judge[figure_result.FigureResult]):
    """A judge of losses while other guests run another workload.

    The option with limits is ``max_percent``, the largest tolerated loss.

    :param options: The arguments of the base class.
    """

    def __init__(self, **options: t.Any) -> None:
        super().__init__(**options)
        self.tolerate = {*self.tolerate, *finding.ABOUT_BARE_METAL}

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether each condition has a number of neighbours."""
        return run_repetition.has_axis(NEIGHBOURS)

    def figures(
        self, repetitions: judge.Repetitions
    ) -> list[figure_result.FigureResult]:
        """Return a row per rate or time and level on its loss, as a list."""
        conditions = [
            condition
            for run_repetition in repetitions
            for condition in run_repetition.conditions
        ]
        metrics = [
            metric
            for metric in gathering.metrics(conditions)
            if metric.scale == "ratio"
        ]
        levels: dict[int | None, Conditions] = {}
        for level_condition in conditions:
            if not level_condition.skip_reason:
                levels.setdefault(level_condition.guests, []).append(
                    level_condition
                )
        names = [metric.name for metric in metrics]
        return [
            self._create_row(
                metric,
                guests,
                level_conditions,
                names,
                ""
                if guests is None
                else density_levels.find_void_sentence(
                    metric.name, repetitions, level_conditions, self.tolerate
                ),
            )
            for metric in metrics
            for guests, level_conditions in sorted(
                levels.items(), key=lambda level: level[0] or 0
            )
        ]

    def _create_row(
        self,
        metric: sample.Metric,
        guests: int | None,
        conditions: Conditions,
        names: collections.abc.Collection[str],
        void_level: str,
    ) -> figure_result.FigureResult:
        """Return the row of a metric's loss at one level."""
        quiet, loud = gathering.pair_samples(
            metric,
            repetition.select(conditions, neighbours=False),
            repetition.select(conditions, neighbours=True),
        )
        limit = self.limits["max_percent"].for_metric(metric.name, names)
        return figure_result.FigureResult(
            metric=metric,
            figure="overhead",
            reason="" if quiet else _NO_PAIR,
            limit=limit and limit[0],
            pattern=limit and limit[1],
            bare=quiet,
            guest=loud,
            names=_NAMES,
            paired=True,
            confidence=self.confidence,
            guests=guests,
            void_level=void_level,
        )

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[figure_result.FigureResult],
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        for run_repetition in repetitions:
            yield from (
                (reported_finding, run_repetition.number)
                for reported_finding in run_repetition.findings
            )
        if density_levels.has_levels(repetitions):
            yield from density_levels.findings(repetitions)
        else:
            for run_repetition in repetitions:
                for condition in run_repetition.conditions:
                    for reported_finding in condition.findings:
                        yield reported_finding, run_repetition.number
        for row in rows:
            if row.comparison is not None:
                where = row.level_suffix and f"{row.level_suffix.lstrip()}: "
                for reported_finding in plausibility.of_pairs(
                    row.comparison, row.limit, where
                ):
                    yield reported_finding, None

    def run_wide_findings(
        self,
        findings: collections.abc.Iterable[finding.Finding],
        repetitions: judge.Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about a whole repetition, as a set.

        In a run with several numbers of guests, findings of a single number
        are omitted.
        """
        if density_levels.has_levels(repetitions):
            return density_levels.repetition_wide_findings(
                findings, repetitions
            )
        return super().run_wide_findings(findings, repetitions)
