# SPDX-License-Identifier: Apache-2.0
"""Remove the resources of runs from a cloud, and verify it.

A run removes its own resources; ``OrphanCleanup`` finds and removes the
resources that other runs left.
"""

import collections
import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import waiting
from rally_vmperf.guests.cleanup import inventory
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.measurement.samples import units

#: Seconds within which all resources must be deleted.
TIMEOUT = 300
_RETRY_SECONDS = 30
#: Seconds between two requests: the first pause, and the longest, to which the
#: pause grows while nothing changes.
_PAUSE, _MAX_PAUSE = 0.5, 4.0
#: The kinds of resources that own others.
_ACCOUNTS = ("user", "project")
#: Seconds within which an interrupted request takes effect, or never.
_SETTLE_SECONDS = 3


def remove_resources(
    connection: cloud.Connection,
    owner: ownership.Owner,
    progress: waiting.Progress,
    *,
    timeout: float = TIMEOUT,
    interrupted: bool = False,
    kinds: collections.abc.Collection[str] = inventory.GUEST_KINDS,
    admin: cloud.Connection | None = None,
    remedy: str = "",
) -> None:
    """Delete all resources of an owner and wait until they are deleted.

    Resources are found by name, also those whose creation was interrupted
    before the cloud could answer.

    :param interrupted: A flag that requests may be in progress, so that
        resources are listed again after a few seconds.
    :param kinds: The kinds of resources that the owner can have.
    :param admin: The connection of an administrator, which removes flavors
        and aborts migrations; None if there is none.
    :param remedy: The command that removes the remaining resources.
    :raises GuestError: If resources remain after ``timeout`` seconds; the line
        lists them and the remedy.
    """
    own_resources = inventory.Inventory(
        connection,
        owner.owns,
        (owner.prefix,),
        kinds=kinds,
        migration_admin=admin,
    )

    def list_resources() -> list[inventory.Resource]:
        """Return the remaining resources, flavors after all others."""
        resources = own_resources.list_all(servers_first=True)
        if resources or admin is None or "flavor" not in kinds:
            return resources
        return dataclasses.replace(
            own_resources, connection=admin, admin=True, kinds={"flavor"}
        ).list_all()

    deletion = DeletionLoop(list_resources, progress, timeout)
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
            remaining: list[inventory.Resource] = []
            is_over = False
            try:
                remaining = self.list_resources()
                last_error = ""
            except inventory.IncompleteError as error:
                remaining, last_error = error.resources, str(error)
            except (*cloud.CLOUD_ERRORS, errors.GuestError) as error:
                last_error = (
                    f"cannot list the resources: {cloud.one_line(error)}"
                )
            if not remaining and not last_error:
                return
            if remaining:
                text = count_by_kind(remaining)
                if text != last_progress:
                    self.progress(f"removing {text}")
                    pause = _PAUSE
                last_progress = text
                self._delete_round(remaining, is_complete=not last_error)
                is_over = not last_error and set(remaining) <= set(
                    self.refused
                )
            if is_over or time.monotonic() > deadline:
                raise errors.GuestError(
                    self._describe_remaining(remaining, last_error)
                )
            time.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)

    def _delete_round(
        self, remaining: list[inventory.Resource], *, is_complete: bool
    ) -> None:
        """Request the deletions that are due; note refused and late ones.

        :param is_complete: A flag that all kinds are listed. Otherwise servers
            may use the resources, and accounts may own others: no refusal is
            final, and accounts are not deleted.
        """
        now = time.monotonic()
        deletable = [
            resource
            for resource in remaining
            if resource not in self.refused
            and (is_complete or resource.kind not in _ACCOUNTS)
        ]
        # No clean-up finds the resources of a deleted project.
        occupied_projects = {refused.project for refused in self.refused}
        for resource in _select_first_kinds(deletable):
            if resource.kind == "project" and resource.id in occupied_projects:
                self.refused[resource] = "not empty"
                continue
            requested_at = self._requested_at.get(resource, -_RETRY_SECONDS)
            if requested_at + _RETRY_SECONDS > now:
                continue
            try:
                resource.delete()
            except cloud.CLOUD_ERRORS as error:
                is_temporary = cloud.is_temporary(error) or not is_complete
                reasons = self._delays if is_temporary else self.refused
                reason = cloud.one_line(error)
                if is_temporary and reasons.get(resource) != reason:
                    self.progress(f"{resource.kind} {resource.name}: {reason}")
                reasons[resource] = reason
            else:
                self._requested_at[resource] = now
                self._delays.pop(resource, None)

    def list_reasons(self) -> dict[inventory.Resource, str]:
        """Return why the cloud did not delete resources, a dict."""
        return {**self._delays, **self.refused}

    def _describe_remaining(
        self, remaining: list[inventory.Resource], last_error: str
    ) -> str:
        """Return a message that names the resources not removed, and why."""
        if not remaining:
            return f"clean-up: {last_error}"
        reasons = self.list_reasons()
        names = ", ".join(
            f"{resource.kind} {resource.name}"
            + (f" ({reasons[resource]})" if resource in reasons else "")
            for resource in remaining
        )
        listed = f"; {last_error}" if last_error else ""
        return f"clean-up: not removed: {names}{listed}"


def count_by_kind(
    resources: collections.abc.Iterable[inventory.Resource],
) -> str:
    """Return the number of resources of each kind, in words."""
    counts = collections.Counter(resource.kind for resource in resources)
    return ", ".join(
        units.number_of(kind, number) for kind, number in counts.items()
    )


def _select_first_kinds(
    resources: list[inventory.Resource],
) -> list[inventory.Resource]:
    """Return the resources that must be deleted first."""
    first = min(map(inventory.get_rank, resources), default=0)
    return [
        resource
        for resource in resources
        if inventory.get_rank(resource) == first
    ]


@dataclasses.dataclass(frozen=True)
class OrphanCleanup:
    """The removal of resources that runs left, except resources in use.

    Only resources with an exact name of Rally are removed. Resources that a
    process on this machine uses are never chosen. Resources that neither
    Rally's database nor the ledger knows may belong to another machine: they
    are chosen only by their task or with ``everything``.

    :param views: The inventories of the cloud, one for each credential.
    :param task: The identifier of the only task to clean up; None for all.
    :param everything: A flag to choose the resources of unknown runs as well.
    """

    views: collections.abc.Sequence[inventory.Inventory]
    run_index: ownership.RunIndex
    task: str | None = None
    everything: bool = False

    def find(self) -> list[inventory.Resource]:
        """Return all resources in the order of deletion.

        :raises IncompleteError: If some kinds cannot be listed.
        """
        return self._list_owned(inventory.Inventory.list_all, self.views)

    def find_run(self, resource: inventory.Resource) -> ownership.OwningRun:
        """Return the run that created a resource."""
        return self.run_index.run(ownership.parse_owner(resource.name) or "")

    def is_chosen(self, resource: inventory.Resource) -> bool:
        """Return whether a resource is to be removed."""
        return self._includes(self.find_run(resource))

    def includes_owner(self, identifier: str) -> bool:
        """Return whether the resources of a run or task are to be removed.

        :param identifier: The identifier of the workload or task in Rally.
        """
        owner = ownership.shorten_owner(identifier)
        return self._includes(self.run_index.run(owner))

    def _includes(self, run: ownership.OwningRun) -> bool:
        """Return whether the resources of a run are to be removed."""
        if run.state == "running":
            return False
        is_known = run.state != "unknown"
        return is_known or self.everything or self.task is not None

    def remove(
        self,
        resources: collections.abc.Iterable[inventory.Resource],
        progress: waiting.Progress,
        *,
        is_complete: bool = True,
    ) -> dict[inventory.Resource, str]:
        """Remove resources; return each remaining one with its reason.

        :param resources: The resources from ``find``. Only their kinds and
            projects are listed again, servers first.
        :param is_complete: A flag that all kinds are listed. Otherwise
            accounts are kept, because they may have other resources.
        """
        chosen = list(filter(self.is_chosen, resources))
        accounts = {
            resource: "some of its resources cannot be listed"
            for resource in chosen
            if not is_complete and resource.kind in _ACCOUNTS
        }
        chosen = [resource for resource in chosen if resource not in accounts]
        others = [resource for resource in chosen if resource.kind != "server"]
        list_servers = inventory.Inventory.list_servers
        list_all = inventory.Inventory.list_all

        def list_remaining() -> list[inventory.Resource]:
            """Return the servers; without any, the other resources."""
            try:
                servers = self._list_again(list_servers, chosen)
            except inventory.IncompleteError:
                return self._list_again(list_all, chosen)
            return servers or self._list_again(list_all, others)

        deletion = DeletionLoop(list_remaining, progress, TIMEOUT)
        try:
            deletion.run()
            return accounts
        except errors.GuestError:
            reasons: dict[inventory.Resource, str] = {}
        try:
            remaining = self._list_again(list_all, chosen)
        except inventory.IncompleteError as error:
            reasons = {
                resource: str(error)
                for resource in chosen
                if resource.kind in error.failures
            }
            remaining = error.resources
        reasons |= dict.fromkeys(remaining, "still there")
        known_reasons = deletion.list_reasons()
        return accounts | {
            resource: known_reasons.get(resource, reason)
            for resource, reason in reasons.items()
        }

    def _list_again(
        self, list_resources: t.Any, resources: list[inventory.Resource]
    ) -> list[inventory.Resource]:
        """Return what is to be removed, of the kinds of some resources."""
        projects = tuple(sorted({resource.project for resource in resources}))
        kinds = {resource.kind for resource in resources}
        views = [
            dataclasses.replace(view, projects=projects, kinds=kinds)
            for view in self.views
        ]
        try:
            listed = self._list_owned(list_resources, views)
        except inventory.IncompleteError as error:
            raise inventory.IncompleteError(
                error.failures, list(filter(self.is_chosen, error.resources))
            ) from error
        return list(filter(self.is_chosen, listed))

    def _list_owned(
        self,
        list_resources: t.Any,
        views: collections.abc.Iterable[inventory.Inventory],
    ) -> list[inventory.Resource]:
        """Return the resources that have one of Rally's names, each once.

        :raises IncompleteError: If some kinds cannot be listed.
        """
        resources: dict[inventory.Resource, None] = {}
        failures: dict[str, str] = {}
        for view in views:
            try:
                with cloud.convert_errors("list the resources of runs"):
                    listed = list_resources(
                        dataclasses.replace(view, owns=self._owns)
                    )
            except inventory.IncompleteError as error:
                failures |= error.failures
                listed = error.resources
            except errors.GuestError as error:
                failures |= dict.fromkeys(view.kinds, str(error))
                listed = []
            resources |= dict.fromkeys(listed)
        ranked = sorted(resources, key=inventory.get_rank)
        if failures:
            raise inventory.IncompleteError(failures, ranked)
        return ranked

    def _owns(self, name: object) -> bool:
        """Return whether a name is one of Rally's (and of the chosen task)."""
        owner = ownership.parse_owner(name)
        if owner is None or self.task is None:
            return owner is not None
        run = self.run_index.run(owner)
        return run.task == self.task or owner == ownership.shorten_owner(
            self.task
        )
