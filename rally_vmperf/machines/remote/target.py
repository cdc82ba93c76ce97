"""A machine that SSH reaches: where it is, who may log in, by which route."""

import collections.abc
import dataclasses
import typing as t


@dataclasses.dataclass(frozen=True, kw_only=True)
class JumpHost:
    """A machine through which SSH goes.

    :param user: by default as ~/.ssh/config says, like ``port``
    :param key_file: by default the user's own keys
    :param known_hosts: file with its host key, by default the user's own
    """

    address: str
    user: str | None = None
    port: int | None = None
    key_file: str | None = None
    known_hosts: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Login:
    """What lets one in: a private key, or a file with the password."""

    key_file: str | None = None
    password_file: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Target:
    """A machine that is measured over SSH.

    :param address: by which it is reached
    :param measure_address: by which other machines measure against it
    :param host_key: public key lines of which it must show one, None while
        that is not known
    :param login: None for the key that is made for the run
    :param jump: jump hosts in the order in which they are gone through
    :param namespace: network namespace of this machine, or None
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


def jump_hosts(
    given: collections.abc.Mapping[str, t.Any]
    | collections.abc.Iterable[collections.abc.Mapping[str, t.Any]]
    | None,
) -> tuple[JumpHost, ...]:
    """Return the jump hosts of an option: one, several, or none."""
    hops = [given] if isinstance(given, collections.abc.Mapping) else given
    return tuple(JumpHost(**hop) for hop in hops or ())
