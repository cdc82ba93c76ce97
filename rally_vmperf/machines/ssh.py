"""A machine that is reached by SSH: a guest, a host, a peer."""

import asyncio
import collections.abc
import os
import pathlib
import time
import typing as t

import asyncssh

from rally_vmperf.machines import base
from rally_vmperf.machines import dialing
from rally_vmperf.machines import hostkey
from rally_vmperf.machines import pool
from rally_vmperf.machines import putting
from rally_vmperf.machines import ssh_process
from rally_vmperf.machines import streams

#: Seconds for a TCP answer, and between two attempts.
_DIAL = 2
_POLL = 0.7
#: After a refused key: OpenSSH 9.8 bars addresses that fail more often.
_DENIED_POLL = 6
#: Missed signs of life; asyncssh gives a connection up one interval later.
_MISSED = 3
#: How a connection ends early; ValueError is asyncssh's answer to bytes that
#: no server should send.
_BROKEN = (asyncssh.Error, OSError, ValueError)


class Ssh(base.Machine):
    """Runs commands over SSH; a lost connection is replaced when needed.

    Unknown host keys are never accepted.  It belongs to one event loop.

    :param client_key: text of the private key; or its file, ``key_file``;
        with neither, the user's own default keys (never an agent's)
    :param host_key: public key line; no other key will do
    :param known_hosts: file used without ``host_key``, by default the user's
    :param connect_timeout: seconds for handshake and login
    :param keepalive: seconds between signs of life; three may be missed
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
        host_key: str | None = None,
        known_hosts: str | None = None,
        connect_timeout: float = 30,
        keepalive: float = 15,
    ) -> None:
        super().__init__(name)
        self.host = host
        self.port = port
        self.user = user
        self._connect_timeout = connect_timeout
        self._keepalive = keepalive
        self._options: dict[str, t.Any] = {
            "username": user,
            "config": None,
            "agent_path": None,
            "known_hosts": os.path.expanduser(known_hosts or "") or (),
            "keepalive_interval": keepalive,
            "keepalive_count_max": _MISSED,
            "login_timeout": connect_timeout,
            "preferred_auth": "publickey",
            # A packet of a hostile guest could unpack to hundreds of MB.
            "compression_algs": None,
        }
        if host_key is not None:
            self._options["known_hosts"] = ([hostkey.pinned(host_key)], [], [])
        if client_key is not None:
            self._options["client_keys"] = [hostkey.private(name, client_key)]
        elif key_file is not None:
            path = pathlib.Path(key_file).expanduser()
            self._options["client_keys"] = [str(path)]
        self._pool = pool.Pool(self._connect)

    @property
    def address(self) -> str:
        """Return user, host and port as messages show them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}:{self.port}"

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
                raise type(last)(
                    f"{last} (waited {deadline_seconds:g} s; see the "
                    "machine's console log)"
                )
            await asyncio.sleep(min(pause, left))

    async def run(
        self,
        argv: collections.abc.Sequence[str],
        *,
        timeout: float = 60,
        input_bytes: bytes = b"",
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
                        except _BROKEN as error:
                            if process.opened or attempt == 2:
                                raise self._lost(argv[0], error) from None
                            connection.abort()
                        finally:
                            opened = process.opened
                            process.end()
        except TimeoutError:
            if opened:
                raise base.timed_out(self.name, argv[0], timeout) from None
            raise self._unreachable(
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
        content: bytes,
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

    async def put(self, content: bytes, path: str, mode: int = 0o644) -> None:
        await putting.put(self, content, path, mode)

    async def close(self) -> None:
        await self._pool.close()

    async def _connect(self) -> asyncssh.SSHClientConnection:
        """Open one connection, or say in one line why there is none."""
        try:
            connected = await dialing.dial(self.host, self.port, _DIAL)
        except OSError as error:
            raise self._unreachable(error) from None
        try:
            async with asyncio.timeout(self._connect_timeout):
                return await asyncssh.connect(
                    self.host, self.port, sock=connected, **self._options
                )
        except asyncssh.HostKeyNotVerifiable:
            raise self._mismatch() from None
        except asyncssh.PermissionDenied:
            raise base.Denied(
                f"{self.name}: {self.address} refuses the key offered; "
                "check the user name and its authorized_keys"
            ) from None
        except asyncssh.KeyExchangeFailed as error:
            if "host key" in str(error):
                raise self._mismatch() from None
            raise self._unreachable(error) from None
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise base.MachineError(
                f"{self.name}: client key: {error}; give an unencrypted "
                "private key in OpenSSH's format"
            ) from None
        except _BROKEN as error:
            raise self._unreachable(error) from None

    def _mismatch(self) -> base.HostKeyMismatch:
        return base.HostKeyMismatch(
            f"{self.name}: {self.address} shows a host key that is not the "
            "one known; if the machine was reinstalled, replace its key in "
            "known_hosts or in the configuration"
        )

    def _unreachable(
        self, error: BaseException, silent: float = 0
    ) -> base.Unreachable:
        reason = base.plain(str(error)) or type(error).__name__
        return base.Unreachable(
            f"{self.name}: no SSH at {self.address}: {reason}; check that it "
            "runs and that security groups and routes let port "
            f"{self.port} through",
            silent=silent,
        )

    def _lost(self, command: str, why: object) -> base.Unreachable:
        quiet = (_MISSED + 1) * self._keepalive
        return base.Unreachable(
            f"{self.name}: connection to {self.address} lost during command "
            f"{command}: {base.plain(str(why))}; whether it ended is unknown",
            silent=quiet if "keepalive" in str(why) else 0,
        )
