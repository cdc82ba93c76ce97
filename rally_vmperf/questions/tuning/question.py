"""The question of the gain or loss of other settings."""

import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import estimate
from rally_vmperf.judging import judged_run
from rally_vmperf.measurement.samples import units
from rally_vmperf.questions.common import question
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import criteria
from rally_vmperf.questions.tuning import variant_checks
from rally_vmperf.questions.tuning import variants
from rally_vmperf.questions.tuning.section import self_check

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


class Tuning(question.Question[variants.Arguments]):
    """Gain of guests with other settings; an iteration has all variants."""

    name = "tuning"
    scenario = "VMPerf.tuning"
    title = "Gain of settings"
    arguments = variants.Arguments
    criteria = criteria.CRITERIA
    is_sequential = True

    def check(self, subtask: variants.Task) -> list[str]:
        """Reject a task that cannot be run; return warnings as a list."""
        return variant_checks.check_task(subtask)

    def list_compared_copies(self, subtask: variants.Task) -> tuple[int, ...]:
        """Return the numbers of bare-metal copies that a verdict requires."""
        if overhead.OVERHEAD.name in subtask.criteria:
            return self.list_copies(subtask)
        return ()

    def needs_one_host(self, subtask: variants.Task) -> bool:
        """Return whether no variant selects hardware of its own."""
        return variants.have_one_host(subtask.arguments.variants)

    def create_guest_options(
        self, subtask: variants.Task
    ) -> documents.Arguments:
        """Return the options of guests with one group for each variant."""
        return variants.create_guest_options(subtask.arguments, subtask.guests)

    def estimate_minutes(self, subtask: variants.Task) -> int:
        """Return the estimated duration of a task in minutes."""
        number = len(subtask.arguments.variants)
        conditions = number * subtask.times
        boots = subtask.count_reboots(number)
        if subtask.sequential:
            between_workloads = subtask.protocol.reboot == "between_workloads"
            boots = boots + 1 - conditions if between_workloads else 0
        elif subtask.arguments.idle_guests == "stopped":
            boots += conditions
        return estimate.estimate_minutes(
            subtask.assignments,
            subtask.times,
            number,
            boots,
            new_guests=conditions if subtask.sequential else 0,
        )

    def start(
        self, request: "run_request.RunRequest", arguments: variants.Arguments
    ) -> "runs.Run":
        """Return the run of a task, ready to start."""
        from rally_vmperf.questions.tuning import variants_run

        return variants_run.create_run(request, arguments)

    def describe(self, run: judged_run.JudgedRun) -> str:
        """Return the title of a run as text: size and number of variants."""
        number = len(run.last.options.get("variants") or ())
        return f"{run.size}, {units.number_of('variant', number)}"

    def list_remarks(self, run: judged_run.JudgedRun) -> list[str]:
        """Return sentences on a judged run."""
        return self_check.list_remarks(run)

    def get_section(self) -> "reports.Section[t.Any]":
        """Return the section of the HTML report for runs of tuning."""
        from rally_vmperf.questions.tuning.section import ranking

        return ranking.SECTION


QUESTION = Tuning()
