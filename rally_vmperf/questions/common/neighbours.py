"""The criterion for the loss that neighbours cause."""

import typing as t

from rally_vmperf.measurement import neighbours_judge
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task


def _check_has_neighbours(
    subtask: task.Task, limits: question.Json, baseline: t.Any
) -> None:
    """Reject limits if the task has no neighbours."""
    if subtask.neighbours is None:
        raise task.InvalidTask(
            f"sla {CRITERION.name}: the task has no neighbours; add "
            "neighbours: {guests: 1, workload: {name: ...}}, or remove the SLA"
        )


CRITERION = question.Criterion(
    name="vmperf_neighbours",
    title="Limits on the loss of guests while neighbours run their workload.",
    heading="Neighbours",
    schema=question.build_schema(
        {
            "max_percent": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss "
                "with neighbours, in percent of the result without them; the "
                "most specific match applies.",
            },
        },
        required=["max_percent"],
    ),
    judge=neighbours_judge.NeighboursJudge,
    limits={"max_percent": ("ratio",)},
    bounds=task.create_limit_check(),
    check=_check_has_neighbours,
)
