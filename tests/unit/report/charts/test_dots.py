# SPDX-License-Identifier: Apache-2.0
"""Tests of the chart of losses."""

import dataclasses
import math
import unittest
from xml.etree import ElementTree

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import sample
from rally_vmperf.report.charts import dots

TIME = sample.Metric("x.time", "s", "lower")


def line(*seconds, limits=()):
    """Return a line for a guest that needs these times instead of 1 s."""
    comparison = loss.compare(
        TIME, [[1.0], [1.01], [0.99]], [[value] for value in seconds]
    )
    return dots.from_comparison("x.time", comparison, "none", limits)


def identifiers(lines):
    """Return the identifiers in a chart of these lines."""
    drawing = dots.draw(lines, "here", "loss (right: worse)", "Loss")
    return {each.get("id") for each in ElementTree.fromstring(drawing).iter()}


class TestDotPlot(unittest.TestCase):
    """Each line has a loss, an interval and limits."""

    def test_limits(self):
        """Each limit has a mark of its own."""
        names = identifiers([line(1.1, 1.11, 1.09, limits=(-5, 5))])
        self.assertLessEqual({"here-0-limit", "here-0-limit1"}, names)
        self.assertIn("here-0-interval", names)

    def test_figures_on_top(self):
        """A long chart has the figures of its axis above and below."""
        for number, axes in ((11, 1), (12, 2)):
            drawing = dots.draw([line(1.1)] * number, "here", "loss", "Loss")
            elements = ElementTree.fromstring(drawing).iter()
            classes = [each.get("class") for each in elements]
            self.assertEqual(axes, classes.count("axis"))

    def test_no_comparison(self):
        """The line stays empty, and the others keep their places."""
        empty = dots.Dot(label="x", value=None, text="not measured")
        names = identifiers([empty, line(1.1, 1.2, 1.3)])
        self.assertNotIn("here-0-figure", names)
        self.assertIn("here-1-figure", names)

    def test_an_infinite_interval(self):
        """It does not scale the axis."""
        shown = line(1.1, 1.11, 1.09)
        shown = dataclasses.replace(shown, ends=(shown.ends[0], math.inf))
        self.assertNotIn(math.inf, shown.figures)
        self.assertIn("here-0-figure", identifiers([shown]))

    def test_too_many_lines(self):
        """The first ones are drawn, and the chart says so."""
        many = [line(1.1)] * (dots.MOST + 1)
        drawing = dots.draw(many, "here", "loss", "Loss")
        names = {
            element.get("id")
            for element in ElementTree.fromstring(drawing).iter()
        }
        self.assertIn("here-199-figure", names)
        self.assertNotIn("here-200-figure", names)
        self.assertIn("<small>The first 200 of 201 are drawn;", drawing)
        few = dots.draw(many[1:], "here", "loss", "Loss")
        self.assertNotIn("The first", few)

    def test_no_lines(self):
        """Without lines, the chart is empty."""
        self.assertEqual("", dots.draw([], "here", "loss", "Loss"))

    def test_a_gain(self):
        """The ends and the limits change sign and order."""
        comparison = loss.compare(
            TIME, [[1.0], [1.01], [0.99]], [[1.1], [1.11], [1.09]]
        )
        lost, gained = (
            dots.from_comparison("x", comparison, "none", (5,), sign)
            for sign in (1, -1)
        )
        self.assertLess(gained.ends[0], gained.ends[1])
        self.assertEqual((-lost.ends[1], -lost.ends[0]), gained.ends)
        self.assertEqual((-lost.value, (-5,)), (gained.value, gained.limits))

    def test_figures_stand_in_a_column(self):
        """A long interval does not move the figure to its end."""
        long = dots.Dot(label="x", value=86, ends=(10, 560))
        drawing = dots.draw([long], "here", "rate (right: more)", "Rate", 100)
        (line_,) = ElementTree.fromstring(drawing).findall("p")
        self.assertEqual("86.0 %", line_.find("b").text)
        self.assertIn("rate, logarithmic (right: more)", drawing)

    def test_a_logarithmic_axis_has_its_middle_at_the_reference(self):
        """Rates near 100 % remain apart although an interval is long."""
        axis = dots._Axis(0, 560, 100)
        self.assertEqual([0, 90, 100, 110, 200], axis.ticks)
        places = [axis.position(figure) for figure in (90, 100, 110)]
        self.assertAlmostEqual(places[1] - places[0], places[2] - places[1])
        self.assertGreater(places[1] - places[0], 15)
