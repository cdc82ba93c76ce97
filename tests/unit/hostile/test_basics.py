# SPDX-License-Identifier: Apache-2.0
"""A guest whose shell itself is hostile is refused in one line, by name."""

import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.machines import job
from rally_vmperf.machines import workfolder
from rally_vmperf.records import model
from tests.unit.hostile import guest
from tests.unit.hostile import run
from tests.unit.hostile import test_words
from tests.unit.hostile import tools

#: What our scripts for machines stand on.
PROGRAMS = (
    "sh",
    "bash",
    "env",
    "timeout",
    "cat",
    "head",
    "mkdir",
    "mkfifo",
    "mktemp",
    "setsid",
    "rm",
    "sed",
    "sha256sum",
    "stat",
    "python3",
    "dirname",
)
#: What only makes us wait for a time-out when it floods.
_SLOW = ("cat", "dirname")


@ddt.ddt
class BasicsTestCase(unittest.TestCase):
    @ddt.data(*PROGRAMS)
    def test_it_babbles(self, name):
        self.check(name, tools.BABBLE)

    @ddt.data(*(name for name in PROGRAMS if name not in _SLOW))
    def test_it_floods(self, name):
        self.check(name, tools.FLOOD)

    def check(self, name, program):
        """Fail unless it is refused, or recorded, as any other guest."""
        with (
            mock.patch.object(job, "HOLD", 1),
            mock.patch.object(job, "REQUEST", 1),
            mock.patch.object(job, "PATIENCE", 1),
            mock.patch.object(workfolder, "_MAKING", 3),
            tempfile.TemporaryDirectory() as folder,
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
            guest.Guest(home, {name: program}) as hostile,
        ):
            try:
                records, raw_outputs = run.run(hostile, folder)
            except run.EXPECTED as error:
                message = str(error)
                self.assertIn("g1", message)
                self.assertEqual([], test_words.obeyed(message))
                self.assertNotIn("\n", message)
                self.assertLess(len(message), 700)
                return
            for record in records:
                model.FORMAT.decode(model.FORMAT.encode(record))
            self.assertLess(raw_outputs.path.stat().st_size, 3 << 20)
