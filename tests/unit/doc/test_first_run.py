# SPDX-License-Identifier: Apache-2.0
"""Tests of the outputs of the first commands on a cloud, on two pages."""

import unittest

import ddt

from tests.unit.doc import first_run
from tests.unit.doc import pages

_PAGES = ("README.rst", "doc/source/own-cloud.rst")


@ddt.ddt
class TestFirstRun(unittest.TestCase):
    """Pages show what the commands print, in the order of the commands."""

    @ddt.data(*_PAGES)
    def test_outputs(self, page):
        """Each block of output is that of a command, with parts omitted."""
        outputs = first_run.create()
        shown = [
            block.text.strip("\n").split("\n")
            for block in pages.blocks("text")
            if block.page == page
        ]
        names = [
            next(
                (
                    name
                    for name, lines in outputs.items()
                    if first_run.is_excerpt(block, lines)
                ),
                f"an output of no command: {block}",
            )
            for block in shown
        ]
        self.assertEqual(["init", "plan", "passed"], names)

    def test_verdicts(self):
        """The last line is the verdict of the task."""
        outputs = first_run.create()
        for status in ("passed", "inconclusive", "void"):
            self.assertEqual(f"verdict: {status}", outputs[status][-1])
        self.assertIn("  rally-vmperf plan", outputs["init"])

    @ddt.data(
        (["a", "b", "c"], True),
        (["a", "...", "c"], True),
        (["a", "..."], True),
        (["a", "b"], False),
        (["a", "...", "d"], False),
        (["c", "...", "a"], False),
        (["b", "c"], False),
    )
    @ddt.unpack
    def test_excerpts(self, shown, is_excerpt):
        self.assertIs(is_excerpt, first_run.is_excerpt(shown, ["a", "b", "c"]))
