"""From what Nova says of guests to machines that answer."""

import collections.abc
import dataclasses
import resource
import typing as t

from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import endpoint
from rally_vmperf.machines import jump
from rally_vmperf.machines import routes
from rally_vmperf.machines import ssh
from rally_vmperf.machines import target


def way_to(
    hosts: collections.abc.Iterable[target.JumpHost],
    namespace: str | None = None,
) -> routes.Route:
    """Return the way through jump hosts, or out of a network namespace."""
    if namespace:
        return routes.Namespace(namespace)
    return jump.chain([dataclasses.asdict(host) for host in hosts])


def connect(
    guest: target.Target, client_key: str, way: routes.Route
) -> ssh.Ssh:
    """Return the machine of a guest.

    :param client_key: offered unless the guest has a login of its own
    """
    login = guest.login or target.Login()
    return ssh.Ssh(
        endpoint.Endpoint(
            guest.name,
            host=guest.address,
            port=guest.port,
            user=guest.user,
            host_key=guest.host_key,
            way=way,
            client_key=None if guest.login else client_key,
            key_file=login.key_file,
            password_file=login.password_file,
        )
    )


def guest_stations(
    guests: collections.abc.Sequence[target.Target], client_key: str
) -> list[stations.Station]:
    """Return the stations of booted guests, paired and with their ports.

    :raises MachineError: when there are too many for this process
    """
    allow_files(len(guests))
    way = way_to(guests[0].jump, guests[0].namespace)
    places = [
        stations.Station(
            name=guest.name,
            machine=connect(guest, client_key, way),
            role="guest",
            address=guest.measure_address,
        )
        for guest in guests
    ]
    stations.pair_up(places)
    stations.number_ports(places)
    return places


def peer_station(
    peer: collections.abc.Mapping[str, t.Any],
) -> stations.Station:
    """Return the station of a peer as a task or the command line names it.

    Its host key must be in ``known_hosts``, by default the user's own file.
    """
    machine = ssh.Ssh(
        endpoint.Endpoint(
            peer.get("name", "peer"),
            host=peer["address"],
            port=peer.get("port", 22),
            user=peer.get("user", "root"),
            key_file=peer.get("key_file"),
            known_hosts=peer.get("known_hosts"),
            way=way_to(
                target.jump_hosts(peer.get("jump")), peer.get("namespace")
            ),
        )
    )
    return stations.Station(
        name=machine.name,
        machine=machine,
        role="peer",
        address=peer["address"],
    )


#: Beside the connections: libraries, logs, a database, sockets to the cloud.
_OTHERS = 200


def allow_files(machines: int) -> None:
    """See that so many machines can be connected to at once.

    Many systems let a process have 1024 open files at first, and as many as
    it wants when it asks.

    :raises MachineError: when this one may not have as many
    """
    # A machine that runs more than eight commands has a second connection.
    needed = 2 * machines + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise base.MachineError(
            f"{machines} machines need {needed} open files and this process "
            f"may have {hard}; raise the limit with: ulimit -Hn {needed}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
