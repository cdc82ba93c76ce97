"""The question of how much a guest loses against bare metal."""

import typing as t

from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate
from rally_vmperf.measurement import overhead_judge
from rally_vmperf.measurement import spread_judge
from rally_vmperf.measurement.comparison import limits as limits_
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.common import valid

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as reports
    from rally_vmperf.runs import opened
    from rally_vmperf.runs import run as runs


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
            **question.ABSOLUTE,
        },
        anyOf=[{"required": [x]} for x in question.LOSS_AND_ABSOLUTE],
    ),
    judge=overhead_judge.OverheadJudge,
    limits=question.LOSS_AND_ABSOLUTE,
    bounds=task.bounds(),
)


def _check_spread(
    asked: task.Task, limits: question.Json, baseline: t.Any
) -> None:
    """Refuse limits over intervals on what has no values over time."""
    if limits.get("over", "repetitions") == "repetitions":
        return
    if limits.get("max_gsd_ratio"):
        raise task.Refused(f"sla {SPREAD.name} {spread_judge.NO_RATIO}")
    if baseline is None:
        return
    series = {
        assignment.relabel(name, one.label)
        for one in asked.assignments
        for entry in matching.covers(
            baseline, one.workload.name, one.conditions()
        )
        for name in entry.get("time_series", {})
    }
    for key in _LIMITS:
        for pattern in limits_.Limits(limits.get(key, {})).unmatched(series):
            raise task.Refused(
                f"sla {SPREAD.name} {key} over: intervals: {pattern!r} "
                "matches no metric whose workload tells it over time (these "
                f"are: {', '.join(sorted(series)) or 'none'}); give another "
                "pattern, or over: repetitions"
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
    "max_gsd_ratio": _limit(
        "largest tolerated ratio of geometric standard deviations, guest to "
        "bare metal, on logarithms.",
        exclusiveMinimum=0,
    ),
}

SPREAD = question.Criterion(
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
    check=_check_spread,
)


def _check_guests(asked: task.Task) -> list[str]:
    """Refuse neighbours that leave no guest; warn of those elsewhere."""
    beside = asked.neighbours
    if beside is None:
        return []
    if beside.guests >= asked.count:
        raise task.Refused(
            f"neighbours guests: {beside.guests} of {asked.count} guests "
            "leave none that is measured; raise count of vmperf_guests"
        )
    keys = ("host", "server_group")
    placed = any(asked.guests.get(key) for key in keys)
    others = asked.guests.get("hosts") or asked.guests.get("aggregate")
    if placed or (not others and _one_host(asked)):
        return []
    return [
        "Nova chooses the hosts, and neighbours on another host than the "
        "measured guests void the run (finding level_placement_wrong); ask "
        "for server_group: affinity, or for a host"
    ]


def _one_host(asked: task.Task) -> bool:
    """Return whether guests share a host, as their copies on bare metal did.

    They need not where a criterion tolerates that they do not.
    """
    tolerated = {
        kind
        for limits in asked.criteria.values()
        for kind in (limits or {}).get("tolerate", ())
    }
    return "guests_not_on_one_host" not in tolerated


def _copies(asked: task.Task) -> tuple[int, ...]:
    beside = asked.neighbours
    return (asked.count - (beside.guests if beside else 0),)


def _minutes(asked: task.Task) -> int:
    conditions = 2 if asked.neighbours else 1
    return estimate.minutes(
        asked.assignments,
        asked.times,
        levels=conditions,
        boots=asked.boots(conditions),
    )


def _run(asked: "opened.Asked", own: question.Json) -> "runs.Run":
    from rally_vmperf.questions.overhead import run

    return run.make(asked, **own)


def _section() -> "reports.Section[t.Any]":
    from rally_vmperf.questions.overhead.section import section

    return section.SECTION


QUESTION = question.Question(
    name="overhead",
    scenario="VMPerf.overhead",
    title="Overhead over bare metal",
    criteria=(OVERHEAD, SPREAD, neighbours.CRITERION, valid.CRITERION),
    contexts=("vmperf_baseline", "vmperf_guests"),
    check=_check_guests,
    copies=_copies,
    compared=_copies,
    minutes=_minutes,
    run=_run,
    section=_section,
    one_host=_one_host,
)
