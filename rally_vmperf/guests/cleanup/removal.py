"""Remove the resources of runs from a cloud, and verify it.

A run removes its own resources; ``OrphanCleanup`` finds and removes the
resources that other runs left.
"""

import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership

#: Seconds within which all resources must be deleted.
TIMEOUT = 300
_RETRY_SECONDS = 30
#: Seconds between two requests: the first pause, and the longest, to which the
#: pause grows while nothing changes.
_PAUSE, _MAX_PAUSE = 0.5, 4.0
#: Seconds within which an interrupted request takes effect, or never.
_SETTLE_SECONDS = 3


def remove_resources(
    connection: cloud.Connection,
    owner: ownership.Owner,
    progress: waiting.Progress,
    *,
    timeout: float = TIMEOUT,
    interrupted: bool = False,
    disks: bool = True,
    remedy: str = "",
) -> None:
    """Delete all resources of an owner and wait until they are deleted.

    Resources are found by name, also those whose creation was interrupted
    before the cloud could answer.

    :param interrupted: A flag that requests may be in progress, so that
        resources are listed again after a few seconds.
    :param disks: A flag that there may be volumes.
    :param remedy: The command that removes the remaining resources.
    :raises GuestError: If resources remain after ``timeout`` seconds; the line
        lists them and the remedy.
    """
    own_resources = inventory.Inventory(
        connection, owner.owns, (owner.prefix,)
    )
    deletion = DeletionLoop(
        lambda: own_resources.list_guest_resources(disks=disks),
        progress,
        timeout,
    )
    try:
        deletion.run()
        if interrupted:
            time.sleep(_SETTLE_SECONDS)
            deletion.run()
    except errors.GuestError as error:
        raise errors.GuestError(
            f"{error}; remove it with: {remedy}" if remedy else str(error)
        ) from error


@dataclasses.dataclass
class DeletionLoop:
    """A loop that lists and deletes resources until none is left.

    :param list_resources: The function that lists the resources in the order
        of deletion. Resources of a later kind are deleted after those of the
        earlier kinds.
    :param refused: The reasons of the cloud not to delete a resource.
    """

    list_resources: t.Callable[[], list[inventory.Resource]]
    progress: waiting.Progress
    timeout: float
    refused: dict[inventory.Resource, str] = dataclasses.field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self._requested_at: dict[inventory.Resource, float] = {}
        self._delays: dict[inventory.Resource, str] = {}

    def run(self) -> None:
        """Delete resources until none is left.

        :raises GuestError: If resources remain; the line gives the reasons.
        """
        deadline = time.monotonic() + self.timeout
        last_error = ""
        last_progress = ""
        pause = _PAUSE
        while True:
            remaining, is_over = None, False
            try:
                remaining = self.list_resources()
            except (*cloud.CLOUD_ERRORS, errors.GuestError) as error:
                last_error = cloud.one_line(error)
            if remaining is not None:
                if not remaining:
                    return
                text = inventory.count_by_kind(remaining)
                if text != last_progress:
                    self.progress(f"removing {text}")
                    pause = _PAUSE
                last_progress = text
                self._delete_round(remaining)
                is_over = set(remaining) <= set(self.refused)
            if is_over or time.monotonic() > deadline:
                raise errors.GuestError(
                    self._describe_remaining(remaining, last_error)
                )
            time.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    def _delete_round(self, remaining: list[inventory.Resource]) -> None:
        """Request the deletions that are due; note refused and late ones."""
        now = time.monotonic()
        deletable = [
            resource for resource in remaining if resource not in self.refused
        ]
        # No clean-up finds the resources of a deleted project.
        occupied_projects = {refused.project for refused in self.refused}
        for resource in inventory.select_first_kinds(deletable):
            if resource.kind == "project" and resource.id in occupied_projects:
                self.refused[resource] = "not empty"
                continue
            requested_at = self._requested_at.get(resource, -_RETRY_SECONDS)
            if requested_at + _RETRY_SECONDS > now:
                continue
            try:
                resource.delete()
            except cloud.CLOUD_ERRORS as error:
                is_temporary = cloud.is_temporary(error)
                reasons = self._delays if is_temporary else self.refused
                reasons[resource] = cloud.one_line(error)
            else:
                self._requested_at[resource] = now

    def _describe_remaining(
        self, remaining: list[inventory.Resource] | None, last_error: str
    ) -> str:
        """Return a message that names the resources not removed, and why."""
        if remaining is None:
            return f"clean-up: cannot list the resources: {last_error}"
        reasons = {**self._delays, **self.refused}
        names = ", ".join(
            f"{resource.kind} {resource.name}"
            + (f" ({reasons[resource]})" if resource in reasons else "")
            for resource in remaining
        )
        return f"clean-up: not removed: {names}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class CloudView:
    """The cloud as one credential shows it.

    :param admin: A flag that the credential shows all projects and users.
    :param projects: The identifiers of further projects that an administrator
        searches.
    """

    connection: cloud.Connection
    admin: bool
    projects: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnedResource:
    """A resource with one of Rally's names, and the run that made it."""

    resource: inventory.Resource
    run: ownership.OwningRun


@dataclasses.dataclass(frozen=True)
class OrphanCleanup:
    """The removal of resources that runs left, except resources in use.

    Only resources with an exact name of Rally are removed. Resources that a
    process on this machine uses are never chosen. Resources that neither
    Rally's database nor the ledger knows may belong to another machine: they
    are chosen only by their task or with ``everything``.

    :param task: The identifier of the only task to clean up; None for all.
    :param everything: A flag to choose the resources of unknown runs as well.
    """

    views: collections.abc.Sequence[CloudView]
    run_index: ownership.RunIndex
    task: str | None = None
    everything: bool = False

    def find(self) -> list[OwnedResource]:
        """Return all resources in the order of deletion."""
        return self._find_owned(inventory.Inventory.list_all)

    def is_chosen(self, owned: OwnedResource) -> bool:
        """Return whether a resource is to be removed."""
        state = owned.run.state
        if state == "running":
            return False
        return state != "unknown" or self.everything or self.task is not None

    def remove(
        self,
        owned_resources: collections.abc.Iterable[OwnedResource],
        progress: waiting.Progress,
    ) -> dict[inventory.Resource, str]:
        """Remove resources; return each remaining one with its reason.

        :param owned_resources: The resources from ``find``. Only their kinds
            and projects are listed again.
        """
        chosen_resources = self._select_chosen(owned_resources)
        deletion = DeletionLoop(
            lambda: self._list_remaining(chosen_resources), progress, TIMEOUT
        )
        try:
            deletion.run()
        except errors.GuestError:
            reasons = deletion.refused
            return {
                resource: reasons.get(resource, "still there")
                for resource in self._list_chosen(
                    inventory.Inventory.list_all, chosen_resources
                )
            }
        return {}

    def _list_remaining(
        self, chosen_resources: list[inventory.Resource]
    ) -> list[inventory.Resource]:
        """Return chosen resources that still exist, servers first."""
        others = [
            resource
            for resource in chosen_resources
            if resource.kind != "server"
        ]
        return self._list_chosen(
            inventory.Inventory.list_servers, chosen_resources
        ) or self._list_chosen(inventory.Inventory.list_all, others)

    def _list_chosen(
        self, list_resources: t.Any, chosen_resources: list[inventory.Resource]
    ) -> list[inventory.Resource]:
        """List resources in the cloud, and return those to be removed."""
        return self._select_chosen(
            self._find_owned(list_resources, chosen_resources)
        )

    def _select_chosen(
        self, owned_resources: collections.abc.Iterable[OwnedResource]
    ) -> list[inventory.Resource]:
        """Return the resources that are to be removed."""
        return [
            owned.resource
            for owned in owned_resources
            if self.is_chosen(owned)
        ]

    def _find_owned(
        self,
        list_resources: t.Any,
        known_resources: collections.abc.Sequence[inventory.Resource]
        | None = None,
    ) -> list[OwnedResource]:
        """Return the resources that have one of Rally's names, with runs.

        :param known_resources: The resources to list again; None to list all.
        """
        resources: dict[inventory.Resource, None] = {}
        for view in self.views:
            projects, kinds = view.projects, set(inventory.RANKS)
            if known_resources is not None:
                projects = tuple(
                    sorted({resource.project for resource in known_resources})
                )
                kinds = {resource.kind for resource in known_resources}
            with cloud.convert_errors("list the resources of runs"):
                visible_resources = inventory.Inventory(
                    view.connection,
                    self._owns,
                    ownership.PREFIXES,
                    admin=view.admin,
                    projects=projects,
                    kinds=kinds,
                )
                resources |= dict.fromkeys(list_resources(visible_resources))
        ordered = sorted(
            resources, key=lambda resource: inventory.RANKS[resource.kind]
        )
        return [
            OwnedResource(resource=resource, run=self._find_run(resource.name))
            for resource in ordered
        ]

    def _find_run(self, name: str) -> ownership.OwningRun:
        """Return the run that created a resource of this name."""
        return self.run_index.run(ownership.parse_owner(name) or "")

    def _owns(self, name: str | None) -> bool:
        """Return whether a name is one of Rally's (and of the chosen task)."""
        owner = ownership.parse_owner(name)
        if owner is None or self.task is None:
            return owner is not None
        run = self.run_index.run(owner)
        return run.task == self.task or owner == ownership.shorten_owner(
            self.task
        )
