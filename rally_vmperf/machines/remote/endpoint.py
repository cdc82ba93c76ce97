# SPDX-License-Identifier: Apache-2.0
"""An SSH server: its address, the route to it, and the login."""

import asyncio
import getpass
import os
import typing as t

import asyncssh

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh_config

#: Missed keepalives; asyncssh closes a connection one interval later.
MISSED = 3
#: The exceptions of a lost connection; asyncssh raises ValueError for invalid
#: bytes of a server.
BROKEN = (asyncssh.Error, OSError, ValueError)


#: The file of host keys by default.
_KNOWN_HOSTS = "~/.ssh/known_hosts"
#: Maximum bytes that a server leaves unread; channels have windows of 2 MiB.
UNREAD = 4 << 20


class _Client(asyncssh.SSHClient):
    """An SSH client that disconnects from a server with endless requests.

    :param unread: The maximum bytes that the server leaves unread.
    """

    def __init__(self, unread: int) -> None:
        self._unread = unread

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """Arrange that the connection ends if the server does not read."""
        transport: t.Any = conn._transport
        # asyncssh writes to the pipe of a ProxyCommand; asyncio notifies the
        # protocol of the process, not the connection, of a full pipe.
        pipe = getattr(transport, "_stdin", None)
        writer = pipe or transport
        protocol: t.Any = transport if pipe else conn

        def leave() -> None:
            """Abort the connection and its transport."""
            writer.abort()
            conn.abort()

        writer.set_write_buffer_limits(high=self._unread)
        protocol.pause_writing = leave


class Endpoint:
    """An SSH server with its host key, the login and the route.

    Unknown host keys are never accepted.

    :param name: The name of the machine in messages.
    :param client_key: The text of the private key; alternatives are its file,
        ``key_file``, and ``password_file``, whose first line is a password.
        Default: the keys of the user, also of an agent.
    :param host_key: The public key lines of the expected host key. Without it,
        the settings for the host in ~/.ssh/config apply.
    :param known_hosts: The file of host keys without ``host_key``; default:
        the file of the user.
    :param connect_timeout: The timeout for handshake and login in seconds.
    :param keepalive: The seconds between keepalives, three of which may be
        missed.
    """

    def __init__(
        self,
        name: str,
        *,
        host: str,
        port: int | None = None,
        user: str | None = None,
        client_key: str | None = None,
        key_file: str | None = None,
        password_file: str | None = None,
        host_key: str | None = None,
        known_hosts: str | None = None,
        way: routes.Route | None = None,
        connect_timeout: float = 30,
        keepalive: float = 15,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port or 22
        self.user = user or getpass.getuser()
        self.keepalive = keepalive
        self.unread: int | None = None
        self._way = way or routes.Route()
        self._connect_timeout = connect_timeout
        self._offered = "key"
        self._key_file = key_file if client_key is None else None
        self._options: dict[str, t.Any] = {
            "config": None,
            "agent_path": None,
            "keepalive_interval": keepalive,
            "keepalive_count_max": MISSED,
            "login_timeout": connect_timeout,
            "preferred_auth": "publickey",
            # Half the cost of the default for the many small packets here.
            "encryption_algs": "^aes128-gcm@openssh.com",
            # A packet of a hostile guest could unpack to hundreds of MB.
            "compression_algs": None,
        }
        if host_key is not None:
            self._options["known_hosts"] = (
                hostkey.parse_host_keys(host_key),
                [],
                [],
            )
        else:
            config_entry = ssh_config.read_entry(host, port, user)
            self.host, self.port = config_entry.host, config_entry.port
            self.user = config_entry.user or self.user
            self._options |= config_entry.options
        if known_hosts:
            self._options["known_hosts"] = os.path.expanduser(known_hosts)
        self._options["username"] = self.user
        if client_key is not None:
            self._options["client_keys"] = [client_key.encode()]
        elif key_file is None and password_file is not None:
            self._offered = "password"
            self._options["client_keys"] = None
            self._options["password"] = password(name, password_file)
            self._options["preferred_auth"] = "password,keyboard-interactive"

    @property
    def address(self) -> str:
        """User, host, port and route as text for messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}:{self.port}{self._way.label}"

    async def connect(self) -> asyncssh.SSHClientConnection:
        """Open and return a new SSH connection to the server.

        :raises Unreachable: If the failure is temporary.
        :raises MachineError: If the failure is permanent.
        """
        try:
            key: documents.Arguments = {}
            if self._key_file is not None:
                key = ssh_config.key_file_options(self.name, self._key_file)
            opened = await self._way.open(self, self.host, self.port)
            async with asyncio.timeout(self._connect_timeout):
                return await asyncssh.connect(
                    self.host,
                    self.port,
                    client_factory=lambda: _Client(self.unread or UNREAD),
                    **opened,
                    **{**self._options, **key},
                )
        except asyncssh.HostKeyNotVerifiable:
            raise self._host_key_error() from None
        except asyncssh.PermissionDenied:
            raise self._denied_error() from None
        except asyncssh.KeyExchangeFailed as error:
            if "host key" in str(error):
                raise self._host_key_error() from None
            raise self.unreachable(error) from None
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise base.MachineError(
                f"{self.name}: client key: {error}; give a private key in "
                "OpenSSH's format"
            ) from None
        except BROKEN as error:
            raise self.unreachable(error) from None

    async def leave(self) -> None:
        """Unregister from the route after all connections are closed."""
        await self._way.leave(self)

    def unreachable(
        self, error: BaseException, silent: float = 0
    ) -> base.Unreachable:
        """Return an Unreachable error for a failure to connect."""
        reason = sanitize.line(error) or type(error).__name__
        return base.Unreachable(
            f"{self.name}: no SSH at {self.address}: {reason}; check that it "
            "runs and that security groups and routes allow port "
            f"{self.port}",
            silent=silent,
        )

    def _denied_error(self) -> base.Denied:
        """Return a Denied error for a rejected key or password."""
        where = {
            "key": "its authorized_keys",
            "password": "PasswordAuthentication in its sshd_config",
        }
        return base.Denied(
            f"{self.name}: {self.address} rejects the "
            f"{self._offered}; check the user name and {where[self._offered]}"
        )

    def _host_key_error(self) -> base.MachineError:
        """Return the error for a host key that is wrong or unknown."""
        files = self._list_without_key()
        if files:
            port = "" if self.port == 22 else f"-p {self.port} "
            scan = f"ssh-keyscan {port}{self.host}"
            return base.MachineError(
                f"{self.name}: {self.address} has a host key that is unknown: "
                f"{' and '.join(files)} has none of it; compare the output of "
                f"'{scan} | ssh-keygen -lf -' with the key on the machine, "
                f"then append it: {scan} >> {files[0]}"
            )
        return base.MachineError(
            f"{self.name}: {self.address} shows a host key that differs from "
            "the known key; if the machine was reinstalled, replace its key "
            "in known_hosts or in the configuration"
        )

    def _list_without_key(self) -> list[str]:
        """Return the files of host keys; [] if one has a key of the host."""
        known: t.Any = self._options.get("known_hosts", ())
        if isinstance(known, tuple) and any(known):
            return []  # The expected key itself.
        files = [known] if isinstance(known, str) else [*map(str, known)]
        if isinstance(known, tuple):
            files = [_KNOWN_HOSTS]
        existing = [
            path
            for path in map(os.path.expanduser, files)
            if os.path.exists(path)
        ]
        if not existing:
            return files
        name = self._options.get("host_key_alias") or self.host
        try:
            found = asyncssh.match_known_hosts(existing, name, "", self.port)
        except (OSError, ValueError):
            return []
        return [] if any(found) else files


def password(name: str, path: str) -> str:
    """Return the password in the first line of a file as text.

    :raises MachineError: If the file has none.
    """
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as lines:
            first_line = lines.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise base.MachineError(
            f"{name}: password file {path!r}: {reason}; write the password "
            "into its first line"
        ) from None
    if not first_line:
        raise base.MachineError(
            f"{name}: password file {path!r}: its first line is empty; write "
            "the password into it"
        )
    return first_line
