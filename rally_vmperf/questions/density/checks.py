"""Check a density task before anything boots."""

import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.guests import idle
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import levels

_STOP: dict[str, t.Any] = {
    "type": "object",
    "additionalProperties": False,
    "minProperties": 1,
    "properties": {
        "max_percent": question.PER_METRIC,
        "total_falls": {"type": "boolean"},
    },
}
#: Numbers of guests at which limits are held.
AT: dict[str, t.Any] = {
    "oneOf": [
        {"enum": ["all"]},
        {"type": "integer", "minimum": 1},
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": "integer", "minimum": 1},
        },
    ],
    "description": "Number of guests at which the limits are held, a list "
    "of numbers, or every; default every.",
}


def numbers(asked: task.Task) -> tuple[int, ...]:
    """Return the numbers of guests of a task, in its order.

    :raises Refused: for levels of another form
    """
    try:
        return levels.expand(asked.arguments.get("levels"))
    except levels.LevelError as error:
        raise task.Refused(str(error)) from error


def solo_guest(asked: task.Task) -> str:
    """Return which guest is the lone one."""
    return str(asked.arguments.get("solo_guest", "rotate"))


def limited_levels(asked: task.Task, limits: question.Json) -> list[int]:
    """Return the numbers of guests at which a criterion applies its limits."""
    at = limits.get("levels", "all")
    if at == "all":
        # A lone guest loses nothing against itself, and shares with nobody.
        first = 1 if limits.get("compare_to") == "bare_metal" else 2
        return [number for number in sorted(numbers(asked)) if number >= first]
    return sorted(at) if isinstance(at, list) else [at]


def check(asked: task.Task) -> list[str]:
    """Refuse levels, guests and a stop rule that do not go together.

    :returns: warnings, a sentence each
    """
    counts = numbers(asked)
    idle_guests = asked.arguments.get("idle_guests", "running")
    if idle_guests not in tuple(idle.STATUS):
        raise task.Refused(
            f"idle_guests {idle_guests!r:.80}: must be one of "
            f"{', '.join(idle.STATUS)}"
        )
    if solo_guest(asked) not in t.get_args(levels.SoloGuest):
        raise task.Refused(
            f"solo_guest {solo_guest(asked)!r:.80}: must be rotate or all"
        )
    if solo_guest(asked) == "all":
        check_lone_guest("solo_guest: all", asked)
    remarks = _check_guests(asked, max(counts))
    if asked.neighbours and asked.arguments.get("order") == "listed":
        remarks.append(
            "neighbours with order 'listed': each level is measured first "
            "without and then with them, in every repetition, so that what "
            "changes with time counts as theirs; use order: shuffled or blocks"
        )
    odd = [number for number in counts if number % 2]
    if odd and "partner" in assignment.needs(asked.assignments):
        raise task.Refused(
            f"levels {list(counts)}: guest_to_guest needs pairs, so every "
            f"level must be even; {odd[0]} is not"
        )
    _check_stop(asked, counts)
    return remarks


def check_at(asked: task.Task, name: str, limits: question.Json) -> None:
    """Refuse limits at levels that are missing or have a single guest."""
    counts, at = numbers(asked), limited_levels(asked, limits)
    unknown = [number for number in at if number not in counts]
    if unknown:
        raise task.Refused(
            f"sla {name} levels: no level has {unknown[0]} guests (there are: "
            f"{', '.join(map(str, counts))})"
        )
    if max(at, default=1) < 2 and limits.get("compare_to") != "bare_metal":
        raise task.Refused(
            f"sla {name}: a single guest shares its host with no other; add a "
            "level of 2 guests or more"
        )


def check_lone_guest(what: str, asked: task.Task) -> None:
    """Refuse a loss against one guest when no level has a single guest.

    :param what: names the limits in the message
    """
    counts = numbers(asked)
    if 1 not in counts:
        raise task.Refused(
            f"{what}: a loss against one guest needs the level 1 (levels "
            f"are: {', '.join(map(str, counts))}); add it"
        )


def _check_guests(asked: task.Task, measured: int) -> list[str]:
    """Refuse guests that cannot be as many on each host as are asked for.

    :param measured: how many of them the largest level has
    """
    given, count = asked.guests, asked.count
    words = f"the largest level has {measured} guests on a host"
    largest = measured
    if beside := asked.neighbours:
        words += f", neighbours are {beside.guests} more"
        largest += beside.guests
    if count % largest:
        raise task.Refused(
            f"count {count}: {words}; give vmperf_guests: "
            f"{{count: {largest}}}, or a multiple of it for more hosts"
        )
    group = given.get("server_group") or ""
    if group.endswith("anti-affinity") and largest > 1:
        raise task.Refused(
            f"server_group {group!r}: {largest} guests are to share a host; "
            "use affinity, or leave it out"
        )
    one_host = next(
        (
            f"{key} {given[key]!r}"
            for key in ("host", "server_group")
            if given.get(key)
        ),
        "",
    )
    if count > largest and one_host:
        raise task.Refused(
            f"count {count}: {largest} guests on each of {count // largest} "
            f"hosts are asked for, but {one_host} puts all on one; leave it "
            "out, "
            f"or give count: {largest}"
        )
    hosts = given.get("hosts") or ()
    if hosts and count != largest * len(hosts):
        raise task.Refused(
            f"count {count}: {largest} guests on each of {len(hosts)} hosts "
            f"are {largest * len(hosts)}; give count: {largest * len(hosts)}"
        )
    keys = ("host", "hosts", "server_group", "aggregate", "availability_zone")
    if largest > 1 and not any(given.get(key) for key in keys):
        return [
            "Nova chooses the hosts, and guests on different hosts void the "
            "run (finding level_placement_wrong); ask for "
            "server_group: affinity, or for a host"
        ]
    return []


def _check_stop(asked: task.Task, counts: tuple[int, ...]) -> None:
    """Refuse a stop rule that cannot be followed."""
    stop = asked.arguments.get("stop")
    if stop is None:
        return
    task.check_form(stop, _STOP, "stop")
    order = asked.arguments.get("order", "listed")
    if order != "listed" or not levels.ascending(counts):
        raise task.Refused(
            f"stop: needs ascending levels in order 'listed', they are "
            f"{list(counts)}, {order!r}"
        )
    if "max_percent" in stop:
        check_lone_guest("stop max_percent", asked)
        asked.check_matches("stop max_percent", stop["max_percent"], ["ratio"])
