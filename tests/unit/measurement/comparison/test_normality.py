# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt
import numpy

from rally_vmperf.measurement.comparison import normality

STEADY = (100.0, 100.3, 99.8, 100.1, 99.9)
# Steps that grow, as quantiles of a skewed distribution do.
TAIL = tuple(100 + 0.01 * 1.5**place for place in range(20))
# The same, within what 1 in 100 samples of normal values exceed.
SHORT_TAIL = tuple(100 + 0.01 * 1.35**place for place in range(20))


@ddt.ddt
class DoubtTestCase(unittest.TestCase):
    @ddt.data(
        (STEADY, None),
        ((*STEADY, 130.0), "bimodal"),
        ((*STEADY, 130.2, 129.9, 130.4), "bimodal"),
        (TAIL, "skewed"),
        (SHORT_TAIL, None),
        (tuple(1 / number for number in TAIL), "skewed"),
        ((100.0, 100.1, 100.2, 130.0), None),
        ((100.0,) * 9, None),
        ((100.0,) * 8 + (130.0,), None),
    )
    @ddt.unpack
    def test_kind(self, values, kind):
        departure = normality.departure(values)
        self.assertEqual(kind, departure and departure[0])

    def test_words(self):
        self.assertEqual(
            ("bimodal", "5 and 1, 29.6 % apart"),
            normality.departure((*STEADY, 130.0)),
        )
        _, description = normality.departure(
            tuple(1 / number for number in TAIL)
        )
        self.assertRegex(
            description, r"^skewness -[0-9.]+, towards small values$"
        )

    def test_rounding_is_no_gap(self):
        values = (1.00, 1.01, 1.01, 1.01, 1.01, 1.02, 1.01, 1.01)
        apart = (1.000, 1.0001, 1.0002, 1.01, 1.0101, 1.0102)
        self.assertEqual("bimodal", normality.departure(apart)[0])
        for rounded in (values, apart):
            self.assertIsNone(normality.departure(rounded, 0.005))

    @ddt.data(5, 6, 9, 15, 40, 200)
    def test_normal_values(self, count):
        """They are in doubt in 1 of 2,000 samples."""
        random = numpy.random.default_rng(5)
        samples = numpy.exp(random.normal(0, 0.02, (1000, count)))
        departures = [
            values
            for values in samples.tolist()
            if normality.departure(values)
        ]
        self.assertLess(len(departures), 5)


@ddt.ddt
class TestDrift(unittest.TestCase):
    """A trend over the order of the repetitions."""

    @ddt.data(
        ((1.01, 1.02, 1.03, 1.04, 1.05), "1.0 % from repetition to"),
        ((1.05, 1.04, 1.03, 1.02, 1.01), "-1.0 % from repetition to"),
        ((1.0, 1.01, 1.02, 1.03), ""),
        ((1.0, 1.001, 0.999, 1.002, 1.0), ""),
        ((1.0,) * 6, ""),
    )
    @ddt.unpack
    def test_detail(self, values, detail):
        self.assertEqual(detail, normality.drift(values)[: len(detail) or 9])

    def test_rounding_is_no_drift(self):
        values = (1.005, 1.01, 1.01, 1.015, 1.02)
        self.assertTrue(normality.drift(values))
        self.assertEqual("", normality.drift(values, 0.005))

    @ddt.data(
        (1.0, False, 0, 20),
        (1.005, False, 330, 400),
        (1.0, True, 0, 2),
        (1.01, True, 330, 400),
    )
    @ddt.unpack
    def test_shares(self, factor, is_rare, least, most):
        """One in a hundred steady runs; most that lose 0.5 % each time."""
        random = numpy.random.default_rng(3)
        noise = numpy.exp(random.normal(0, 0.002, (400, 6)))
        runs = noise * factor ** numpy.arange(6)
        number = sum(
            bool(normality.drift(run, is_rare=is_rare))
            for run in runs.tolist()
        )
        self.assertTrue(least <= number <= most, number)

    def test_last_state(self):
        values = tuple(1.01**number for number in range(5))
        self.assertAlmostEqual(1.01**2, normality.last_state(values))
        self.assertAlmostEqual(1.0, normality.last_state((1.0, 2.0, 1.0)))
