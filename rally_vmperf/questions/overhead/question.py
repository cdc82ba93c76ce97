"""The question of the overhead of guests over bare metal."""

import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import estimate
from rally_vmperf.judging import overhead
from rally_vmperf.judging import spread
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


OVERHEAD = question.Criterion(
    name="vmperf_overhead",
    title="Limits on the loss of guests against bare metal, or on values.",
    heading=overhead.HEADING,
    schema=question.build_schema(
        {
            "max_percent": question.build_limits(
                "largest tolerated loss in percent of bare metal; the most "
                "specific match applies."
            ),
            **question.ABSOLUTE,
            **question.STATISTIC,
        },
        anyOf=[{"required": [key]} for key in question.LOSS_AND_ABSOLUTE],
    ),
    rules=overhead.RULES,
    limits=question.LOSS_AND_ABSOLUTE,
    bounds=question.create_limit_check(),
    baseline_option=lambda parsed: (
        "max_percent" if parsed.limits["max_percent"] else ""
    ),
    selects=neighbours.WITHOUT,
)


_LIMITS = {
    "max_range_percent": question.build_limits(
        "largest tolerated range, in percent of the mean.", minimum=0
    ),
    "max_cv_percent": question.build_limits(
        "largest tolerated coefficient of variation, in percent.", minimum=0
    ),
}

SPREAD = question.Criterion(
    name="vmperf_spread",
    title="Limits on the spread of the repetitions of guests.",
    heading="Spread",
    schema=question.build_schema(
        {**_LIMITS, **question.STATISTIC},
        anyOf=[{"required": [name]} for name in _LIMITS],
    ),
    rules=spread.RULES,
    limits=dict.fromkeys(_LIMITS, ("ratio",)),
    selects=neighbours.WITHOUT,
)


def _check_guests(subtask: task.Task) -> list[str]:
    """Reject too many neighbours; return warnings on hosts as a list."""
    number = neighbours.count_guests(subtask.arguments)
    if not number:
        return []
    if number >= subtask.count:
        raise task.InvalidTask(
            f"neighbours guests={number}: must be less than "
            f"count={subtask.count} of vmperf_guests; increase count"
        )
    keys = ("host", "server_group")
    placed = any(subtask.guests.get(key) for key in keys)
    hosts = subtask.guests.get("hosts") or subtask.guests.get("aggregate")
    if placed or (not hosts and _needs_one_host(subtask)):
        return []
    return [
        "Nova chooses the hosts, and neighbours on another host than the "
        "measured guests void the run (finding level_placement_wrong); set "
        "server_group: affinity, or a host"
    ]


def _needs_one_host(subtask: task.Task) -> bool:
    """Return whether guests must share a host, as bare-metal copies do.

    They need not without a baseline, or if a criterion tolerates several
    hosts.
    """
    tolerated = {
        kind
        for limits in subtask.criteria.values()
        for kind in (limits or {}).get("tolerate", ())
    }
    has_baseline = "vmperf_baseline" in subtask.contexts
    return has_baseline and "guests_not_on_one_host" not in tolerated


def _list_copies(subtask: task.Task) -> tuple[int, ...]:
    """Return the number of measured guests, as a tuple of one number."""
    return (subtask.count - neighbours.count_guests(subtask.arguments),)


def _estimate_minutes(subtask: task.Task) -> int:
    """Return the estimated duration of a task in minutes."""
    conditions = 2 if neighbours.count_guests(subtask.arguments) else 1
    return estimate.estimate_minutes(
        subtask.assignments,
        subtask.times,
        levels=conditions,
        boots=subtask.count_reboots(conditions),
    )


def _create_run(
    request: "run_request.RunRequest", arguments: documents.Arguments
) -> "runs.Run":
    """Return the run of a task, ready to start."""
    from rally_vmperf.questions.overhead import run

    return run.create_run(
        request, **neighbours.take_argument(request, arguments)
    )


def _create_section() -> "reports.Section[t.Any]":
    """Return the section of the HTML report for runs of overhead."""
    from rally_vmperf.questions.overhead.section import section

    return section.SECTION


QUESTION = question.Question(
    name="overhead",
    scenario="VMPerf.overhead",
    title="Overhead over bare metal",
    criteria=(OVERHEAD, SPREAD, neighbours.CRITERION),
    contexts=("vmperf_guests",),
    check=_check_guests,
    copies=_list_copies,
    compared=_list_copies,
    minutes=_estimate_minutes,
    run=_create_run,
    section=_create_section,
    one_host=_needs_one_host,
    unmeasured_workloads=neighbours.list_workloads,
)
