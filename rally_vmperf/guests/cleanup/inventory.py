# SPDX-License-Identifier: Apache-2.0
"""Resources of Rally's runs in a cloud, also those of Rally's contexts."""

import collections.abc
import contextlib
import dataclasses
import functools
import operator
import types
import typing as t
from urllib import parse

from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import volumes as block_storage
from rally_vmperf.guests.cleanup import ownership
from rally_vmperf.guests.cleanup import servers as server_deletion
from rally_vmperf.measurement.samples import units

ListedResources = list[t.Any]
#: In the order of deletion; kinds of the same rank are deleted together.
RANKS = {
    "server": 0,
    "floating IP": 1,
    "volume": 1,
    "router": 2,
    "port": 3,
    "subnet": 4,
    "network": 5,
    "security group": 6,
    "server group": 6,
    "key pair": 6,
    "flavor": 6,
    "image": 6,
    "user": 7,
    "project": 8,
}
#: The kinds of resources of guests.
GUEST_KINDS = RANKS.keys() - {"router", "subnet", "network", "user", "project"}
#: Those of single guests; the guests of a run share the others.
SINGLE_GUEST_KINDS = frozenset({"server", "floating IP", "volume", "port"})
#: Options of a group of guests -> the kinds that exist only with them.
OPTIONAL_KINDS = {
    "boot_volume": "volume",
    "volumes": "volume",
    "extra_specs": "flavor",
    "image_properties": "image",
}
_GET_NAME = operator.attrgetter("name")
#: The kinds of Neutron's resources with their calls in the SDK, which list and
#: delete them, and the function that returns the name.
_NEUTRON = {
    "floating IP": ("ips", "delete_ip", operator.attrgetter("description")),
    "router": ("routers", "delete_router", _GET_NAME),
    "port": ("ports", "delete_port", _GET_NAME),
    "subnet": ("subnets", "delete_subnet", _GET_NAME),
    "network": ("networks", "delete_network", _GET_NAME),
}
#: The same for Keystone.
_KEYSTONE = {
    "user": ("users", "delete_user"),
    "project": ("projects", "delete_project"),
}
#: Projects in one request to Neutron; with more of them its URL is too long.
_MAX_PROJECTS = 50
#: The status of a service that does not support a filter.
_BAD_REQUEST = 400


class IncompleteError(errors.GuestError):
    """Some kinds of resources cannot be listed; the message names them.

    :param failures: The reasons by kind.
    :param resources: The resources of the other kinds.
    """

    def __init__(
        self,
        failures: collections.abc.Mapping[str, str],
        resources: ListedResources,
    ) -> None:
        kinds: dict[str, str] = {}
        for kind, reason in failures.items():
            kinds.setdefault(reason, kind)
        super().__init__(
            "; ".join(
                f"cannot list {units.plural(kind)}: {reason}"
                for reason, kind in kinds.items()
            )
        )
        self.failures = dict(failures)
        self.resources = resources


class Listing:
    """The resources of all requests, and the requests that failed.

    A cloud that does not answer is not asked again.
    """

    def __init__(self) -> None:
        self.resources: ListedResources = []
        self._failures: dict[str, str] = {}
        self._unanswered = ""

    def add(
        self,
        kind: str,
        list_resources: t.Callable[..., collections.abc.Iterable[t.Any]],
        *arguments: t.Any,
        **query: t.Any,
    ) -> ListedResources:
        """Add the resources of one kind, and return them.

        :param list_resources: The function that lists them.
        """
        if self._unanswered:
            self._failures.setdefault(kind, self._unanswered)
            return []
        try:
            resources = list(list_resources(*arguments, **query))
        except cloud.CLOUD_ERRORS as error:
            self._failures.setdefault(kind, cloud.one_line(error))
            if cloud.is_unanswered(error):
                self._unanswered = self._failures[kind]
            return []
        self.resources += resources
        return resources

    def check(self) -> ListedResources:
        """Return all resources.

        :raises IncompleteError: If a request failed.
        """
        if self._failures:
            raise IncompleteError(self._failures, self.resources)
        return self.resources


@dataclasses.dataclass(frozen=True)
class Resource:
    """A resource in the cloud that can be deleted.

    :param name: The name; of a floating IP, the description.
    :param delete: The function that requests the deletion; a resource that
        does not exist is not an error.
    :param project: The identifier of the project; empty if it is not known.
    """

    kind: str
    id: str
    name: str
    delete: t.Callable[[], object] = dataclasses.field(
        compare=False, repr=False
    )
    project: str = dataclasses.field(default="", compare=False)


Resources = collections.abc.Iterator[Resource]


@dataclasses.dataclass(frozen=True)
class Inventory:
    """Resources in a cloud with certain names.

    The cloud has other users and may have many thousands of resources, so
    each request is limited: Nova and Keystone filter by the prefix of names,
    Neutron and Cinder, which compare whole names only, by project, and Glance
    by a tag. Nova has no such filter for flavors: private flavors are listed,
    which only an administrator creates. An administrator searches its own
    project, the projects with such names, the projects of servers with such
    names, and further projects.

    :param owns: The function that returns whether a name is one of them.
    :param prefixes: The prefixes of these names.
    :param admin: A flag to search all projects that can contain resources.
    :param projects: The identifiers of further projects to search as admin.
    :param kinds: The kinds of resources to list.
    :param migration_admin: The connection of an administrator, who aborts the
        migrations of servers; None for ``connection``.
    """

    connection: cloud.Connection
    owns: collections.abc.Callable[[object], bool] = ownership.is_of_rally
    prefixes: tuple[str, ...] = ownership.PREFIXES
    admin: bool = False
    projects: tuple[str, ...] = ()
    kinds: collections.abc.Collection[str] = tuple(RANKS)
    migration_admin: cloud.Connection | None = None

    def list_servers(self) -> list[Resource]:
        """Return the servers, which must be deleted first."""
        if "server" not in self.kinds:
            return []
        compute = self.connection.compute
        everywhere = {"all_projects": True} if self.admin else {}
        servers: list[Resource] = []
        for prefix in self.prefixes:
            listed = compute.servers(
                name=cloud.create_prefix_pattern([prefix]), **everywhere
            )
            servers += (
                Resource(
                    "server",
                    server.id,
                    server.name,
                    functools.partial(
                        server_deletion.delete,
                        self.connection,
                        server,
                        self.migration_admin,
                    ),
                    server.project_id or "",
                )
                for server in listed
                if self.owns(server.name)
            )
        return servers

    def list_all(self, *, servers_first: bool = False) -> list[Resource]:
        """Return the resources of runs, also those of Rally's contexts.

        :param servers_first: A flag to return only servers while there are
            any. Resources that servers use cannot be deleted before them, so
            they are not listed every second.
        :raises IncompleteError: If some kinds cannot be listed; it has the
            resources of the other kinds.
        """
        listed = Listing()
        servers = listed.add("server", self.list_servers)
        if servers and servers_first:
            return servers
        users = listed.add("user", self._list_accounts, "user")
        rally_projects = listed.add("project", self._list_accounts, "project")
        projects = self._select_projects(servers, rally_projects)
        project_names = {
            project.id: project.name for project in rally_projects
        }
        listed.add(
            "floating IP", self._list_from_neutron, "floating IP", projects
        )
        listed.add("volume", self._list_volumes, projects)
        for kind in ("router", "subnet", "network", "port"):
            listed.add(kind, self._list_from_neutron, kind, projects)
        listed.add(
            "security group",
            self._list_security_groups,
            projects,
            project_names,
        )
        listed.add("server group", self._list_server_groups, projects)
        listed.add("key pair", self._list_key_pairs)
        for user in users:
            listed.add("key pair", self._list_key_pairs, user_id=user.id)
        listed.add("flavor", self._list_flavors)
        listed.add("image", self._list_images)
        return sorted(listed.check(), key=get_rank)

    def _select_projects(
        self, servers: list[Resource], rally_projects: list[Resource]
    ) -> tuple[str, ...]:
        """Return the projects to search, the current project first."""
        projects = [self.connection.current_project_id]
        if self.admin:
            projects += self.projects
            projects += (project.id for project in rally_projects)
            projects += (server.project for server in servers)
        return tuple(dict.fromkeys(filter(None, projects)))

    def _list_owned(
        self,
        kind: str,
        listed: collections.abc.Iterable[t.Any],
        delete: t.Callable[..., object],
        get_name: t.Callable[[t.Any], str | None] = _GET_NAME,
    ) -> Resources:
        """Yield those of the SDK's objects whose names are the owner's."""
        for candidate in listed:
            name = get_name(candidate)
            if name and self.owns(name):
                yield Resource(
                    kind,
                    candidate.id,
                    name,
                    functools.partial(
                        delete, candidate.id, ignore_missing=True
                    ),
                    getattr(candidate, "project_id", None) or "",
                )

    def _list_from_neutron(
        self, kind: str, projects: tuple[str, ...]
    ) -> Resources:
        """Yield Neutron's resources of one kind in some projects."""
        list_call, delete_call, get_name = _NEUTRON[kind]
        list_resources = getattr(self.connection.network, list_call)
        delete = getattr(self.connection.network, delete_call)
        if kind == "router":
            delete = self._delete_router
        if kind in self.kinds:
            for batch in _iter_batches(projects):
                listed = list_resources(project_id=list(batch))
                yield from self._list_owned(kind, listed, delete, get_name)

    def _list_volumes(self, projects: tuple[str, ...]) -> Resources:
        """Yield volumes; none if the cloud has no block-storage service."""
        if "volume" not in self.kinds or not block_storage.is_available(
            self.connection
        ):
            return
        volumes = self.connection.block_storage.volumes
        for project in projects:
            everywhere = {"all_projects": True, "project_id": project}
            for volume in volumes(**everywhere if self.admin else {}):
                if self.owns(volume.name):
                    delete = functools.partial(
                        block_storage.delete_volume, self.connection, volume
                    )
                    yield Resource(
                        "volume", volume.id, volume.name, delete, project
                    )

    def _list_security_groups(
        self,
        projects: tuple[str, ...],
        project_names: collections.abc.Mapping[str, str],
    ) -> Resources:
        """Yield groups, also the default groups of the projects of runs.

        Neutron creates a default group in each project and does not delete it
        with the project. A request recreates it, if necessary, in the first
        project of the query: this is always the current project and never one
        that is about to be deleted.
        """
        if "security group" not in self.kinds:
            return

        def get_name(group: t.Any) -> str | None:
            """Return the name; of a default group, that of its project."""
            name: str | None = group.name
            if name == "default":
                name = project_names.get(group.project_id, name)
            return name

        network = self.connection.network
        current_project, other_projects = projects[:1], projects[1:]
        for batch in _iter_batches(other_projects) if other_projects else [()]:
            yield from self._list_owned(
                "security group",
                network.security_groups(project_id=[*current_project, *batch]),
                network.delete_security_group,
                get_name,
            )

    def _list_server_groups(self, projects: tuple[str, ...]) -> Resources:
        """Yield server groups.

        Nova has no filter for them. Therefore an administrator lists those of
        all projects only if resources of runs can be in another project.
        """
        if "server group" not in self.kinds:
            return
        compute = self.connection.compute
        everywhere = {"all_projects": True} if len(projects) > 1 else {}
        # A user who may not list server groups has none.
        with contextlib.suppress(sdk_errors.ForbiddenException):
            listed = list(compute.server_groups(**everywhere))
            yield from self._list_owned(
                "server group", listed, compute.delete_server_group
            )

    def _list_key_pairs(self, **query: str) -> Resources:
        """Yield the owned key pairs of the current or the given user."""
        if "key pair" not in self.kinds:
            return
        compute = self.connection.compute
        for pair in compute.keypairs(**query):
            if self.owns(pair.name):
                delete = functools.partial(
                    compute.delete_keypair,
                    pair.name,
                    ignore_missing=True,
                    **query,
                )
                identifier = "/".join([*query.values(), pair.name])
                yield Resource("key pair", identifier, pair.name, delete)

    def _list_flavors(self) -> Resources:
        """Yield the owned private flavors; only administrators have some."""
        if "flavor" in self.kinds and self.admin:
            compute = self.connection.compute
            listed = compute.flavors(details=False, is_public=False)
            yield from self._list_owned(
                "flavor", listed, compute.delete_flavor
            )

    def _list_images(self) -> Resources:
        """Yield the owned images, also those without data."""
        if "image" in self.kinds:
            image = self.connection.image
            listed = image.images(tag=cloud.IMAGE_TAG)
            yield from self._list_owned("image", listed, image.delete_image)

    def _delete_router(self, identifier: str, ignore_missing: bool) -> None:
        """Detach a router from its subnets, and delete it."""
        network = self.connection.network
        for port in network.ports(device_id=identifier):
            if port.device_owner == "network:router_interface":
                # Releases of the SDK differ in the names of the parameters.
                network.remove_interface_from_router(identifier, None, port.id)
        network.delete_router(identifier, ignore_missing=ignore_missing)

    def _list_accounts(self, kind: str) -> Resources:
        """Yield the owned users or projects; only admins see them."""
        if self.admin and {"user", "project"} & {*self.kinds}:
            identity = self.connection.identity
            list_call, delete_call = _KEYSTONE[kind]
            listed = self._list_named(
                f"/{list_call}", getattr(identity, list_call)
            )
            delete = getattr(identity, delete_call)
            yield from self._list_owned(kind, listed, delete)

    def _list_named(
        self,
        path: str,
        list_resources: t.Callable[[], collections.abc.Iterable[t.Any]],
    ) -> collections.abc.Iterator[t.Any]:
        """Yield the records of Keystone with the prefixes.

        The SDK has no filter for a prefix. If Keystone rejects the filter, all
        records are listed.
        """
        collection = path.strip("/")
        schema = cloud.create_list_schema(collection, "id", "name")
        for prefix in self.prefixes:
            query = parse.urlencode({"name__startswith": prefix})
            url: str | None = f"{path}?{query}"
            while url:
                answer = self.connection.identity.get(url)
                if answer.status_code == _BAD_REQUEST:
                    yield from list_resources()
                    return
                sdk_errors.raise_from_response(answer)
                document = cloud.parse_document(answer, schema)
                for record in document[collection]:
                    yield types.SimpleNamespace(
                        id=record["id"], name=record["name"]
                    )
                url = (document.get("links") or {}).get("next")


def get_rank(resource: Resource) -> int:
    """Return the rank of a resource in the order of deletion."""
    return RANKS[resource.kind]


def _iter_batches(
    projects: tuple[str, ...],
) -> collections.abc.Iterator[tuple[str, ...]]:
    """Yield the projects in batches that fit into one request."""
    for first in range(0, len(projects), _MAX_PROJECTS):
        yield projects[first : first + _MAX_PROJECTS]
