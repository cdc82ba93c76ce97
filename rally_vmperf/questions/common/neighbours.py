"""The criterion for the loss that neighbours cause."""

import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf.execution import neighbours
from rally_vmperf.guests import errors
from rally_vmperf.judging import axes
from rally_vmperf.measurement import repetition
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.runs import run_request

#: The conditions without neighbours.
WITHOUT: repetition.Axes = {axes.NEIGHBOURS.name: False}


def get_neighbours(
    arguments: documents.Arguments,
) -> neighbours.Neighbours | None:
    """Return the neighbours of a task; None if it has none.

    :raises InvalidTask: If the argument is not valid.
    :raises WorkloadError: If neighbours cannot run the workload.
    """
    argument = arguments.get("neighbours")
    task.check_schema(argument, neighbours.SCHEMA, "neighbours")
    return neighbours.create_neighbours(argument)


def count_guests(arguments: documents.Arguments) -> int:
    """Return the number of neighbours on each host; 0 without them."""
    configured = get_neighbours(arguments)
    return configured.guests if configured else 0


def list_workloads(arguments: documents.Arguments) -> question.Assignments:
    """Return the workload of neighbours as a tuple, empty without them."""
    configured = get_neighbours(arguments)
    return (configured.work,) if configured else ()


def take_argument(
    request: "run_request.RunRequest", arguments: documents.Arguments
) -> documents.Arguments:
    """Return arguments with ``unmeasured`` guests for ``neighbours``.

    :raises GuestError: If a guest is unavailable.
    """
    from rally_vmperf.runs import conditions

    others = {**arguments}
    configured = neighbours.create_neighbours(others.pop("neighbours", None))
    if configured is None:
        return others
    if request.booted.absent:
        raise errors.GuestError(
            f"neighbours: guests {', '.join(request.booted.absent)} failed "
            "to boot, so neighbours cannot be assigned; run the task again"
        )
    configured = configured.for_vcpus(request.booted.guests[-1].flavor.vcpus)
    unmeasured = conditions.Unmeasured(
        axis=axes.NEIGHBOURS.name,
        guests=configured.guests,
        assignments=(configured.work,),
        options=configured.plain(),
        create_load=functools.partial(neighbours.create_load, configured),
    )
    return {**others, "unmeasured": unmeasured}


def _check_has_neighbours(
    subtask: task.Task, parsed: question.ParsedCriterion, baseline: t.Any
) -> None:
    """Reject limits if the task has no neighbours."""
    if get_neighbours(subtask.arguments) is None:
        raise task.InvalidTask(
            f"sla {CRITERION.name}: the task has no neighbours; add "
            "neighbours: {guests: 1, workload: {name: ...}}, or remove the SLA"
        )


CRITERION = question.Criterion(
    name="vmperf_neighbours",
    title="Limits on the loss of guests while neighbours run their workload.",
    heading="Neighbours",
    schema=question.build_schema(
        {
            "max_percent": question.build_limits(
                "largest tolerated loss with neighbours, in percent of the "
                "result without them; the most specific match applies."
            ),
            **question.STATISTIC,
        },
        required=["max_percent"],
    ),
    rules=axes.NEIGHBOURS.rules,
    limits={"max_percent": ("ratio",)},
    bounds=question.create_limit_check(),
    check=_check_has_neighbours,
    requires="neighbours",
)
