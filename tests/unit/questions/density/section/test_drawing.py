# SPDX-License-Identifier: Apache-2.0
import dataclasses
import re
import unittest
from unittest import mock
from xml.etree import ElementTree

from rally_vmperf.questions.density.section import curves
from rally_vmperf.questions.density.section import sentences
from rally_vmperf.questions.density.section import shares
from tests.unit import made

EIGHT = tuple(range(1, 9))


def series(name="memory.mbw.memcpy.bandwidth", **arguments):
    return shares.series(made.density_row(name, **arguments))


def repeat(row, number):
    """Return a row with so many repetitions, those that it has."""
    results = []
    for result in row.results:
        samples = (result.point.samples * number)[:number]
        point = dataclasses.replace(result.point, samples=samples)
        figure = dataclasses.replace(result.figure, point=point)
        results.append(dataclasses.replace(result, figure=figure))
    return dataclasses.replace(row, results=tuple(results))


def identifiers(drawing):
    return {
        element.get("id") for element in ElementTree.fromstring(drawing).iter()
    }


def texts(drawing):
    return [element.text for element in ElementTree.fromstring(drawing).iter()]


class CurvesTestCase(unittest.TestCase):
    def test_guests_bare_metal_limits_and_intervals_are_there(self):
        marks = identifiers(curves.draw(series(), "here"))
        for mark in (
            "each-mean",
            "total-sum",
            "each-bare",
            "total-bare",
            "each-1",
            "each-2-interval",
            "each-3-limit",
        ):
            self.assertIn(f"here-{mark}", marks)
        self.assertNotIn("here-each-1-limit", marks)
        self.assertNotIn("here-each-1-interval", marks)

    def test_limit_is_drawn_where_it_applies(self):
        row = series(limited=[3])
        marks = identifiers(curves.draw(row, "here"))
        self.assertIn("here-each-3-limit", marks)
        self.assertNotIn("here-each-2-limit", marks)

    def test_worst_guest_is_marked_where_limits_are_put_to_it(self):
        marks = identifiers(curves.draw(series(statistic="worst"), "here"))
        self.assertIn("here-each-2-slowest", marks)
        self.assertNotIn("here-each-1-slowest", marks)
        marks = identifiers(curves.draw(series(statistic="mean"), "here"))
        self.assertNotIn("here-each-2-slowest", marks)

    def test_a_metric_without_a_total_has_one_panel(self):
        drawing = curves.draw(series("disk.fio.randread.latency.p99"), "here")
        marks = identifiers(drawing)
        self.assertIn("here-each", marks)
        self.assertNotIn("here-total", marks)

    def test_the_axis_ends_at_the_measured_guests(self):
        """No figure of more guests than were measured is drawn."""
        drawing = curves.draw(series("cpu.events.rate", levels=EIGHT), "here")
        panel, _ = ElementTree.fromstring(drawing)
        (last,) = (
            mark for mark in panel.iter() if mark.get("id") == "here-each-8"
        )
        self.assertGreater(float(last.get("x")), 290)
        for style in ("law", "peak"):
            self.assertNotIn(style, drawing)

    def test_the_line_of_no_loss(self):
        """It goes through the total of the solo guest."""
        drawing = curves.draw(series("cpu.events.rate", levels=EIGHT), "here")
        _, total = ElementTree.fromstring(drawing)
        (path,) = (
            element
            for element in total.iter()
            if element.get("class") == "whole"
        )
        (mark, *_) = (
            element for element in total.iter() if element.text == "●"
        )
        numbers = map(float, re.findall("[0-9.]+", path.get("d")))
        left, bottom, right, top = numbers
        share = (float(mark.get("x")) - left) / (right - left)
        height = bottom + share * (top - bottom)
        self.assertAlmostEqual(height, float(mark.get("y")) - 4, delta=1)

    def test_an_interval_far_beyond_the_guests(self):
        """It does not press their differences together."""
        drawn = series("cpu.events.rate")
        with mock.patch.object(shares.Share, "ends", (0.5, 5.6)):
            drawing = curves.draw(drawn, "here")
        panel, _ = ElementTree.fromstring(drawing)
        labels = [
            float(text.text)
            for text in panel.iter("text")
            if text.get("class") == "right"
        ]
        self.assertLess(labels[-1], 250)

    def test_it_can_be_read_aloud(self):
        shown = series(void=(2,), gaps=(3,))
        for chart in ElementTree.fromstring(curves.draw(shown, "here")):
            self.assertIn(
                sentences.curve(shown), chart.find("svg").get("aria-label")
            )

    def test_same_drawing_for_the_same_figures(self):
        self.assertEqual(
            curves.draw(series(levels=EIGHT), "here"),
            curves.draw(series(levels=EIGHT), "here"),
        )

    def test_many_repetitions_become_boxes(self):
        """Few are points in the order of time."""
        row = made.density_row("cpu.events.rate", levels=EIGHT)
        few, many = (
            curves.draw(shares.series(repeat(row, number)), "here")
            for number in (25, 26)
        )
        for drawing, points, boxes in ((few, 16, 0), (many, 0, 16)):
            self.assertEqual(points, drawing.count("faint points"))
            self.assertEqual(boxes, drawing.count("faint box"))


class LevelsTestCase(unittest.TestCase):
    """The chart of all metrics has a line for each number of guests."""

    def draw(self, *metrics):
        """Return the label and the text of each line."""
        drawing = curves.draw_all(metrics, "here")
        lines = ElementTree.fromstring(drawing).findall("p")
        return [
            (line.find("span").text, line.find("b").text) for line in lines
        ]

    def test_every_metric_has_its_figures(self):
        drawn = [series(name) for name in made.CURVE_METRICS]
        drawn_lines = self.draw(*drawn)
        expected = [
            (
                f"{metric_series.row.metric.name}, 2 guests"
                if share.guests == 2
                else "3 guests",
                f"{(1 - share.value) * 100:.1f} %",
            )
            for metric_series in drawn
            for share in metric_series.shares[1:]
        ]
        self.assertEqual(expected, drawn_lines)

    def test_verdicts_and_limits(self):
        """Each line has those of its level."""
        row = series(limit=2.0, limited=[3])
        drawing = curves.draw_all([row], "here")
        self.assertIn("here-1-limit", identifiers(drawing))
        self.assertNotIn("here-0-limit", identifiers(drawing))
        self.assertIn('class="failed"', drawing)

    def test_a_long_interval_is_cut(self):
        """The differences between guests remain visible."""
        with mock.patch.object(shares.Share, "ends", (0.5, 5.6)):
            drawing = curves.draw_all([series("cpu.events.rate")], "here")
        axis = ElementTree.fromstring(drawing).find("div")
        labels = [float(text.text) for text in axis.iter("text")]
        self.assertIn(0, labels)
        self.assertGreater(labels[0], -51)
        self.assertNotIn("logarithmic", drawing)

    def test_many_metrics_have_few_lines_each(self):
        """The smallest and the largest number of guests have theirs."""
        drawn = [series(levels=EIGHT)] * 60
        self.assertEqual(7, len(curves.list_levels(drawn[:25])))
        levels = curves.list_levels(drawn)
        self.assertEqual((2, 8, 3), (levels[0], levels[-1], len(levels)))
        self.assertEqual(180, len(self.draw(*drawn)))

    def test_missing_values_are_reported(self):
        self.assertIn(
            ("3 guests", "not measured"), self.draw(series(gaps=(3,)))
        )

    def test_nothing_measured_no_drawing(self):
        self.assertEqual("", curves.draw_all([], "here"))

    def test_a_single_level_has_no_lines(self):
        """It is the reference."""
        self.assertEqual("", curves.draw_all([series(levels=(1,))], "here"))
