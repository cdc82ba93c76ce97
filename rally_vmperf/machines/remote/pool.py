# SPDX-License-Identifier: Apache-2.0
"""A pool of connections to one machine, opened on demand."""

import asyncio
import collections.abc
import contextlib
import copy
import dataclasses

import asyncssh

#: Sessions per connection; OpenSSH rejects the eleventh (MaxSessions).
ROOM = 8


Connection = asyncssh.SSHClientConnection


@dataclasses.dataclass
class _Shared:
    """A connection and the number of its sessions."""

    connection: Connection
    sessions: int = 0


@dataclasses.dataclass(eq=False)
class Pool:
    """A pool of connections that replaces lost ones and adds to full ones.

    It belongs to the event loop that first uses it.

    :param connect: The function that opens a connection.
    :param room: The maximum sessions of a connection.
    """

    connect: collections.abc.Callable[
        [], collections.abc.Awaitable[Connection]
    ]
    room: float = ROOM

    def __post_init__(self) -> None:
        self._connections: list[_Shared] = []
        self._connecting = asyncio.Lock()
        self._failure: Exception | None = None

    @contextlib.asynccontextmanager
    async def session(self) -> collections.abc.AsyncIterator[Connection]:
        """Yield a connection and reserve one session of it."""
        shared = await self._acquire()
        shared.sessions += 1
        try:
            yield shared.connection
        finally:
            shared.sessions -= 1

    async def _acquire(self) -> _Shared:
        """Return a connection with room, a new one if necessary.

        Otherwise commands on an unreachable machine would fail one by one.
        """
        known_failure = self._failure
        async with self._connecting:
            self._connections = [
                shared
                for shared in self._connections
                if not shared.connection.is_closed()
            ]
            for shared in self._connections:
                if shared.sessions < self.room:
                    return shared
            if (
                self._failure is not None
                and self._failure is not known_failure
            ):
                raise copy.copy(self._failure)
            try:
                shared = _Shared(await self.connect())
            except Exception as error:
                self._failure = error
                raise
            self._failure = None
            self._connections.append(shared)
            return shared

    async def close(self) -> None:
        """Close every connection; a later session opens a new one."""
        closing, self._connections = self._connections, []
        for shared in closing:
            shared.connection.close()
        for shared in closing:
            await shared.connection.wait_closed()
