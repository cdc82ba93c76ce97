# SPDX-License-Identifier: Apache-2.0
"""A machine that is reached over SSH: a guest, a host or a peer."""

import asyncio
import collections.abc
import contextlib
import shlex
import time
import typing as t

import asyncssh

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import streams
from rally_vmperf.machines.remote import endpoint
from rally_vmperf.machines.remote import pool

#: Seconds between two attempts.
_POLL = 0.7
#: Seconds after a rejected key: OpenSSH 9.8 blocks addresses that fail more
#: often.
_DENIED_POLL = 6


#: Seconds after its timeout at which the machine itself ends a command, in
#: case the controller died, and because OpenSSH does not forward signals to
#: processes of root.
_GRACE = 2


class RemoteProcess(asyncssh.SSHClientProcess[bytes]):
    """A command with a flag whether it may have started."""

    opened = False

    def connection_made(self, chan: t.Any) -> None:
        """Set the flag that the command may have started."""
        self.opened = True
        super().connection_made(chan)

    async def start(
        self,
        connection: asyncssh.SSHClientConnection,
        argv: collections.abc.Sequence[str],
        seconds: float,
    ) -> None:
        """Start the command on the connection, with a timeout there."""
        guard = f"env LC_ALL=C timeout -k 2 {seconds + _GRACE:.0f}".split()
        await connection.create_session(
            lambda: self, shlex.join([*guard, *argv]), encoding=None
        )

    def end(self) -> None:
        """Kill the command if it may still be running."""
        if self.opened:
            with contextlib.suppress(OSError, asyncssh.Error):
                self.channel.kill()
            self.channel.abort()


#: A function that returns, after a failed attempt, why all further attempts
#: will fail, or an empty string.
FindObstacle = collections.abc.Callable[
    [base.Unreachable], collections.abc.Awaitable[str]
]


class Ssh(base.Machine):
    """A machine over SSH; a lost connection is replaced on demand.

    Unknown host keys are never accepted.  It belongs to one event loop.

    :param server: The endpoint with the address and the login.
    """

    def __init__(self, server: endpoint.Endpoint) -> None:
        super().__init__(server.name)
        self._server = server
        self._pool = pool.Pool(self._server.connect)

    @property
    def address(self) -> str:
        """User, host, port and route as text for messages."""
        return self._server.address

    async def wait_ready(
        self,
        deadline_seconds: float,
        on_wait: collections.abc.Callable[[str], None] | None = None,
        find_obstacle: FindObstacle | None = None,
    ) -> None:
        """Wait until the machine accepts the login; raise after a deadline.

        A booting guest does not answer, refuses connections and rejects keys
        (cloud-init installs the key late). A wrong host key ends the wait
        immediately.

        :param on_wait: The function that reports the reason after each failed
            attempt.
        :param find_obstacle: The function that returns why all further
            attempts will fail, or an empty string.
        :raises MachineError: If the host key is wrong.
        :raises Obstructed: If further attempts will fail.
        :raises Unreachable: If the deadline expires; with the last reason.
        :raises JumpRefused: If a jump host rejects the connection.
        """
        deadline = time.monotonic() + deadline_seconds
        while True:
            try:
                async with self._pool.session():
                    return
            except base.Unreachable as error:
                last = error
            if on_wait:
                on_wait(str(last))
            if find_obstacle and (obstacle := await find_obstacle(last)):
                raise base.Obstructed(obstacle)
            pause = _DENIED_POLL if isinstance(last, base.Denied) else _POLL
            left = deadline - time.monotonic()
            if left <= 0:
                hint = "; see the machine's console log"
                if isinstance(last, base.JumpUnreachable):
                    hint = ""
                raise type(last)(
                    f"{last} (waited {deadline_seconds:g} s{hint})"
                )
            await asyncio.sleep(min(pause, left))

    async def run(
        self,
        argv: collections.abc.Sequence[str],
        *,
        timeout: float = 60,
        input_bytes: streams.Content = b"",
        output_limit: int = 1 << 20,
    ) -> base.Completed:
        """Run a command over SSH; return its output and exit status."""
        begun = time.monotonic()
        opened = False
        try:
            async with asyncio.timeout(timeout):
                for attempt in (1, 2):
                    async with self._pool.session() as connection:
                        process = RemoteProcess()
                        try:
                            await process.start(connection, argv, timeout)
                            return await self._exchange(
                                process, argv[0], input_bytes, output_limit
                            )
                        except endpoint.BROKEN as error:
                            if process.opened or attempt == 2:
                                raise self._lost_error(
                                    argv[0], error
                                ) from None
                            connection.abort()
                        finally:
                            opened = process.opened
                            process.end()
        except TimeoutError:
            if opened:
                raise base.timeout_error(self.name, argv[0], timeout) from None
            raise self._server.unreachable(
                TimeoutError(f"no session within {timeout:g} s"), timeout
            ) from None
        except base.Unreachable as error:
            if not opened:
                error.silent = time.monotonic() - begun
            raise
        raise AssertionError("the second attempt returns or raises")

    async def _exchange(
        self,
        process: RemoteProcess,
        command: str,
        content: streams.Content,
        limit: int,
    ) -> base.Completed:
        """Send the input; return the output and the exit status."""
        try:
            stdout, stderr = await streams.exchange(
                process.stdin, process.stdout, process.stderr, content, limit
            )
        except streams.Overflow:
            raise base.output_limit_error(self.name, command, limit) from None
        await process.wait_closed()
        if process.returncode is None:
            raise self._lost_error(command, "it gave no exit status")
        return base.Completed(
            exit_status=streams.shell_status(process.returncode),
            stdout=stdout,
            stderr=stderr,
        )

    @contextlib.asynccontextmanager
    async def converse(
        self, argv: collections.abc.Sequence[str], *, timeout: float = 60
    ) -> collections.abc.AsyncIterator[streams.Conversation]:
        """Start a program over SSH; yield a Conversation with it."""

        def lost(reason: object) -> base.MachineError:
            """Return the error for a conversation that ended early."""
            if isinstance(reason, endpoint.BROKEN):
                return self._lost_error(argv[0], reason)
            return base.early_end_error(self.name, argv[0], reason)

        process = RemoteProcess()
        try:
            async with asyncio.timeout(timeout), self._pool.session() as line:
                try:
                    await process.start(line, argv, timeout)
                except endpoint.BROKEN as error:
                    raise lost(error) from None
                yield streams.Conversation(
                    process.stdin, process.stdout, lost, endpoint.BROKEN
                )
        except TimeoutError:
            raise base.timeout_error(self.name, argv[0], timeout) from None
        finally:
            process.end()

    async def close(self) -> None:
        """Close all connections and leave the route."""
        try:
            await self._pool.close()
        finally:
            await self._server.leave()

    def _lost_error(self, command: str, reason: object) -> base.Unreachable:
        """Return an Unreachable error for a lost connection."""
        quiet = (endpoint.MISSED + 1) * self._server.keepalive
        return base.Unreachable(
            f"{self.name}: connection to {self.address} lost during command "
            f"{command}: {sanitize.line(reason)}; whether it ended is unknown",
            silent=quiet if "keepalive" in str(reason) else 0,
        )
