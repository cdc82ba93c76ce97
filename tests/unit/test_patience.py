# SPDX-License-Identifier: Apache-2.0
"""Tests of how long tests wait."""

import ast
import pathlib
import unittest

import ddt

from tests import patience


@ddt.ddt
class TestFactor(unittest.TestCase):
    @ddt.data(
        ("the usual machine", 0.03, 1, 2, 1),
        ("a faster one", 0.01, 0, 16, 1),
        ("half as fast", 0.06, 1, 2, 2),
        ("four for each core", 0.03, 8, 2, 4),
        ("both at once are one cause", 0.12, 8, 2, 4),
        ("a single core", 0.03, 1, 1, 2),
        ("a single core, half as fast", 0.06, 1, 1, 4),
        ("nearly dead", 30, 100, 1, patience.MOST),
    )
    @ddt.unpack
    def test_factor(self, machine, work_seconds, load, cores, expected):
        factor = patience.factor(work_seconds, load, cores)
        self.assertAlmostEqual(expected, factor, msg=machine)

    def test_no_wait_is_shorter_than_usual(self):
        """This machine, whatever it does now, has at least that long."""
        self.assertGreaterEqual(patience.seconds(300), 300)


class TestAssertions(unittest.TestCase):
    """Tests assert order and causes: a busy machine is slow at any time."""

    def test_no_assertion_reads_a_stopwatch(self):
        """A wait may end with a deadline; what it took is not compared."""
        assertions = [
            f"{path.name}:{assertion.lineno}"
            for path in pathlib.Path(patience.__file__).parent.rglob("*.py")
            for assertion in ast.walk(ast.parse(path.read_text()))
            if isinstance(assertion, ast.Call)
            and ast.unparse(assertion.func).startswith("self.assert")
            for word in ast.walk(assertion)
            if isinstance(word, ast.Attribute)
            and word.attr in ("monotonic", "perf_counter")
        ]
        self.assertEqual([], assertions)
