# SPDX-License-Identifier: Apache-2.0
"""The pages build without a warning."""

import subprocess
import sys
import tempfile
import unittest

from tests.unit.doc import pages


class BuildTestCase(unittest.TestCase):
    def test_build(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.run(
                [
                    sys.executable,
                    *("-m", "sphinx", "-W", "--keep-going", "-q"),
                    *("-b", "html", "-d", f"{folder}/trees"),
                    str(pages.SOURCE),
                    f"{folder}/html",
                ],
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(0, process.returncode, process.stderr)
