# SPDX-License-Identifier: Apache-2.0
"""Command lines in a process of their own, since Rally's settings are global.

    python -m tests.unit.cmd.command_lines < LINES

reads a list of command lines in JSON, and prints the exit code and the error
of each in the same form.
"""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import tests
from rally_vmperf.cmd import main


def run(arguments: list[str]) -> tuple[int, str]:
    """Return the exit code and the standard error of a command line."""
    stderr = io.StringIO()
    with (
        contextlib.redirect_stderr(stderr),
        contextlib.redirect_stdout(io.StringIO()),
        mock.patch("rally_vmperf.termination.as_interrupt", autospec=True),
    ):
        try:
            code = main.main(arguments)
        except SystemExit as end:
            code = end.code
    return code, stderr.getvalue()


class CommandLineTestCase(unittest.TestCase):
    """Command lines with a configuration and a directory of their own."""

    def setUp(self):
        """Write a configuration without baselines and journals."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder)
        self.conf = self.folder / "rally.conf"
        self.conf.write_text(
            f"[vmperf]\nbaseline_dir = {folder}/baselines\n"
            f"journal_dir = {folder}/journal\n"
            f"[database]\nconnection = sqlite:///{folder}/rally.sqlite\n"
        )

    def run_lines(self, lines, descriptors=()):
        """Return the exit code and the error of each command line.

        :param descriptors: The files that the process inherits.
        """
        options = ["--config-file", str(self.conf)]
        process = subprocess.run(
            [sys.executable, "-m", "tests.unit.cmd.command_lines"],
            input=json.dumps([[*line, *options] for line in lines]),
            env={
                **os.environ,
                "HOME": str(self.folder),
                "PYTHONPATH": str(pathlib.Path(tests.__file__).parents[1]),
            },
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            pass_fds=descriptors,
            timeout=300,
        )
        self.assertEqual(0, process.returncode, process.stderr)
        return json.loads(process.stdout)


if __name__ == "__main__":
    json.dump([*map(run, json.load(sys.stdin))], sys.stdout)
