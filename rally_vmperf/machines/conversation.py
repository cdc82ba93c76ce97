"""A talk with a running program, line by line; what it says is bounded."""

import collections.abc

from rally_vmperf.machines import streams

#: Bytes of a line; a program that says more in one is not listened to.
LONGEST = 4096

_CHUNK = 1 << 12


class Conversation:
    """Sends lines to a program and receives lines from it.

    :param lost: makes the error that says why the talk is over
    :param broken: what the streams raise when they break
    """

    def __init__(
        self,
        stdin: streams.Writer,
        stdout: streams.Reader,
        lost: collections.abc.Callable[[object], Exception],
        broken: tuple[type[Exception], ...] = (OSError,),
    ) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._lost = lost
        self._broken = broken
        self._heard = b""

    async def send(self, line: str) -> None:
        """Say one line, which must hold no end of line.

        :raises MachineError: when the program or the connection is gone
        """
        try:
            self._stdin.write(f"{line}\n".encode())
            await self._stdin.drain()
        except self._broken as error:
            raise self._lost(error) from None

    async def receive(self) -> str:
        """Return the next line, without its end.

        :raises MachineError: when there is none, or it is too long
        """
        while b"\n" not in self._heard:
            if len(self._heard) > LONGEST:
                raise self._lost(f"it says more than {LONGEST} bytes a line")
            try:
                more = await self._stdout.read(_CHUNK)
            except self._broken as error:
                raise self._lost(error) from None
            if not more:
                raise self._lost("it says no more")
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return streams.text(line)
