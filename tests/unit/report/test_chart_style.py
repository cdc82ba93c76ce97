"""Tests of what all figures have in common."""

import unittest
from xml.etree import ElementTree

import ddt
from matplotlib import figure

from rally_vmperf import sanitize
from rally_vmperf.report import chart_style
from tests.unit.hostile import attacks
from tests.unit.hostile import terminal


@ddt.ddt
class SvgTestCase(unittest.TestCase):
    @ddt.named_data(*attacks.WORDS.items())
    def test_foreign_text_in_the_title(self, words):
        """No caller has to sanitize the title."""
        with chart_style.settings("name"):
            element = chart_style.to_svg(figure.Figure(), words)
        self.assertEqual([], terminal.obeyed(element.replace("\t", "")))
        label = ElementTree.fromstring(element).get("aria-label")
        # A parser of XML reads a space for these in an attribute.
        spaces = str.maketrans("\n\t", "  ")
        self.assertEqual(sanitize.printable(words).translate(spaces), label)


class SelectTestCase(unittest.TestCase):
    def test_of_many_items_some_are_selected(self):
        """The first and the last one are among them."""
        selected = chart_style.select_evenly([*range(1, 41)], 8)
        self.assertEqual(
            (1, 40, 8), (selected[0], selected[-1], len(selected))
        )

    def test_few_items_are_all_selected(self):
        self.assertEqual([1, 2, 4], chart_style.select_evenly((1, 2, 4), 8))
