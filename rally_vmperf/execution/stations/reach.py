# SPDX-License-Identifier: Apache-2.0
"""Connections to guests and peers."""

import collections.abc
import typing as t

from rally_vmperf.execution.stations import open_files
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import jump
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh
from rally_vmperf.machines.remote import ssh_config
from rally_vmperf.machines.remote import target


def create_route(
    hosts: collections.abc.Iterable[target.JumpHost],
    namespace: str | None = None,
    to: str | None = None,
) -> routes.Route:
    """Return the route through jump hosts or from a network namespace.

    :param hosts: The jump hosts, in order.
    :param namespace: The network namespace; None uses that of the process.
    :param to: The host for which ~/.ssh/config can name jump hosts.
    """
    if namespace:
        return routes.Namespace(namespace)
    return jump.create_route(hosts, to)


def connect(
    guest: target.Target, client_key: str, way: routes.Route
) -> ssh.Ssh:
    """Return the SSH connection (not yet open) of a guest.

    :param client_key: The private key; not used if the guest has a login.
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
) -> list[roles.Station]:
    """Return the stations of booted guests, in pairs of partners.

    :raises MachineError: If there are too many guests for this process.
    """
    open_files.allow_files(len(guests))
    way = create_route(guests[0].jump, guests[0].namespace)
    stations = [
        roles.Station(
            name=guest.name,
            machine=connect(guest, client_key, way),
            role="guest",
            address=guest.measure_address,
            volumes=tuple(map(_create_device, guest.volumes)),
        )
        for guest in guests
    ]
    roles.pair_up(stations)
    return stations


#: The largest header of an encrypted volume in bytes, that of LUKS 2.
_HEADER = 16 << 20


def _create_device(volume: target.Volume) -> devices.Device:
    """Return the block device of a volume, with the size that it must have."""
    size = volume.size_gib << 30
    header = _HEADER if volume.is_encrypted else 0
    return devices.Device(id=volume.id, least=size - header, most=size)


def peer_station(
    peer: collections.abc.Mapping[str, t.Any], role: roles.Role = "peer"
) -> roles.Station:
    """Return the station of a peer from a task or the command line.

    A control machine has the same options. The host key must be in
    ``known_hosts``, by default the file of the user.

    :raises MachineError: If ~/.ssh/config cannot be read.
    """
    address = peer["address"]
    config = ssh_config.read_entry(address)
    machine = ssh.Ssh(
        endpoint.Endpoint(
            peer.get("name", role),
            host=address,
            port=peer.get("port"),
            user=peer.get("user") or config.user or "root",
            key_file=peer.get("key_file"),
            known_hosts=peer.get("known_hosts"),
            way=create_route(
                target.jump_hosts(peer.get("jump")),
                peer.get("namespace"),
                address,
            ),
        )
    )
    return roles.Station(
        name=machine.name, machine=machine, role=role, address=config.host
    )
