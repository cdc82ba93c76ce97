"""What guests lose to neighbours, as a report shows it."""

import typing as t

from rally_vmperf.measurement import neighbours_judge
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.samples import units
from rally_vmperf.report import run as runs
from rally_vmperf.report import text


def described(run: runs.RunReport) -> list[str]:
    """Return how many guests are neighbours, and what they run."""
    asked = run.last["options"].get("neighbours")
    if not asked:
        return []
    number = units.number_of("guest", asked["guests"])
    words = f"{number}, the last, with {text.flat(asked['workload'])}"
    return [f"{words} ({text.flat(asked['arguments'])})"]


def losses(
    run: runs.RunReport,
) -> summary.Summary[neighbours_judge.Row] | None:
    """Return what guests lose to neighbours, judged if there are limits."""
    if not run.last.get("options", {}).get("neighbours"):
        return None
    for one in run.judgements.values():
        if any(isinstance(row, neighbours_judge.Row) for row in one.rows):
            return one
    told = neighbours_judge.NeighboursJudge()
    told.take(run.repetitions, 0)
    return t.cast("summary.Summary[neighbours_judge.Row]", told.judgement())
