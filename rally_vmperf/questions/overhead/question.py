# SPDX-License-Identifier: Apache-2.0
"""The question of the overhead of guests over bare metal."""

import dataclasses
import types
import typing as t

from rally_vmperf.execution import estimate
from rally_vmperf.guests import schema
from rally_vmperf.judging import judge
from rally_vmperf.judging import overhead
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.report import reports
    from rally_vmperf.runs import run_request
    from rally_vmperf.runs import runs


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverheadOptions(judge.ValueOptions):
    """The options of vmperf_overhead.

    :param max_percent: Metric or glob -> largest tolerated loss in percent of
        bare metal; the most specific match applies.
    """

    max_percent: judge.ByPattern = None


class OverheadCriterion(question.Criterion):
    """Limits on the loss of guests against bare metal, or on values."""

    name = "vmperf_overhead"
    heading = overhead.HEADING
    rules = overhead.RULES
    options = OverheadOptions
    limits = question.LOSS_AND_ABSOLUTE
    selects = neighbours.WITHOUT

    def check_limits(
        self, parsed: question.ParsedCriterion, metrics: task.Metrics
    ) -> None:
        """Reject limits that always pass or always fail for a metric."""
        question.check_bounds(parsed, metrics)

    def find_baseline_option(self, parsed: question.ParsedCriterion) -> str:
        """Return the option that requires a baseline as text, or ""."""
        return "max_percent" if parsed.limits["max_percent"] else ""


OVERHEAD = OverheadCriterion()

_Share = t.Annotated[
    judge.ByPattern, {"additionalProperties": {"type": "number", "minimum": 0}}
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpreadOptions(judge.GuestOptions):
    """The options of vmperf_spread.

    :param max_range_percent: Metric or glob -> largest tolerated range, in
        percent of the mean.
    :param max_cv_percent: Metric or glob -> largest tolerated coefficient of
        variation, in percent.
    """

    max_range_percent: _Share = None
    max_cv_percent: _Share = None


class SpreadCriterion(question.Criterion):
    """Limits on the spread of the repetitions of guests."""

    name = "vmperf_spread"
    heading = "Spread"
    rules = overhead.SPREAD_RULES
    options = SpreadOptions
    limits = types.MappingProxyType(
        {"max_range_percent": ("ratio",), "max_cv_percent": ("ratio",)}
    )
    selects = neighbours.WITHOUT


SPREAD = SpreadCriterion()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(neighbours.Arguments, task.Arguments):
    """The arguments of VMPerf.overhead.

    :param guests: The number of guests that are measured at once, without
        neighbours. Default: the count of vmperf_guests without neighbours, or
        1.
    :param neighbours: The guests that are not measured: {guests, workload:
        {name, arguments}}. They are the last guests; each repetition measures
        the other guests with and without the workload in these guests.
    """

    guests: t.Annotated[
        int | None, {"minimum": 1, "maximum": schema.MAX_GUESTS}
    ] = None


Task = task.Task[Arguments]


class Overhead(question.Question[Arguments]):
    """Overhead of guests over bare metal; an iteration is a repetition."""

    name = "overhead"
    scenario = "VMPerf.overhead"
    title = "Overhead over bare metal"
    arguments = Arguments
    criteria = (OVERHEAD, SPREAD, neighbours.CRITERION)

    def check(self, subtask: Task) -> list[str]:
        """Reject too many neighbours; return warnings on hosts as a list."""
        number = subtask.arguments.count_neighbours()
        required = self.count_guests(subtask)
        if subtask.arguments.guests and subtask.count != required:
            raise task.InvalidTask(
                f"guests={subtask.arguments.guests}: requires "
                f"count={required} of vmperf_guests, neighbours included, and "
                f"not {subtask.count}; remove guests or count"
            )
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
        if placed or (not hosts and self.needs_one_host(subtask)):
            return []
        return [
            "Nova chooses the hosts, and neighbours on another host than the "
            "measured guests void the run (finding level_placement_wrong); "
            "set server_group: affinity, or a host"
        ]

    def count_guests(self, subtask: Task) -> int:
        """Return the number of measured guests and of neighbours."""
        arguments = subtask.arguments
        return (arguments.guests or 1) + arguments.count_neighbours()

    def needs_one_host(self, subtask: Task) -> bool:
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

    def list_copies(self, subtask: Task) -> tuple[int, ...]:
        """Return the number of measured guests, as a tuple of one number."""
        return (subtask.count - subtask.arguments.count_neighbours(),)

    def list_compared_copies(self, subtask: Task) -> tuple[int, ...]:
        """Return the number of measured guests, as a tuple of one number."""
        return self.list_copies(subtask)

    def estimate_minutes(self, subtask: Task) -> int:
        """Return the estimated duration of a task in minutes."""
        conditions = 2 if subtask.arguments.count_neighbours() else 1
        return estimate.estimate_minutes(
            subtask.assignments,
            subtask.times,
            levels=conditions,
            boots=subtask.count_reboots(conditions),
        )

    def start(
        self, request: "run_request.RunRequest", arguments: Arguments
    ) -> "runs.Run":
        """Return the run of a task, ready to start."""
        from rally_vmperf.questions.overhead import run

        return run.create_run(request, arguments.create_unmeasured(request))

    def get_section(self) -> "reports.Section[reports.RunReport]":
        """Return the section of the HTML report for runs of overhead."""
        from rally_vmperf.questions.overhead import section

        return section.SECTION


QUESTION = Overhead()
