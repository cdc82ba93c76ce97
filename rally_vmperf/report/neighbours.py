"""The loss caused by neighbours in a report."""

import typing as t

from rally_vmperf.measurement import neighbours_judge
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import run as runs
from rally_vmperf.report import text


def described(run: runs.RunReport) -> list[str]:
    """Return the number of neighbours and their workload."""
    options = run.last["options"].get("neighbours")
    if not options:
        return []
    number = units.number_of("guest", options["guests"])
    text_ = f"{number}, the last, with {text.flat(options['workload'])}"
    return [f"{text_} ({text.flat(options['arguments'])})"]


def losses(
    run: runs.RunReport,
) -> summary.Summary[neighbours_judge.Row] | None:
    """Return the loss caused by neighbours, with verdicts if limited."""
    if not run.last.get("options", {}).get("neighbours"):
        return None
    for judgement in run.judgements.values():
        if any(
            isinstance(row, neighbours_judge.Row) for row in judgement.rows
        ):
            return judgement
    judge = neighbours_judge.NeighboursJudge()
    judge.take(run.repetitions, 0)
    return t.cast("summary.Summary[neighbours_judge.Row]", judge.judgement())
