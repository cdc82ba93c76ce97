"""What the user's own OpenSSH has for a machine: ~/.ssh/config and keys.

Only what says where a machine is and who may log in is taken from the file.
Host keys are verified whatever it says, and nothing is forwarded.
"""

import collections.abc
import dataclasses
import functools
import getpass
import os
import sys
import typing as t

import asyncssh

from rally_vmperf.machines import base

#: Environment variable with the passphrase of private keys.
PASSPHRASE = "VMPERF_SSH_PASSPHRASE"  # noqa: S105  its name only


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """What the file has for a host.

    :param host: its address or name
    :param user: None where the file names none
    :param jump: jump hosts as ``ProxyJump`` has them, or nothing
    :param command: of ``ProxyCommand``, or nothing
    :param options: for asyncssh
    """

    host: str
    port: int
    user: str | None
    jump: str = ""
    command: str = ""
    options: collections.abc.Mapping[str, t.Any]


def entry(
    host: str, port: int | None = None, user: str | None = None
) -> Entry:
    """Return what ~/.ssh/config has for a host, or for an alias.

    :param port: comes before the file's, as ``user`` does
    :raises MachineError: for a file that cannot be read
    """
    try:
        found = asyncssh.SSHClientConnectionOptions(
            host=host,
            port=port or (),
            username=user or (),
            config=(),
            client_keys=None,
            known_hosts=None,
        )
    except (asyncssh.ConfigParseError, OSError, ValueError) as error:
        raise base.MachineError(
            f"~/.ssh/config: {error}; mend it, as ssh {host} would want it"
        ) from None
    config = t.cast(t.Any, found).config
    jump = config.get("ProxyJump") or ""
    return Entry(
        host=found.host,
        port=found.port,
        user=user or config.get("User"),
        jump="" if jump.lower() == "none" else jump,
        command=config.get("ProxyCommand") or "",
        options=_options(config),
    )


def _options(config: t.Any) -> dict[str, t.Any]:
    keys = _files(config.get("IdentityFile", ()))
    known = config.get("UserKnownHostsFile", ())
    options: dict[str, t.Any] = {
        "agent_path": config.get("IdentityAgent", ()),
        "agent_identities": keys if config.get("IdentitiesOnly") else (),
        "client_keys": keys or (),
        "client_certs": _files(config.get("CertificateFile", ())),
        "host_key_alias": config.get("HostKeyAlias"),
        # Others may be the agent's.
        "ignore_encrypted": True,
        "passphrase": os.environ.get(PASSPHRASE),
        "known_hosts": (),
    }
    if known != ():
        options["known_hosts"] = _files(known) or ([], [], [])
    return options


def _files(names: collections.abc.Iterable[str]) -> list[str]:
    found = [os.path.expanduser(name) for name in names]
    return [name for name in found if os.path.exists(name)]


def of_key_file(name: str, file: str) -> dict[str, t.Any]:
    """Return asyncssh's options for a private key that is named.

    One with a passphrase is opened by the environment's, else left to an
    agent that has it, else asked for at a terminal, once.

    :param name: what messages call the machine
    :raises MachineError: for a passphrase that is wrong, or that nobody has
    :raises OSError: for a file that cannot be read
    """
    path = os.path.expanduser(file)
    public = f"{path}.pub"
    try:
        if (
            _locked(path)
            and PASSPHRASE not in os.environ
            and os.environ.get("SSH_AUTH_SOCK")
            and os.path.exists(public)
        ):
            return {"agent_path": (), "agent_identities": [public]}
        return {
            "client_keys": [path],
            "passphrase": _passphrase(path),
            "agent_path": None,
        }
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise base.MachineError(
            f"{name}: private key {file}: {error}; give a private key in "
            "OpenSSH's format, and the passphrase of one that has any in the "
            f"environment variable {PASSPHRASE}, or add it to an agent with "
            "ssh-add and keep its public key beside it"
        ) from None


def _locked(path: str) -> bool:
    try:
        asyncssh.read_private_key(path)
    except asyncssh.KeyImportError as error:
        if "Passphrase must be" not in str(error):
            raise
        return True
    return False


@functools.cache
def _passphrase(path: str) -> str | None:
    """Return the passphrase of a private key, None where it has none."""
    if not _locked(path):
        return None
    secret = os.environ.get(PASSPHRASE)
    if secret is None and sys.stdin.isatty():
        secret = getpass.getpass(f"Passphrase of {path}: ")
    asyncssh.read_private_key(path, secret)
    return secret
