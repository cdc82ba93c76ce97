# SPDX-License-Identifier: Apache-2.0
"""The page on comparisons shows what the command prints."""

import io
import pathlib
import shlex
import tempfile
import unittest
from unittest import mock

from rally_vmperf.cmd import compare
from tests.unit.doc import pages
from tests.unit.questions import golden_runs

PAGE = "doc/source/compare.rst"


def output(line, folder):
    """Return the table and the last message that a command line prints."""
    for name in ("small", "tiny"):
        line = line.replace(
            f"={name}.jsonl", f"={golden_runs.journal(f'two-flavors-{name}')}"
        )
    arguments = shlex.split(line.replace("page.html", f"{folder}/page.html"))
    config = pathlib.Path(folder, "rally.conf")
    config.write_text(f"[vmperf]\nbaseline_dir = {folder}\n")
    app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
    command = compare.Compare(app, None)
    parser = command.get_parser("compare")
    command.run(
        parser.parse_args([*arguments[1:], "--config-file", str(config)])
    )
    *_, message = app.stderr.getvalue().splitlines()
    return app.stdout.getvalue().strip(), message


class CompareTestCase(unittest.TestCase):
    """The example is executed."""

    def test_table(self):
        """The table is that of the command line above it."""
        (line,) = (
            line
            for _, line in pages.command_lines("rally-vmperf")
            if "--allow shape --html" in line
        )
        (shown,) = (
            block.text for block in pages.blocks("text") if block.page == PAGE
        )
        with tempfile.TemporaryDirectory() as folder:
            table, message = output(line, folder)
            self.assertEqual(table, shown)
            self.assertTrue(pathlib.Path(folder, "page.html").exists())
        page = (pages.ROOT / PAGE).read_text()
        self.assertIn(f"\n    {message}\n", page)
