# SPDX-License-Identifier: Apache-2.0
"""Every workload declares the size of the files that it writes."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import registry
from tests import skips
from tests.unit import listing

MIB = 1 << 20

#: Workload that writes files -> arguments, and MiB that are kept, temporary
#: and on the peer.
DECLARED = {
    "bzip2": ({"size_mib": 100}, (195, 100, 0)),
    "cp": ({"files": 51200, "file_kib": 17}, (1002, 1002, 0)),
    "dd": ({"directions": ["read", "write"], "count": 100}, (200, 0, 0)),
    "fio": (
        {"patterns": ["read", "first_write"], "size_mib": 100},
        (100, 100, 0),
    ),
    "iozone": ({"processes": 4, "size_mib": 100}, (0, 400, 0)),
    "unixbench": ({"copies": 4}, (16, 250, 0)),
    "wget": ({"size_mib": 100, "to_disk": True}, (0, 100, 100)),
}
#: Other arguments of the same workloads.
VARIANTS = (
    ("dd", {"count": 100}, (100, 0, 0)),
    ("fio", {"size_mib": 100}, (100, 0, 0)),
    ("fio", {"job_file": "/j", "sections": ["a.read"]}, (0, 0, 0)),
    ("unixbench", {"copies": 4, "tests": ["pipe"]}, (16, 0, 0)),
    ("wget", {"size_mib": 100}, (0, 0, 100)),
)

#: Small arguments of workloads that need no other machine.
SMALL = (
    ("bzip2", {"size_mib": 4}),
    ("cp", {"files": 250, "file_kib": 17}),
    ("cp", {"files": 1, "file_kib": 4096, "flush": False}),
    ("dd", {"directions": ["read", "write"], "count": 4}),
    (
        "fio",
        {
            "patterns": ["randread", "first_write"],
            "size_mib": 16,
            "runtime": 1,
            "ramp_time": 0,
            "jobs": 1,
        },
    ),
    ("iozone", {"processes": 2, "size_mib": 4}),
)


def declare(name, arguments):
    """Return the space that a workload declares."""
    workload = registry.get_workload(name)
    return workload.disk_space(workload.complete(arguments))


class DeclaredSpaceTestCase(unittest.TestCase):
    def check(self, name, arguments, expected):
        with self.subTest(name=name, arguments=arguments):
            space = declare(name, arguments)
            self.assertEqual(
                expected,
                tuple(
                    round(size / MIB)
                    for size in (space.kept, space.temporary, space.on_peer)
                ),
            )
            properties = registry.get_workload(name).ARGUMENTS["properties"]
            self.assertLessEqual(set(space.arguments), properties.keys())
            self.assertLessEqual(any(expected), bool(space.arguments))

    def test_declared_space(self):
        """The other workloads write no files."""
        listing.check(
            self,
            DECLARED,
            {
                *DECLARED,
                *(
                    name
                    for name in registry.workload_names()
                    if declare(name, {}) != base.DiskSpace()
                ),
            },
            "DECLARED in tests/unit/workloads/test_disk_space.py",
            "add it with arguments and the MiB that its commands write, and "
            "to SMALL if its tool is one of the tests",
        )
        for name, (arguments, expected) in DECLARED.items():
            self.check(name, arguments, expected)
        for name, arguments, expected in VARIANTS:
            self.check(name, arguments, expected)

    def test_arguments_determine_it(self):
        """A smaller argument needs less space."""
        for name, (arguments, expected) in DECLARED.items():
            space = declare(name, arguments)
            for key in space.arguments if any(expected) else ():
                smaller = {**arguments, key: 1}
                if key == "size_mib" and name == "fio":
                    smaller[key] = 16
                if key == "block_size":
                    smaller[key] = "4k"
                less = declare(name, smaller)
                with self.subTest(name=name, key=key):
                    self.assertLess(
                        less.kept + less.temporary + less.on_peer,
                        space.kept + space.temporary + space.on_peer,
                    )


class Usage(threading.Thread):
    """A thread that measures the largest size of a directory."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.most = 0
        self.ended = threading.Event()

    def read(self):
        """Return the bytes of all files but those of the package."""
        size = 0
        for folder, folders, names in os.walk(self.folder):
            for name in (*folders, *names):
                if name.endswith((".py", ".bash")):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    path = os.path.join(folder, name)
                    size += os.lstat(path).st_blocks * 512
        self.most = max(self.most, size)
        return size

    def run(self):
        while not self.ended.wait(0.002):
            self.read()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.ended.set()
        self.join()


@ddt.ddt
class MeasuredSpaceTestCase(unittest.TestCase):
    """The commands as they are, with small arguments."""

    @ddt.data(*SMALL)
    @ddt.unpack
    def test_declared_space_is_sufficient(self, name, arguments):
        workload = registry.get_workload(name)
        arguments = workload.complete(arguments)
        tools = workload.tools(arguments)
        skips.require(self, *(tool.command for tool in tools))
        space = workload.disk_space(arguments)
        # On the disk, as memory may not report blocks or support O_DIRECT.
        folder = tempfile.TemporaryDirectory(dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for file in workload.files(arguments):
            (self.folder / file.name).write_bytes(files.read(file))
        with Usage(self.folder) as usage:
            for command in workload.prepare(arguments):
                self.run_command(command, usage)
            self.assertLessEqual(usage.read(), space.kept)
            self.assertGreater(usage.read(), 0.95 * space.kept - 1)
            for _ in range(2):
                for command in workload.commands(arguments, base.Endpoints()):
                    self.run_command(command, usage)
                    self.assertLessEqual(usage.read(), space.kept)
        total = space.kept + space.temporary
        # A file system may need a block for the places of a file.
        self.assertLessEqual(usage.most, total + (64 << 10))
        self.assertGreater(usage.most, 0.8 * total)

    def run_command(self, command, usage):
        """Run a command, and remove its temporary files."""
        subprocess.run(
            command.argv, cwd=self.folder, check=True, capture_output=True
        )
        usage.read()
        for name in command.temporary_files:
            path = self.folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
