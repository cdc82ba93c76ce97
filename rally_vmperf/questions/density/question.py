"""The question how guests degrade as more of them share a host."""

import typing as t

from rally_vmperf.baseline import matching
from rally_vmperf.execution import estimate
from rally_vmperf.measurement.density import judging
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.common import valid
from rally_vmperf.questions.density import checks
from rally_vmperf.questions.density import levels

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as reports
    from rally_vmperf.runs import opened
    from rally_vmperf.runs import run as runs


def _bare_metal(asked: task.Task, limits: question.Json) -> tuple[int, ...]:
    """Return the numbers of guests at which the verdict needs bare metal."""
    if limits.get("compare_to") != "bare_metal":
        return ()
    return tuple(checks.limited_levels(asked, limits))


def _check_degradation(
    asked: task.Task, limits: question.Json, baseline: t.Any
) -> None:
    checks.check_at(asked, DEGRADATION.name, limits)
    if "max_percent" not in limits:
        return
    if limits.get("compare_to", "solo_guest") == "solo_guest":
        checks.check_lone_guest(f"sla {DEGRADATION.name}", asked)
        if (
            limits.get("statistic") == "worst"
            and checks.solo_guest(asked) != "all"
        ):
            raise task.Refused(
                f"sla {DEGRADATION.name} statistic: worst compares each guest "
                "with its own solo run; set solo_guest: all in "
                "VMPerf.density, or statistic: mean"
            )
        return
    if baseline is None:
        raise task.Refused(
            f"sla {DEGRADATION.name} compare_to: bare_metal needs the context "
            "vmperf_baseline: {name: ...}"
        )
    _check_copies(asked, _bare_metal(asked, limits), baseline)


def _check_copies(
    asked: task.Task, wanted: tuple[int, ...], baseline: question.Json
) -> None:
    """Refuse a baseline that was not recorded in as many copies."""
    for one in asked.assignments:
        found = matching.covers(baseline, one.workload.name, one.conditions())
        copies = {entry["shape"]["copies"] for entry in found}
        for number in wanted:
            if number not in copies:
                every = sorted(checks.numbers(asked))
                raise task.Refused(
                    f"sla {DEGRADATION.name} against bare_metal: baseline "
                    f"{baseline['name']!r} has {one.title} in "
                    f"{', '.join(map(str, sorted(copies)))} copies, not in "
                    f"{number}; record it with --copies "
                    f"{','.join(map(str, every))}"
                )


DEGRADATION = question.Criterion(
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
            **question.ABSOLUTE,
            "levels": checks.AT,
            "statistic": {
                "enum": ["mean", "worst"],
                "description": "Whether the mean guest or the worst one is "
                "held to the limits; default mean.",
            },
            "compare_to": {
                "enum": ["solo_guest", "bare_metal"],
                "description": "What the loss is against: one guest, or as "
                "many bare-metal copies; default solo_guest.",
            },
        },
        anyOf=[{"required": [x]} for x in question.LOSS_AND_ABSOLUTE],
    ),
    judge=judging.DegradationJudge,
    limits=question.LOSS_AND_ABSOLUTE,
    # Times are compared as rates, too.
    bounds=task.bounds(lambda metric: True),
    check=_check_degradation,
)


def _check_fairness(
    asked: task.Task, limits: question.Json, baseline: t.Any
) -> None:
    checks.check_at(asked, FAIRNESS.name, limits)


FAIRNESS = question.Criterion(
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
            "levels": checks.AT,
        },
        anyOf=[
            {"required": ["min_index"]},
            {"required": ["max_spread_percent"]},
        ],
    ),
    judge=judging.FairnessJudge,
    limits={"min_index": ("ratio",), "max_spread_percent": ("ratio",)},
    check=_check_fairness,
)


def _defaults(arguments: question.Json, times: int) -> question.Json:
    """Return the order of the levels, and how many warm-ups there are.

    A stop rule needs levels that ascend, and counts on every curve.
    """
    stops = bool(arguments.get("stop"))
    return {
        "order": "listed" if stops else "shuffled",
        "warmup": 0 if stops else min(1, times - 1),
    }


def _compared(asked: task.Task) -> tuple[int, ...]:
    return _bare_metal(asked, asked.criteria.get(DEGRADATION.name, {}))


def _minutes(asked: task.Task) -> int:
    counts = checks.numbers(asked)
    beside = asked.neighbours
    sides = (0, beside.guests) if beside else (0,)
    working = [number + side for number in counts for side in sides]
    boots = asked.boots(len(working))
    more = max(counts) - 1 if checks.solo_guest(asked) == "all" else 0
    more *= len(sides)
    if asked.arguments.get("idle_guests") == "stopped":
        boots += levels.rises(working, asked.times) + more * asked.times
    return estimate.minutes(
        asked.assignments, asked.times, len(working) + more, boots
    )


def _run(asked: "opened.Asked", own: question.Json) -> "runs.Run":
    from rally_vmperf.questions.density import run

    return run.make(asked, **own)


def _section() -> "reports.Section[t.Any]":
    from rally_vmperf.questions.density.section import section

    return section.SECTION


QUESTION = question.Question(
    name="density",
    scenario="VMPerf.density",
    title="Degradation by number of guests",
    criteria=(DEGRADATION, FAIRNESS, neighbours.CRITERION, valid.CRITERION),
    contexts=("vmperf_guests",),
    check=checks.check,
    copies=checks.numbers,
    compared=_compared,
    minutes=_minutes,
    run=_run,
    section=_section,
    defaults=_defaults,
)
