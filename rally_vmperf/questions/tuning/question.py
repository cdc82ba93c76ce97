"""The question of the gain or loss of other settings."""

import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import estimate
from rally_vmperf.judging import judged_run
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import criteria
from rally_vmperf.questions.tuning import variant_checks
from rally_vmperf.questions.tuning import variants
from rally_vmperf.questions.tuning.section import self_check

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


def _create_defaults(
    arguments: documents.Arguments, times: int
) -> documents.Arguments:
    """Return the default number of warm-ups as arguments."""
    return {"warmup": min(1, times - 1)}


def _list_copies(subtask: task.Task) -> tuple[int, ...]:
    """Return the number of guests of a variant, as a tuple of one number."""
    return (subtask.count,)


def _list_compared_copies(subtask: task.Task) -> tuple[int, ...]:
    """Return the numbers of bare-metal copies that the verdict requires."""
    if overhead.OVERHEAD.name in subtask.criteria:
        return _list_copies(subtask)
    return ()


def _estimate_minutes(subtask: task.Task) -> int:
    """Return the estimated duration of a task in minutes."""
    number = len(subtask.arguments["variants"])
    conditions = number * subtask.times
    boots = subtask.count_reboots(number)
    if subtask.sequential:
        between_workloads = subtask.protocol.reboot == "between_workloads"
        boots = boots + 1 - conditions if between_workloads else 0
    elif subtask.arguments.get("idle_guests") == "stopped":
        boots += conditions
    return estimate.estimate_minutes(
        subtask.assignments,
        subtask.times,
        number,
        boots,
        new_guests=conditions if subtask.sequential else 0,
    )


def _create_run(
    request: "run_request.RunRequest", arguments: documents.Arguments
) -> "runs.Run":
    """Return the run of a task, ready to start."""
    from rally_vmperf.questions.tuning import variants_run

    return variants_run.create_run(request, **arguments)


def _describe(run: judged_run.JudgedRun) -> str:
    """Return the title of a run as text: size and number of variants."""
    number = len(run.last.options.get("variants") or ())
    return f"{run.size}, {units.number_of('variant', number)}"


def _create_section() -> "reports.Section[t.Any]":
    """Return the section of the HTML report for runs of tuning."""
    from rally_vmperf.questions.tuning.section import ranking

    return ranking.SECTION


QUESTION = question.Question(
    name="tuning",
    scenario="VMPerf.tuning",
    title="Gain of settings",
    criteria=criteria.CRITERIA,
    contexts=("vmperf_guests",),
    check=variant_checks.check_task,
    copies=_list_copies,
    compared=_list_compared_copies,
    minutes=_estimate_minutes,
    run=_create_run,
    section=_create_section,
    describe=_describe,
    remark=self_check.list_remarks,
    defaults=_create_defaults,
    one_host=lambda subtask: variants.have_one_host(
        subtask.arguments["variants"]
    ),
    guest_options=variants.create_guest_options,
    sequential=True,
)
