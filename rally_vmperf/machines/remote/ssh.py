"""A machine that is reached by SSH: a guest, a host, a peer."""

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
#: After a refused key: OpenSSH 9.8 bars addresses that fail more often.
_DENIED_POLL = 6


#: The machine itself ends a command so long after its time-out: for the case
#: that nobody is left to tell it, and because OpenSSH takes no signals for
#: processes of root.
_GRACE = 2


class Process(asyncssh.SSHClientProcess[bytes]):
    """A command that knows whether it may have started."""

    opened = False

    def connection_made(self, chan: t.Any) -> None:
        self.opened = True
        super().connection_made(chan)

    async def start(
        self,
        connection: asyncssh.SSHClientConnection,
        argv: collections.abc.Sequence[str],
        seconds: float,
    ) -> None:
        """Ask for the command, guarded against outliving its caller."""
        guard = f"env LC_ALL=C timeout -k 2 {seconds + _GRACE:.0f}".split()
        await connection.create_session(
            lambda: self, shlex.join([*guard, *argv]), encoding=None
        )

    def end(self) -> None:
        """Leave nothing running of a command that was given up."""
        if self.opened:
            with contextlib.suppress(OSError, asyncssh.Error):
                self.channel.kill()
            self.channel.abort()


class Ssh(base.Machine):
    """Runs commands over SSH; a lost connection is replaced when needed.

    Unknown host keys are never accepted.  It belongs to one event loop.

    :param server: where it is reached, and how one logs in
    """

    def __init__(self, server: endpoint.Endpoint) -> None:
        super().__init__(server.name)
        self._server = server
        self._pool = pool.Pool(self._server.connect)

    @property
    def address(self) -> str:
        """Return user, host, port and way as messages show them."""
        return self._server.address

    async def wait_ready(
        self,
        deadline_seconds: float,
        on_wait: collections.abc.Callable[[str], None] | None = None,
    ) -> None:
        """Wait until the machine lets the user in.

        Silence, refusals and denied keys are what a booting guest gives
        (cloud-init puts the key late); a wrong host key ends it at once.

        :param on_wait: told the reason after each attempt in vain
        :raises Unreachable: at the deadline, with the last reason
        :raises HostKeyMismatch: at once
        :raises JumpRefused: at once
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
        begun = time.monotonic()
        opened = False
        try:
            async with asyncio.timeout(timeout):
                for attempt in (1, 2):
                    async with self._pool.session() as connection:
                        process = Process()
                        try:
                            await process.start(connection, argv, timeout)
                            return await self._exchange(
                                process, argv[0], input_bytes, output_limit
                            )
                        except endpoint.BROKEN as error:
                            if process.opened or attempt == 2:
                                raise self._lost(argv[0], error) from None
                            connection.abort()
                        finally:
                            opened = process.opened
                            process.end()
        except TimeoutError:
            if opened:
                raise base.timed_out(self.name, argv[0], timeout) from None
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
        process: Process,
        command: str,
        content: streams.Content,
        limit: int,
    ) -> base.Completed:
        try:
            stdout, stderr = await streams.exchange(
                process.stdin, process.stdout, process.stderr, content, limit
            )
        except streams.Overflow:
            raise base.too_long(self.name, command, limit) from None
        await process.wait_closed()
        if process.returncode is None:
            raise self._lost(command, "it gave no exit status")
        return base.Completed(
            exit_status=streams.shell_status(process.returncode),
            stdout=stdout,
            stderr=stderr,
        )

    @contextlib.asynccontextmanager
    async def converse(
        self, argv: collections.abc.Sequence[str], *, timeout: float = 60
    ) -> collections.abc.AsyncIterator[streams.Conversation]:
        def lost(why: object) -> base.MachineError:
            if isinstance(why, endpoint.BROKEN):
                return self._lost(argv[0], why)
            return base.ended_early(self.name, argv[0], why)

        process = Process()
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
            raise base.timed_out(self.name, argv[0], timeout) from None
        finally:
            process.end()

    async def close(self) -> None:
        try:
            await self._pool.close()
        finally:
            await self._server.leave()

    def _lost(self, command: str, why: object) -> base.Unreachable:
        quiet = (endpoint.MISSED + 1) * self._server.keepalive
        return base.Unreachable(
            f"{self.name}: connection to {self.address} lost during command "
            f"{command}: {sanitize.line(why)}; whether it ended is unknown",
            silent=quiet if "keepalive" in str(why) else 0,
        )
