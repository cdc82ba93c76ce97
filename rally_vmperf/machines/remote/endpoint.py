"""An SSH server: its address, the route to it, and the login."""

import asyncio
import getpass
import os
import typing as t

import asyncssh

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh_config

#: Missed signs of life; asyncssh gives a connection up one interval later.
MISSED = 3
#: How a connection ends early; ValueError is asyncssh's answer to bytes that
#: no server should send.
BROKEN = (asyncssh.Error, OSError, ValueError)


#: Bytes that a server may leave unread; channels have windows of 2 MiB.
UNREAD = 64 << 20


class _Client(asyncssh.SSHClient):
    """Disconnects from a server that asks without end."""

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """Break off where asyncssh would go on writing."""
        transport: t.Any = conn._transport
        # A ProxyCommand is a process, to whose pipe asyncssh writes; asyncio
        # tells the process's protocol, not the connection, that it is full.
        pipe = getattr(transport, "_stdin", None)
        writer = pipe or transport
        told: t.Any = transport if pipe else conn

        def leave() -> None:
            writer.abort()
            conn.abort()

        writer.set_write_buffer_limits(high=UNREAD)
        told.pause_writing = leave


class Endpoint:
    """Opens connections to one server, or says in one line why it cannot.

    Unknown host keys are never accepted.

    :param name: what messages call the machine
    :param client_key: text of the private key; or its file, ``key_file``; or
        ``password_file``, whose first line is a password; with none of them,
        the user's own keys, an agent's among them
    :param host_key: public key lines; no other key will do. Without it, the
        user's ~/.ssh/config is asked for the host
    :param known_hosts: file used without ``host_key``, by default the user's
    :param connect_timeout: seconds for handshake and login
    :param keepalive: seconds between signs of life; three may be missed
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
            self._options["known_hosts"] = (hostkey.pinned(host_key), [], [])
        else:
            found = ssh_config.entry(host, port, user)
            self.host, self.port = found.host, found.port
            self.user = found.user or self.user
            self._options |= found.options
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
        """Return user, host, port and way as messages show them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}:{self.port}{self._way.label}"

    async def connect(self) -> asyncssh.SSHClientConnection:
        """Open one connection.

        :raises Unreachable: for what may pass
        :raises MachineError: for what will not
        """
        try:
            key = {}
            if self._key_file is not None:
                key = ssh_config.of_key_file(self.name, self._key_file)
            opened = await self._way.open(self, self.host, self.port)
            async with asyncio.timeout(self._connect_timeout):
                return await asyncssh.connect(
                    self.host,
                    self.port,
                    client_factory=_Client,
                    **opened,
                    **self._options | key,
                )
        except asyncssh.HostKeyNotVerifiable:
            raise self._mismatch() from None
        except asyncssh.PermissionDenied:
            raise self._denied() from None
        except asyncssh.KeyExchangeFailed as error:
            if "host key" in str(error):
                raise self._mismatch() from None
            raise self.unreachable(error) from None
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise base.MachineError(
                f"{self.name}: client key: {error}; give a private key in "
                "OpenSSH's format"
            ) from None
        except BROKEN as error:
            raise self.unreachable(error) from None

    async def leave(self) -> None:
        """Leave the route, when all connections are closed."""
        await self._way.leave(self)

    def unreachable(
        self, error: BaseException, silent: float = 0
    ) -> base.Unreachable:
        """Return the error for a server that cannot be reached."""
        reason = sanitize.line(error) or type(error).__name__
        return base.Unreachable(
            f"{self.name}: no SSH at {self.address}: {reason}; check that it "
            "runs and that security groups and routes let port "
            f"{self.port} through",
            silent=silent,
        )

    def _denied(self) -> base.Denied:
        where = {
            "key": "its authorized_keys",
            "password": "PasswordAuthentication in its sshd_config",
        }
        return base.Denied(
            f"{self.name}: {self.address} refuses the {self._offered} "
            f"offered; check the user name and {where[self._offered]}"
        )

    def _mismatch(self) -> base.HostKeyMismatch:
        return base.HostKeyMismatch(
            f"{self.name}: {self.address} shows a host key that is not the "
            "one known; if the machine was reinstalled, replace its key in "
            "known_hosts or in the configuration"
        )


def password(name: str, path: str) -> str:
    """Return the first line of a file.

    :raises MachineError: when there is none
    """
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as lines:
            found = lines.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise base.MachineError(
            f"{name}: password file {path!r}: {reason}; write the password "
            "into its first line"
        ) from None
    if not found:
        raise base.MachineError(
            f"{name}: password file {path!r}: its first line is empty; write "
            "the password into it"
        )
    return found
