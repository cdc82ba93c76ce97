"""The question of what a live migration costs a running guest."""

import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import estimate
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.migration import checks
from rally_vmperf.questions.migration import criteria

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


def _create_defaults(
    arguments: documents.Arguments, times: int
) -> documents.Arguments:
    """Return the defaults of arguments that are not set."""
    return checks.DEFAULTS


def _estimate_minutes(subtask: task.Task) -> int:
    """Return the estimated duration of a task in minutes."""
    phases = len(repetition.PHASES)
    return estimate.estimate_minutes(
        subtask.assignments,
        subtask.times,
        levels=phases,
        boots=subtask.count_reboots(phases),
    )


def _create_run(
    request: "run_request.RunRequest", arguments: documents.Arguments
) -> "runs.Run":
    """Return the run of a task, ready to start."""
    from rally_vmperf.questions.migration import run

    return run.create_run(request, **arguments)


def _create_section() -> "reports.Section[t.Any]":
    """Return the section of the HTML report for runs of migration."""
    from rally_vmperf.questions.migration.section import section

    return section.SECTION


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
    criteria=criteria.CRITERIA,
    contexts=("vmperf_guests",),
    check=checks.check_task,
    copies=lambda subtask: (subtask.count,),
    compared=lambda subtask: (),
    minutes=_estimate_minutes,
    run=_create_run,
    section=_create_section,
    defaults=_create_defaults,
    request_options=_list_request_options,
)
