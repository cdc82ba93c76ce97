# SPDX-License-Identifier: Apache-2.0
import unittest
from xml.etree import ElementTree

from rally_vmperf.questions.overhead import section
from tests.unit import made


def run(**arguments):
    limits = {"vmperf_overhead": made.LIMITS}
    return made.run_of(made.records(**arguments), limits)


def rows(**arguments):
    return section.ordered(run(**arguments).judgement)


def drawing(**arguments):
    draw = section.SECTION.functions["draw_overheads"]
    return draw(rows(**arguments), "here-overheads")


def identifiers(drawing):
    return {
        element.get("id") for element in ElementTree.fromstring(drawing).iter()
    }


class OverheadsTestCase(unittest.TestCase):
    def test_each_metric_has_its_marks(self):
        for arguments in ({}, {"emulated": True}):
            marks = identifiers(drawing(**arguments))
            for place in range(len(rows(**arguments))):
                for mark in ("figure", "interval", "limit"):
                    self.assertIn(f"here-overheads-{place}-{mark}", marks)

    def test_each_metric_is_named_with_its_figure(self):
        root = ElementTree.fromstring(drawing())
        texts = [element.text for element in root.iter()]
        for row in rows():
            self.assertIn(row.metric.name, texts)
            value = row.comparison.overhead_percent
            self.assertIn(f"{value:.1f} %", texts)

    def test_no_interval_no_whisker(self):
        marks = identifiers(drawing(count=2))
        self.assertIn("here-overheads-0-figure", marks)
        self.assertNotIn("here-overheads-0-interval", marks)

    def test_far_overheads_get_a_logarithmic_axis(self):
        self.assertIn("logarithmic", drawing(emulated=True))
        self.assertNotIn("logarithmic", drawing())


class StripsTestCase(unittest.TestCase):
    def test_each_metric_has_its_panel(self):
        judged = rows(guests=2)
        marks = identifiers(section.draw(judged, "here"))
        for place in range(len(judged)):
            self.assertIn(f"here-{place}", marks)

    def test_guests_are_next_to_bare_metal(self):
        drawing = section.draw(rows(guests=2), "here")
        for label in ("bare 1", "bare 2", "g1", "g2"):
            self.assertIn(f">{label}<", drawing)

    def test_no_rows_no_drawing(self):
        self.assertEqual("", section.draw([], "here"))
