# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import unittest

import ddt

#: Asks for so many machines, and prints what came of it.
_PROGRAM = """
import resource
import sys

from rally_vmperf.machines import base
from rally_vmperf.execution.stations import open_files

soft, hard, machines = (int(word) for word in sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
try:
    open_files.allow_files(machines)
except base.MachineError as error:
    print(error)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@ddt.ddt
class FilesTestCase(unittest.TestCase):
    """Limits are those of a process, so each case has one of its own."""

    def allow(self, *numbers):
        command = [sys.executable, "-c", _PROGRAM, *map(str, numbers)]
        return subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout

    @ddt.data(
        ((256, 1024, 10), "256\n"),
        ((256, 4096, 500), "1200\n"),
        ((2000, 4096, 500), "2000\n"),
    )
    @ddt.unpack
    def test_as_many_as_are_needed(self, numbers, printed):
        self.assertEqual(printed, self.allow(*numbers))

    def test_more_than_there_may_be(self):
        message, limit = self.allow(256, 1024, 500).splitlines()
        self.assertIn("500 machines require 1200 open files", message)
        self.assertIn("limit of this process is 1024, enough for 412", message)
        self.assertIn("ulimit -Hn 1200", message)
        self.assertEqual("256", limit)
