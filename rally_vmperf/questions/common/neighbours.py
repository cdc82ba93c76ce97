"""The criterion on what guests lose to neighbours."""

import typing as t

from rally_vmperf.measurement import neighbours_judge
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task


def _check(asked: task.Task, limits: question.Json, baseline: t.Any) -> None:
    """Refuse limits without neighbours that could be held to them."""
    if asked.neighbours is None:
        raise task.Refused(
            f"sla {CRITERION.name}: the task has no neighbours; give "
            "neighbours: {guests: 1, workload: {name: ...}}, or leave it out"
        )


CRITERION = question.Criterion(
    name="vmperf_neighbours",
    title="Limits on what guests lose while others work beside them.",
    heading="Neighbours",
    schema=question.schema(
        {
            "max_percent": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss "
                "with neighbours, in percent of that without; the most exact "
                "match wins.",
            },
        },
        required=["max_percent"],
    ),
    judge=neighbours_judge.NeighboursJudge,
    limits={"max_percent": ("ratio",)},
    bounds=task.bounds(),
    check=_check,
)
