# SPDX-License-Identifier: Apache-2.0
"""A fake machine; only tests may import this module."""

import collections.abc
import contextlib
import dataclasses

from rally_vmperf.machines import base
from rally_vmperf.machines import streams

Answer = (
    base.Completed
    | BaseException
    | str
    | collections.abc.Callable[[tuple[str, ...]], base.Completed]
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """A command that the fake machine received."""

    argv: tuple[str, ...]
    timeout: float
    input_bytes: streams.Content


class FakeMachine(base.Machine):
    """A machine with scripted answers that records the commands.

    :param answers: The answers by the first words of a command (separated by
        spaces): a text is standard output with exit status 0, an exception is
        raised, a function is called with the arguments. The longest match
        wins; a list is consumed in order, its last answer is repeated.
    """

    def __init__(
        self,
        name: str = "fake",
        answers: collections.abc.Mapping[str, Answer | list[Answer]]
        | None = None,
    ) -> None:
        super().__init__(name)
        self.calls: list[Call] = []
        self.files: dict[str, bytes] = {}
        self.modes: dict[str, int] = {}
        self.closed = False
        self._answers = {
            tuple(start.split()): list(answer)
            if isinstance(answer, list)
            else [answer]
            for start, answer in (answers or {}).items()
        }

    @property
    def commands(self) -> list[tuple[str, ...]]:
        """The recorded command lines in order."""
        return [call.argv for call in self.calls]

    async def run(
        self,
        argv: collections.abc.Sequence[str],
        *,
        timeout: float = 60,
        input_bytes: streams.Content = b"",
        output_limit: int = 1 << 20,
    ) -> base.Completed:
        """Record a command; return or raise its scripted answer."""
        command = tuple(argv)
        self.calls.append(
            Call(argv=command, timeout=timeout, input_bytes=input_bytes)
        )
        matches = [s for s in self._answers if command[: len(s)] == s]
        if not matches:
            raise AssertionError(f"{self.name} has no answer to {command}")
        queue = self._answers[max(matches, key=len)]
        answer = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, str):
            return completed(answer)
        if isinstance(answer, base.Completed):
            return answer
        return answer(command)

    @contextlib.asynccontextmanager
    async def converse(
        self, argv: collections.abc.Sequence[str], *, timeout: float = 60
    ) -> collections.abc.AsyncIterator[streams.Conversation]:
        """Yield a Conversation in which each line has a scripted answer."""

        async def talk(line: bytes) -> bytes:
            """Return the scripted answer to a line as bytes."""
            done = await self.run(argv, timeout=timeout, input_bytes=line)
            return done.stdout.encode()

        pipe = _Pipe(talk)
        yield streams.Conversation(pipe, pipe, base.MachineError)

    async def put(
        self, content: streams.Content, path: str, mode: int = 0o644
    ) -> None:
        """Store the content and the mode of a file by its path."""
        self.files[path] = bytes(content)
        self.modes[path] = mode

    async def close(self) -> None:
        """Set the flag ``closed``."""
        self.closed = True


class _Pipe:
    """Both ends of a conversation with a fake."""

    def __init__(
        self,
        talk: collections.abc.Callable[
            [bytes], collections.abc.Awaitable[bytes]
        ],
    ) -> None:
        self._talk = talk
        self._line = b""

    def write(self, data: bytes) -> None:
        """Store the line that the next ``read`` answers."""
        self._line = data

    async def drain(self) -> None:
        """Do nothing: all data is sent immediately."""

    def write_eof(self) -> None:
        """Do nothing: there is no stream to close."""

    async def read(self, n: int = -1) -> bytes:
        """Return the answer to the stored line as bytes."""
        return await self._talk(self._line)


def completed(
    stdout: str = "", stderr: str = "", exit_status: int = 0
) -> base.Completed:
    """Return a Completed command, by default successful and silent."""
    return base.Completed(
        exit_status=exit_status, stdout=stdout, stderr=stderr
    )
