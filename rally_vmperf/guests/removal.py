"""Everything of a task's guests, removed and seen to be gone."""

import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import inventory
from rally_vmperf.guests import ownership
from rally_vmperf.guests import waiting

_ASK_AGAIN = 30
#: Seconds between two looks; each kind waits for the one before it.
_PAUSE = 0.4


def remove(
    connection: sdk.Connection,
    whose: ownership.Owner,
    progress: waiting.Progress,
    *,
    timeout: float = 300,
    settle: float = 0,
    disks: bool = True,
) -> None:
    """Delete all resources of an owner and wait until they are gone.

    They are found by name, so that those are found as well whose creation
    was interrupted before the cloud could answer.

    :param settle: seconds after which to look again, for requests that may
        still have been under way
    :param disks: volumes may be among them
    :raises GuestError: with what is left, after ``timeout`` seconds
    """
    there = inventory.Inventory(connection, whose.owns)
    removing = Removing(
        lambda: there.of_guests(disks=disks), progress, timeout
    )
    removing.run()
    if settle:
        time.sleep(settle)
        removing.run()


@dataclasses.dataclass
class Removing:
    """Rounds of looking and deleting, until there is nothing to be seen.

    :param look: returns what there is, in the order of deletion; resources
        of a later kind wait until the earlier kinds are gone
    :param refused: why the cloud will not delete what it will not
    """

    look: t.Callable[[], list[inventory.Resource]]
    progress: waiting.Progress
    timeout: float
    refused: dict[inventory.Resource, str] = dataclasses.field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self._asked: dict[inventory.Resource, float] = {}
        self._delays: dict[inventory.Resource, str] = {}

    def run(self) -> None:
        """Delete until nothing is left.

        :raises GuestError: with what is left and why
        """
        deadline = time.monotonic() + self.timeout
        trouble = ""
        told = ""
        while True:
            left = None
            try:
                left = self.look()
            except (*cloud.REFUSALS, errors.GuestError) as error:
                trouble = cloud.one_line(error)
            if left is not None:
                if not left:
                    return
                text = inventory.count(left)
                if text != told:
                    self.progress(f"removing {text}")
                told = text
                self._round(left)
                if set(left) <= set(self.refused):
                    raise errors.GuestError(self._left(left, trouble))
            if time.monotonic() > deadline:
                raise errors.GuestError(self._left(left, trouble))
            time.sleep(_PAUSE)

    def _round(self, left: list[inventory.Resource]) -> None:
        now = time.monotonic()
        willing = [one for one in left if one not in self.refused]
        for resource in inventory.first_kinds(willing):
            if self._asked.get(resource, -_ASK_AGAIN) + _ASK_AGAIN > now:
                continue
            try:
                resource.delete()
            except cloud.REFUSALS as error:
                passing = cloud.passing(error)
                why = self._delays if passing else self.refused
                why[resource] = cloud.one_line(error)
            else:
                self._asked[resource] = now

    def _left(
        self, left: list[inventory.Resource] | None, trouble: str
    ) -> str:
        if left is None:
            return f"clean-up: the cloud cannot be asked: {trouble}"
        reasons = {**self._delays, **self.refused}
        names = ", ".join(
            f"{one.kind} {one.name}"
            + (f" ({reasons[one]})" if one in reasons else "")
            for one in left
        )
        return f"clean-up: not removed: {names}"
