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
class _Line:
    connection: Connection
    sessions: int = 0


class Pool:
    """Hands out connections; lost ones are replaced, full ones joined.

    It belongs to the event loop that first uses it.

    :param connect: opens one more connection
    :param room: sessions that a connection takes at once
    """

    def __init__(
        self,
        connect: collections.abc.Callable[
            [], collections.abc.Awaitable[Connection]
        ],
        room: float = ROOM,
    ) -> None:
        self._connect = connect
        self._room = room
        self._lines: list[_Line] = []
        self._dialing = asyncio.Lock()
        self._failure: Exception | None = None

    @contextlib.asynccontextmanager
    async def session(self) -> collections.abc.AsyncIterator[Connection]:
        """Lend a connection for one session."""
        line = await self._line()
        line.sessions += 1
        try:
            yield line.connection
        finally:
            line.sessions -= 1

    async def _line(self) -> _Line:
        """Return a line with room; who waited for a dial shares its failure.

        Else commands at an absent machine would wait for one another.
        """
        known = self._failure
        async with self._dialing:
            self._lines = [
                line for line in self._lines if not line.connection.is_closed()
            ]
            for line in self._lines:
                if line.sessions < self._room:
                    return line
            if self._failure is not None and self._failure is not known:
                raise copy.copy(self._failure)
            try:
                line = _Line(await self._connect())
            except Exception as error:
                self._failure = error
                raise
            self._failure = None
            self._lines.append(line)
            return line

    async def close(self) -> None:
        """Close every connection; a later session opens a new one."""
        lines, self._lines = self._lines, []
        for line in lines:
            line.connection.close()
        for line in lines:
            await line.connection.wait_closed()
