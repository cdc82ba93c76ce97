"""Through other machines that forward TCP: jump hosts, as OpenSSH calls them.

One connection to a jump host serves all who use it: OpenSSH's MaxSessions is
about shells and commands, not about what is forwarded.
"""

import asyncio
import collections.abc
import math
import typing as t

import asyncssh

from rally_vmperf.machines import base
from rally_vmperf.machines import endpoint
from rally_vmperf.machines import pool
from rally_vmperf.machines import routes

#: Seconds that a jump host has to reach a machine.  Longer than for a direct
#: way, as what is given up here goes on there for minutes.
_FORWARD = 10

Hop = collections.abc.Mapping[str, t.Any]


class Jump(routes.Route):
    """Through one jump host, over a connection that its users share.

    :param server: the jump host, with the way to it
    """

    def __init__(self, server: endpoint.Endpoint) -> None:
        self.words = f" through {server.address}"
        self._server = server
        self._pool = pool.Pool(server.connect, room=math.inf)
        self._users: set[object] = set()
        self._attempts: set[asyncio.Task[t.Any]] = set()

    async def open(
        self, user: object, host: str, port: int
    ) -> dict[str, t.Any]:
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
        """Hang up when the last one goes."""
        self._users.discard(user)
        if not self._users:
            await self._pool.close()
            await asyncio.gather(*self._attempts, return_exceptions=True)
            await self._server.leave()


class _Tunnel:
    """What asyncssh takes for a connection that it can tunnel through."""

    def __init__(
        self,
        jump: Jump,
        connection: asyncssh.SSHClientConnection,
        attempts: set[asyncio.Task[t.Any]],
    ) -> None:
        self._jump = jump
        self._connection = connection
        self._attempts = attempts

    async def create_connection(
        self, factory: t.Callable[[], t.Any], host: str, port: int
    ) -> tuple[t.Any, t.Any]:
        """Have the jump host connect to a machine.

        A request cannot be taken back.  What it yields after its time is
        closed at once.
        """
        late = asyncio.Event()
        attempt = asyncio.create_task(
            self._connection.create_connection(
                lambda: _Unwanted() if late.is_set() else factory(),
                host,
                port,
            )
        )
        self._attempts.add(attempt)
        attempt.add_done_callback(self._done)
        try:
            async with asyncio.timeout(_FORWARD):
                return await asyncio.shield(attempt)
        except TimeoutError:
            raise TimeoutError(f"no answer within {_FORWARD} s") from None
        except asyncssh.ChannelOpenError as error:
            raise self._refusal(error, f"{host} port {port}") from None
        finally:
            late.set()

    def _done(self, attempt: asyncio.Task[t.Any]) -> None:
        self._attempts.discard(attempt)
        if not attempt.cancelled():
            attempt.exception()  # that somebody waited for, or nobody

    def _refusal(
        self, error: asyncssh.ChannelOpenError, target: str
    ) -> Exception:
        if self._connection.is_closed():
            return base.JumpUnreachable(
                f"jump host: connection{self._jump.words} was lost"
            )
        reason = "".join(filter(str.isprintable, error.reason))[:200]
        if error.code == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED:
            return base.JumpRefused(
                f"jump host: forwarding to {target}{self._jump.words} is "
                f"refused: {reason}; let AllowTcpForwarding and PermitOpen "
                "in its sshd_config permit it"
            )
        return ConnectionError(reason)


class _Unwanted(asyncssh.SSHTCPSession[bytes]):
    """A connection that came too late."""

    def connection_made(self, chan: asyncssh.SSHTCPChannel[bytes]) -> None:
        chan.abort()


def chain(hops: collections.abc.Iterable[Hop]) -> routes.Route:
    """Return the way through jump hosts, each reached through those before.

    :param hops: ``address``, ``user`` and maybe ``port``, ``key_file`` and
        ``known_hosts`` of each
    """
    way: routes.Route = routes.Route()
    for hop in hops:
        way = Jump(
            endpoint.Endpoint(
                "jump host",
                host=hop["address"],
                port=hop.get("port", 22),
                user=hop["user"],
                key_file=hop.get("key_file"),
                known_hosts=hop.get("known_hosts"),
                way=way,
            )
        )
    return way
