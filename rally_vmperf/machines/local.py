# SPDX-License-Identifier: Apache-2.0
"""The local computer as a machine."""

import asyncio
import collections.abc
import contextlib
import os
import signal
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import streams

#: The timeout in seconds for the end of a killed process group.
_MOURNING = 5


class Local(base.Machine):
    """The local computer; each command runs in its own session."""

    shares_clock = True

    async def run(
        self,
        argv: collections.abc.Sequence[str],
        *,
        timeout: float = 60,
        input_bytes: streams.Content = b"",
        output_limit: int = 1 << 20,
    ) -> base.Completed:
        """Run a command locally; return its output and exit status."""
        try:
            process = await _start_process(argv, asyncio.subprocess.PIPE)
        except OSError as error:  # the exit status of a shell, as over SSH
            missing = isinstance(error, FileNotFoundError)
            return base.Completed(
                exit_status=127 if missing else 126,
                stdout="",
                stderr=f"{argv[0]}: {error.strerror}\n",
            )
        try:
            async with asyncio.timeout(timeout):
                stdout, stderr = await streams.exchange(
                    t.cast(streams.Writer, process.stdin),
                    t.cast(streams.Reader, process.stdout),
                    t.cast(streams.Reader, process.stderr),
                    input_bytes,
                    output_limit,
                )
                code = await process.wait()
        except TimeoutError:
            raise base.timeout_error(self.name, argv[0], timeout) from None
        except streams.Overflow:
            raise base.output_limit_error(
                self.name, argv[0], output_limit
            ) from None
        finally:
            await _end_process(process)
        return base.Completed(
            exit_status=streams.shell_status(code),
            stdout=stdout,
            stderr=stderr,
        )

    @contextlib.asynccontextmanager
    async def converse(
        self, argv: collections.abc.Sequence[str], *, timeout: float = 60
    ) -> collections.abc.AsyncIterator[streams.Conversation]:
        """Start a local program; yield a Conversation with it."""

        def lost(reason: object) -> base.MachineError:
            """Return the error for a program that ended too early."""
            return base.early_end_error(self.name, argv[0], reason)

        try:
            process = await _start_process(argv, asyncio.subprocess.DEVNULL)
        except OSError as error:
            raise lost(error.strerror) from None
        try:
            async with asyncio.timeout(timeout):
                yield streams.Conversation(
                    t.cast(streams.Writer, process.stdin),
                    t.cast(streams.Reader, process.stdout),
                    lost,
                )
        except TimeoutError:
            raise base.timeout_error(self.name, argv[0], timeout) from None
        finally:
            await _end_process(process)

    async def close(self) -> None:
        """Do nothing: there is no connection."""


async def _start_process(
    argv: collections.abc.Sequence[str], stderr: int
) -> asyncio.subprocess.Process:
    """Start a local process in a new session; return the process.

    A process that is cancelled while it starts is ended as any other.
    """
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "LC_ALL": "C"},
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(OSError):
            await _end_process(await starting)
        raise


async def _end_process(process: asyncio.subprocess.Process) -> None:
    """Kill the process group of a command if the command still runs."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(TimeoutError):
            # The event loop notices the end of the pipes by reading.
            await asyncio.wait_for(process.communicate(), _MOURNING)
