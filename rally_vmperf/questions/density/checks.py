"""Checks of a density task that run before any guest boots."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.execution import assignment
from rally_vmperf.guests import idle
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import levels
from rally_vmperf.records import model

# Arguments have a field with the name of this module.
_SoloGuest = levels.SoloGuest
#: JSON Schema of the stop rule of a task.
STOP_SCHEMA = json_schema.closed_mapping(
    {
        "max_percent": question.build_limits(
            "loss of the mean guest against one guest, in percent, above "
            "which no guests are added."
        ),
        "total_falls": json_schema.flag(
            "Add no guests if the total rate of no metric rises."
        ),
    },
    minProperties=1,
)
_SEVERAL_GUESTS = "limit levels of 2 guests or more"
#: JSON Schema of the levels at which limits apply.
LEVELS_SCHEMA: documents.Schema = {
    "oneOf": [
        json_schema.choice(["all"]),
        json_schema.integer(minimum=1),
        json_schema.array(
            json_schema.integer(minimum=1), minItems=1, uniqueItems=True
        ),
    ],
    "description": "Number of guests at which the limits apply, a list of "
    "numbers, or all; default all.",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments(neighbours.Arguments, task.Arguments):
    """The arguments of VMPerf.density.

    :param levels: The numbers of guests on each host: a list such as
        [1, 2, 3], or {from: 1, to: 8}, or {doubling_to: 8}. All guests are
        booted once; a level uses some of them.
    :param order: The order of the levels. listed: the order in the task.
        shuffled: a random order in each repetition. blocks: in a block of as
        many repetitions as levels, each level runs once at each position.
        Default: shuffled; listed with a stop rule, which requires ascending
        levels.
    :param idle_guests: The state of guests that a level does not use: running,
        or paused or stopped by Nova. A stopped guest boots again before a
        level that uses it.
    :param solo_guest: The guest that runs at level 1. rotate: a different
        guest in each repetition. all: every guest of a host, one at a time,
        in every repetition. Limits on the worst guest require all.
    :param stop: The condition that ends a curve: {max_percent: {metric or
        glob: percent}, total_falls: true}; requires ascending levels.
    :param warmup: The number of initial curves that are recorded but not
        counted. Default: 1; 0 with a stop rule or a single repetition.
    :param neighbours: The guests that are not measured: {guests, workload:
        {name, arguments}}. Each host has this number of guests in addition to
        the largest level; each repetition measures each level with and
        without the workload in these guests.
    """

    levels: t.Annotated[list[int] | dict[str, int], levels.SCHEMA]
    order: model.OrderKind | None = None
    idle_guests: idle.IdleState = "running"
    solo_guest: _SoloGuest = "rotate"
    stop: t.Annotated[dict[str, t.Any] | None, STOP_SCHEMA] = None

    def complete(self, times: int) -> t.Self:
        """Return the arguments with the order and the number of warm-ups.

        A stop rule requires ascending levels, and uses every repetition.
        """
        order: model.OrderKind = "listed" if self.stop else "shuffled"
        warmup = 0 if self.stop else min(1, times - 1)
        return dataclasses.replace(
            self,
            order=self.order or order,
            warmup=warmup if self.warmup is None else self.warmup,
        )


Task = task.Task[Arguments]


def list_levels(subtask: Task) -> tuple[int, ...]:
    """Return the numbers of guests of a task as a tuple, in its order.

    :raises InvalidTask: If the levels are not valid.
    """
    try:
        return levels.expand_levels(subtask.arguments.levels)
    except levels.LevelError as error:
        raise task.InvalidTask(str(error)) from error


def list_limited_levels(
    subtask: Task, options: documents.Arguments
) -> list[int]:
    """Return the numbers of guests that a criterion limits, as a list."""
    selection = options.get("levels", "all")
    if selection == "all":
        # A solo guest has no loss against itself, and shares no host.
        first = 1 if options.get("compare_to") == "bare_metal" else 2
        return [
            number
            for number in sorted(list_levels(subtask))
            if number >= first
        ]
    return sorted(selection) if isinstance(selection, list) else [selection]


def check_task(
    subtask: Task, unmeasured: collections.abc.Mapping[str, int]
) -> list[str]:
    """Reject levels, guests or stop rules in conflict; return warnings.

    :param unmeasured: The number of guests on each host that work without
        being measured, by title.
    :returns: The warnings, one sentence each.
    """
    counts = list_levels(subtask)
    if subtask.arguments.solo_guest == "all":
        check_solo_guest("solo_guest: all", subtask)
    warnings = _check_guests(subtask, max(counts), unmeasured)
    odd_levels = [number for number in counts if number % 2]
    if odd_levels and "partner" in assignment.required_endpoints(
        subtask.assignments
    ):
        raise task.InvalidTask(
            f"levels={list(counts)}: must be even for guest_to_guest, which "
            f"runs on pairs; {odd_levels[0]} is not"
        )
    _check_stop(subtask, counts)
    return warnings


def check_levels(
    subtask: Task,
    name: str,
    options: documents.Arguments,
    *,
    of_several: bool,
) -> None:
    """Reject limits at levels that are missing.

    :param of_several: Whether a limit is about several guests.
    """
    counts = list_levels(subtask)
    limited = list_limited_levels(subtask, options)
    if of_several and not limited:
        raise task.InvalidTask(
            f"sla {name}: applies to no level (there are: "
            f"{', '.join(map(str, counts))}); {_SEVERAL_GUESTS}"
        )
    unknown = [number for number in limited if number not in counts]
    if unknown:
        raise task.InvalidTask(
            f"sla {name} levels: no level has {unknown[0]} guests (there are: "
            f"{', '.join(map(str, counts))})"
        )


def check_several_guests(parsed: question.ParsedCriterion) -> None:
    """Reject limits on what several guests have, at a level of one guest."""
    levels = parsed.options.get("levels", "all")
    numbers = levels if isinstance(levels, list) else [levels]
    if 1 in numbers:
        raise task.InvalidTask(
            f"sla {parsed.criterion.name} levels: a single guest shares its "
            f"host with no other; {_SEVERAL_GUESTS}"
        )


def check_solo_guest(key_path: str, subtask: Task) -> None:
    """Reject a loss against a solo guest if the task has no level 1.

    :param key_path: The keys of the limits, for the message.
    """
    counts = list_levels(subtask)
    if 1 not in counts:
        raise task.InvalidTask(
            f"{key_path}: a loss against one guest requires level 1 (levels: "
            f"{', '.join(map(str, counts))}); add it"
        )


def _check_guests(
    subtask: Task,
    measured: int,
    unmeasured: collections.abc.Mapping[str, int],
) -> list[str]:
    """Reject a number of guests that fits no level; return warnings.

    :param measured: The number of guests in the largest level.
    """
    options, count = subtask.guests, subtask.count
    reason = f"the largest level has {measured} guests on a host"
    largest = measured
    for title, number in unmeasured.items():
        reason += f" and {number} {title}"
        largest += number
    if count % largest:
        raise task.InvalidTask(
            f"count={count}: {reason}; set vmperf_guests: "
            f"{{count: {largest}}}, or a multiple of it for more hosts"
        )
    group = options.get("server_group") or ""
    if group.endswith("anti-affinity") and largest > 1:
        raise task.InvalidTask(
            f"server_group={group}: {largest} guests must share a host; use "
            "affinity, or remove it"
        )
    one_host = [
        f"{key}={options[key]}"
        for key in ("host", "server_group")
        if options.get(key)
    ]
    if count > largest and one_host:
        raise task.InvalidTask(
            f"count={count}: {largest} guests on each of {count // largest} "
            f"hosts contradict {one_host[0]}, which places all on one host; "
            f"remove it, or set count: {largest}"
        )
    hosts = options.get("hosts") or ()
    if hosts and count != largest * len(hosts):
        raise task.InvalidTask(
            f"count={count}: must be {largest * len(hosts)} for {largest} "
            f"guests on each of {len(hosts)} hosts"
        )
    keys = ("host", "hosts", "server_group", "aggregate", "availability_zone")
    if largest > 1 and not any(options.get(key) for key in keys):
        return [
            "Nova chooses the hosts, and guests on different hosts void the "
            "run (finding level_placement_wrong); set "
            "server_group: affinity, or a host"
        ]
    return []


def _check_stop(subtask: Task, counts: tuple[int, ...]) -> None:
    """Reject a stop rule that does not match the levels."""
    stop, order = subtask.arguments.stop, subtask.arguments.order
    if stop is None:
        return
    if order != "listed" or not levels.is_ascending(counts):
        raise task.InvalidTask(
            "stop: requires ascending levels and order=listed (here: levels="
            f"{list(counts)}, order={order})"
        )
    stop_limits = levels.create_stop_rule(stop).max_percent
    if stop_limits:
        check_solo_guest("stop max_percent", subtask)
        task.check_limits("stop max_percent", stop_limits, subtask.metrics)
