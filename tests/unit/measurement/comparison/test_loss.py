# SPDX-License-Identifier: Apache-2.0
import dataclasses
import json
import math
import pathlib
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from tests.unit import made

PUBLISHED = [
    entry
    for entry in json.loads(
        (pathlib.Path(__file__).parents[1] / "data/published.json").read_text()
    )
    if entry.get("recomputed_overhead_percent") is not None
]
repetitions = strategies.lists(
    strategies.lists(strategies.floats(1e-3, 1e9), min_size=1, max_size=3),
    min_size=3,
    max_size=6,
)


def compare(metric, bare, guest, **kind):
    return loss.compare(
        metric, [[v] for v in bare], [[v] for v in guest], **kind
    )


def published(metric):
    entry = next(e for e in PUBLISHED if e["metric"] == metric)
    measured = sample.Metric(
        name=metric, unit=entry["unit"], better=entry["better"]
    )
    return entry, compare(measured, [entry["bare_metal"]], [entry["guest"]])


@ddt.ddt
class PublishedTestCase(unittest.TestCase):
    """Figures of published studies, recomputed."""

    @ddt.data(*PUBLISHED)
    def test_recomputed(self, entry):
        metric = sample.Metric(
            name=entry["metric"], unit=entry["unit"], better=entry["better"]
        )
        got = compare(metric, [entry["bare_metal"]], [entry["guest"]])
        self.assertAlmostEqual(
            entry["recomputed_overhead_percent"],
            got.overhead_percent,
            places=2,
        )
        self.assertIsNone(got.low)

    def test_the_slip_of_a_decimal(self):
        entry, got = published("memory.memcpy")
        self.assertEqual(1.7, entry["published_overhead_percent"])
        self.assertAlmostEqual(17.5, got.overhead_percent, places=1)

    def test_the_guest_that_beats_bare_metal(self):
        _, got = published("cpu.execl")
        self.assertLess(got.overhead_percent, -81)
        kinds = [finding.kind for finding in plausibility.of_comparison(got)]
        self.assertIn("guest_slightly_faster", kinds)

    def test_the_same_with_repetitions(self):
        entry, got = published("cpu.execl")
        noise = (0.99, 1.0, 1.01)
        got = compare(
            got.metric,
            [entry["bare_metal"] * factor for factor in noise],
            [entry["guest"] * factor for factor in noise],
        )
        kinds = [finding.kind for finding in plausibility.of_comparison(got)]
        self.assertEqual(["guest_faster"], kinds)


@ddt.ddt
class CompareTestCase(unittest.TestCase):
    def test_loss_of_a_rate(self):
        got = compare(made.IOPS, [100.0], [80.0])
        self.assertAlmostEqual(20.0, got.overhead_percent)

    def test_loss_of_a_time(self):
        got = compare(made.TIME, [100.0], [125.0])
        self.assertAlmostEqual(25.0, got.overhead_percent)

    def test_gain_is_negative(self):
        rate = compare(made.IOPS, [100.0], [110.0])
        time = compare(made.TIME, [100.0], [90.0])
        self.assertAlmostEqual(-10.0, rate.overhead_percent)
        self.assertAlmostEqual(-10.0, time.overhead_percent)

    def test_guests_first_then_repetitions(self):
        got = loss.compare(
            made.IOPS, [[100.0, 100.0]], [[50.0, 200.0], [100.0]]
        )
        self.assertEqual(2, got.guest_repetitions)
        self.assertAlmostEqual(100.0, got.guest_values[0])
        self.assertAlmostEqual(0.0, got.overhead_percent)

    def test_a_count_has_no_overhead(self):
        with self.assertRaisesRegex(ValueError, "absolute limit"):
            loss.compare(made.COUNT, [[1.0]], [[2.0]])

    def test_nothing_to_compare(self):
        with self.assertRaisesRegex(ValueError, "no values"):
            loss.compare(made.IOPS, [], [[2.0]])

    def test_outliers_stay_in(self):
        guest = [10.0, 10.1, 20.0, 9.9, 10.2, 9.8]
        got = compare(made.IOPS, [10.0] * 3, guest)
        self.assertEqual((2,), statistics.outliers(got.guest_values))
        self.assertEqual(6, got.guest_repetitions)

    @hypothesis.given(repetitions, repetitions, strategies.booleans())
    def test_interval_holds_the_overhead(self, bare, guest, rate):
        metric = made.IOPS if rate else made.TIME
        got = loss.compare(metric, bare, guest)
        slack = 1e-6 * (1 + abs(got.overhead_percent))
        self.assertLessEqual(got.low, got.overhead_percent + slack)
        self.assertGreaterEqual(got.high, got.overhead_percent - slack)

    @hypothesis.given(repetitions, repetitions, strategies.floats(1e-3, 1e3))
    def test_unit_does_not_matter(self, bare, guest, factor):
        got = loss.compare(made.TIME, bare, guest)
        scaled = loss.compare(
            made.TIME,
            [[value * factor for value in values] for values in bare],
            [[value * factor for value in values] for values in guest],
        )
        self.assertAlmostEqual(
            1.0,
            (1 + scaled.overhead_percent / 100)
            / (1 + got.overhead_percent / 100),
        )

    @hypothesis.given(repetitions, repetitions)
    def test_direction_mirrors(self, bare, guest):
        """But for the end of the loss, which may be further away."""
        rate = loss.compare(made.IOPS, bare, guest)
        inverse = dataclasses.replace(made.IOPS, better="lower")
        time = loss.compare(inverse, bare, guest)
        self.assertEqual(rate.overhead_percent, -time.overhead_percent)
        self.assertLessEqual(-rate.low, time.high)
        self.assertLessEqual(-time.low, rate.high)

    @ddt.data(3, 6)
    def test_the_end_of_the_loss_is_further_where_a_guest_varies_more(
        self, count
    ):
        """Also for three repetitions, so that a fourth costs no power."""
        noise = (0.0, 1.0, -1.0, 0.5, -0.5, 0.25)[:count]
        bare = [100 + 0.1 * deviation for deviation in noise]
        guest = [110 + deviation for deviation in noise]
        plain = statistics.ratio_interval(bare, guest, 0.95)
        wider = statistics.ratio_interval(bare, guest, 0.985)
        for metric, low, high in (
            (made.TIME, plain[0], wider[1]),
            (made.IOPS, plain[1], wider[0]),
        ):
            got = compare(metric, bare, guest)
            self.assertAlmostEqual(loss.percent(metric, low), got.low)
            self.assertAlmostEqual(loss.percent(metric, high), got.high)

    @ddt.data(
        (None, 0.985),
        ((), 0.985),
        ((100.0, 120.0), 0.985),
        ((100.0, 100.1, 100.2), 0.985),
        ((110.0, 111.0, 109.0, 110.5), 0.95),
    )
    @ddt.unpack
    def test_a_limit_does_not_vary(self, usual, confidence):
        """The variance of bare metal decides how far the end is, if known."""
        guest = [110.0, 111.0, 109.0, 110.5]
        got = compare(made.TIME, [100.0] * 3, guest, exact=True, usual=usual)
        for end, sure in ((got.low, 0.95), (got.high, confidence)):
            ends = statistics.ratio_interval([100.0] * 3, guest, sure)
            percents = [loss.percent(made.TIME, ratio) for ratio in ends]
            self.assertAlmostEqual(
                0, min(abs(end - percent) for percent in percents)
            )

    @ddt.data(
        (made.IOPS, (80.0, 80.1, 79.9), 0.9, lambda high: high / 0.9),
        # Twice the time is half the rate; 0.5 / 0.8 of it is lost.
        (made.TIME, (200.0,) * 3, 0.8, lambda high: 62.5 / 0.375),
        (made.IOPS, (110.0, 110.1, 109.9), 0.9, lambda high: high),
        (made.IOPS, (10.0, 10.1, 9.9), 0.0, lambda high: 100.0),
        (made.TIME, (999.0, 1000.0, 1001.0), 0.5, lambda high: math.inf),
    )
    @ddt.unpack
    def test_guests_that_worked_together_for_a_part(
        self, metric, guest, overlap, expected
    ):
        """Lose more when they work together all the time."""
        metric = dataclasses.replace(metric, resolution=0.0)
        whole = compare(metric, [100.0] * 3, guest)
        partly = compare(metric, [100.0] * 3, guest, overlap=overlap)
        self.assertEqual(whole.low, partly.low)
        self.assertTrue(math.isclose(expected(whole.high), partly.high))

    @ddt.data((1.0, 0.95), (1.4, 0.95), (2.01, 0.985))
    @ddt.unpack
    def test_in_pairs_it_must_vary_more_than_twice_as_much(
        self, factor, confidence
    ):
        """And four times for all of it; factors are of deviations."""
        steps = (-2, 1, -1, 2, 0)
        bare = [100 * 1.01**step for step in steps]
        guest = [90 * 1.01 ** (factor * step) for step in sorted(steps)]
        got = compare(made.IOPS, bare, guest, paired=True)
        for end, sure in ((got.low, 0.95), (got.high, confidence)):
            ends = statistics.paired_interval(bare, guest, sure)
            self.assertIn(
                round(end, 9),
                [round(loss.percent(made.IOPS, end), 9) for end in ends],
            )

    @hypothesis.given(strategies.floats(-90, 90), strategies.booleans())
    def test_ratio_is_the_inverse_of_percent(self, percent, rate):
        metric = made.IOPS if rate else made.TIME
        ratio = loss.ratio(metric, percent)
        self.assertAlmostEqual(percent, loss.percent(metric, ratio))
