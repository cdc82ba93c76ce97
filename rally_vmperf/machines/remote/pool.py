"""A few connections to one machine, opened as they are needed."""

import asyncio
import collections.abc
import contextlib
import copy
import dataclasses

import asyncssh

#: Sessions per connection; OpenSSH refuses the eleventh (MaxSessions).
ROOM = 8


Connection = asyncssh.SSHClientConnection


@dataclasses.dataclass
class _Shared:
    """A connection, with how many sessions use it now."""

    connection: Connection
    sessions: int = 0


@dataclasses.dataclass(eq=False)
class Pool:
    """Hands out connections; lost ones are replaced, full ones joined.

    It belongs to the event loop that first uses it.

    :param connect: opens one more connection
    :param room: sessions that a connection takes at once
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
        """Lend a connection for one session."""
        shared = await self._acquire()
        shared.sessions += 1
        try:
            yield shared.connection
        finally:
            shared.sessions -= 1

    async def _acquire(self) -> _Shared:
        """Return a connection with room; all that wait share its failure.

        Else commands at an absent machine would wait for one another.
        """
        known = self._failure
        async with self._connecting:
            self._connections = [
                shared
                for shared in self._connections
                if not shared.connection.is_closed()
            ]
            for shared in self._connections:
                if shared.sessions < self.room:
                    return shared
            if self._failure is not None and self._failure is not known:
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
