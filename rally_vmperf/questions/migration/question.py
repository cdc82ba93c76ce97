"""The question of what a live migration costs a running guest."""

import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import estimate
from rally_vmperf.measurement.migration import phases
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.migration import disruption
from rally_vmperf.questions.migration import migration_checks

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


def _create_defaults(
    arguments: documents.Arguments, times: int
) -> documents.Arguments:
    """Return the defaults of arguments that are not set."""
    return migration_checks.DEFAULTS


def _estimate_minutes(subtask: task.Task) -> int:
    """Return the estimated duration of a task in minutes."""
    number = len(phases.PHASES)
    return estimate.estimate_minutes(
        subtask.assignments,
        subtask.times,
        levels=number,
        boots=subtask.count_reboots(number),
    )


def _create_run(
    request: "run_request.RunRequest", arguments: documents.Arguments
) -> "runs.Run":
    """Return the run of a task, ready to start."""
    from rally_vmperf.questions.migration import phases_run

    return phases_run.create_run(request, **arguments)


def _create_section() -> "reports.Section[t.Any]":
    """Return the section of the HTML report for runs of migration."""
    from rally_vmperf.questions.migration.section import time_lines

    return time_lines.SECTION


def _list_request_options(subtask: task.Task) -> dict[str, t.Any]:
    """Return the options of the request for guests."""
    return {
        "migrate_to": subtask.arguments.get("host") or "",
        "pinged_from": (subtask.peer or {}).get("address", ""),
    }


QUESTION = question.Question(
    name="migration",
    scenario="VMPerf.migration",
    title="Cost of a live migration",
    criteria=disruption.CRITERIA,
    contexts=("vmperf_guests",),
    check=migration_checks.check_task,
    copies=lambda subtask: (subtask.count,),
    compared=lambda subtask: (),
    minutes=_estimate_minutes,
    run=_create_run,
    section=_create_section,
    defaults=_create_defaults,
    request_options=_list_request_options,
)
