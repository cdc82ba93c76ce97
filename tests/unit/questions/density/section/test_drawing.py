import dataclasses
import unittest
from xml.etree import ElementTree

from rally_vmperf.questions.density.section import curves
from rally_vmperf.questions.density.section import picture
from rally_vmperf.questions.density.section import shares
from tests.unit import made

EIGHT = tuple(range(1, 9))


def series(name="memory.mbw.memcpy.bandwidth", **arguments):
    return shares.series(made.density_row(name, **arguments))


def repeat(row, number):
    """Return a row with so many repetitions, those that it has."""
    return dataclasses.replace(
        row,
        points=tuple(
            dataclasses.replace(
                point, samples=(point.samples * number)[:number]
            )
            for point in row.points
        ),
    )


def identifiers(drawing):
    return {one.get("id") for one in ElementTree.fromstring(drawing).iter()}


def texts(drawing):
    return [one.text for one in ElementTree.fromstring(drawing).iter()]


class CurvesTestCase(unittest.TestCase):
    def test_guests_bare_metal_limits_and_intervals_are_there(self):
        found = identifiers(curves.draw(series(), "here"))
        for mark in (
            "mean",
            "sum",
            "bare",
            "bare-total",
            "1",
            "2-interval",
            "3-limit",
        ):
            self.assertIn(f"here-{mark}", found)
        self.assertNotIn("here-1-limit", found)
        self.assertNotIn("here-1-interval", found)

    def test_limit_stands_where_it_holds_alone(self):
        row = series(statuses={3: "failed"})
        found = identifiers(curves.draw(row, "here"))
        self.assertIn("here-3-limit", found)
        self.assertNotIn("here-2-limit", found)

    def test_worst_guest_is_marked_where_limits_are_put_to_it(self):
        found = identifiers(curves.draw(series(statistic="worst"), "here"))
        self.assertIn("here-2-worst", found)
        self.assertNotIn("here-1-worst", found)
        found = identifiers(curves.draw(series(statistic="mean"), "here"))
        self.assertNotIn("here-2-worst", found)

    def test_what_does_not_add_up_has_one_panel(self):
        drawing = curves.draw(series("disk.fio.randread.latency.p99"), "here")
        found = identifiers(drawing)
        self.assertIn("here-each", found)
        self.assertNotIn("here-total", found)

    def test_the_axis_ends_at_the_measured_guests(self):
        """No figure of more guests than were measured is drawn."""
        drawing = curves.draw(series("cpu.events.rate", levels=EIGHT), "here")
        each, _ = ElementTree.fromstring(drawing)
        (last,) = (mark for mark in each.iter() if mark.get("id") == "here-8")
        self.assertGreater(float(last.get("x")), 290)
        for style in ("law", "peak"):
            self.assertNotIn(style, drawing)

    def test_it_can_be_read_aloud(self):
        drawing = curves.draw(series(void=(2,), gaps=(3,)), "here")
        for chart in ElementTree.fromstring(drawing):
            self.assertIn(
                "2 guests 96.2 % (void), 3 guests not measured",
                chart.get("aria-label"),
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
        self.assertEqual((16, 0), (few.count('"points"'), few.count('"box"')))
        self.assertEqual(
            (0, 16), (many.count('"points"'), many.count('"box"'))
        )


class PictureTestCase(unittest.TestCase):
    def test_every_metric_has_its_bars_and_figures(self):
        drawn = [series(name) for name in made.CURVE_METRICS]
        found = texts(picture.draw(drawn, "here"))
        for one in drawn:
            self.assertIn(one.row.metric.name, found)
            for share in one.shares:
                self.assertIn(f"{share.value * 100:.0f}", found)
        key = ElementTree.fromstring(picture.draw(drawn, "here"))[0]
        self.assertEqual(
            "1 guest 2 guests 3 guests",
            " ".join("".join(key.itertext()).split()),
        )

    def test_many_metrics_have_few_bars_each(self):
        """The smallest and the largest number of guests have theirs."""
        drawn = [series(levels=EIGHT)] * 60
        self.assertEqual(8, len(picture.list_levels(drawn[:25])))
        levels = picture.list_levels(drawn)
        self.assertEqual((1, 8, 3), (levels[0], levels[-1], len(levels)))
        drawing = picture.draw(drawn, "here")
        self.assertEqual(180, drawing.count("<rect"))

    def test_what_is_missing_is_said(self):
        drawing = picture.draw([series(gaps=(3,))], "here")
        self.assertIn("3 guests: not measured", texts(drawing))

    def test_nothing_measured_no_drawing(self):
        self.assertEqual("", picture.draw([], "here"))
