import unittest
from xml.etree import ElementTree

from rally_vmperf.questions.overhead.section import overheads
from rally_vmperf.questions.overhead.section import section
from rally_vmperf.questions.overhead.section import strips
from tests.unit import made


def rows(**arguments):
    limits = {"vmperf_overhead": made.LIMITS}
    shown = made.run_of(made.records(**arguments), limits)
    return section.ordered(shown.judgement)


def identifiers(drawing):
    return {one.get("id") for one in ElementTree.fromstring(drawing).iter()}


class OverheadsTestCase(unittest.TestCase):
    def test_each_metric_has_its_marks(self):
        for arguments in ({}, {"emulated": True}):
            judged = rows(**arguments)
            found = identifiers(overheads.draw(judged, "here"))
            for place in range(len(judged)):
                for mark in ("overhead", "interval", "limit"):
                    self.assertIn(f"here-{place}-{mark}", found)

    def test_each_metric_is_named_with_its_figure(self):
        drawing = overheads.draw(rows(), "here")
        texts = [one.text for one in ElementTree.fromstring(drawing).iter()]
        for row in rows():
            self.assertIn(row.metric.name, texts)
            value = row.comparison.overhead_percent
            self.assertIn(f"{value:.1f} %", texts)

    def test_no_interval_no_whisker(self):
        judged = rows(count=2)
        found = identifiers(overheads.draw(judged, "here"))
        self.assertIn("here-0-overhead", found)
        self.assertNotIn("here-0-interval", found)

    def test_far_overheads_get_a_logarithmic_axis(self):
        self.assertIn("logarithmic", overheads.draw(rows(emulated=True), "a"))
        self.assertNotIn("logarithmic", overheads.draw(rows(), "a"))

    def test_no_rows_no_drawing(self):
        self.assertEqual("", overheads.draw([], "here"))


class StripsTestCase(unittest.TestCase):
    def test_each_metric_has_its_panel(self):
        judged = rows(guests=2)
        found = identifiers(strips.draw(judged, "here"))
        for place in range(len(judged)):
            self.assertIn(f"here-{place}", found)

    def test_guests_stand_beside_bare_metal(self):
        drawing = strips.draw(rows(guests=2), "here")
        for label in ("bare 1", "bare 2", "g1", "g2"):
            self.assertIn(f">{label}<", drawing)

    def test_no_rows_no_drawing(self):
        self.assertEqual("", strips.draw([], "here"))
