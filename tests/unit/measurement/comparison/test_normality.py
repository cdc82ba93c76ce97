import unittest

import ddt
import numpy

from rally_vmperf.measurement.comparison import normality

STEADY = (100.0, 100.3, 99.8, 100.1, 99.9)
# Steps that grow, as quantiles of a skewed distribution do.
TAIL = tuple(100 + 0.01 * 1.35**place for place in range(20))


@ddt.ddt
class DoubtTestCase(unittest.TestCase):
    @ddt.data(
        (STEADY, None),
        ((*STEADY, 130.0), "bimodal"),
        ((*STEADY, 130.2, 129.9, 130.4), "bimodal"),
        (TAIL, "skewed"),
        (tuple(1 / one for one in TAIL), "skewed"),
        ((100.0, 100.1, 100.2, 130.0), None),
        ((100.0,) * 9, None),
        ((100.0,) * 8 + (130.0,), None),
    )
    @ddt.unpack
    def test_kind(self, values, kind):
        found = normality.departure(values)
        self.assertEqual(kind, found and found[0])

    def test_words(self):
        self.assertEqual(
            ("bimodal", "5 and 1, 29.6 % apart"),
            normality.departure((*STEADY, 130.0)),
        )
        _, seen = normality.departure(tuple(1 / one for one in TAIL))
        self.assertRegex(seen, r"^skewness -[0-9.]+, towards small values$")

    def test_rounding_is_no_gap(self):
        values = (1.00, 1.01, 1.01, 1.01, 1.01, 1.02, 1.01, 1.01)
        apart = (1.000, 1.0001, 1.0002, 1.01, 1.0101, 1.0102)
        self.assertEqual("bimodal", normality.departure(apart)[0])
        for rounded in (values, apart):
            self.assertIsNone(normality.departure(rounded, 0.005))

    @ddt.data(5, 6, 9, 15, 40, 200)
    def test_normal_values(self, count):
        """Are in doubt in about 2 of 100 samples at most."""
        random = numpy.random.default_rng(5)
        samples = numpy.exp(random.normal(0, 0.02, (1000, count)))
        found = [one for one in samples.tolist() if normality.departure(one)]
        self.assertLess(len(found), 33)
