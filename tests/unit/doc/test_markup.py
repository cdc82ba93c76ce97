# SPDX-License-Identifier: Apache-2.0
"""Tests of the markup of generated pages."""

import typing as t
import unittest

import ddt
import docutils.core

from doc.ext import markup

SCHEMA = {
    "type": "object",
    "required": ["levels"],
    "properties": {
        "levels": {
            "type": "array",
            "description": "Numbers of guests.",
            "items": {
                "type": "object",
                "properties": {
                    "from": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 8,
                        "description": "First number.",
                    }
                },
            },
        },
        "image": {
            "type": "object",
            "properties": {"name": {}, "id": {}},
            "description": "Image.",
        },
        "order": {"enum": ["listed", "shuffled"], "description": "Order."},
        "jump": {"type": ["object", "null"], "description": "Jump host."},
        "share": {
            "type": "number",
            "exclusiveMinimum": 0,
            "default": 90,
            "description": "Share in percent, above 0.",
        },
    },
}


class Plugin:
    """An object with a function that Rally calls."""

    def run(
        self,
        levels: list,
        order: t.Literal["listed", "shuffled"] | None = None,
        warmup: int = 1,
    ) -> None:
        """Run.

        :param levels: The numbers of guests:
            a list.
        :param order: The order of the levels.
        :param warmup: The number of repetitions.
        :returns: Nothing.
        """


@ddt.ddt
class MarkupTestCase(unittest.TestCase):
    def test_schema(self):
        lines = "\n".join(markup.describe_schema(SCHEMA, {"order": "listed"}))
        for text in (
            "``levels`` : list, required\n    Numbers of guests.\n\n"
            "    ``from`` : integer, 1 to 8\n        First number.\n",
            "``image`` : ``{name: ...}`` or ``{id: ...}``\n    Image.\n",
            "``order`` : ``listed`` or ``shuffled``, default ``listed``\n",
            "``jump`` : mapping\n    Jump host. See its :ref:`keys",
            "``share`` : number, > 0, default ``90``\n",
        ):
            self.assertIn(text, lines)

    def test_descriptions_that_have_the_ranges(self):
        lines = markup.describe_schema(SCHEMA, ranges=False)
        self.assertIn("``share`` : number, default ``90``", lines)
        self.assertIn("``order``", lines)

    @ddt.data(
        ([], "default: none"),
        (["a", "b"], "default: all"),
        (["a"], "default ``a``"),
    )
    @ddt.unpack
    def test_defaults_of_lists(self, default, text):
        rule = {
            "type": "array",
            "items": {"enum": ["a", "b"]},
            "default": default,
            "description": "Tests.",
        }
        term, *_ = markup.describe_schema({"properties": {"tests": rule}})
        self.assertEqual(f"``tests`` : list, {text}", term)

    def test_a_key_without_a_description(self):
        with self.assertRaisesRegex(ValueError, "count has no description"):
            markup.describe_schema({"properties": {"count": {}}})

    @ddt.data(
        ("see max_percent, a key", "see ``max_percent``, a key"),
        ("{from: 1, to: 8} or 3", "``{from: 1, to: 8}`` or 3"),
        ("{a: {b}}.", "``{a: {b}}``."),
        ("in ~/.ssh/config.", "in ``~/.ssh/config``."),
        ("disk.*=330e6; disk.*", "``disk.*=330e6``; ``disk.*``"),
        ("--html FILE", "``--html`` FILE"),
        ("1/n of 2*3", r"1/n of 2\*3"),
        ("atlas-gen_sherpa-ma", "``atlas-gen_sherpa-ma``"),
        ("a|b, `c`, d_ ", r"a\|b, \`c\`, d\_"),
    )
    @ddt.unpack
    def test_prose(self, text, expected):
        self.assertEqual(expected, markup.prose(text))
        docutils.core.publish_doctree(
            expected, settings_overrides={"halt_level": 2}
        )
