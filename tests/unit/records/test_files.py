"""Tests of raw outputs: on disk as they come, or not at all."""

import gzip
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

from rally_vmperf.records import raw_outputs
from tests.unit.records import full_disk
from tests.unit.records import raw

#: What no program prints alike twice, so that nothing makes it small.
HEX = [{"machine": f"g{n}", "stdout": os.urandom(900).hex()} for n in range(9)]


class TestRawOutputs(unittest.TestCase):
    """A file has all that was added, whatever comes after."""

    def setUp(self):
        """Name a file in a folder that is not there yet."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.path = pathlib.Path(folder, "new", "w-1.json.gz")
        self.failed = []

    def open(self):
        """Return the file, open."""
        return raw_outputs.RawOutputs(self.path, self.failed.append)

    def test_closed_it_is_one_document(self):
        """With every output, in the order in which they came."""
        added = [
            {"machine": "g1", "stdout": "line\nline\x1b\n"},
            {"guests": 2, "machine": "g2", "stdout": "\udce4\u2028é"},
        ]
        file = self.open()
        for one in added:
            file.add(one)
        self.assertEqual("w-1.json.gz", file.close())
        with gzip.open(self.path, "rt") as stream:
            self.assertEqual({"outputs": added}, json.load(stream))
        self.assertEqual([], self.failed)

    def test_nothing_was_printed(self):
        """It is a document all the same."""
        self.open().close()
        self.assertEqual([], raw.outputs(self.path))

    def test_it_is_small(self):
        """What many machines print alike is told once."""
        file = self.open()
        for _ in range(100):
            file.add(HEX[0])
        file.close()
        self.assertLess(self.path.stat().st_size, 10000)

    def test_each_is_there_as_soon_as_it_was_added(self):
        """Nothing waits for the next one, or for the end."""
        file = self.open()
        self.assertEqual([], raw.so_far(self.path))
        for number, one in enumerate(HEX, 1):
            file.add(one)
            self.assertEqual(HEX[:number], raw.so_far(self.path))
        file.close()
        self.assertEqual(HEX, raw.outputs(self.path))

    def test_killed_in_the_middle(self):
        """What was added until then can be read."""
        script = (
            "import os, pathlib, signal, sys\n"
            "from rally_vmperf.records import raw_outputs\n"
            "path = pathlib.Path(sys.argv[1])\n"
            "file = raw_outputs.RawOutputs(path, print)\n"
            "file.add({'stdout': 'one'})\n"
            "file.add({'stdout': 'two'})\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(self.path)], check=False
        )
        self.assertEqual(-signal.SIGKILL, done.returncode)
        self.assertEqual(
            [{"stdout": "one"}, {"stdout": "two"}], raw.so_far(self.path)
        )

    def test_full_disk_is_told_once(self):
        """Half a file is left neither then nor when there is room again."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        full_disk.limit(self, 4000)
        file = self.open()
        for one in HEX:
            file.add(one)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        file.add(HEX[0])
        self.assertEqual("", file.close())
        self.assertEqual([], os.listdir(self.path.parent))
        (said,) = self.failed
        self.assertRegex(said, "^raw outputs .*w-1.json.gz: .*journal_dir")
        self.assertNotIn("\n", said)

    def test_full_disk_at_the_end(self):
        """A document without its end is not called one."""
        file = self.open()
        file.add(HEX[0])
        full_disk.limit(self, self.path.stat().st_size)
        self.assertEqual("", file.close())
        self.assertEqual([], os.listdir(self.path.parent))
        self.assertEqual(1, len(self.failed))

    def test_a_folder_that_cannot_be_made(self):
        """It is told once, and the rest goes on."""
        self.path.parent.write_text("a file")
        file = self.open()
        file.add(HEX[0])
        self.assertEqual("", file.close())
        self.assertEqual(1, len(self.failed))
        self.assertEqual("a file", self.path.parent.read_text())
