# SPDX-License-Identifier: Apache-2.0
"""Another user of bare metal wins nothing, in a folder that all share."""

import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from rally_vmperf.machines import local
from rally_vmperf.machines import workfolder
from tests import skips
from tests.unit.machines import intruder
from tests.unit.machines import jobs

TRIES = 200


@skips.requires(root=True)
class IntruderTestCase(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        super().setUp()
        self.machine = local.Local("metal")
        # The folder for temporary files may be closed to others.
        self.parent = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.parent)
        self.parent.chmod(0o1777)

    @contextlib.contextmanager
    def attacked(self, rounds=0):
        """Let the other user try, as long as the context lasts at least.

        The yielded list has the results afterwards.
        """
        process = subprocess.Popen(
            [sys.executable, intruder.__file__, str(self.parent), str(rounds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            self.assertEqual("begun\n", process.stdout.readline())
            counts = {}
            yield counts
            counts.update(
                json.loads(process.communicate("\n", timeout=120)[0])
            )
        finally:
            process.kill()
            process.communicate()

    def name(self, *paths):
        """Have a process with paths on its command line, for a while."""
        waiting = "import time; time.sleep(300)"
        process = subprocess.Popen([sys.executable, "-c", waiting, *paths])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    async def test_folders_while_they_are_made(self):
        with self.attacked() as counts:
            made = []
            while len(made) < TRIES:
                made += await asyncio.gather(
                    *(
                        workfolder.create(self.machine, str(self.parent))
                        for _ in range(8)
                    )
                )
        made = [created.path for created in made]
        for folder in made:
            status = os.stat(folder)
            self.assertEqual((0, 0o40700), (status.st_uid, status.st_mode))
            self.assertEqual(1, len(os.listdir(folder)))
        # He may make what he likes, and it remains his.
        self.assertLessEqual(set(counts["won"]), {"make", "rename"})
        self.assertGreater(counts["tried"]["rename"], 0)
        for folder in self.parent.iterdir():
            if str(folder) not in made:
                self.assertEqual(intruder.UID, folder.stat().st_uid)

    async def test_a_job_that_waits_and_runs(self):
        """The other user cannot change gate, FIFOs, outputs and program."""
        created = await workfolder.create(self.machine, str(self.parent))
        made = created.path
        work = f"{made}/echo"
        await self.machine.put(b"echo 5", f"{work}/script", 0o755)
        handle = await jobs.arm(
            self.machine,
            work,
            "rate",
            ["sh", "-c", "sh script; sleep 1; sh script"],
            timeout=300,
            finished=[],
        )
        self.name(handle.path, work)
        with self.attacked(TRIES) as while_it_waits:
            pass
        with self.attacked() as while_it_runs:
            result = await handle.release(time.time())
        for counts in (while_it_waits, while_it_runs):
            self.assertEqual({}, counts["won"])
            self.assertGreater(counts["tried"]["open"], 0)
        self.assertGreaterEqual(while_it_waits["tried"]["open"], TRIES)
        self.assertEqual((0, "5\n5\n"), (result.exit_status, result.stdout))

    async def test_he_is_able(self):
        """The attacks succeed on predictable and on writable paths."""
        coming = self.parent / "rally-vmperf-1" / "echo"
        there = self.parent / "rally-vmperf-2" / "echo"
        for folder in (there.parent, there):
            folder.mkdir()
            folder.chmod(0o777)
        os.mkfifo(there / "gate")
        (there / "gate").chmod(0o666)
        self.name(str(coming), str(there))
        with self.attacked(3) as counts:
            while not coming.exists() and not (self.parent / "taken").exists():
                await asyncio.sleep(0.01)
        self.assertEqual(
            {"list", "make", "open", "program", "rename"}, set(counts["won"])
        )
        self.assertEqual(
            intruder.UID, self.parent.joinpath("taken").stat().st_uid
        )
