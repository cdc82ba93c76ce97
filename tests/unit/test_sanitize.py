"""Tests of texts of others, and of the errors that quote them."""

import ast
import builtins
import copy
import json
import pathlib
import unicodedata
import unittest

import hypothesis
from hypothesis import strategies

from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition

TOP = pathlib.Path(__file__).parent.parent.parent / "rally_vmperf"
#: A script, a template, and what terminals and readers obey.
WORST = "</script><img src=x onerror=f()>{{f()}}}}&lt;\x1b[2J\x07\u202e\u2028"


def obeyed(said):
    """Return what a page, a template or a terminal would obey."""
    signs = [sign for sign in ("<", "&", "{{", "}}") if sign in said]
    kinds = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
    return signs + [
        c for c in said if c not in "\n\t" and unicodedata.category(c) in kinds
    ]


class TestText(unittest.TestCase):
    """Nothing is left to obey."""

    def test_the_worst(self):
        """Every sign becomes what looks like it, and no more."""
        less, hidden = sanitize.LESS, sanitize.HIDDEN
        left = "\N{FULLWIDTH LEFT CURLY BRACKET}"
        right = "\N{FULLWIDTH RIGHT CURLY BRACKET}"
        self.assertEqual(
            f"{less}/script>{less}img src=x onerror=f()>{left}{{f()"
            f"{right * 3}}}{sanitize.AND}lt;{hidden}[2J{hidden * 3}",
            sanitize.text(WORST),
        )

    @hypothesis.given(
        strategies.text(
            strategies.one_of(strategies.characters(), strategies.just("{"))
        ),
        strategies.integers(10, 40),
    )
    def test_any_text(self, said, longest):
        """It is bounded, safe, and does not change any more."""
        safe = sanitize.text(said, longest)
        self.assertEqual([], obeyed(safe))
        self.assertLessEqual(len(safe), longest)
        self.assertEqual(safe, sanitize.text(str(safe), longest))
        self.assertIs(safe, sanitize.text(safe, longest))

    @hypothesis.given(strategies.text(), strategies.integers(0, 20))
    def test_line(self, said, longest):
        """It has no ends of lines either."""
        line = sanitize.line(said, longest)
        self.assertLessEqual(len(line), longest)
        self.assertNotIn("\n", line)
        self.assertTrue(sanitize.HIDDEN in line or line.isprintable())

    def test_what_is_no_text(self):
        """Templates show markup and numbers through the same filter."""
        self.assertEqual(3, sanitize.printable_or_same(3))
        self.assertEqual(
            f"a{sanitize.HIDDEN}", sanitize.printable_or_same("a\0")
        )


class TestQuotes(unittest.TestCase):
    """Where a text of ours quotes others, it is safe from the beginning."""

    def check(self, said):
        self.assertIs(sanitize.Sanitized, type(said))
        self.assertEqual([], obeyed(said))

    def test_errors(self):
        """Also those that take more than a message."""
        for kind in (errors.VMPerfError, base.Unreachable):
            error = kind(WORST)
            self.check(error.args[0])
            self.assertEqual([], obeyed(str(error)))

    def test_one_base(self):
        """No class derives from an exception of Python's own but the base."""
        found = {
            f"{path.relative_to(TOP)}: {node.name}"
            for path in TOP.rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ClassDef)
            if any(_is_exception(one) for one in node.bases)
        }
        self.assertEqual({"errors.py: VMPerfError"}, found)

    def test_findings(self):
        """Also once they have been written and read again."""
        found = finding.Finding(kind="steal_time", subject=WORST, detail=WORST)
        again = finding.Finding(
            kind="steal_time",
            **json.loads(json.dumps(copy.copy(_fields(found)))),
        )
        self.assertEqual(found, again)
        for one in (found, again):
            self.check(one.subject)
            self.check(one.detail)

    def test_missing(self):
        """The names and the reason may be a guest's."""
        gap = repetition.Missing(name=WORST, machine=WORST, reason=WORST)
        for said in (gap.name, gap.machine, gap.reason):
            self.check(said)


def _fields(found):
    return {"subject": found.subject, "detail": found.detail}


def _is_exception(base_class):
    """Tell whether a base class is an exception of Python's own."""
    name = base_class.id if isinstance(base_class, ast.Name) else ""
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)
