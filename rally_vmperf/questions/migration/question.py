"""The question of what a live migration costs a running guest."""

import typing as t

from rally_vmperf.execution import estimate
from rally_vmperf.measurement.migration import phases
from rally_vmperf.questions.common import question
from rally_vmperf.questions.migration import disruption
from rally_vmperf.questions.migration import migration_checks

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


class Migration(question.Question[migration_checks.Arguments]):
    """Cost of a live migration; an iteration has three phases."""

    name = "migration"
    scenario = "VMPerf.migration"
    title = "Cost of a live migration"
    arguments = migration_checks.Arguments
    criteria = disruption.CRITERIA
    needs_admin = True

    def check(self, subtask: migration_checks.Task) -> list[str]:
        """Reject a task that cannot be run; return warnings as a list."""
        return migration_checks.check_task(subtask)

    def estimate_minutes(self, subtask: migration_checks.Task) -> int:
        """Return the estimated duration of a task in minutes."""
        number = len(phases.PHASES)
        return estimate.estimate_minutes(
            subtask.assignments,
            subtask.times,
            levels=number,
            boots=subtask.count_reboots(number),
        )

    def list_request_options(
        self, subtask: migration_checks.Task
    ) -> dict[str, t.Any]:
        """Return the options of the request for guests."""
        return {
            "migrate_to": subtask.arguments.host or "",
            "pinged_from": (subtask.peer or {}).get("address", ""),
        }

    def start(
        self,
        request: "run_request.RunRequest",
        arguments: migration_checks.Arguments,
    ) -> "runs.Run":
        """Return the run of a task, ready to start."""
        from rally_vmperf.questions.migration import phases_run

        return phases_run.create_run(request, arguments)

    def get_section(self) -> "reports.Section[t.Any]":
        """Return the section of the HTML report for runs of migration."""
        from rally_vmperf.questions.migration.section import time_lines

        return time_lines.SECTION


QUESTION = Migration()
