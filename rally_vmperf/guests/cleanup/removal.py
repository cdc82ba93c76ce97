"""Remove the resources of runs from a cloud, and verify it.

A run removes its own; ``Sweep`` finds and removes what others left.
"""

import collections.abc
import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership

#: Seconds in which everything must be gone.
TIMEOUT = 300
_ASK_AGAIN = 30
#: Seconds between two looks: the first, and the longest, to which they grow
#: while nothing changes; each kind waits for the one before it.
_PAUSE, _LONGEST = 0.5, 4.0
#: Seconds in which a request that was interrupted takes effect, or never.
_SETTLE = 3


def remove(
    connection: sdk.Connection,
    whose: ownership.Owner,
    progress: waiting.Progress,
    *,
    timeout: float = TIMEOUT,
    interrupted: bool = False,
    disks: bool = True,
    remedy: str = "",
) -> None:
    """Delete all resources of an owner and wait until they are gone.

    They are found by name, so that those are found as well whose creation
    was interrupted before the cloud could answer.

    :param interrupted: requests may still be under way, so look again after
        a few seconds
    :param disks: volumes may be among them
    :param remedy: command that removes what is left
    :raises GuestError: with what is left, after ``timeout`` seconds, and the
        remedy
    """
    there = inventory.Inventory(connection, whose.owns, (whose.prefix,))
    removing = Removing(
        lambda: there.of_guests(disks=disks), progress, timeout
    )
    try:
        removing.run()
        if interrupted:
            time.sleep(_SETTLE)
            removing.run()
    except errors.GuestError as error:
        raise errors.GuestError(
            f"{error}; remove it with: {remedy}" if remedy else str(error)
        ) from error


@dataclasses.dataclass
class Removing:
    """Rounds of listing and deleting, until nothing is left.

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
        pause = _PAUSE
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
                    pause = _PAUSE
                told = text
                self._round(left)
                if set(left) <= set(self.refused):
                    raise errors.GuestError(self._left(left, trouble))
            if time.monotonic() > deadline:
                raise errors.GuestError(self._left(left, trouble))
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def _round(self, left: list[inventory.Resource]) -> None:
        now = time.monotonic()
        willing = [one for one in left if one not in self.refused]
        # Where nobody would look for the rest once the project is gone.
        held = {one.project for one in self.refused}
        for resource in inventory.first_kinds(willing):
            if resource.kind == "project" and resource.id in held:
                self.refused[resource] = "not empty"
                continue
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
    """The cloud as one credential shows it.

    :param admin: it shows all projects, users and projects themselves
    :param projects: identifiers of those that an admin looks into besides
        those that it finds by names
    """

    connection: sdk.Connection
    admin: bool
    projects: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Found:
    """A resource with one of Rally's names, and the run that made it."""

    resource: inventory.Resource
    run: ownership.OwningRun


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Resources that runs left, apart from those still in use.

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
        """Return all resources in the order of deletion."""
        return self._see(inventory.Inventory.everything)

    def chosen(self, found: Found) -> bool:
        """Tell whether a resource is to be removed."""
        state = found.run.state
        if state == "running":
            return False
        return state != "unknown" or self.everything or self.task is not None

    def remove(
        self,
        found: collections.abc.Iterable[Found],
        progress: waiting.Progress,
    ) -> dict[inventory.Resource, str]:
        """Remove what is chosen; return what is left of it, and why.

        :param found: what ``find`` found; only such kinds are looked for
            again, and only in the projects in which they were
        """
        again = [one.resource for one in found if self.chosen(one)]
        removing = Removing(lambda: self._left(again), progress, TIMEOUT)
        try:
            removing.run()
        except errors.GuestError:
            reasons = removing.refused
            return {
                one: reasons.get(one, "still there")
                for one in self._of(inventory.Inventory.everything, again)
            }
        return {}

    def _left(
        self, again: list[inventory.Resource]
    ) -> list[inventory.Resource]:
        rest = [one for one in again if one.kind != "server"]
        return self._of(inventory.Inventory.servers, again) or self._of(
            inventory.Inventory.everything, rest
        )

    def _of(
        self, look: t.Any, again: list[inventory.Resource]
    ) -> list[inventory.Resource]:
        found = self._see(look, again)
        return [one.resource for one in found if self.chosen(one)]

    def _see(
        self,
        look: t.Any,
        again: collections.abc.Sequence[inventory.Resource] | None = None,
    ) -> list[Found]:
        """Return what there is.

        :param again: what was found before, for another look at it
        """
        seen: dict[inventory.Resource, None] = {}
        for view in self.views:
            projects, kinds = view.projects, set(inventory.RANKS)
            if again is not None:
                projects = tuple(sorted({one.project for one in again}))
                kinds = {one.kind for one in again}
            with cloud.asking("look for what runs left"):
                there = inventory.Inventory(
                    view.connection,
                    self._owns,
                    ownership.PREFIXES,
                    admin=view.admin,
                    projects=projects,
                    kinds=kinds,
                )
                seen |= dict.fromkeys(look(there))
        ordered = sorted(seen, key=lambda one: inventory.RANKS[one.kind])
        return [
            Found(resource=one, run=self._run(one.name)) for one in ordered
        ]

    def _run(self, name: str) -> ownership.OwningRun:
        return self.register.run(ownership.rally_owner(name) or "")

    def _owns(self, name: str | None) -> bool:
        part = ownership.rally_owner(name)
        if part is None or self.task is None:
            return part is not None
        run = self.register.run(part)
        return run.task == self.task or part == ownership.short(self.task)
