# SPDX-License-Identifier: Apache-2.0
"""Routes through jump hosts, which forward TCP connections.

One connection to a jump host serves all its users: OpenSSH's MaxSessions
limits shells and commands, not forwarded connections.
"""

import asyncio
import collections.abc
import dataclasses
import math
import re
import typing as t

import asyncssh

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import pool
from rally_vmperf.machines.remote import routes
from rally_vmperf.machines.remote import ssh_config
from rally_vmperf.machines.remote import target

#: Timeout in seconds of a jump host to reach a machine.  It is longer than for
#: a direct route, as an abandoned attempt continues there for minutes.
_FORWARD = 10
#: Maximum bytes that a jump host leaves unread: windows of 32 machines.
UNREAD = 64 << 20


class Jump(routes.Route):
    """A route through one jump host, whose users share a connection.

    :param server: The jump host with its route.
    """

    def __init__(self, server: endpoint.Endpoint) -> None:
        self.label = f" through {server.address}"
        self._server = server
        server.unread = UNREAD
        self._pool = pool.Pool(server.connect, room=math.inf)
        self._users: set[object] = set()
        self._attempts: set[asyncio.Task[t.Any]] = set()

    async def open(
        self, user: object, host: str, port: int
    ) -> documents.Arguments:
        """Connect to the jump host; return the tunnel as asyncssh option."""
        self._users.add(user)
        try:
            async with self._pool.session() as connection:
                return {"tunnel": _Tunnel(self, connection, self._attempts)}
        except base.Denied as error:
            raise base.JumpRefused(str(error)) from None
        except base.Unreachable as error:
            raise base.JumpUnreachable(
                str(error), silent=error.silent
            ) from None
        except base.MachineError as error:
            raise base.JumpRefused(str(error)) from None

    async def leave(self, user: object) -> None:
        """Unregister a user; close the connection after the last one."""
        self._users.discard(user)
        if not self._users:
            await self._pool.close()
            await asyncio.gather(*self._attempts, return_exceptions=True)
            await self._server.leave()


@dataclasses.dataclass(eq=False)
class _Tunnel:
    """A tunnel for asyncssh through a jump host."""

    jump: Jump
    connection: asyncssh.SSHClientConnection
    attempts: set[asyncio.Task[t.Any]]

    async def create_connection(
        self, factory: t.Callable[[], t.Any], host: str, port: int
    ) -> tuple[t.Any, t.Any]:
        """Connect from the jump host; return the channel and session.

        A request cannot be cancelled.  A connection that opens after the
        timeout is closed immediately.
        """
        late = asyncio.Event()
        attempt = asyncio.create_task(
            self.connection.create_connection(
                lambda: _Unwanted() if late.is_set() else factory(), host, port
            )
        )
        self.attempts.add(attempt)
        attempt.add_done_callback(self._forget_attempt)
        try:
            async with asyncio.timeout(_FORWARD):
                return await asyncio.shield(attempt)
        except TimeoutError:
            raise TimeoutError(f"no answer within {_FORWARD} s") from None
        except asyncssh.ChannelOpenError as error:
            raise self._refusal_error(error, f"{host} port {port}") from None
        finally:
            late.set()

    def _forget_attempt(self, attempt: asyncio.Task[t.Any]) -> None:
        """Unregister an ended connection attempt and drop its error."""
        self.attempts.discard(attempt)
        if not attempt.cancelled():
            attempt.exception()  # marks it as retrieved

    def _refusal_error(
        self, error: asyncssh.ChannelOpenError, address: str
    ) -> Exception:
        """Return the error for a connection that was not forwarded."""
        if self.connection.is_closed():
            return base.JumpUnreachable(
                f"jump host: connection{self.jump.label} was lost"
            )
        reason = sanitize.line(error.reason)
        if error.code == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED:
            return base.JumpRefused(
                f"jump host: forwarding to {address}{self.jump.label} is "
                f"refused: {reason}; allow it by AllowTcpForwarding and "
                "PermitOpen in its sshd_config"
            )
        return ConnectionError(reason)


class _Unwanted(asyncssh.SSHTCPSession[bytes]):
    """A connection that opened too late."""

    def connection_made(self, chan: asyncssh.SSHTCPChannel[bytes]) -> None:
        """Abort the channel immediately."""
        chan.abort()


def create_route(
    hops: collections.abc.Iterable[target.JumpHost], to: str | None = None
) -> routes.Route:
    """Return the Route through jump hosts in order.

    :param hops: The jump hosts.
    :param to: The host whose route in ~/.ssh/config applies without hops.
    """
    way: routes.Route = routes.Route()
    hops = list(hops)
    if to and not hops:
        config_entry = ssh_config.read_entry(to)
        if config_entry.command and not config_entry.jump:
            return routes.ProxyCommand(config_entry.command)
        hops = list(map(parse_hop, filter(None, config_entry.jump.split(","))))
    for hop in hops:
        way = Jump(
            endpoint.Endpoint(
                "jump host",
                host=hop.address,
                port=hop.port,
                user=hop.user,
                key_file=hop.key_file,
                known_hosts=hop.known_hosts,
                way=way,
            )
        )
    return way


_HOP = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@:\s]+)@)?"
    r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<address>[^@:,\[\]\s]+))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)


def parse_hop(text: str) -> target.JumpHost:
    """Parse ``[user@]host[:port]`` into a JumpHost, as for ``ssh -J``.

    :raises MachineError: If the text does not have this form.
    """
    match = _HOP.fullmatch(text.strip())
    port = int(match["port"]) if match and match["port"] else None
    if match is None or port == 0 or (port or 0) >= 1 << 16:
        raise base.MachineError(
            f"{text!r} is not a valid login; write user@host or "
            "user@host:port, with an IPv6 address in brackets"
        )
    return target.JumpHost(
        address=match["six"] or match["address"], port=port, user=match["user"]
    )
