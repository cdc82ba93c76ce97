# SPDX-License-Identifier: Apache-2.0
"""Folders for jobs, made as a session that opens has them made."""

import asyncio
import concurrent.futures
import contextlib
import pathlib
import subprocess
import sys
import tempfile
import time

from rally_vmperf.machines import local
from rally_vmperf.machines import workfolder

#: A directory for files whose paths are parts of scripts or of lines of
#: options: TMPDIR may have spaces.
PLAIN = "/var/tmp"


def made(case):
    """Return a directory on this computer, which the test deletes."""
    parent = case.enterContext(tempfile.TemporaryDirectory())
    making = workfolder.create(local.Local("here"), parent)
    return pathlib.Path(run_apart(making).path)


def run_apart(coroutine):
    """Run a coroutine in a loop that is not in the way of the test's."""
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, coroutine).result()


def below(case):
    """Return an empty directory, such as a workload has."""
    folder = made(case) / "work"
    folder.mkdir()
    return folder


#: A run that starts a job in a work directory, and says which.
RUN = """
import asyncio
import sys

from rally_vmperf.machines import job
from rally_vmperf.machines import local
from rally_vmperf.machines import workfolder


async def run():
    machine = local.Local("here")
    folder = (await workfolder.create(machine, sys.argv[1])).path
    await machine.put(b"x" * 3000000, f"{folder}/fio/data")
    started = job.Job(
        machine=machine,
        folder=f"{folder}/fio",
        name="fio",
        argv=["sleep", "600"],
        timeout=600,
    )
    await started.start()
    print(folder, flush=True)
    await asyncio.sleep(600)


asyncio.run(run())
"""


def has_program(folder, name):
    """Return whether a process of that name is in the folder."""
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_inside = (path / "cwd").readlink().is_relative_to(folder)
            if is_inside and (path / "comm").read_text() == f"{name}\n":
                return True
    return False


def start_run(case, parent):
    """Return the process and the folder of a run; both go with the test."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(parent)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=pathlib.Path(__file__).parents[3],
    )
    folder = process.stdout.readline().strip()
    while process.poll() is None and not has_program(folder, "sleep"):
        time.sleep(0.05)

    def end():
        process.kill()
        process.communicate()
        if pathlib.Path(folder).exists():
            run_apart(workfolder.end(local.Local("here"), folder))

    case.addCleanup(end)
    return process, folder


def leave_run(case, parent):
    """Return the folder of a run that was killed while its job runs."""
    process, folder = start_run(case, parent)
    process.kill()
    process.wait()
    return folder
