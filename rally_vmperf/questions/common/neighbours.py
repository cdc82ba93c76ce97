# SPDX-License-Identifier: Apache-2.0
"""Neighbours in a task, and the criterion for the loss that they cause."""

import dataclasses
import functools
import types
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import neighbours
from rally_vmperf.guests import errors
from rally_vmperf.judging import axis
from rally_vmperf.judging import judge
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.runs import conditions
    from rally_vmperf.runs import run_request

# Arguments have a field with the name of this module.
_Neighbours = neighbours.Neighbours
_SCHEMA = neighbours.SCHEMA
#: The conditions without neighbours.
WITHOUT: repetition.Axes = {axis.NEIGHBOURS.name: False}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments:
    """The argument of scenarios with guests that are not measured."""

    neighbours: t.Annotated[dict[str, t.Any] | None, _SCHEMA] = None

    def _create(self) -> _Neighbours | None:
        """Return the neighbours of a task; None if it has none.

        :raises WorkloadError: If neighbours cannot run the workload.
        """
        return neighbours.create_neighbours(self.neighbours)

    def count_neighbours(self) -> int:
        """Return the number of neighbours on each host; 0 without them."""
        return self.neighbours["guests"] if self.neighbours else 0

    def list_unmeasured(self) -> tuple[assignment.Assignment, ...]:
        """Return the workload of neighbours as a tuple, empty without."""
        configured = self._create()
        return (configured.work,) if configured else ()

    def create_unmeasured(
        self, request: "run_request.RunRequest"
    ) -> "conditions.Unmeasured | None":
        """Return the neighbours among booted guests; None without them.

        :raises GuestError: If a guest is unavailable.
        """
        from rally_vmperf.runs import conditions

        configured = self._create()
        if configured is None:
            return None
        if request.booted.absent:
            raise errors.GuestError(
                f"neighbours: guests {', '.join(request.booted.absent)} "
                "failed to boot, so neighbours cannot be assigned; run the "
                "task again"
            )
        vcpus = request.booted.guests[-1].flavor.vcpus
        configured = configured.for_vcpus(vcpus)
        return conditions.Unmeasured(
            axis=axis.NEIGHBOURS.name,
            guests=configured.guests,
            assignments=(configured.work,),
            options=configured.plain(),
            create_load=functools.partial(neighbours.create_load, configured),
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(judge.GuestOptions):
    """The options of vmperf_neighbours.

    :param max_percent: Metric or glob -> largest tolerated loss with
        neighbours, in percent of the result without them; the most specific
        match applies.
    """

    max_percent: judge.ByPattern = None


class Criterion(question.Criterion):
    """Limits on the loss of guests while neighbours run their workload."""

    name = "vmperf_neighbours"
    heading = "Neighbours"
    rules = axis.NEIGHBOURS.rules
    options = Options
    limits = types.MappingProxyType({"max_percent": ("ratio",)})
    requires = "neighbours"

    def check_limits(
        self, parsed: question.ParsedCriterion, metrics: task.Metrics
    ) -> None:
        """Reject limits that always pass or always fail for a metric."""
        question.check_bounds(parsed, metrics)

    def check(
        self,
        subtask: task.AnyTask,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject limits if the task has no neighbours."""
        if not subtask.arguments.neighbours:
            raise task.InvalidTask(
                f"sla {self.name}: the task has no neighbours; add "
                "neighbours: {guests: 1, workload: {name: ...}}, or remove "
                "the SLA"
            )


CRITERION = Criterion()
