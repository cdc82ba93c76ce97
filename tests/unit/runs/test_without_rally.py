# SPDX-License-Identifier: Apache-2.0
"""The engine needs no Rally, from recording bare metal to the report."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).parent.parent.parent.parent


class TestWithoutRally(unittest.TestCase):
    """Whole runs in a process in which importing Rally raises."""

    def run_in(self, folder, *arguments):
        """Run a program in a process of its own."""
        return subprocess.run(
            [sys.executable, *arguments, folder],
            cwd=TOP,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_whole_runs(self):
        """They are recorded, judged and shown."""
        with tempfile.TemporaryDirectory() as folder:
            process = self.run_in(
                folder, "-m", "tests.unit.runs.without_rally"
            )
            self.assertEqual("", process.stderr)
            report = json.loads(process.stdout)
            page = pathlib.Path(folder, "report.html").read_text()
        self.assertEqual([], report["rally"])
        passed, failed, density = report["headlines"]
        self.assertIn("passed", passed)
        self.assertIn("failed", failed)
        self.assertIn("passed", density)
        self.assertIn("cpu.<wbr>sysbench.<wbr>rate", page)

    def test_rally_would_be_noticed(self):
        """The finder is what keeps it out."""
        program = (
            "import sys; from tests.unit.runs import without_rally; "
            "sys.meta_path.insert(0, without_rally.NoRally()); "
            "import rally_vmperf.plugins.scenarios"
        )
        process = self.run_in("unused", "-c", program)
        self.assertIn("is imported", process.stderr)
        self.assertEqual(1, process.returncode)
