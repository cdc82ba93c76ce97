# SPDX-License-Identifier: Apache-2.0
"""The user's OpenSSH settings for a machine: ~/.ssh/config and keys.

Only the settings of the address and the login are used. Host keys are always
verified, and nothing is forwarded.
"""

import collections.abc
import dataclasses
import functools
import getpass
import os
import sys
import typing as t

import asyncssh

from rally_vmperf import documents
from rally_vmperf.machines import base

#: Environment variable with the passphrase of private keys.
PASSPHRASE = "VMPERF_SSH_PASSPHRASE"  # noqa: S105  its name only


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConfigEntry:
    """The settings for a host.

    :param host: The address or name.
    :param user: The login name; None if the file does not set it.
    :param jump: The jump hosts in the form of ``ProxyJump``; empty for none.
    :param command: The command of ``ProxyCommand``; empty for none.
    :param options: The options of asyncssh.
    """

    host: str
    port: int
    user: str | None
    jump: str = ""
    command: str = ""
    options: documents.Arguments


def read_entry(
    host: str, port: int | None = None, user: str | None = None
) -> ConfigEntry:
    """Return the settings for a host in ~/.ssh/config as an Entry.

    :param port: The port, which overrides that in the file.
    :param user: The login name, which overrides that in the file.
    :raises MachineError: If the file cannot be read.
    """
    try:
        ssh_options = asyncssh.SSHClientConnectionOptions(
            host=host,
            port=port or (),
            username=user or (),
            config=(),
            client_keys=None,
            known_hosts=None,
        )
    except (asyncssh.ConfigParseError, OSError, ValueError) as error:
        raise base.MachineError(
            f"~/.ssh/config: {error}; fix it, so that ssh {host} works"
        ) from None
    config = t.cast(t.Any, ssh_options).config
    jump = config.get("ProxyJump") or ""
    return ConfigEntry(
        host=ssh_options.host,
        port=ssh_options.port,
        user=user or config.get("User"),
        jump="" if jump.lower() == "none" else jump,
        command=config.get("ProxyCommand") or "",
        options=_create_options(config),
    )


def _create_options(config: t.Any) -> documents.Arguments:
    """Return the asyncssh options of an ssh_config entry as a dict."""
    keys = _existing_files(config.get("IdentityFile", ()))
    known_hosts = config.get("UserKnownHostsFile", ())
    if known_hosts != ():
        known_hosts = _existing_files(known_hosts) or ([], [], [])
    return {
        "agent_path": config.get("IdentityAgent", ()),
        "agent_identities": keys if config.get("IdentitiesOnly") else (),
        "client_keys": keys or (),
        "client_certs": _existing_files(config.get("CertificateFile", ())),
        "host_key_alias": config.get("HostKeyAlias"),
        # The agent may have other keys.
        "ignore_encrypted": True,
        "passphrase": os.environ.get(PASSPHRASE),
        "known_hosts": known_hosts,
    }


def _existing_files(names: collections.abc.Iterable[str]) -> list[str]:
    """Return the existing files as a list of expanded paths."""
    paths = [os.path.expanduser(name) for name in names]
    return [name for name in paths if os.path.exists(name)]


def key_file_options(name: str, file: str) -> documents.Arguments:
    """Return the asyncssh options for a private key file as a dict.

    The passphrase is that in the environment; otherwise an agent with the key
    is used; otherwise the passphrase is read once from a terminal.

    :param name: The name of the machine in messages.
    :param file: The path of the private key.
    :raises MachineError: If the passphrase is wrong or missing.
    :raises OSError: If the file cannot be read.
    """
    path = os.path.expanduser(file)
    public = f"{path}.pub"
    try:
        if (
            _is_encrypted(path)
            and PASSPHRASE not in os.environ
            and os.environ.get("SSH_AUTH_SOCK")
            and os.path.exists(public)
        ):
            return {"agent_path": (), "agent_identities": [public]}
        return {
            "client_keys": [path],
            "passphrase": _read_passphrase(path),
            "agent_path": None,
        }
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise base.MachineError(
            f"{name}: private key {file}: {error}; give a private key in "
            "OpenSSH's format, with its passphrase, if it has one, in the "
            f"environment variable {PASSPHRASE}, or add it to an agent with "
            "ssh-add and keep its public key next to it"
        ) from None


def _is_encrypted(path: str) -> bool:
    """Return whether a private key file requires a passphrase."""
    try:
        asyncssh.read_private_key(path)
    except asyncssh.KeyImportError as error:
        if "Passphrase must be" not in str(error):
            raise
        return True
    return False


@functools.cache
def _read_passphrase(path: str) -> str | None:
    """Return the passphrase of a private key as text; None if it has none."""
    if not _is_encrypted(path):
        return None
    secret = os.environ.get(PASSPHRASE)
    if secret is None and sys.stdin.isatty():
        secret = getpass.getpass(f"Passphrase of {path}: ")
    asyncssh.read_private_key(path, secret)
    return secret
