# SPDX-License-Identifier: Apache-2.0
"""The interface of all machines: guests, hosts and the local computer."""

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

#: Maximum characters of an output that are searched for a message.
_MAX_STDERR = 4096


class MachineError(errors.VMPerfError):
    """An unreachable machine or a failed command, in one line."""


class Unreachable(MachineError):
    """A failure to connect to the machine in time.

    :param silent: The seconds without a response before the detection.
    """

    def __init__(self, message: str, *, silent: float = 0) -> None:
        super().__init__(message)
        self.silent = silent


class Denied(Unreachable):
    """A login that the machine rejected."""


class Obstructed(MachineError):
    """A failure to connect that further attempts will not change."""


class JumpUnreachable(Unreachable):
    """An unreachable jump host; the state of the machine is not known."""


class JumpRefused(MachineError):
    """A permanent rejection of the connection by a jump host."""


class TimedOut(MachineError):
    """A command that exceeded its timeout."""


class OutputTooLong(MachineError):
    """A command that printed more than its limit."""


def timeout_error(machine: str, command: str, seconds: float) -> TimedOut:
    """Return a TimedOut error for a command that did not end in time."""
    return TimedOut(
        f"{machine}: command {command} did not end within {seconds:g} s; "
        "raise its timeout, or check the load of the machine"
    )


def output_limit_error(
    machine: str, command: str, limit: int
) -> OutputTooLong:
    """Return an OutputTooLong error for a command that printed too much."""
    return OutputTooLong(
        f"{machine}: command {command} printed more than {limit} bytes and "
        "was ended; reduce its output"
    )


def early_end_error(
    machine: str, command: str, reason: object
) -> MachineError:
    """Return a MachineError for a program that ended in a conversation."""
    return MachineError(
        f"{machine}: command {command} ended too early: "
        f"{sanitize.line(reason)}"
    )


def last_line(stderr: str) -> str:
    """Return the last line of an output as a short text for a message."""
    lines = stderr[-_MAX_STDERR:].strip().splitlines()
    if not lines:
        return "it gave no reason"
    # The reason follows a path, or two.
    return sanitize.line(lines[-1], longest=500)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Completed:
    """A finished command; output is decoded with replacement characters."""

    exit_status: int
    stdout: str
    stderr: str

    def check(self, failure: str, advice: str) -> None:
        """Reject a command that failed.

        :param failure: The machine and the failed action.
        :param advice: The solution.
        :raises MachineError: If it failed; with the last line of its errors.
        """
        if self.exit_status:
            raise MachineError(
                f"{failure}: {last_line(self.stderr)}; {advice}"
            )


#: The file with the identifier of the current boot.
BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Machine(abc.ABC):
    """A machine that runs commands: one connection, many commands at a time.

    Use it as an asynchronous context manager.

    :param name: The name in messages and records.
    """

    #: Whether its clock is that of the local computer.
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
        """Run a short command and return its output and exit status.

        Arguments are passed unchanged; the locale is C.

        :raises TimedOut: If the command exceeds ``timeout`` seconds; it is
            ended.
        :raises OutputTooLong: If one of the streams exceeds ``output_limit``
            bytes.
        :raises Unreachable: If the connection is lost and cannot be restored.
        """

    @abc.abstractmethod
    def converse(
        self, argv: collections.abc.Sequence[str], *, timeout: float = 60
    ) -> contextlib.AbstractAsyncContextManager[streams.Conversation]:
        """Start a program; return a context manager of a Conversation.

        :raises TimedOut: If the context exceeds ``timeout`` seconds.
        :raises Unreachable: If the connection is lost.
        :raises MachineError: If the program ends before the context.
        """

    async def put(
        self, content: streams.Content, path: str, mode: int = 0o644
    ) -> None:
        """Write content to a file on the machine atomically.

        Its directory is created, but not the parent directories. SFTP is not
        used, because not every SSH server of a guest supports it.

        :raises MachineError: If the file cannot be written.
        """
        done = await self.run(
            scripts.argv("put.sh", path, f"{mode:o}"),
            timeout=60 + len(content) / 100_000,
            input_bytes=content,
        )
        done.check(
            f"{self.name}: cannot write {path}",
            "check the owner of the directory and the free space",
        )

    async def read_boot_id(self, timeout: float = 60) -> str:
        """Return the identifier of the current boot.

        A container has that of its host.

        :raises MachineError: If it cannot be read.
        """
        outcome = await self.run(["cat", BOOT_ID], timeout=timeout)
        if outcome.exit_status or not outcome.stdout.strip():
            raise MachineError(
                f"{self.name}: {BOOT_ID} cannot be read, so a reboot cannot "
                "be verified; mount /proc, or measure without a reboot"
            )
        return outcome.stdout.strip()

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
