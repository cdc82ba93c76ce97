"""The criterion on how far the repetitions of a run lie apart."""

import typing as t

from rally_vmperf.measurement import spread_judge
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task


def _check(asked: task.Task, limits: question.Json, baseline: t.Any) -> None:
    """Refuse a spread within runs, of which no workload gives a series."""
    if limits.get("over") == "intervals":
        names = ", ".join(one.title for one in asked.assignments)
        raise task.Refused(
            f"sla {CRITERION.name} over: 'intervals' needs workloads that "
            f"give a series of values within a run, and these give none: "
            f"{names}; use repetitions"
        )


def _limit(description: str, **bounds: float) -> dict[str, t.Any]:
    return {
        **question.PER_METRIC,
        "additionalProperties": {"type": "number", **bounds},
        "description": f"Metric or glob -> {description}",
    }


_LIMITS = {
    "max_range_percent": _limit(
        "largest tolerated range, in percent of the mean.", minimum=0
    ),
    "max_cv_percent": _limit(
        "largest tolerated coefficient of variation, in percent.", minimum=0
    ),
    "max_iqr_percent": _limit(
        "largest tolerated interquartile range, in percent of the median.",
        minimum=0,
    ),
    "max_gsd": _limit(
        "largest tolerated geometric standard deviation, 1 for none.",
        minimum=1,
    ),
    "max_gsd_ratio": _limit(
        "largest tolerated ratio of geometric standard deviations, guest to "
        "bare metal, on logarithms.",
        exclusiveMinimum=0,
    ),
}

CRITERION = question.Criterion(
    name="vmperf_spread",
    title="Limits on how far the repetitions of guests lie apart.",
    heading="Spread",
    schema=question.schema(
        {
            **_LIMITS,
            "over": {
                "enum": ["repetitions", "intervals"],
                "description": "Between what spread is taken: repetitions, "
                "or intervals within a run where a workload gives a series; "
                "default repetitions.",
            },
        },
        anyOf=[{"required": [name]} for name in _LIMITS],
    ),
    judge=spread_judge.SpreadJudge,
    limits=dict.fromkeys(_LIMITS, ("ratio",)),
    check=_check,
)
