# SPDX-License-Identifier: Apache-2.0
"""A process that does not end by itself, and whose end is noticed."""

import asyncio
import shlex

import psutil

from tests import patience


def script(mark):
    """Return a shell script that writes its process ID, and sleeps.

    :param mark: The path of its file, which is complete once it exists.
    """
    path = shlex.quote(str(mark))
    sleep = f"echo $$ >{path}.new; mv {path}.new {path}; exec sleep 600"
    return f"sh -c {shlex.quote(sleep)}"


async def wait_for_start(mark):
    """Wait until the process runs.

    :param mark: The path of its file.
    """
    while not mark.exists():
        await asyncio.sleep(0.01)


async def wait_for_end(mark):
    """Wait until the process has ended.

    :param mark: The path of its file.
    :raises TimeoutError: If nothing ends it.
    """
    process = int(mark.read_text())
    async with asyncio.timeout(patience.seconds(5)):
        while is_alive(process):
            await asyncio.sleep(0.01)


def is_alive(process):
    """Return whether a process has not ended.

    :param process: Its process ID.
    """
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
