"""The judge of spread: the variation between repetitions of a run."""

import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import overhead_judge
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import result
from rally_vmperf.judging.results import spreads
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition


class SpreadJudge(judge.Judge):
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

    def figures(self, repetitions: judge.Repetitions) -> list[result.Result]:
        """Return the unjudged rows of each rate and time, as a list."""
        compared = [
            row
            for row in self._overhead.figures(repetitions)
            if row.metric.scale == "ratio"
        ]
        names = {row.metric.name for row in compared}
        return [
            build.build_spread(
                row,
                kind,
                self.limits[f"max_{kind}"].for_metric(row.metric.name, names),
            )
            for row in compared
            for kind in spreads.NAMES
        ]

    def findings(
        self, repetitions: judge.Repetitions, rows: judge.Rows
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        compared = {
            id(row.figure.compared): row.figure.compared
            for row in rows
            if isinstance(row.figure, spreads.Spread)
        }
        return self._overhead.findings(repetitions, [*compared.values()])
