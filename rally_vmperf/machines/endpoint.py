"""An SSH server: the way to it, and how one logs in."""

import asyncio
import os
import pathlib
import typing as t

import asyncssh

from rally_vmperf.machines import base
from rally_vmperf.machines import hostkey
from rally_vmperf.machines import routes

#: Missed signs of life; asyncssh gives a connection up one interval later.
MISSED = 3
#: How a connection ends early; ValueError is asyncssh's answer to bytes that
#: no server should send.
BROKEN = (asyncssh.Error, OSError, ValueError)


class Endpoint:
    """Opens connections to one server, or says in one line why it cannot.

    Unknown host keys are never accepted.

    :param name: what messages call the machine
    :param client_key: text of the private key; or its file, ``key_file``; or
        ``password_file``, whose first line is a password; with none of them,
        the user's own default keys (never an agent's)
    :param host_key: public key lines; no other key will do
    :param known_hosts: file used without ``host_key``, by default the user's
    :param connect_timeout: seconds for handshake and login
    :param keepalive: seconds between signs of life; three may be missed
    """

    def __init__(
        self,
        name: str,
        *,
        host: str,
        port: int = 22,
        user: str,
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
        self.port = port
        self.user = user
        self.keepalive = keepalive
        self._way = way or routes.Route()
        self._connect_timeout = connect_timeout
        self._offered = "key"
        self._options: dict[str, t.Any] = {
            "username": user,
            "config": None,
            "agent_path": None,
            "known_hosts": os.path.expanduser(known_hosts or "") or (),
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
        if client_key is not None:
            self._options["client_keys"] = [client_key.encode()]
        elif key_file is not None:
            path = pathlib.Path(key_file).expanduser()
            self._options["client_keys"] = [str(path)]
        elif password_file is not None:
            self._offered = "password"
            self._options["client_keys"] = None
            self._options["password"] = password(name, password_file)
            self._options["preferred_auth"] = "password,keyboard-interactive"

    @property
    def address(self) -> str:
        """Return user, host, port and way as messages show them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}:{self.port}{self._way.words}"

    async def connect(self) -> asyncssh.SSHClientConnection:
        """Open one connection.

        :raises Unreachable: for what may pass
        :raises MachineError: for what will not
        """
        try:
            opened = await self._way.open(self, self.host, self.port)
            async with asyncio.timeout(self._connect_timeout):
                return await asyncssh.connect(
                    self.host, self.port, **opened, **self._options
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
                f"{self.name}: client key: {error}; give an unencrypted "
                "private key in OpenSSH's format"
            ) from None
        except BROKEN as error:
            raise self.unreachable(error) from None

    async def leave(self) -> None:
        """Need the way no more, all connections being closed."""
        await self._way.leave(self)

    def unreachable(
        self, error: BaseException, silent: float = 0
    ) -> base.Unreachable:
        """Return the error that says so."""
        reason = base.plain(str(error)) or type(error).__name__
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
