# SPDX-License-Identifier: Apache-2.0
"""Tests of serve.bash, which runs servers of workloads on the peer."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from rally_vmperf.machines import scripts
from tests import skips


@skips.requires(root=True)
class TestServe(unittest.TestCase):
    def test_temporary_files(self):
        """They are in the server's directory, which only it can enter."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        directory = pathlib.Path(folder, "server")
        private = pathlib.Path(folder, "private")
        private.mkdir(mode=0o700)
        directory.mkdir()
        for name in ("TMPDIR", "TMP", "TEMP"):
            process = subprocess.run(
                scripts.argv(
                    "serve.bash",
                    *("61234", str(directory / name), "0"),
                    *("sh", "-c", 'umask; > "${' + name + '}/x" && ls'),
                ),
                env={**os.environ, name: str(private)},
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual("", process.stderr)
            self.assertEqual("0077\nx\n", process.stdout)
