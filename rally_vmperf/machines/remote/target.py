# SPDX-License-Identifier: Apache-2.0
"""A machine that is reached over SSH: address, login and route."""

import collections.abc
import dataclasses

from rally_vmperf import documents


@dataclasses.dataclass(frozen=True, kw_only=True)
class JumpHost:
    """A jump host for SSH.

    :param user: The login name; None for that in ~/.ssh/config.
    :param port: The port; None for that in ~/.ssh/config.
    :param key_file: The private key; None for the keys of the user.
    :param known_hosts: The file with its host key; None for that of the user.
    """

    address: str
    user: str | None = None
    port: int | None = None
    key_file: str | None = None
    known_hosts: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Login:
    """A login with a private key, or with a file with the password."""

    key_file: str | None = None
    password_file: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Volume:
    """A volume that is attached to a machine.

    :param id: The identifier, which is the serial number of its device.
    :param is_encrypted: A flag that the header of an encryption takes a part
        of it.
    """

    id: str
    size_gib: int
    is_encrypted: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """A machine that is measured over SSH.

    :param address: The address for SSH.
    :param measure_address: The address that other machines measure against.
    :param host_key: The public key lines, one of which the machine must show;
        None if they are not known yet.
    :param login: The login; None for the key that is generated for the run.
    :param jump: The jump hosts in the order of the route.
    :param namespace: The network namespace of this machine; None if there is
        none.
    :param volumes: The attached volumes, in the order of their numbers.
    """

    name: str
    address: str
    measure_address: str
    user: str
    port: int = 22
    host_key: str | None = None
    login: Login | None = None
    jump: tuple[JumpHost, ...] = ()
    namespace: str | None = None
    volumes: tuple[Volume, ...] = ()


def jump_hosts(
    option: documents.Arguments
    | collections.abc.Iterable[documents.Arguments]
    | None,
) -> tuple[JumpHost, ...]:
    """Return the hosts of an option (one, several, none) as JumpHosts."""
    hops = [option] if isinstance(option, collections.abc.Mapping) else option
    return tuple(JumpHost(**hop) for hop in hops or ())
