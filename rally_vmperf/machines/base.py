"""What every machine can do, be it a guest, a host or this computer."""

import abc
import collections.abc
import contextlib
import dataclasses
import types
import typing as t

from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.machines import scripts
from rally_vmperf.machines import streams

#: Characters of what a machine says that are looked at for a message.
_TOLD = 4096


class MachineError(errors.VMPerfError):
    """A machine cannot be reached or did not do as told; one line."""


class Unreachable(MachineError):
    """No connection to the machine could be opened in time.

    :param silent: seconds without a sign of life before this was noticed
    """

    def __init__(self, message: str, *, silent: float = 0) -> None:
        super().__init__(message)
        self.silent = silent


class Denied(Unreachable):
    """The machine answers and refuses the login."""


class HostKeyMismatch(MachineError):
    """The machine that answered has another host key than expected."""


class JumpUnreachable(Unreachable):
    """A jump host does not answer; nothing is known of the machine itself."""


class JumpRefused(MachineError):
    """A jump host does not let us through, now or later."""


class TimedOut(MachineError):
    """A command did not end within its time."""


class OutputTooLong(MachineError):
    """A command printed more than its limit."""


def timed_out(machine: str, command: str, seconds: float) -> TimedOut:
    """Return the error for a command that did not end in time."""
    return TimedOut(
        f"{machine}: command {command} did not end within {seconds:g} s; "
        "give it more time, or see what keeps the machine busy"
    )


def too_long(machine: str, command: str, limit: int) -> OutputTooLong:
    """Return the error for a command that printed too much."""
    return OutputTooLong(
        f"{machine}: command {command} printed more than {limit} bytes and "
        "was ended; ask it for a summary instead of every detail"
    )


def ended_early(machine: str, command: str, why: object) -> MachineError:
    """Return the error for a program that ended during a conversation."""
    return MachineError(
        f"{machine}: command {command} ended too early: {sanitize.line(why)}"
    )


def last_line(stderr: str) -> str:
    """Return the last line of an output, short enough for a message."""
    lines = stderr[-_TOLD:].strip().splitlines()
    return sanitize.line(lines[-1]) if lines else "it gave no reason"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Completed:
    """A finished command; output is decoded with replacement characters."""

    exit_status: int
    stdout: str
    stderr: str


class Machine(abc.ABC):
    """A place where commands run; one connection, many commands at once.

    Use it as an asynchronous context manager.

    :param name: what messages and records call it
    """

    #: Whether its clock is that of this very computer.
    shares_clock = False

    def __init__(self, name: str) -> None:
        self.name = name

    @abc.abstractmethod
    async def run(
        self,
        argv: collections.abc.Sequence[str],
        *,
        timeout: float = 60,
        input_bytes: streams.Content = b"",
        output_limit: int = 1 << 20,
    ) -> Completed:
        """Run a short command and return what it printed, whatever its exit.

        Arguments reach the program as they are; the locale is C.

        :raises TimedOut: after ``timeout`` seconds; the command is ended
        :raises OutputTooLong: beyond ``output_limit`` bytes of either stream
        :raises Unreachable: when the connection is lost and stays lost
        """

    @abc.abstractmethod
    def converse(
        self, argv: collections.abc.Sequence[str], *, timeout: float = 60
    ) -> contextlib.AbstractAsyncContextManager[streams.Conversation]:
        """Talk with a program, which ends with the context.

        :raises TimedOut: in the context, after ``timeout`` seconds of it
        :raises Unreachable: as ``run`` does
        :raises MachineError: when the program ends before the talk does
        """

    async def put(
        self, content: streams.Content, path: str, mode: int = 0o644
    ) -> None:
        """Write a file, whole or not at all.

        Its folder is made, but none above it. Not by SFTP: not every guest's
        SSH server has it.

        :raises MachineError: with what the machine said
        """
        done = await self.run(
            scripts.argv("put.sh", path, f"{mode:o}"),
            timeout=60 + len(content) / 100_000,
            input_bytes=content,
        )
        if done.exit_status:
            raise MachineError(
                f"{self.name}: cannot write {path}: "
                f"{last_line(done.stderr)}; "
                "check the folder's owner and the free space"
            )

    @abc.abstractmethod
    async def close(self) -> None:
        """Close the connection, if there is one."""

    async def __aenter__(self) -> t.Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        await self.close()
