# SPDX-License-Identifier: Apache-2.0
"""Tests of the page on faults: each row has a test, each test a row."""

import ast
import pathlib
import unittest

from tests.functional import fault_table

TOP = pathlib.Path(__file__).parent.parent.parent.parent

HINT = (
    "each of these tests has one row in a table of "
    "doc/source/contributor/faults: add the row, or correct its test"
)
#: Modules whose every test is of a fault.
MODULES = (
    "tests.functional.test_faults",
    "tests.functional.test_trouble",
    "tests.long.test_faults",
    "tests.unit.plugins.contexts.test_guests_faults",
    "tests.unit.guests.test_session",
)


def tests_in(module: str) -> set[str]:
    """Return the full names of the tests in a module."""
    path = TOP.joinpath(*module.split(".")).with_suffix(".py")
    return {
        f"{module}.{group.name}.{function.name}"
        for group in ast.parse(path.read_text()).body
        if isinstance(group, ast.ClassDef)
        for function in group.body
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and function.name.startswith("test_")
    }


class TestFaults(unittest.TestCase):
    """The page and the tests agree."""

    def test_every_row_has_its_test(self):
        """It is where the row says."""
        rows = fault_table.tests()
        self.assertGreater(len(rows), 30)
        for name in rows:
            module = name.rsplit(".", 2)[0]
            self.assertIn(name, tests_in(module), HINT)

    def test_every_test_of_a_fault_has_a_row(self):
        """A fault that is tested is in the table."""
        listed = set(fault_table.tests())
        for module in MODULES:
            self.assertEqual(set(), tests_in(module) - listed, HINT)

    def test_every_call_is_told_of_once(self):
        """The list is one of distinct calls."""
        calls = [row.call for row in fault_table.calls()]
        self.assertGreater(len(calls), 20)
        self.assertEqual(sorted(set(calls)), sorted(calls))
