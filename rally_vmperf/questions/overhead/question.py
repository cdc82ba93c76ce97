"""The question how much of the machine a guest loses, against bare metal."""

import typing as t

from rally_vmperf.execution import estimate
from rally_vmperf.measurement import judging
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.records import codec

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as runs


def _judge(limits: question.Json) -> judging.OverheadJudge:
    return judging.OverheadJudge(
        limits["max_percent"],
        max_count=limits.get("max", {}),
        confidence=limits.get("confidence", 0.95),
        on_inconclusive=limits.get("on_inconclusive", "fail"),
        tolerate=tuple(limits.get("tolerate", ())),
    )


OVERHEAD = question.Criterion(
    name="vmperf_overhead",
    title="Limits on what guests lose against bare metal, in percent.",
    schema=question.schema(
        {
            "max_percent": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss in "
                "percent of bare metal; the most exact match wins.",
            },
            "max": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated value of "
                "a count, such as retransmits, in the metric's own unit.",
            },
        },
        required=["max_percent"],
    ),
    judge=_judge,
    decode=codec.readable,
    limits={"max_percent": ("ratio",), "max": ("count",)},
)


def _copies(asked: task.Task) -> tuple[int, ...]:
    return (asked.count,)


def _minutes(asked: task.Task) -> int:
    return estimate.minutes(asked.assignments, asked.times)


def _make(records: t.Any, criteria: question.Criteria) -> "runs.Run":
    from rally_vmperf.report import run as runs

    limits = criteria.get(OVERHEAD.name)
    return runs.make(records, _judge(limits) if limits else None)


QUESTION = question.Question(
    name="overhead",
    scenario="VMPerf.overhead",
    title="Overhead over bare metal",
    criteria=(OVERHEAD,),
    contexts=("vmperf_baseline", "vmperf_guests"),
    check=lambda asked: [],
    copies=_copies,
    compared=_copies,
    minutes=_minutes,
    make=_make,
)
