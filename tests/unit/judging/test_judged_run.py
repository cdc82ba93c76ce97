# SPDX-License-Identifier: Apache-2.0
"""A verdict needs no page."""

import pathlib
import subprocess
import sys
import unittest

DATA = pathlib.Path(__file__).parents[1] / "data" / "runs"
CODE = """
import sys
from rally_vmperf.cmd import main
main.main(["judge", *sys.argv[1:]])
print(sorted({"jinja2"} & set(sys.modules)), file=sys.stderr)
"""


class TestJudgedRun(unittest.TestCase):
    """The table of verdicts is made without the library of the page."""

    def test_without_the_library_of_a_page(self):
        (path,) = (DATA / "overhead-passed").glob("*.jsonl")
        done = subprocess.run(
            [
                *(sys.executable, "-c", CODE, str(path)),
                *("--limits", str(path.parent / "limits.yaml")),
            ],
            capture_output=True,
            text=True,
        )
        self.assertIn("passed", done.stdout, done.stderr)
        self.assertEqual("[]", done.stderr.splitlines()[-1])
