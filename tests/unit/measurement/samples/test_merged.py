# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample

LATENCY = sample.Metric(name="disk.x.latency", unit="s", better="lower")
RATE = sample.Metric(name="disk.x.rate", unit="ops/s", better="higher")
MEDIAN, *_, P99, P999, _ = sample.percentiles(LATENCY)


def latencies(*values):
    """Return a distribution of values, each with how often it came."""
    return sample.Distribution(
        metric=LATENCY, histogram=histogram.Histogram.of(values)
    )


#: Of two guests one is slow, with a tenth of the requests.
FAST = latencies((0.001, 900))
SLOW = latencies((0.1, 100))


def condition(number, **readings):
    """Return what one repetition measured, by machine."""
    return repetition.Condition(
        axes={},
        number=number,
        planned_repetitions=3,
        counted=True,
        position=1,
        state="complete",
        expected_metrics=(),
        observations=tuple(
            sample.Observation(source=name, sample=sampled)
            for name, distribution in readings.items()
            for sampled in distribution.samples()
        ),
        distributions=merged.distributions(readings.items()),
    )


@ddt.ddt
class TestGathered(unittest.TestCase):
    """The percentile of several guests is that of all their values."""

    def test_it_is_no_mean(self):
        entry = condition(1, g1=FAST, g2=SLOW)
        (merged_sample,) = gathering.guest_samples(P99, [entry])
        self.assertEqual(1, len(merged_sample.values))
        self.assertAlmostEqual(0.1, merged_sample.values[0], delta=0.001)
        (median,) = gathering.guest_samples(MEDIAN, [entry])
        self.assertAlmostEqual(0.001, median.values[0], delta=1e-5)
        self.assertEqual(
            ["g1", "g2"],
            [observation.source for observation in median.observations],
        )

    def test_together_they_support_what_none_does_alone(self):
        entry = condition(1, g1=FAST, g2=SLOW)
        (merged_sample,) = gathering.guest_samples(P99, [entry])
        self.assertEqual((), merged_sample.observations)
        self.assertIn(P99, gathering.metrics([entry]))

    def test_what_too_few_values_support_is_not_there(self):
        entry = condition(1, g1=FAST, g2=SLOW)
        self.assertEqual((), gathering.guest_samples(P999, [entry]))
        self.assertNotIn(P999, gathering.metrics([entry]))

    @ddt.data("incomplete", "interrupted")
    def test_without_a_guest_it_would_flatter_the_others(self, state):
        whole = condition(1, g1=FAST, g2=SLOW)
        broken = dataclasses.replace(condition(2, g1=FAST), state=state)
        samples = gathering.guest_samples(MEDIAN, [whole, broken])
        self.assertEqual([1], [gathered.number for gathered in samples])

    def test_incomplete_for_another_reason(self):
        both = [condition(number, g1=FAST, g2=SLOW) for number in (1, 2)]
        both[1] = dataclasses.replace(both[1], state="incomplete")
        samples = gathering.guest_samples(MEDIAN, both)
        self.assertEqual([1, 2], [gathered.number for gathered in samples])

    def test_bare_metal(self):
        reference = dataclasses.replace(
            repetition.NO_REFERENCE,
            repetitions=((), (), ()),
            percentiles=({P99: 0.5}, {}, {P99: 0.6}),
        )
        samples = gathering.bare_metal_samples(P99, reference)
        self.assertEqual(
            [(1, (0.5,)), (3, (0.6,))],
            [(gathered.number, gathered.values) for gathered in samples],
        )


class TestTogether(unittest.TestCase):
    """Several repetitions are counted together, or averaged over time."""

    def test_distributions(self):
        entries = [condition(1, g1=FAST, g2=SLOW), condition(2, g1=FAST)]
        (distribution,) = merged.merge_distributions(
            repetition.distributions for repetition in entries
        )
        self.assertEqual(1900, distribution.histogram.count)
        self.assertEqual(2, distribution.machines)
        self.assertEqual({}, distribution.values())

    def test_lines(self):
        readings = [
            (
                name,
                sample.Series(metric=RATE, points=((1.0, value), (2.0, 4.0))),
            )
            for name, value in (("g1", 2.0), ("g2", 6.0))
        ]
        (line,) = merged.time_series(readings)
        self.assertEqual((4.0, 4.0), line.means.mean)
        self.assertEqual((2.0, 4.0), line.means.low)
        self.assertEqual((6.0, 4.0), line.means.high)
        self.assertEqual(2, line.machines)
        (both,) = merged.merge_time_series([[line], [line]])
        self.assertEqual((4.0, 4.0), both.means.mean)
