# SPDX-License-Identifier: Apache-2.0
"""Tests of the report of lengths."""

import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

from tests import lengths
from tests.bench import architecture


class TestLengths(unittest.TestCase):
    """A line names each long or numerous object, and no other one."""

    def setUp(self):
        """Create a package of some modules."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.top = pathlib.Path(folder, "rally_vmperf")
        self.top.mkdir()
        for module in (lengths, architecture):
            self.enterContext(mock.patch.object(module, "TOP", self.top))
        cloud = self.top.parent / "cloud"
        self.enterContext(mock.patch.object(architecture, "CLOUD", cloud))

    def write(self, name, text):
        """Write a module."""
        (self.top / name).write_text(text)

    def test_functions(self):
        """One line more than a screen is long."""
        body = "    pass\n" * (lengths.FUNCTION_LINES - 1)
        self.write("a.py", f"def short():\n{body}")
        self.write("b.py", f"async def long():\n{body}    pass\n")
        self.assertEqual(
            ["rally_vmperf/b.py: long has 61 lines"],
            lengths.list_long_functions(),
        )

    def test_small_modules(self):
        """A module that two others import, or a long one, is not listed."""
        self.write("a.py", "from rally_vmperf import b, c, e\n")
        self.write("d.py", "from rally_vmperf import c\n")
        self.write("e.py", "x = 1\n" * architecture.SMALL)
        self.write("b.py", "x = 1\n")
        self.write("c.py", "x = 1\n")
        self.assertEqual(
            [
                "rally_vmperf.b: 1 lines of logic, imported by rally_vmperf.a "
                "only"
            ],
            lengths.list_small_modules(),
        )

    def test_numbers(self):
        """Plain documents by line, the axis by module."""
        self.write("a.py", "x: Json\ny: dict[str, t.Any]\nz: dict[str, int]\n")
        self.write("b.py", "neighbours = Neighbours = 1\n")
        self.assertEqual(
            [
                "lines with a plain document: 2",
                "modules that name the axis of neighbours: 1",
            ],
            lengths.list_numbers(),
        )

    def test_modules_and_folders(self):
        """A module with an underscore does not count for its folder."""
        self.write("a.py", "\n" * (lengths.MODULE_LINES + 1))
        self.write("_b.py", "")
        for number in range(lengths.FOLDER_MODULES):
            self.write(f"c{number}.py", "")
        self.assertEqual(
            ["rally_vmperf/a.py: 701 lines"], lengths.list_long_modules()
        )
        self.assertEqual(
            ["rally_vmperf: 16 modules"], lengths.list_large_folders()
        )

    def test_main(self):
        """All lines are printed."""
        with contextlib.redirect_stdout(io.StringIO()) as output:
            lengths.main()
        self.assertRegex(output.getvalue(), r"all pages by hand: \d+ lines")
        self.assertIn("with a plain document: 0\n", output.getvalue())
