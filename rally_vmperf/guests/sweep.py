"""The search for what runs left, and its removal, in all projects in view."""

import collections.abc
import dataclasses
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import inventory
from rally_vmperf.guests import ownership
from rally_vmperf.guests import removal
from rally_vmperf.guests import waiting

#: Seconds in which everything must be gone.
TIMEOUT = 300


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
        removing = removal.Removing(self._left, progress, TIMEOUT)
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
