# SPDX-License-Identifier: Apache-2.0
"""Tests of texts of others, and of the errors that quote them."""

import ast
import builtins
import copy
import html.parser
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


class _Parser(html.parser.HTMLParser):
    """A parser that collects the tags, comments and declarations."""

    def __init__(self):
        super().__init__()
        self.markup = []

    def handle_starttag(self, tag, attrs):
        self.markup.append(tag)

    handle_endtag = handle_comment = handle_decl = handle_pi = unknown_decl = (
        lambda self, text: self.markup.append(text)
    )


def obeyed(text):
    """Return what a page, a template or a terminal would obey."""
    parser = _Parser()
    parser.feed(f"{text}b>")
    parser.close()
    signs = [sign for sign in ("&", "{{") if sign in text]
    signs += parser.markup
    kinds = {"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"}
    return signs + [
        c for c in text if c not in "\n\t" and unicodedata.category(c) in kinds
    ]


class TestText(unittest.TestCase):
    """Nothing is left to obey."""

    def test_the_worst(self):
        """Every sign becomes what looks like it, and no more."""
        less, hidden = sanitize.LESS, sanitize.HIDDEN
        self.assertEqual(
            f"{less}/script>{less}img src=x onerror=f()>{sanitize.BRACE}{{"
            f"f()}}}}}}}}{sanitize.AND}lt;{hidden}[2J{hidden * 3}",
            sanitize.text(WORST),
        )

    def test_comparisons(self):
        """A comparison is not the start of a tag."""
        for message in ("-1: must be >= 0 and < 1", "<= 3.5 s", "a<2", "<<="):
            with self.subTest(message):
                self.assertEqual(
                    message.replace("<<", f"{sanitize.LESS}<"),
                    sanitize.text(message),
                )

    def test_messages_of_the_package(self):
        """No part of a message that is raised is changed."""
        for path in TOP.rglob("*.py"):
            for message in _raised_texts(ast.parse(path.read_text())):
                with self.subTest(message=message, path=path.name):
                    self.assertEqual(
                        message, sanitize.text(f"{message}0")[:-1]
                    )

    @hypothesis.given(
        strategies.text(
            strategies.one_of(
                strategies.characters(), strategies.sampled_from("{<!/?= ")
            )
        ),
        strategies.integers(10, 40),
    )
    def test_any_text(self, text, longest):
        """It is bounded, safe, and does not change any more."""
        safe = sanitize.text(text, longest)
        self.assertEqual([], obeyed(safe))
        self.assertLessEqual(len(safe), longest)
        self.assertEqual(safe, sanitize.text(str(safe), longest))
        self.assertIs(safe, sanitize.text(safe, longest))

    @hypothesis.given(strategies.text(), strategies.integers(0, 20))
    def test_line(self, text, longest):
        """It has no ends of lines either."""
        line = sanitize.line(text, longest)
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
    """A text of the product that quotes others is safe from the beginning."""

    def check(self, text):
        self.assertIs(sanitize.Sanitized, type(text))
        self.assertEqual([], obeyed(text))

    def test_errors(self):
        """Also those that take more than a message."""
        for kind in (errors.VMPerfError, base.Unreachable):
            error = kind(WORST)
            self.check(error.args[0])
            self.assertEqual([], obeyed(str(error)))

    def test_one_base(self):
        """No class derives from an exception of Python's own but the base."""
        classes = {
            f"{path.relative_to(TOP)}: {node.name}"
            for path in TOP.rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ClassDef)
            if any(_is_exception(base) for base in node.bases)
        }
        self.assertEqual({"errors.py: VMPerfError"}, classes)

    def test_findings(self):
        """Also once they have been written and read again."""
        original = finding.Finding(
            kind="steal_time", subject=WORST, detail=WORST
        )
        again = finding.Finding(
            kind="steal_time",
            **json.loads(json.dumps(copy.copy(_fields(original)))),
        )
        self.assertEqual(original, again)
        for original_or_copy in (original, again):
            self.check(original_or_copy.subject)
            self.check(original_or_copy.detail)

    def test_missing(self):
        """The names and the reason may be a guest's."""
        gap = repetition.Missing(name=WORST, machine=WORST, reason=WORST)
        for text in (gap.name, gap.machine, gap.reason):
            self.check(text)


def _raised_texts(tree):
    """Return the texts in the statements of a module that raise errors."""
    return [
        node.value
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Raise)
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def _fields(original):
    return {"subject": original.subject, "detail": original.detail}


def _is_exception(base_class):
    """Return whether a base class is an exception of Python itself."""
    name = base_class.id if isinstance(base_class, ast.Name) else ""
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)
