"""Connect to guests and peers, as Nova and the task describe them."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution.stations import open_files
from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import jump
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh
from rally_vmperf.machines.remote import ssh_config
from rally_vmperf.machines.remote import target


def way_to(
    hosts: collections.abc.Iterable[target.JumpHost],
    namespace: str | None = None,
    to: str | None = None,
) -> routes.Route:
    """Return the way through jump hosts, or out of a network namespace.

    :param to: a host for which ~/.ssh/config may name jump hosts
    """
    if namespace:
        return routes.Namespace(namespace)
    return jump.chain([dataclasses.asdict(host) for host in hosts], to)


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
) -> list[stations_.Station]:
    """Return the stations of booted guests, paired.

    :raises MachineError: when there are too many for this process
    """
    open_files.allow_files(len(guests))
    way = way_to(guests[0].jump, guests[0].namespace)
    stations = [
        stations_.Station(
            name=guest.name,
            machine=connect(guest, client_key, way),
            role="guest",
            address=guest.measure_address,
        )
        for guest in guests
    ]
    stations_.pair_up(stations)
    return stations


def peer_station(
    peer: collections.abc.Mapping[str, t.Any],
) -> stations_.Station:
    """Return the station of a peer as a task or the command line names it.

    Its host key must be in ``known_hosts``, by default the user's own file.

    :raises MachineError: for an ~/.ssh/config that cannot be read
    """
    address = peer["address"]
    known = ssh_config.entry(address)
    machine = ssh.Ssh(
        endpoint.Endpoint(
            peer.get("name", "peer"),
            host=address,
            port=peer.get("port"),
            user=peer.get("user") or known.user or "root",
            key_file=peer.get("key_file"),
            known_hosts=peer.get("known_hosts"),
            way=way_to(
                target.jump_hosts(peer.get("jump")),
                peer.get("namespace"),
                address,
            ),
        )
    )
    return stations_.Station(
        name=machine.name,
        machine=machine,
        role="peer",
        address=known.host,
    )
