"""Talk to a running program: feed it, and read what it prints, bounded."""

import asyncio
import collections.abc
import dataclasses
import mmap
import typing as t

from rally_vmperf import errors

#: What a program reads: in memory, or a file that is only read as it goes.
Content = bytes | mmap.mmap

#: Bytes that are read or written at once.
_CHUNK = 1 << 16


class Overflow(errors.VMPerfError):
    """A stream went on beyond its limit."""


class Reader(t.Protocol):
    """What a stream of SSH and one of a local process have in common."""

    async def read(self, n: int = -1) -> bytes: ...


class Writer(t.Protocol):
    """The same for the stream that is written to."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def write_eof(self) -> None: ...


async def exchange(
    stdin: Writer,
    stdout: Reader,
    stderr: Reader,
    content: Content,
    limit: int,
) -> tuple[str, str]:
    """Write all input while reading all output; return both streams' text.

    Bytes are decoded only when complete, so that no character is torn at the
    edge of a buffer.

    :raises Overflow: as soon as one stream exceeds ``limit`` bytes
    """
    tasks = (
        asyncio.create_task(_read(stdout, limit)),
        asyncio.create_task(_read(stderr, limit)),
        asyncio.create_task(_feed(stdin, content)),
    )
    try:
        printed, complained, _ = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return text(printed), text(complained)


def text(content: bytes) -> str:
    """Decode what a program printed, whatever it is."""
    return content.decode("utf-8", "replace")


def shell_status(code: int) -> int:
    """Return 128 + signal, as shells do, for Python's negative codes."""
    return 128 - code if code < 0 else code


async def _read(reader: Reader, limit: int) -> bytes:
    chunks = []
    size = 0
    while chunk := await reader.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise Overflow
        chunks.append(chunk)
    return b"".join(chunks)


async def _feed(writer: Writer, content: Content) -> None:
    try:
        for start in range(0, len(content), _CHUNK):
            writer.write(content[start : start + _CHUNK])
            await writer.drain()
        writer.write_eof()
    except (BrokenPipeError, ConnectionResetError):
        pass  # a program need not read its input


#: Bytes of a line; a program that says more in one is not listened to.
LONGEST = 4096


@dataclasses.dataclass
class Conversation:
    """Sends lines to a program and receives lines from it.

    :param lost: makes the error that says why the talk is over
    :param broken: what the streams raise when they break
    """

    stdin: Writer
    stdout: Reader
    lost: collections.abc.Callable[[object], Exception]
    broken: tuple[type[Exception], ...] = (OSError,)
    _heard: bytes = b""

    async def send(self, line: str) -> None:
        """Send one line, which must contain no end of line.

        :raises MachineError: when the program or the connection is gone
        """
        try:
            self.stdin.write(f"{line}\n".encode())
            await self.stdin.drain()
        except self.broken as error:
            raise self.lost(error) from None

    async def receive(self) -> str:
        """Return the next line, without its end.

        :raises MachineError: when there is none, or it is too long
        """
        while b"\n" not in self._heard:
            if len(self._heard) > LONGEST:
                raise self.lost(
                    f"it printed a line of more than {LONGEST} bytes"
                )
            try:
                more = await self.stdout.read(LONGEST)
            except self.broken as error:
                raise self.lost(error) from None
            if not more:
                raise self.lost("it closed its output")
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return text(line)
