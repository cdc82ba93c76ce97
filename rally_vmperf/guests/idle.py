# SPDX-License-Identifier: Apache-2.0
"""States of idle guests: running, paused or stopped."""

import collections.abc
import typing as t

IdleState = t.Literal["running", "paused", "stopped"]

AWAKE = "ACTIVE"
#: The state of idle guests -> their status in Nova.
STATUS: dict[str, str] = {
    "running": AWAKE,
    "paused": "PAUSED",
    "stopped": "SHUTOFF",
}
#: The state of idle guests -> the actions that enter and leave it.
_ACTIONS: dict[str, tuple[str, str]] = {
    "paused": ("pause", "unpause"),
    "stopped": ("stop", "start"),
}

PowerAction = t.Literal["pause", "unpause", "stop", "start"]


def target_statuses(
    guests: collections.abc.Iterable[str],
    participants: collections.abc.Container[str],
    lost_guests: collections.abc.Container[str],
    idle_guests: IdleState,
) -> dict[str, str]:
    """Return the required status of each guest in a level.

    Lost guests are omitted, because their status is not known.

    :param participants: The guests that participate in the level.
    """
    return {
        guest: AWAKE if guest in participants else STATUS[idle_guests]
        for guest in guests
        if guest not in lost_guests
    }


def choose_action(
    status: str, target_status: str, idle_guests: IdleState
) -> PowerAction | None:
    """Return the action that leads from one status to another, or None.

    There is no action for a status that this package does not cause.
    """
    if idle_guests == "running" or status == target_status:
        return None
    idle_verb, wake_verb = _ACTIONS[idle_guests]
    if (status, target_status) == (AWAKE, STATUS[idle_guests]):
        return t.cast(PowerAction, idle_verb)
    if (status, target_status) == (STATUS[idle_guests], AWAKE):
        return t.cast(PowerAction, wake_verb)
    return None
