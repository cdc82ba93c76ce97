# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.measurement.samples import units


@ddt.ddt
class ShowTestCase(unittest.TestCase):
    @ddt.data(
        (6.26e9, "B/s", "6.26 GB/s"),
        (999.6e6, "B/s", "1.00 GB/s"),
        (0.5, "B/s", "0.500 B/s"),
        (7.11e9, "bit/s", "7.11 Gbit/s"),
        (3.2e15, "B", "3 200 TB"),
        (2.4e9, "Hz", "2.40 GHz"),
        (812e-6, "s", "812 us"),
        (1.25e-3, "s", "1.25 ms"),
        (12.3, "s", "12.3 s"),
        (1234.0, "s", "1 230 s"),
        (5e-12, "s", "0.00500 ns"),
        (12345.0, "ops/s", "12.3 kops/s"),
        (987.0, "ops/s", "987 ops/s"),
        (12345.0, "events/s", "12 300 events/s"),
        (34839728.4, "lps", "34 800 000 lps"),
        (11.77, "score", "11.8 score"),
        (17, "1", "17"),
        (1001, "1", "1 001"),
        (1234567.0, "1", "1 234 567"),
        (2.5, "1", "2.50"),
        (0.0, "1", "0"),
        (0.0, "s", "0 s"),
        (0.0251e-3, "s", "25.1 us"),
        (10.4761, "%", "10.5 %"),
        (0.056, "%", "0.0560 %"),
        (0.0, "%", "0 %"),
        (-0.0, "B/s", "0 B/s"),
        (-1500.0, "B/s", "-1.50 kB/s"),
    )
    @ddt.unpack
    def test_figures(self, value, unit, text):
        self.assertEqual(text, units.show(value, unit))

    @ddt.data(float("nan"), float("inf"))
    def test_no_figure(self, value):
        with self.assertRaisesRegex(ValueError, "must be a finite number"):
            units.show(value, "s")

    @ddt.data(
        (9.98, 10.04, None, ("10.0 %", "10.0 to 10.0 %")),
        (9.98, 10.04, 11, ("10.0 %", "10.0 to 10.0 %")),
        (9.98, 10.04, 10, ("10.01 %", "9.98 to 10.04 %")),
        (9.98, 10.0, 10.2, ("10.0 %", "10.0 to 10.0 %")),
        (9.949, 10.01, 9.94, ("10.01 %", "9.95 to 10.01 %")),
        (None, 10.0, 10, ("10.0 %", "")),
    )
    @ddt.unpack
    def test_digits_where_a_limit_is_touched(self, low, high, limit, texts):
        """10.00 and 9.98 are not the same for a limit of 10."""
        estimate = units.Estimate(10.01, low, high)
        self.assertEqual(texts, units.show_estimate(estimate, "%", limit))

    @ddt.data(
        ("B/s", None, ("1.20 GB/s", "1.10 GB/s to 1.30 GB/s")),
        ("1", 3, ("1200000000.000", "1100000000.000 to 1300000000.000")),
    )
    @ddt.unpack
    def test_estimate(self, unit, decimals, texts):
        estimate = units.Estimate(1.2e9, 1.1e9, 1.3e9)
        shown = units.show_estimate(estimate, unit, decimals=decimals)
        self.assertEqual(texts, shown)

    @ddt.data(
        (
            2996,
            2995,
            2998,
            "2 996 events/s",
            "2 995 events/s to 2 998 events/s",
        ),
        (
            2900,
            2850,
            2950,
            "2 900 events/s",
            "2 850 events/s to 2 950 events/s",
        ),
        (2998.7, None, None, "2 998.7 events/s", ""),
        (2999, None, None, "2 999 events/s", ""),
    )
    @ddt.unpack
    def test_values_next_to_a_limit(self, value, low, high, text, interval):
        """A value beyond a limit is not shown as the limit."""
        estimate = units.Estimate(value, low, high)
        self.assertEqual(
            (text, interval), units.show_estimate(estimate, "events/s", 2999)
        )

    @ddt.data(
        (5, "%", False, "5 %"),
        (0.9, "1", True, "0.9"),
        (2e8, "B/s", False, "200 MB/s"),
        (2999, "events/s", False, "2 999 events/s"),
        (0.5004, "s", False, "500.4 ms"),
        (123456.5, "score", False, "123 456.5 score"),
        (130_000 / 3, "ops/s", False, "43.3 kops/s"),
    )
    @ddt.unpack
    def test_limit(self, limit, unit, has_decimals, text):
        self.assertEqual(text, units.show_limit(limit, unit, has_decimals))

    def test_gain(self):
        """A loss of nothing is no gain of minus nothing."""
        gain = units.Estimate(0.0, -1.0, 2.0).negate()
        self.assertEqual("(0.0, -2.0, 1.0)", str(tuple(gain)))

    def test_digits_of_a_small_loss(self):
        self.assertEqual("-0.04", units.show_percent(-0.041, 2))

    @ddt.data((17.469, "17.5"), (-0.04, "0.0"), (-1.66, "-1.7"), (0, "0.0"))
    @ddt.unpack
    def test_percent(self, value, text):
        self.assertEqual(text, units.show_percent(value))


@ddt.ddt
class ScaleForTestCase(unittest.TestCase):
    @ddt.data(
        ([6.26e9, 3e8], "B/s", 6.26, "GB/s"),
        ([0.0125, 0.8], "s", 12.5, "ms"),
        ([120.0], "events/s", 120, "events/s"),
        ([5.0], "1", 5, ""),
        ([0.0], "bit/s", 0, "bit/s"),
    )
    @ddt.unpack
    def test_largest_sets_the_prefix(self, values, unit, first, text):
        factor, unit_text = units.scale_for(values, unit)
        self.assertAlmostEqual(first, values[0] * factor)
        self.assertEqual(text, unit_text)

    def test_nothing(self):
        self.assertEqual((1.0, "s"), units.scale_for([], "s"))


@ddt.ddt
class SizesTestCase(unittest.TestCase):
    """Sizes that differ never look equal."""

    @ddt.data(
        ((0,), ["0 MiB"]),
        ((4 << 30,), ["4.0 GiB"]),
        ((64 << 20, 4 << 30), ["64 MiB", "4.0 GiB"]),
        ((20 << 30, 20 << 30), ["20.0 GiB", "20.0 GiB"]),
        ((20 << 30, (20 << 30) - (64 << 20)), ["20.0 GiB", "19.9 GiB"]),
        ((20 << 30, (20 << 30) - (4 << 20)), ["20.000 GiB", "19.996 GiB"]),
        ((1 << 20, (1 << 20) + (1 << 14)), ["1.00 MiB", "1.02 MiB"]),
        (
            (20 << 30, (20 << 30) - 512),
            ["21474836480 bytes", "21474835968 bytes"],
        ),
    )
    @ddt.unpack
    def test_sizes(self, sizes, expected):
        self.assertEqual(expected, units.show_sizes(*sizes))


@ddt.ddt
class NounsTestCase(unittest.TestCase):
    @ddt.data(
        ("copy", "copies"),
        ("day", "days"),
        ("address", "addresses"),
        ("guest", "guests"),
    )
    @ddt.unpack
    def test_plural(self, noun, plural):
        self.assertEqual(plural, units.plural(noun))
