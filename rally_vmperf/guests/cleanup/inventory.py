"""Resources of Rally's runs in a cloud: ours, and its contexts'."""

import collections
import collections.abc
import contextlib
import dataclasses
import functools
import typing as t

from openstack import connection as sdk
from openstack import exceptions as sdk_errors

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
    each service is asked only for what can be ours: Nova by name, and
    Neutron, which compares whole names only, by project.

    :param owns: tells whether a name is among them
    :param names: how these names begin, as a regular expression for Nova
    :param admin: look into all projects
    :param projects: identifiers of those that an admin looks into, if not all
    :param again: identifiers of those in which an admin's first look into all
        found something; empty for a first look
    """

    connection: sdk.Connection
    owns: collections.abc.Callable[[str | None], bool]
    names: str
    admin: bool = False
    projects: tuple[str, ...] = ()
    again: tuple[str, ...] = ()

    @property
    def _projects(self) -> dict[str, bool]:
        """The query by which Nova and Cinder list an admin all projects."""
        return {"all_projects": True} if self.admin else {}

    def servers(self) -> list[Resource]:
        """Return the servers, without which nothing else can go."""
        compute = self.connection.compute
        listed = compute.servers(
            details=False, name=self.names, **self._projects
        )
        return list(self._owned("server", listed, compute.delete_server))

    def of_guests(self, *, disks: bool = True) -> list[Resource]:
        """Return the resources of a run; servers alone while there are any.

        What hangs on servers cannot go before them, so there is no use in
        asking for it every second.

        :param disks: look for volumes too; else Cinder is not asked, whose
            trouble is none of a run's that made no volumes
        """
        return self.servers() or [
            *self._addresses(),
            *(self._volumes() if disks else ()),
            *self._ports_and_access(),
        ]

    def everything(self) -> list[Resource]:
        """Return what runs have, with that of Rally's own contexts."""
        network, project = self.connection.network, self._project()
        return [
            *self.servers(),
            *self._addresses(),
            *self._volumes(),
            *self._owned(
                "router", network.routers(**project), self._delete_router
            ),
            *self._owned(
                "subnet", network.subnets(**project), network.delete_subnet
            ),
            *self._owned(
                "network", network.networks(**project), network.delete_network
            ),
            *self._ports_and_access(),
            *(self._identity() if self.admin else ()),
        ]

    def _project(self) -> dict[str, t.Any]:
        """Return what Neutron is asked by; it shows an admin all projects."""
        if self.admin:
            chosen = self.projects or self.again
            return {"project_id": [*chosen]} if chosen else {}
        return {"project_id": self.connection.current_project_id}

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

    def _addresses(self) -> Found:
        network = self.connection.network
        return self._owned(
            "floating IP",
            network.ips(**self._project()),
            network.delete_ip,
            called="description",
        )

    def _volumes(self) -> Found:
        """Yield volumes; none where the cloud has none."""
        if not block_storage.there(self.connection):
            return
        for one in self.connection.block_storage.volumes(**self._projects):
            if self.owns(one.name):
                delete = functools.partial(
                    block_storage.delete, self.connection, one
                )
                yield Resource("volume", one.id, one.name, delete)

    def _ports_and_access(self) -> Found:
        """Yield ports, groups and key pairs, by name."""
        network, compute = self.connection.network, self.connection.compute
        project = self._project()
        groups = {} if self.admin and self.again else project
        yield from self._owned(
            "port", network.ports(**project), network.delete_port
        )
        yield from self._owned(
            "security group",
            # A project whose groups are asked for gets a default one anew,
            # and may be about to go.
            network.security_groups(**groups),
            network.delete_security_group,
        )
        # Who may not list server groups has none.
        with contextlib.suppress(sdk_errors.ForbiddenException):
            listed = list(compute.server_groups(**self._projects))
            yield from self._owned(
                "server group", listed, compute.delete_server_group
            )
        yield from self._key_pairs()

    def _key_pairs(self, **query: str) -> Found:
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

    def _identity(self) -> Found:
        """Yield users with their key pairs, and projects."""
        identity = self.connection.identity
        users = [u for u in identity.users() if self.owns(u.name)]
        for user in users:
            yield from self._key_pairs(user_id=user.id)
        yield from self._owned("user", users, identity.delete_user)
        projects = [p for p in identity.projects() if self.owns(p.name)]
        yield from self._default_groups({p.id: p.name for p in projects})
        yield from self._owned("project", projects, identity.delete_project)

    def _default_groups(self, projects: dict[str, str]) -> Found:
        """Neutron makes one in each project and leaves it behind.

        It makes one anew whenever a single project's groups are asked for, so
        all are asked for.
        """
        network = self.connection.network
        for one in network.security_groups() if projects else ():
            if one.name == "default" and one.project_id in projects:
                yield _resource(
                    "security group",
                    one.id,
                    projects[one.project_id],
                    network.delete_security_group,
                )


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


def _resource(
    kind: str,
    identifier: str,
    name: str,
    delete: t.Callable[..., object],
    project: str = "",
) -> Resource:
    deletion = functools.partial(delete, identifier, ignore_missing=True)
    return Resource(kind, identifier, name, deletion, project)
