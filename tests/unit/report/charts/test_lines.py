# SPDX-License-Identifier: Apache-2.0
"""Tests of the chart of lines over a number."""

import unittest
from xml.etree import ElementTree

from rally_vmperf.report.charts import lines


def draw(*shown, x=None, y=None, title="Title"):
    """Return the elements of a chart from 0 to 10 on both axes."""
    return ElementTree.fromstring(
        lines.draw(
            title,
            shown,
            x or lines.ChartAxis(low=0, high=10, title="guests"),
            y or lines.ChartAxis(low=0, high=10),
            label="The label",
            name="here",
            note="a unit",
        )
    )


def find(root, name):
    """Return the element with an identifier."""
    (element,) = (each for each in root.iter() if each.get("id") == name)
    return element


def read_labels(root, style):
    """Return the labels of an axis; "" is the horizontal one."""
    return [
        each.text
        for each in root.iter("text")
        if each.get("class", "") == style
    ]


class LineTestCase(unittest.TestCase):
    def test_a_line_goes_through_its_points(self):
        """From the lower left to the upper right corner."""
        line = lines.ChartLine(
            style="guest", points=[(0, 0), (10, 10)], name="x"
        )
        path = find(draw(line), "here-x")
        self.assertEqual("guest", path.get("class"))
        self.assertEqual("M44 166L314 6", path.get("d"))

    def test_what_lies_beyond_the_axis_ends_there(self):
        """An interval of 560 does not leave the chart."""
        line = lines.ChartLine(style="x", points=[(5, 1), (5, 560)], name="x")
        self.assertTrue(find(draw(line), "here-x").get("d").endswith("L179 6"))

    def test_marks(self):
        """Each point has one."""
        line = lines.ChartLine(
            style="failed", points=[(1, 1), (2, 2)], mark="✖"
        )
        root = draw(line)
        self.assertEqual(["✖", "✖"], read_labels(root, "mark failed"))

    def test_no_points_no_line(self):
        root = draw(lines.ChartLine(style="x", points=[], name="x"))
        self.assertNotIn("here-x", [each.get("id") for each in root.iter()])

    def test_a_title_is_text(self):
        root = draw(title="<b onclick=x>")
        self.assertEqual(
            ["<b onclick=x>", "a unit"],
            [root.find("b").text, root.find("small").text],
        )
        self.assertEqual("The label", root.find("svg").get("aria-label"))


class SamplesTestCase(unittest.TestCase):
    def test_points_are_in_the_order_of_time(self):
        (line,) = lines.draw_samples([3, 1, 2], 4, 1, with_box=False)
        self.assertEqual([(3.5, 3), (4, 1), (4.5, 2)], line.points)
        root = draw(line)
        (path,) = (
            each for each in root.iter() if "points" in each.get("class", "")
        )
        self.assertEqual(3, path.get("d").count("h0"))

    def test_a_single_sample_is_in_the_middle(self):
        (line,) = lines.draw_samples([3], 4, 1, with_box=True)
        self.assertEqual([(4, 3)], line.points)

    def test_a_box(self):
        """It has the extremes, the quartiles and the median."""
        (line,) = lines.draw_samples([5, 1, 3, 2, 4], 1, 1, with_box=True)
        self.assertEqual({1, 2, 3, 4, 5}, {value for _, value in line.points})
        self.assertEqual({0.5, 1, 1.5}, {place for place, _ in line.points})


class AxisTestCase(unittest.TestCase):
    def test_round_numbers(self):
        self.assertEqual(
            ["0", "2", "4", "6", "8", "10"], read_labels(draw(), "right")
        )

    def test_logarithmic(self):
        """Labels are 1, 2 and 5 of each power, and the middle is 10."""
        axis = lines.ChartAxis(low=1, high=100, is_logarithmic=True)
        self.assertEqual(
            ["1", "2", "5", "10", "20", "50", "100"],
            read_labels(draw(y=axis), "right"),
        )
        self.assertEqual(50, axis.place(10, 0, 100))

    def test_labels_do_not_overlap(self):
        """The last one has room, and those that it covers are omitted."""
        labels = {place: f"guest-{place}" for place in range(20)}
        axis = lines.ChartAxis(low=0, high=19, labels=labels)
        shown = read_labels(draw(x=axis), "")
        self.assertIn("guest-19", shown)
        self.assertNotIn("guest-18", shown)
        self.assertLess(len(shown), 8)

    def test_an_axis_of_one_value(self):
        axis = lines.ChartAxis(low=7, high=7)
        self.assertEqual(0, axis.place(7, 0, 100))
