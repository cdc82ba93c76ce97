"""Resources of Rally's runs in a cloud: ours, and its contexts'."""

import collections
import collections.abc
import contextlib
import dataclasses
import functools
import types
import typing as t
from urllib import parse

from openstack import connection as sdk
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud
from rally_vmperf.guests import volumes as block_storage
from rally_vmperf.measurement.samples import units

#: In the order of deletion; kinds of the same rank go together.
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
    "user": 7,
    "project": 8,
}

#: Projects that one request to Neutron names: more make its URL too long.
_PORTION = 50
#: What a service answers that does not know a filter.
_REFUSED = 400


@dataclasses.dataclass(frozen=True)
class Resource:
    """Something in the cloud that can be deleted.

    :param name: what it is called; a floating IP by its description
    :param delete: asks the cloud to delete it; what is gone is no error
    :param project: identifier of its project, empty where it is not told
    """

    kind: str
    id: str
    name: str
    delete: t.Callable[[], object] = dataclasses.field(
        compare=False, repr=False
    )
    project: str = dataclasses.field(default="", compare=False)


Found = collections.abc.Iterator[Resource]


@dataclasses.dataclass(frozen=True)
class Inventory:
    """Resources in a cloud with certain names.

    The cloud is others' too and may have many thousands of everything, so
    each service is asked only for what can be ours: Nova and Keystone by the
    beginning of names, Neutron and Cinder, which compare whole names only, by
    project. An administrator looks into its own project, into those with
    such names, into those of servers with such names, and where it is told.

    :param owns: tells whether a name is among them
    :param prefixes: how these names begin
    :param admin: look into all projects in which there can be any
    :param projects: identifiers of further projects that an admin looks into
    :param kinds: of resources to look for
    """

    connection: sdk.Connection
    owns: collections.abc.Callable[[str | None], bool]
    prefixes: tuple[str, ...]
    admin: bool = False
    projects: tuple[str, ...] = ()
    kinds: collections.abc.Collection[str] = tuple(RANKS)

    def servers(self) -> list[Resource]:
        """Return the servers, without which nothing else can go."""
        if "server" not in self.kinds:
            return []
        compute = self.connection.compute
        everywhere = {"all_projects": True} if self.admin else {}
        return [
            one
            for prefix in self.prefixes
            for one in self._owned(
                "server",
                compute.servers(
                    # Only the details tell an admin the project.
                    details=self.admin,
                    name=cloud.beginning([prefix]),
                    **everywhere,
                ),
                compute.delete_server,
            )
        ]

    def of_guests(self, *, disks: bool = True) -> list[Resource]:
        """Return the resources of a run; servers alone while there are any.

        What hangs on servers cannot go before them, so there is no use in
        asking for it every second.

        :param disks: look for volumes too; else Cinder is not asked, whose
            trouble is none of a run's that made no volumes
        """
        own = (self.connection.current_project_id,)
        return self.servers() or [
            *self._addresses(own),
            *(self._volumes(own) if disks else ()),
            *self._ports_and_access(own),
        ]

    def everything(self) -> list[Resource]:
        """Return what runs have, with that of Rally's own contexts."""
        network = self.connection.network
        servers = self.servers()
        users, named = self._identity()
        projects = self._looked_into(servers, named)
        return [
            *servers,
            *self._addresses(projects),
            *self._volumes(projects),
            *self._of_neutron(
                "router", projects, network.routers, self._delete_router
            ),
            *self._of_neutron(
                "subnet", projects, network.subnets, network.delete_subnet
            ),
            *self._of_neutron(
                "network", projects, network.networks, network.delete_network
            ),
            *self._ports_and_access(projects, {x.id: x.name for x in named}),
            *(
                pair
                for user in users
                for pair in self._key_pairs(user_id=user.id)
            ),
            *users,
            *named,
        ]

    def _looked_into(
        self, servers: list[Resource], named: list[Resource]
    ) -> tuple[str, ...]:
        """Return the projects to ask Neutron and Cinder for, one's own first.

        :param servers: that were found, wherever they are
        :param named: projects that were found by their names
        """
        found = [self.connection.current_project_id]
        if self.admin:
            found += self.projects
            found += (one.id for one in named)
            found += (one.project for one in servers)
        return tuple(dict.fromkeys(one for one in found if one))

    def _owned(
        self,
        kind: str,
        listed: collections.abc.Iterable[t.Any],
        delete: t.Callable[..., object],
        called: str = "name",
    ) -> Found:
        for one in listed:
            name = getattr(one, called)
            if self.owns(name):
                project = getattr(one, "project_id", None) or ""
                yield _resource(kind, one.id, name, delete, project)

    def _of_neutron(
        self,
        kind: str,
        projects: tuple[str, ...],
        ask: t.Callable[..., collections.abc.Iterable[t.Any]],
        delete: t.Callable[..., object],
        called: str = "name",
    ) -> Found:
        """Yield what Neutron has of a kind in some projects."""
        if kind in self.kinds:
            for some in _portions(projects):
                listed = ask(project_id=list(some))
                yield from self._owned(kind, listed, delete, called)

    def _addresses(self, projects: tuple[str, ...]) -> Found:
        network = self.connection.network
        return self._of_neutron(
            "floating IP",
            projects,
            network.ips,
            network.delete_ip,
            called="description",
        )

    def _volumes(self, projects: tuple[str, ...]) -> Found:
        """Yield volumes; none where the cloud has none."""
        if "volume" not in self.kinds or not block_storage.there(
            self.connection
        ):
            return
        volumes = self.connection.block_storage.volumes
        for project in projects:
            whose: dict[str, t.Any] = {}
            if self.admin:
                whose = {"all_projects": True, "project_id": project}
            for one in volumes(**whose):
                if self.owns(one.name):
                    delete = functools.partial(
                        block_storage.delete, self.connection, one
                    )
                    yield Resource("volume", one.id, one.name, delete, project)

    def _ports_and_access(
        self,
        projects: tuple[str, ...],
        named: collections.abc.Mapping[str, str] = types.MappingProxyType({}),
    ) -> Found:
        """Yield ports, groups and key pairs, by name.

        :param named: identifiers and names of the projects that are ours
        """
        network = self.connection.network
        yield from self._of_neutron(
            "port", projects, network.ports, network.delete_port
        )
        yield from self._security_groups(projects, named)
        yield from self._server_groups(projects)
        yield from self._key_pairs()

    def _security_groups(
        self,
        projects: tuple[str, ...],
        named: collections.abc.Mapping[str, str],
    ) -> Found:
        """Yield groups, with the default ones of the projects that are ours.

        Neutron makes a default one in each project and leaves it behind. It
        makes it anew, if need be, in the first project that it is asked for:
        that is always one's own, and never one that is about to go.
        """
        if "security group" not in self.kinds:
            return
        network = self.connection.network
        delete = network.delete_security_group
        own, others = projects[:1], projects[1:]
        for some in _portions(others) if others else [()]:
            for one in network.security_groups(project_id=[*own, *some]):
                name = one.name
                if name == "default" and one.project_id in named:
                    name = named[one.project_id]
                if self.owns(name):
                    yield _resource(
                        "security group", one.id, name, delete, one.project_id
                    )

    def _server_groups(self, projects: tuple[str, ...]) -> Found:
        """Yield server groups.

        Nova has no way to ask for some of them. So an admin asks for those of
        all projects only where something of ours can be in another one.
        """
        if "server group" not in self.kinds:
            return
        compute = self.connection.compute
        everywhere = {"all_projects": True} if len(projects) > 1 else {}
        # Who may not list server groups has none.
        with contextlib.suppress(sdk_errors.ForbiddenException):
            listed = list(compute.server_groups(**everywhere))
            yield from self._owned(
                "server group", listed, compute.delete_server_group
            )

    def _key_pairs(self, **query: str) -> Found:
        if "key pair" not in self.kinds:
            return
        compute = self.connection.compute
        for one in compute.keypairs(**query):
            if self.owns(one.name):
                delete = functools.partial(
                    compute.delete_keypair,
                    one.name,
                    ignore_missing=True,
                    **query,
                )
                identifier = "/".join([*query.values(), one.name])
                yield Resource("key pair", identifier, one.name, delete)

    def _delete_router(self, identifier: str, ignore_missing: bool) -> None:
        network = self.connection.network
        for port in network.ports(device_id=identifier):
            if port.device_owner == "network:router_interface":
                network.remove_interface_from_router(
                    identifier, port_id=port.id
                )
        network.delete_router(identifier, ignore_missing=ignore_missing)

    def _identity(self) -> tuple[list[Resource], list[Resource]]:
        """Return users and projects; only an admin sees them."""
        if not self.admin or not {"user", "project"} & {*self.kinds}:
            return [], []
        identity = self.connection.identity
        users = self._named("/users", identity.users)
        projects = self._named("/projects", identity.projects)
        return (
            list(self._owned("user", users, identity.delete_user)),
            list(self._owned("project", projects, identity.delete_project)),
        )

    def _named(
        self, path: str, ask: t.Callable[[], collections.abc.Iterable[t.Any]]
    ) -> collections.abc.Iterator[t.Any]:
        """Yield what Keystone has with such names.

        The SDK has no word for the beginning of a name. A Keystone that
        refuses it is asked for all.

        :param path: of the collection
        :param ask: asks for all of it
        """
        collection = path.strip("/")
        for prefix in self.prefixes:
            query = parse.urlencode({"name__startswith": prefix})
            url: str | None = f"{path}?{query}"
            while url:
                answer = self.connection.identity.get(url)
                if answer.status_code == _REFUSED:
                    yield from ask()
                    return
                sdk_errors.raise_from_response(answer)
                document = answer.json()
                for one in document[collection]:
                    yield types.SimpleNamespace(id=one["id"], name=one["name"])
                url = (document.get("links") or {}).get("next")


def first_kinds(left: list[Resource]) -> list[Resource]:
    """Return the resources that can be deleted before the others."""
    first = min((RANKS[one.kind] for one in left), default=0)
    return [one for one in left if RANKS[one.kind] == first]


def count(found: collections.abc.Iterable[Resource]) -> str:
    """Return the number of resources of each kind, in words."""
    counts = collections.Counter(one.kind for one in found)
    return ", ".join(
        units.number_of(kind, number) for kind, number in counts.items()
    )


def _portions(
    projects: tuple[str, ...],
) -> collections.abc.Iterator[tuple[str, ...]]:
    """Yield projects, as many together as a request can name."""
    for first in range(0, len(projects), _PORTION):
        yield projects[first : first + _PORTION]


def _resource(
    kind: str,
    identifier: str,
    name: str,
    delete: t.Callable[..., object],
    project: str = "",
) -> Resource:
    deletion = functools.partial(delete, identifier, ignore_missing=True)
    return Resource(kind, identifier, name, deletion, project)
