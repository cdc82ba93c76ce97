"""Checks of a density task that run before any guest boots."""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.execution import assignment
from rally_vmperf.guests import idle
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import levels

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


def list_levels(subtask: task.Task) -> tuple[int, ...]:
    """Return the numbers of guests of a task as a tuple, in its order.

    :raises InvalidTask: If the levels are not valid.
    """
    return levels.expand_levels(subtask.arguments.get("levels"))


def get_solo_guest(subtask: task.Task) -> str:
    """Return the mode of the solo guest as text: "rotate" or "all"."""
    return str(subtask.arguments.get("solo_guest", "rotate"))


def list_limited_levels(
    subtask: task.Task, options: documents.Arguments
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
    subtask: task.Task, unmeasured: collections.abc.Mapping[str, int]
) -> list[str]:
    """Reject levels, guests or stop rules in conflict; return warnings.

    :param unmeasured: The number of guests on each host that work without
        being measured, by title.
    :returns: The warnings, one sentence each.
    """
    counts = list_levels(subtask)
    idle_guests = subtask.arguments.get("idle_guests", "running")
    if idle_guests not in tuple(idle.STATUS):
        raise task.InvalidTask(
            f"idle_guests={idle_guests!r:.80}: must be one of "
            f"{', '.join(idle.STATUS)}"
        )
    solo_guest = get_solo_guest(subtask)
    if solo_guest not in t.get_args(levels.SoloGuest):
        raise task.InvalidTask(
            f"solo_guest={solo_guest!r:.80}: must be rotate or all"
        )
    if solo_guest == "all":
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
    subtask: task.Task,
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


def check_solo_guest(key_path: str, subtask: task.Task) -> None:
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
    subtask: task.Task,
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


def _check_stop(subtask: task.Task, counts: tuple[int, ...]) -> None:
    """Reject a stop rule that does not match the levels."""
    stop = subtask.arguments.get("stop")
    if stop is None:
        return
    task.check_schema(stop, STOP_SCHEMA, "stop")
    order = subtask.arguments.get("order", "listed")
    if order != "listed" or not levels.is_ascending(counts):
        raise task.InvalidTask(
            "stop: requires ascending levels and order=listed (here: levels="
            f"{list(counts)}, order={order})"
        )
    stop_limits = levels.create_stop_rule(stop).max_percent
    if stop_limits:
        check_solo_guest("stop max_percent", subtask)
        task.check_limits("stop max_percent", stop_limits, subtask.metrics)
