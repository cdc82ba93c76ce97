"""The loss caused by neighbours in a report."""

import typing as t

from rally_vmperf.judging import neighbours_judge
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import figure_result
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import reports
from rally_vmperf.report import text

#: The heading of the verdict on neighbours.
HEADING = "Neighbours"


def describe(run: reports.RunReport) -> reports.Facts:
    """Return titled lines on the neighbours, or [] without them."""
    options = run.last.options.get("neighbours")
    if not options:
        return []
    number = units.number_of("guest", options["guests"])
    text_ = f"{number}, the last, with {text.flatten(options['workload'])}"
    line = f"{text_} ({text.flatten(options['arguments'])})"
    return [(HEADING, [line])]


def losses(
    run: reports.RunReport,
) -> summary.Judgement[figure_result.FigureResult] | None:
    """Return the judgement on neighbours; None without neighbours."""
    if not run.records or not run.last.options.get("neighbours"):
        return None
    if judgement := run.judgements.get(HEADING):
        return judgement
    judge = neighbours_judge.NeighboursJudge()
    judge.extend(run.repetitions, 0)
    return t.cast(
        "summary.Judgement[figure_result.FigureResult]",
        judge.judgement(),
    )
