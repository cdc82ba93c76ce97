# SPDX-License-Identifier: Apache-2.0
"""Tests of what all charts have in common."""

import unittest
from xml.etree import ElementTree

import ddt

from rally_vmperf import sanitize
from rally_vmperf.report.charts import style
from tests.unit.hostile import attacks
from tests.unit.hostile import terminal


@ddt.ddt
class ElementTestCase(unittest.TestCase):
    @ddt.named_data(*attacks.WORDS.items())
    def test_foreign_text(self, text):
        """No caller has to sanitize a text or an attribute."""
        element = style.create_element("text", text, aria_label=text)
        self.assertEqual([], terminal.obeyed(element.replace("\t", "")))
        root = ElementTree.fromstring(element)
        self.assertEqual(0, len(root))
        self.assertEqual(sanitize.printable(text), root.text)
        # A parser of XML reads a space for these in an attribute.
        spaces = str.maketrans("\n\t", "  ")
        self.assertEqual(
            sanitize.printable(text).translate(spaces),
            root.get("aria-label"),
        )

    def test_names_of_attributes(self):
        """Classes are those of the style; empty attributes are omitted."""
        self.assertEqual(
            '<path class="guest thin" d="M1 2"/>'.replace("/>", "></path>"),
            style.create_element("path", style="guest thin", d="M1 2", id=""),
        )


class SelectTestCase(unittest.TestCase):
    def test_of_many_items_some_are_selected(self):
        """The first and the last one are among them."""
        selected = style.select_evenly([*range(1, 41)], 8)
        self.assertEqual(
            (1, 40, 8), (selected[0], selected[-1], len(selected))
        )

    def test_few_items_are_all_selected(self):
        self.assertEqual([1, 2, 4], style.select_evenly((1, 2, 4), 8))
