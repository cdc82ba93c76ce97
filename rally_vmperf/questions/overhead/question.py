"""The question how much of the machine a guest loses, against bare metal."""

import typing as t

from rally_vmperf.execution import estimate
from rally_vmperf.measurement import limits as limits_
from rally_vmperf.measurement import overhead_judge
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.overhead import spread

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as reports
    from rally_vmperf.runs import opened
    from rally_vmperf.runs import run as runs


def _check(asked: task.Task, limits: question.Json, baseline: t.Any) -> None:
    """Refuse limits that rates and times always, or never, hold."""
    ratios = {
        metric.name: metric
        for one in asked.assignments
        for metric in one.metrics()
        if metric.scale == "ratio"
    }
    for key in ("max_percent", "max", "min"):
        given = limits_.Limits(limits.get(key, {}))
        what = f"sla {OVERHEAD.name} {key}"
        for name, metric in ratios.items():
            limit = given.for_metric(name, ratios)
            if limit is None:
                continue
            if key == "max_percent":
                if limit[0] >= 100 and metric.better == "higher":
                    raise task.Refused(
                        f"{what}: {limit[1]!r} is {limit[0]:g}, but {name} "
                        "is a rate, which cannot lose more than 100 %; give "
                        "a smaller limit, or a pattern that matches times "
                        "only"
                    )
            elif limit[0] <= 0:
                raise task.Refused(
                    f"{what}: {limit[1]!r} is {limit[0]:g}, but {name} is "
                    "always above zero; give a larger limit, or a pattern "
                    "that matches counts only"
                )


OVERHEAD = question.Criterion(
    name="vmperf_overhead",
    title="Limits on what guests lose against bare metal, in percent.",
    heading="Overhead",
    schema=question.schema(
        {
            "max_percent": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss in "
                "percent of bare metal; the most exact match wins.",
            },
            "max": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated value in "
                "the guest, in the metric's own unit: of a count, such as "
                "retransmits, in its worst repetition; of a rate or a time "
                "the mean.",
            },
            "min": {
                **question.PER_METRIC,
                "description": "Metric or glob -> smallest tolerated value, "
                "likewise.",
            },
        },
        anyOf=[{"required": [name]} for name in ("max_percent", "max", "min")],
    ),
    judge=overhead_judge.OverheadJudge,
    limits={
        "max_percent": ("ratio",),
        "max": ("ratio", "count"),
        "min": ("ratio", "count"),
    },
    check=_check,
)


def _copies(asked: task.Task) -> tuple[int, ...]:
    return (asked.count,)


def _minutes(asked: task.Task) -> int:
    return estimate.minutes(asked.assignments, asked.times)


def _run(asked: "opened.Asked", own: question.Json) -> "runs.Run":
    from rally_vmperf.questions.overhead import run

    return run.make(asked)


def _section() -> "reports.Section[t.Any]":
    from rally_vmperf.questions.overhead.section import section

    return section.SECTION


QUESTION = question.Question(
    name="overhead",
    scenario="VMPerf.overhead",
    title="Overhead over bare metal",
    criteria=(OVERHEAD, spread.CRITERION),
    contexts=("vmperf_baseline", "vmperf_guests"),
    check=lambda asked: [],
    copies=_copies,
    compared=_copies,
    minutes=_minutes,
    run=_run,
    section=_section,
)
