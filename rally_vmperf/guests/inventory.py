"""What there is of an owner's guests in the cloud."""

import collections
import collections.abc
import dataclasses
import functools
import typing as t

from openstack import connection as sdk
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import ownership
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


def of_owner(
    connection: sdk.Connection, whose: ownership.Owner, *, disks: bool = True
) -> list[Resource]:
    """Return what an owner has, servers alone while there are any.

    What hangs on servers cannot go before them, so there is no use in
    asking for it every second.

    :param disks: look for volumes too; else Cinder is not asked, whose
        trouble is none of a run's that made no volumes
    """
    found = list(servers(connection, whose.owns))
    return found or [
        *floating_addresses(connection, whose.owns),
        *(volumes(connection, whose.owns) if disks else ()),
        *ports(connection, whose.owns),
        *security_groups(connection, whose.owns),
        *server_groups(connection, whose.owns),
        *key_pairs(connection, whose.owns),
    ]


Owns = collections.abc.Callable[[str | None], bool]
Found = collections.abc.Iterator[Resource]


def servers(connection: sdk.Connection, owns: Owns, **query: t.Any) -> Found:
    """Yield servers by name."""
    for one in connection.compute.servers(details=False, **query):
        if owns(one.name):
            yield resource("server", one, connection.compute.delete_server)


def floating_addresses(connection: sdk.Connection, owns: Owns) -> Found:
    """Yield floating addresses by description."""
    for one in connection.network.ips():
        if owns(one.description):
            delete = connection.network.delete_ip
            yield resource("floating address", one, delete, one.description)


def volumes(connection: sdk.Connection, owns: Owns, **query: t.Any) -> Found:
    """Yield volumes by name; none where the cloud has none."""
    if not block_storage.there(connection):
        return
    for one in connection.block_storage.volumes(**query):
        if owns(one.name):
            yield Resource(
                "volume",
                one.id,
                one.name,
                functools.partial(block_storage.delete, connection, one),
            )


def ports(connection: sdk.Connection, owns: Owns) -> Found:
    """Yield ports by name."""
    for one in connection.network.ports():
        if owns(one.name):
            yield resource("port", one, connection.network.delete_port)


def server_groups(
    connection: sdk.Connection, owns: Owns, **query: t.Any
) -> Found:
    """Yield server groups by name; who may not list them has none."""
    try:
        found = list(connection.compute.server_groups(**query))
    except sdk_errors.ForbiddenException:
        return
    for one in found:
        if owns(one.name):
            delete = connection.compute.delete_server_group
            yield resource("server group", one, delete)


def security_groups(connection: sdk.Connection, owns: Owns) -> Found:
    """Yield security groups by name."""
    for one in connection.network.security_groups():
        if owns(one.name):
            delete = connection.network.delete_security_group
            yield resource("security group", one, delete)


def key_pairs(connection: sdk.Connection, owns: Owns, **query: t.Any) -> Found:
    """Yield key pairs by name."""
    for one in connection.compute.keypairs(**query):
        if owns(one.name):
            delete = connection.compute.delete_keypair
            yield Resource(
                "key pair",
                "/".join([*query.values(), one.name]),
                one.name,
                _bind(delete, one.name, **query),
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


def resource(
    kind: str,
    one: t.Any,
    delete: t.Callable[..., object],
    name: str | None = None,
) -> Resource:
    """Return one of the SDK's resources in our words."""
    return Resource(kind, one.id, name or one.name, _bind(delete, one.id))


def _bind(
    delete: t.Callable[..., object], *arguments: str, **query: t.Any
) -> t.Callable[[], object]:
    return lambda: delete(*arguments, ignore_missing=True, **query)
