"""The judge of spread: the variation between repetitions of a run."""

import collections.abc
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import overhead_judge
from rally_vmperf.judging.results import spread_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition


class SpreadJudge(judge.Judge[spread_result.SpreadResult]):
    """A judge of the variation between repetitions of a run.

    An option with limits is ``max_`` and the name of a figure.

    :param options: The arguments of the base class.
    """

    def __init__(self, **options: t.Any) -> None:
        super().__init__(**options)
        # A finding that voids samples voids their spread as well.
        self._overhead = overhead_judge.OverheadJudge(
            confidence=self.confidence
        )

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether a repetition has one condition only."""
        return self._overhead.accepts(run_repetition)

    def figures(
        self, repetitions: judge.Repetitions
    ) -> list[spread_result.SpreadResult]:
        """Return the unjudged rows of each rate and time, as a list."""
        rows: list[spread_result.SpreadResult] = []
        overhead_rows = [
            row
            for row in self._overhead.figures(repetitions)
            if row.metric.scale == "ratio"
        ]
        names = {row.metric.name for row in overhead_rows}
        for compared in overhead_rows:
            name = compared.metric.name
            for figure in spread_result.NAMES:
                limit = self.limits[f"max_{figure}"].for_metric(name, names)
                rows.append(
                    spread_result.SpreadResult(
                        metric=compared.metric,
                        figure=figure,
                        compared=compared,
                        limit=limit and limit[0],
                        pattern=limit and limit[1],
                        confidence=self.confidence,
                    )
                )
        return rows

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[spread_result.SpreadResult],
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        compared = [row.compared for row in rows if row.figure == "cv_percent"]
        return self._overhead.findings(repetitions, compared)
