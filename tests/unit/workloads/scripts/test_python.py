# SPDX-License-Identifier: Apache-2.0
import ast
import pathlib
import unittest

import ddt

from rally_vmperf.workloads import scripts

PROGRAMS = sorted(pathlib.Path(scripts.__file__).parent.glob("*.py"))
#: Types that could not be subscripted before Python 3.9.
BUILTIN = {"dict", "frozenset", "list", "set", "tuple", "type"}
#: Arguments that came later, of subprocess and of zip.
LATER = {"capture_output", "strict", "text"}


def annotations(tree):
    """Yield what Python evaluates when it defines a function or a field."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.returns:
            yield node.returns
        elif isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
            yield node.annotation


def newer(source):
    """Return the lines of a program that Python 3.6 does not run."""
    # Syntax that it does not have is an error.
    tree = ast.parse(source, feature_version=(3, 6))
    line_numbers = [
        node.lineno
        for annotation in annotations(tree)
        for node in ast.walk(annotation)
        if isinstance(node, ast.BinOp)
        or (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in BUILTIN
        )
    ]
    return line_numbers + [
        node.value.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg in LATER
    ]


@ddt.ddt
class OldPythonTestCase(unittest.TestCase):
    """Guests and hosts may have any Python from 3.6 on."""

    @ddt.data(*(path.name for path in PROGRAMS))
    def test_program(self, name):
        (path,) = (program for program in PROGRAMS if program.name == name)
        self.assertEqual([], newer(path.read_text()))

    @ddt.data(
        "def f() -> dict[str, int]: ...",
        "def f(a: int | None): ...",
        "a: list[int] = []",
        "run([], text=True)",
    )
    def test_newer_code(self, line):
        self.assertEqual([1], newer(line))

    def test_syntax_that_is_newer(self):
        with self.assertRaises(SyntaxError):
            newer("if (a := 1): ...")
