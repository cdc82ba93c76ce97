# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.samples import sample
from tests.unit import made


def gathered(metric, sources, values, number=1):
    return sample.MetricSamples(
        number=number,
        observations=made.observations(sources, {metric: values}),
    )


@ddt.ddt
class MetricTestCase(unittest.TestCase):
    def test_rate_stays(self):
        self.assertIs(made.EVENTS, rates.of_metric(made.EVENTS))
        self.assertEqual(312.0, rates.convert(made.EVENTS, 312.0))

    def test_time_becomes_a_rate(self):
        got = rates.of_metric(made.TIME)
        self.assertEqual(
            (made.TIME.name, "1/s", "higher", "ratio"),
            (got.name, got.unit, got.better, got.scale),
        )
        self.assertEqual(0.25, rates.convert(made.TIME, 4.0))

    def test_count_has_none(self):
        with self.assertRaisesRegex(
            ValueError, "^network.tcp.retransmits: a count has no rate"
        ):
            rates.of_metric(made.COUNT)

    @ddt.data(
        (made.EVENTS, True),
        (made.TIME, True),
        (made.LATENCY, False),
        (
            sample.Metric(name="network.udp.jitter", unit="s", better="lower"),
            False,
        ),
        (sample.Metric(name="a.b.wait_time", unit="s", better="lower"), False),
        (
            sample.Metric(
                name="a.b.depth", unit="1", better="higher", additive=False
            ),
            False,
        ),
    )
    @ddt.unpack
    def test_totals(self, metric, expected):
        curves = made.levels({metric: made.SHARED})
        entries = gathering.guest_samples(
            metric, [curve.conditions[0] for curve in curves]
        )
        self.assertTrue(entries)
        self.assertEqual(expected, bool(rates.totals(metric, entries)))
        self.assertEqual(expected, rates.of_metric(metric).additive)

    @hypothesis.given(strategies.floats(1e-100, 1e100))
    def test_there_and_back(self, value):
        for metric in (made.EVENTS, made.TIME):
            there = rates.convert(metric, value)
            back = rates.convert(metric, there)
            self.assertAlmostEqual(1.0, back / value)


class GuestsTestCase(unittest.TestCase):
    ENTRIES = (
        gathered(made.TIME, ["a", "b", "a"], [1.0, 2.0, 4.0], number=1),
        gathered(made.TIME, ["a"], [5.0], number=2),
    )

    def test_by_guest(self):
        self.assertEqual(
            {"a": 0.5, "b": 0.5}, rates.by_guest(made.TIME, self.ENTRIES[0])
        )

    def test_of_guests(self):
        self.assertEqual(
            {"a": (0.5, 0.2), "b": (0.5,)},
            rates.of_guests(made.TIME, self.ENTRIES),
        )

    def test_means_and_totals(self):
        self.assertEqual((0.5, 0.2), rates.means(made.TIME, self.ENTRIES))
        self.assertEqual((1.0, 0.2), rates.totals(made.TIME, self.ENTRIES))

    def test_no_totals_of_latencies(self):
        entry = gathered(made.LATENCY, ["a"], [1.0])
        self.assertEqual((), rates.totals(made.LATENCY, [entry]))


class TestMerged(unittest.TestCase):
    """Percentiles of all guests together are compared as others are."""

    def test_pairs(self):
        """Each number of guests has one value of all, not one per guest."""

        def together(*values):
            return [
                sample.MetricSamples(number=n, observations=(), merged=value)
                for n, value in enumerate(values, start=1)
            ]

        pairs = rates.pairs(
            made.LATENCY, together(0.5, 0.25, 0.2), together(1.0, 0.5), {}, ""
        )
        self.assertEqual([((2.0,), (1.0,)), ((4.0,), (2.0,))], pairs)
