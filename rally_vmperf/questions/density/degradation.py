"""The criterion on what guests lose as more of them share a host."""

import typing as t

from rally_vmperf.baseline import matching
from rally_vmperf.measurement.density import judging
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import checks


def compared(asked: task.Task, limits: question.Json) -> tuple[int, ...]:
    """Return at which numbers of guests bare metal is part of the verdict."""
    if limits.get("against") != "bare_metal":
        return ()
    return tuple(checks.judged(asked, limits))


def _check(asked: task.Task, limits: question.Json, baseline: t.Any) -> None:
    checks.check_at(asked, CRITERION.name, limits)
    if limits.get("against", "one_guest") == "one_guest":
        checks.check_lone_guest(f"sla {CRITERION.name}", asked)
        return
    if baseline is None:
        raise task.Refused(
            f"sla {CRITERION.name} against: bare_metal needs the context "
            "vmperf_baseline: {name: ...}"
        )
    _check_copies(asked, compared(asked, limits), baseline)


def _check_copies(
    asked: task.Task, wanted: tuple[int, ...], baseline: question.Json
) -> None:
    """Refuse a baseline that was not recorded in as many copies."""
    for one in asked.assignments:
        found = matching.covers(baseline, one.workload.name, one.arguments)
        copies = {entry["shape"]["copies"] for entry in found}
        for number in wanted:
            if number not in copies:
                every = sorted(checks.numbers(asked))
                raise task.Refused(
                    f"sla {CRITERION.name} against bare_metal: baseline "
                    f"{baseline['name']!r} has {one.title} in "
                    f"{', '.join(map(str, sorted(copies)))} copies, not in "
                    f"{number}; record it with --copies "
                    f"{','.join(map(str, every))}"
                )


CRITERION = question.Criterion(
    name="vmperf_degradation",
    title="Limits on what each guest loses as their number grows, in percent.",
    heading="Degradation",
    schema=question.schema(
        {
            "max_percent": {
                **question.PER_METRIC,
                "description": "Metric or glob -> largest tolerated loss of "
                "the rate in percent; the most exact match wins.",
            },
            "at": checks.AT,
            "of": {
                "enum": ["mean", "worst"],
                "description": "Whether the mean guest or the worst one is "
                "held to the limits; default mean.",
            },
            "against": {
                "enum": ["one_guest", "bare_metal"],
                "description": "What the loss is against: one guest, or as "
                "many bare-metal copies; default one_guest.",
            },
        },
        required=["max_percent"],
    ),
    judge=judging.DegradationJudge,
    limits={"max_percent": ("ratio",)},
    check=_check,
)
