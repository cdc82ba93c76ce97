# SPDX-License-Identifier: Apache-2.0
"""The rules of spread: the variation between repetitions of a run."""

from rally_vmperf.judging import judge
from rally_vmperf.judging import overhead
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import result
from rally_vmperf.judging.results import spreads
from rally_vmperf.measurement import finding


def _build(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[result.Result]:
    """Return the spread of each rate and time, as a list.

    An option with limits is ``max_`` and the name of a figure.
    """
    compared = judge.Judge(
        overhead.RULES,
        options=judge.GuestOptions(confidence=run_judge.options.confidence),
    ).figures(repetitions)
    ratios = [row for row in compared if row.metric.scale == "ratio"]
    names = {row.metric.name for row in ratios}
    return [
        build.build_spread(
            row,
            kind,
            run_judge.limits[f"max_{kind}"].for_metric(row.metric.name, names),
            run_judge.options.statistic,
        )
        for row in ratios
        for kind in spreads.NAMES
    ]


def _find(
    run_judge: judge.Judge, repetitions: judge.Repetitions, rows: judge.Rows
) -> finding.Occurrences:
    """Yield the findings that void samples, and so their spread as well."""
    compared = {
        id(row.figure.compared): row.figure.compared
        for row in rows
        if isinstance(row.figure, spreads.SpreadFigure)
    }
    return overhead.find(run_judge, repetitions, [*compared.values()])


RULES = judge.Rules(
    build=_build,
    find=_find,
)
