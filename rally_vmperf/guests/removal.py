"""What runs have in a cloud, removed and seen to be gone.

A run removes its own; ``Sweep`` finds and removes what others left.
"""

import collections.abc
import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import inventory
from rally_vmperf.guests import ownership
from rally_vmperf.guests import waiting

#: Seconds in which everything must be gone.
TIMEOUT = 300
_ASK_AGAIN = 30
#: Seconds between two looks; each kind waits for the one before it.
_PAUSE = 0.4


def remove(
    connection: sdk.Connection,
    whose: ownership.Owner,
    progress: waiting.Progress,
    *,
    timeout: float = TIMEOUT,
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class View:
    """Somebody's look at the cloud.

    :param admin: it shows all projects, users and projects themselves
    """

    connection: sdk.Connection
    admin: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Found:
    """A resource with one of Rally's names, and the run it is of."""

    resource: inventory.Resource
    run: ownership.Run


@dataclasses.dataclass(frozen=True)
class Sweep:
    """What runs left, told from what others need.

    Nothing is touched whose name is not exactly one of Rally's. What a
    process on this machine still uses is never chosen. What Rally's database
    and the ledger do not know may be another machine's: it is chosen only
    when its task is named or everything is asked for.

    :param task: the only task to look at, None for all
    :param everything: choose the resources of unknown runs as well
    """

    views: collections.abc.Sequence[View]
    register: ownership.Register
    task: str | None = None
    everything: bool = False

    def find(self) -> list[Found]:
        """Return all that there is, in the order of deletion."""
        return self._see(inventory.Inventory.everything)

    def chosen(self, found: Found) -> bool:
        """Tell whether a resource is to be removed."""
        state = found.run.state
        if state == "running":
            return False
        return state != "unknown" or self.everything or self.task is not None

    def remove(
        self, progress: waiting.Progress
    ) -> dict[inventory.Resource, str]:
        """Remove what is chosen; return what is left of it, and why."""
        removing = Removing(self._left, progress, TIMEOUT)
        try:
            removing.run()
        except errors.GuestError:
            reasons = removing.refused
            return {
                one: reasons.get(one, "still there")
                for one in self._of(inventory.Inventory.everything)
            }
        return {}

    def _left(self) -> list[inventory.Resource]:
        return self._of(inventory.Inventory.servers) or self._of(
            inventory.Inventory.everything
        )

    def _of(self, look: t.Any) -> list[inventory.Resource]:
        return [one.resource for one in self._see(look) if self.chosen(one)]

    def _see(self, look: t.Any) -> list[Found]:
        seen: dict[inventory.Resource, None] = {}
        for view in self.views:
            with cloud.asking("look for what runs left"):
                there = inventory.Inventory(
                    view.connection, self._owns, admin=view.admin
                )
                seen |= dict.fromkeys(look(there))
        ordered = sorted(seen, key=lambda one: inventory.RANKS[one.kind])
        return [
            Found(resource=one, run=self._run(one.name)) for one in ordered
        ]

    def _run(self, name: str) -> ownership.Run:
        return self.register.run(ownership.rally_owner(name) or "")

    def _owns(self, name: str | None) -> bool:
        part = ownership.rally_owner(name)
        if part is None or self.task is None:
            return part is not None
        run = self.register.run(part)
        return run.task == self.task or part == ownership.short(self.task)
