"""Ways to keep guests idle: running, paused or stopped."""

import collections.abc
import typing as t

IdleState = t.Literal["running", "paused", "stopped"]

AWAKE = "ACTIVE"
#: What guests do that take no part -> their status in Nova meanwhile.
STATUS: dict[str, str] = {
    "running": AWAKE,
    "paused": "PAUSED",
    "stopped": "SHUTOFF",
}
#: What guests do that take no part -> what takes them there, and back.
_VERBS: dict[str, tuple[str, str]] = {
    "paused": ("pause", "unpause"),
    "stopped": ("stop", "start"),
}

Verb = t.Literal["pause", "unpause", "stop", "start"]


def wanted(
    guests: collections.abc.Iterable[str],
    team: collections.abc.Container[str],
    dead: collections.abc.Container[str],
    idle_guests: IdleState,
) -> dict[str, str]:
    """Return guest -> the status that it is to have in a level.

    The dead are left alone: what they do is known to nobody.

    :param team: who takes part
    """
    return {
        guest: AWAKE if guest in team else STATUS[idle_guests]
        for guest in guests
        if guest not in dead
    }


def verb(status: str, wish: str, idle_guests: IdleState) -> Verb | None:
    """Return the action that leads from one status to another, or None.

    A status that is not of our making is left by none of our ways.
    """
    if idle_guests == "running" or status == wish:
        return None
    rest, wake = _VERBS[idle_guests]
    if (status, wish) == (AWAKE, STATUS[idle_guests]):
        return t.cast(Verb, rest)
    if (status, wish) == (STATUS[idle_guests], AWAKE):
        return t.cast(Verb, wake)
    return None
