"""Folders for jobs, made as a session that opens has them made."""

import asyncio
import concurrent.futures
import pathlib
import tempfile

from rally_vmperf.machines import local
from rally_vmperf.machines import workfolder


def made(case):
    """Return a folder of ours on this computer; it goes with the test."""
    parent = case.enterContext(tempfile.TemporaryDirectory())
    making = workfolder.create(local.Local("here"), parent)
    # Where the test has an event loop, this one is not in its way.
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        return pathlib.Path(other.submit(asyncio.run, making).result())


def below(case):
    """Return an empty folder in one of ours, such as a workload has."""
    folder = made(case) / "work"
    folder.mkdir()
    return folder
