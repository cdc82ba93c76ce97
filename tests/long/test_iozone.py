# SPDX-License-Identifier: Apache-2.0
"""Output of the installed iozone, which Debian has in non-free only."""

import shutil
import subprocess
import tempfile
import unittest

from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import iozone
from tests.long import long
from tests.unit.workloads import golden


@long.LONG
class TestFiles(unittest.TestCase):
    """A real run of all tests of files."""

    def test_all_tests(self):
        """The output has each metric of the workload."""
        if not shutil.which("iozone"):
            self.skipTest("this machine has no iozone")
        workload = iozone.Iozone()
        arguments = workload.complete(
            {"size_mib": 1, "random": True, "direct": False}
        )
        (command,) = workload.commands(arguments, base.Endpoints())
        with tempfile.TemporaryDirectory() as directory:
            result = subprocess.run(
                command.argv,
                cwd=directory,
                capture_output=True,
                text=True,
                check=True,
            )
        outcome = golden.outcome("iozone", result.stdout)
        samples = workload.parse_all(arguments, {"iozone": outcome})
        self.assertEqual(
            list(workload.metrics(arguments)),
            [sample.metric for sample in samples],
        )
