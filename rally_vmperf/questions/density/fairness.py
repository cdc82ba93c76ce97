"""The criterion on how evenly guests share what there is."""

import typing as t

from rally_vmperf.measurement.density import judging
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import checks


def _check(asked: task.Task, limits: question.Json, baseline: t.Any) -> None:
    checks.check_at(asked, CRITERION.name, limits)


CRITERION = question.Criterion(
    name="vmperf_fairness",
    title="Limits on how unevenly guests that share a host are served.",
    heading="Fairness",
    schema=question.schema(
        {
            "min_index": {
                **question.PER_METRIC,
                "additionalProperties": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "maximum": 1,
                },
                "description": "Metric or glob -> smallest tolerated index "
                "of Jain: 1 when all guests get the same, 1/n when one gets "
                "all.",
            },
            "max_spread_percent": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated spread "
                "of the guests in percent.",
            },
            "at": checks.AT,
        },
        anyOf=[
            {"required": ["min_index"]},
            {"required": ["max_spread_percent"]},
        ],
    ),
    judge=judging.FairnessJudge,
    limits={"min_index": ("ratio",), "max_spread_percent": ("ratio",)},
    check=_check,
)
