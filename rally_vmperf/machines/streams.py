# SPDX-License-Identifier: Apache-2.0
"""Input and output streams of a running program, with limits."""

import asyncio
import collections.abc
import dataclasses
import mmap
import typing as t

from rally_vmperf import errors

#: The input of a program: in memory, or a file that is read gradually.
Content = bytes | mmap.mmap

#: Bytes of a read or write.
_CHUNK = 1 << 16


class Overflow(errors.VMPerfError):
    """A stream that exceeded its limit."""


class Reader(t.Protocol):
    """The common interface of output streams of SSH and local processes."""

    async def read(self, n: int = -1) -> bytes:
        """Return up to ``n`` bytes; empty at the end of the stream."""


class Writer(t.Protocol):
    """The common interface of input streams of SSH and local processes."""

    def write(self, data: bytes) -> None:
        """Add bytes to the buffer of the stream."""

    async def drain(self) -> None:
        """Wait until the buffer has room."""

    def write_eof(self) -> None:
        """Close the stream after all bytes are written."""


async def exchange(
    stdin: Writer, stdout: Reader, stderr: Reader, content: Content, limit: int
) -> tuple[str, str]:
    """Write the input; return standard output and error as texts.

    Bytes are decoded at the end, so that no character is split at the edge of
    a buffer.

    :raises Overflow: If one stream exceeds ``limit`` bytes.
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
    """Decode bytes of UTF-8 to text, with replacement characters."""
    return content.decode("utf-8", "replace")


def shell_status(code: int) -> int:
    """Return an exit status as shells do: 128 + signal if negative."""
    return 128 - code if code < 0 else code


async def _read(reader: Reader, limit: int) -> bytes:
    """Return all bytes of a stream; raise Overflow beyond the limit."""
    chunks = []
    size = 0
    while chunk := await reader.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise Overflow
        chunks.append(chunk)
    return b"".join(chunks)


async def _feed(writer: Writer, content: Content) -> None:
    """Write the content to a program and close its input."""
    try:
        for start in range(0, len(content), _CHUNK):
            writer.write(content[start : start + _CHUNK])
            await writer.drain()
        writer.write_eof()
    except (BrokenPipeError, ConnectionResetError):
        pass  # a program does not have to read its input


#: Maximum bytes of a line; a longer line is an error.
MAX_LINE_BYTES = 4096


@dataclasses.dataclass
class Conversation:
    """A conversation in lines with a program.

    :param lost: The function that creates the error for a reason.
    :param broken: The exceptions of broken streams.
    """

    stdin: Writer
    stdout: Reader
    lost: collections.abc.Callable[[object], Exception]
    broken: tuple[type[Exception], ...] = (OSError,)
    _heard: bytes = b""

    async def send(self, line: str) -> None:
        """Send one line of text to the program.

        :raises MachineError: If the program ended or the connection is lost.
        """
        try:
            self.stdin.write(f"{line}\n".encode())
            await self.stdin.drain()
        except self.broken as error:
            raise self.lost(error) from None

    async def receive(self) -> str:
        """Wait for the next line; return it as text without its end.

        :raises MachineError: If there is no line, or if it is too long.
        """
        while b"\n" not in self._heard:
            if len(self._heard) > MAX_LINE_BYTES:
                raise self.lost(
                    f"it printed a line of more than {MAX_LINE_BYTES} bytes"
                )
            try:
                chunk = await self.stdout.read(MAX_LINE_BYTES)
            except self.broken as error:
                raise self.lost(error) from None
            if not chunk:
                raise self.lost("it closed its output")
            self._heard += chunk
        line, _, self._heard = self._heard.partition(b"\n")
        return text(line)
