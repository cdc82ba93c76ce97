# SPDX-License-Identifier: Apache-2.0
"""Machines that run nothing: they answer as our scripts and sysbench would.

They keep to the instant, so that the controller has to get by with it.
"""

import asyncio
import contextlib
import pathlib
import shlex
import time

import asyncssh

from tests.unit.machines import sshd

_DATA = pathlib.Path(__file__).parents[2] / "unit" / "workloads" / "data"
#: What sysbench prints; a result of two seconds, as asked for.
OUTPUT = (_DATA / "sysbench-1.0.20-cpu.txt").read_text()
SECONDS = 2.0


class Sshd(sshd.Sshd):
    """An SSH server that knows our scripts, and nothing else."""

    async def _serve(self, channel):
        argv = shlex.split(channel.command)
        script, *arguments = argv[argv.index("-c") + 2 :]
        try:
            if script == "clock.bash":
                await _tell_time(channel)
            else:
                answer = ANSWERS[arguments[0]]
                channel.stdout.write((await answer(*arguments[1:])).encode())
            channel.exit(0)
        except (OSError, asyncio.CancelledError):
            channel.exit(1)


async def _tell_time(channel):
    # Its caller ends it by a signal, at which OpenSSH keeps the connection.
    with contextlib.suppress(asyncssh.SignalReceived):
        while await channel.stdin.readline():
            channel.stdout.write(f"{time.time():.6f}\n".encode())


async def _nothing(*_):
    return ""


async def _release(place, instant, seconds):
    await asyncio.sleep(float(instant) - time.time())
    started = time.time()
    await asyncio.sleep(SECONDS)
    ended = time.time()
    return (
        f"user=1.9 system=0.0\nexit=0 started={started:.6f} "
        f"ended={ended:.6f} before={started:.6f} after={ended:.6f} "
        f"up=1000.00 up_ended={1000 + ended - started:.2f}\n\n{OUTPUT}"
    )


async def _end_load(place):
    return f"kept_up_until={time.time():.6f}\n"


ANSWERS = {
    "start": _nothing,
    "release": _release,
    "end_load": _end_load,
    "cancel": _nothing,
    "discard": _nothing,
}
