"""Tests of the chart of losses."""

import dataclasses
import math
import unittest
from xml.etree import ElementTree

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.samples import sample
from rally_vmperf.report import dot_plot

TIME = sample.Metric("x.time", "s", "lower")


def line(*seconds, **changes):
    """Return a line for a guest that needs these times instead of 1 s."""
    comparison = loss.compare(
        TIME, [[1.0], [1.01], [0.99]], [[value] for value in seconds]
    )
    return dot_plot.Line(
        label="x.time",
        comparison=comparison,
        status="none",
        **changes,
    )


def identifiers(lines):
    """Return the identifiers in a chart of these lines."""
    drawing = dot_plot.draw(lines, "here", "loss (right: worse)", "Loss")
    return {each.get("id") for each in ElementTree.fromstring(drawing).iter()}


class TestDotPlot(unittest.TestCase):
    """Each line has a loss, an interval and limits."""

    def test_limits(self):
        """Each limit has a mark of its own."""
        found = identifiers([line(1.1, 1.11, 1.09, limits=(-5, 5))])
        self.assertLessEqual({"here-0-limit", "here-0-limit1"}, found)
        self.assertIn("here-0-interval", found)

    def test_no_comparison(self):
        """The line stays empty, and the others keep their places."""
        empty = dataclasses.replace(line(1.1), comparison=None)
        found = identifiers([empty, line(1.1, 1.2, 1.3)])
        self.assertNotIn("here-0-overhead", found)
        self.assertIn("here-1-overhead", found)

    def test_an_infinite_interval(self):
        """Does not scale the axis."""
        shown = line(1.1, 1.11, 1.09)
        endless = dataclasses.replace(shown.comparison, high=math.inf)
        shown = dataclasses.replace(shown, comparison=endless)
        self.assertNotIn(math.inf, shown.figures)
        self.assertIn("here-0-overhead", identifiers([shown]))

    def test_too_many_lines(self):
        """The first ones are drawn, and the chart says so."""
        many = [line(1.1)] * (dot_plot.MOST + 1)
        drawing = dot_plot.draw(many, "here", "loss", "Loss")
        found = {
            one.get("id") for one in ElementTree.fromstring(drawing).iter()
        }
        self.assertIn("here-199-overhead", found)
        self.assertNotIn("here-200-overhead", found)
        self.assertIn("<small>The first 200 of 201 are drawn;", drawing)
        few = dot_plot.draw(many[1:], "here", "loss", "Loss")
        self.assertNotIn("The first", few)

    def test_no_lines(self):
        """There is no chart."""
        self.assertEqual("", dot_plot.draw([], "here", "loss", "Loss"))
