"""What runs of Rally have in a cloud: ours, and that of its contexts."""

import collections
import collections.abc
import contextlib
import dataclasses
import functools
import typing as t

from openstack import connection as sdk
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import volumes as block_storage

#: In the order of deletion; kinds of the same rank go together.
RANKS = {
    "server": 0,
    "floating address": 1,
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
_PLURALS = {"floating address": "floating addresses"}


@dataclasses.dataclass(frozen=True)
class Resource:
    """Something in the cloud that can be deleted.

    :param name: what it is called; a floating address by its description
    :param delete: asks the cloud to delete it; what is gone is no error
    """

    kind: str
    id: str
    name: str
    delete: t.Callable[[], object] = dataclasses.field(
        compare=False, repr=False
    )


Found = collections.abc.Iterator[Resource]


class Inventory:
    """What there is in a cloud under certain names.

    :param owns: tells whether a name is among them
    :param admin: look into all projects
    """

    def __init__(
        self,
        connection: sdk.Connection,
        owns: collections.abc.Callable[[str | None], bool],
        *,
        admin: bool = False,
    ) -> None:
        self._connection = connection
        self._owns = owns
        self._admin = admin
        self._projects = {"all_projects": True} if admin else {}

    def servers(self) -> list[Resource]:
        """Return the servers, without which nothing else can go."""
        compute = self._connection.compute
        listed = compute.servers(details=False, **self._projects)
        return list(self._owned("server", listed, compute.delete_server))

    def of_guests(self, *, disks: bool = True) -> list[Resource]:
        """Return what a run has, servers alone while there are any.

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
        network = self._connection.network
        return [
            *self.servers(),
            *self._addresses(),
            *self._volumes(),
            *self._owned("router", network.routers(), self._delete_router),
            *self._owned("subnet", network.subnets(), network.delete_subnet),
            *self._owned(
                "network", network.networks(), network.delete_network
            ),
            *self._ports_and_access(),
            *(self._identity() if self._admin else ()),
        ]

    def _owned(
        self,
        kind: str,
        listed: collections.abc.Iterable[t.Any],
        delete: t.Callable[..., object],
        called: str = "name",
    ) -> Found:
        for one in listed:
            name = getattr(one, called)
            if self._owns(name):
                yield _resource(kind, one.id, name, delete)

    def _addresses(self) -> Found:
        network = self._connection.network
        return self._owned(
            *("floating address", network.ips(), network.delete_ip),
            called="description",
        )

    def _volumes(self) -> Found:
        """Yield volumes; none where the cloud has none."""
        if not block_storage.there(self._connection):
            return
        for one in self._connection.block_storage.volumes(**self._projects):
            if self._owns(one.name):
                delete = functools.partial(
                    block_storage.delete, self._connection, one
                )
                yield Resource("volume", one.id, one.name, delete)

    def _ports_and_access(self) -> Found:
        """Yield ports, groups and key pairs, by name."""
        network, compute = self._connection.network, self._connection.compute
        yield from self._owned("port", network.ports(), network.delete_port)
        yield from self._owned(
            "security group",
            network.security_groups(),
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
        compute = self._connection.compute
        for one in compute.keypairs(**query):
            if self._owns(one.name):
                delete = functools.partial(
                    compute.delete_keypair,
                    one.name,
                    ignore_missing=True,
                    **query,
                )
                identifier = "/".join([*query.values(), one.name])
                yield Resource("key pair", identifier, one.name, delete)

    def _delete_router(self, identifier: str, ignore_missing: bool) -> None:
        network = self._connection.network
        for port in network.ports(device_id=identifier):
            if port.device_owner == "network:router_interface":
                network.remove_interface_from_router(
                    identifier, port_id=port.id
                )
        network.delete_router(identifier, ignore_missing=ignore_missing)

    def _identity(self) -> Found:
        """Yield users with their key pairs, and projects."""
        identity = self._connection.identity
        users = [u for u in identity.users() if self._owns(u.name)]
        for user in users:
            yield from self._key_pairs(user_id=user.id)
        yield from self._owned("user", users, identity.delete_user)
        projects = [p for p in identity.projects() if self._owns(p.name)]
        yield from self._default_groups({p.id: p.name for p in projects})
        yield from self._owned("project", projects, identity.delete_project)

    def _default_groups(self, projects: dict[str, str]) -> Found:
        """Neutron makes one in each project and leaves it behind.

        It makes one anew whenever a single project's groups are asked for, so
        all are asked for.
        """
        network = self._connection.network
        for one in network.security_groups() if projects else ():
            if one.name == "default" and one.project_id in projects:
                yield _resource(
                    "security group",
                    one.id,
                    projects[one.project_id],
                    network.delete_security_group,
                )


def first_kinds(left: list[Resource]) -> list[Resource]:
    """Return those that nothing else in the list is in the way of."""
    first = min((RANKS[one.kind] for one in left), default=0)
    return [one for one in left if RANKS[one.kind] == first]


def count(found: collections.abc.Iterable[Resource]) -> str:
    """Return how many there are of each kind, in words."""
    counts = collections.Counter(one.kind for one in found)
    return ", ".join(
        f"{number} {kind if number == 1 else _PLURALS.get(kind, kind + 's')}"
        for kind, number in counts.items()
    )


def _resource(
    kind: str, identifier: str, name: str, delete: t.Callable[..., object]
) -> Resource:
    deletion = functools.partial(delete, identifier, ignore_missing=True)
    return Resource(kind, identifier, name, deletion)
