"""A machine that is reached by SSH: a guest, a host, a peer."""

import asyncio
import collections.abc
import contextlib
import time

from rally_vmperf.machines import base
from rally_vmperf.machines import conversation
from rally_vmperf.machines import endpoint
from rally_vmperf.machines import pool
from rally_vmperf.machines import putting
from rally_vmperf.machines import ssh_process
from rally_vmperf.machines import streams
from rally_vmperf.machines import ways

#: Seconds between two attempts.
_POLL = 0.7
#: After a refused key: OpenSSH 9.8 bars addresses that fail more often.
_DENIED_POLL = 6


class Ssh(base.Machine):
    """Runs commands over SSH; a lost connection is replaced when needed.

    Unknown host keys are never accepted.  It belongs to one event loop.

    Its parameters are those of ``endpoint.Endpoint``.
    """

    def __init__(
        self,
        name: str,
        *,
        host: str,
        port: int = 22,
        user: str,
        client_key: str | None = None,
        key_file: str | None = None,
        password_file: str | None = None,
        host_key: str | None = None,
        known_hosts: str | None = None,
        way: ways.Way | None = None,
        connect_timeout: float = 30,
        keepalive: float = 15,
    ) -> None:
        super().__init__(name)
        self._keepalive = keepalive
        self._server = endpoint.Endpoint(
            name,
            host=host,
            port=port,
            user=user,
            client_key=client_key,
            key_file=key_file,
            password_file=password_file,
            host_key=host_key,
            known_hosts=known_hosts,
            way=way,
            connect_timeout=connect_timeout,
            keepalive=keepalive,
        )
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
                        process = ssh_process.Process()
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
        process: ssh_process.Process,
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
    ) -> collections.abc.AsyncIterator[conversation.Conversation]:
        def lost(why: object) -> base.MachineError:
            if isinstance(why, endpoint.BROKEN):
                return self._lost(argv[0], why)
            return base.ended_early(self.name, argv[0], why)

        process = ssh_process.Process()
        try:
            async with asyncio.timeout(timeout), self._pool.session() as line:
                try:
                    await process.start(line, argv, timeout)
                except endpoint.BROKEN as error:
                    raise lost(error) from None
                yield conversation.Conversation(
                    process.stdin, process.stdout, lost, endpoint.BROKEN
                )
        except TimeoutError:
            raise base.timed_out(self.name, argv[0], timeout) from None
        finally:
            process.end()

    async def put(self, content: bytes, path: str, mode: int = 0o644) -> None:
        await putting.put(self, content, path, mode)

    async def close(self) -> None:
        try:
            await self._pool.close()
        finally:
            await self._server.leave()

    def _lost(self, command: str, why: object) -> base.Unreachable:
        quiet = (endpoint.MISSED + 1) * self._keepalive
        return base.Unreachable(
            f"{self.name}: connection to {self.address} lost during command "
            f"{command}: {base.plain(str(why))}; whether it ended is unknown",
            silent=quiet if "keepalive" in str(why) else 0,
        )
