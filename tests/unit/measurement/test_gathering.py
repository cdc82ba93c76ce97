# SPDX-License-Identifier: Apache-2.0
"""Tests of whose values count."""

import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import gathering
from tests.unit import made


def conditions(*values, machines=("g1", "g2")):
    """Return the conditions of complete records with these values."""
    decoded = []
    for number, samples in enumerate(values, 1):
        record = made.record(
            number=number,
            conditions=[
                made.build_condition(
                    number, {made.EVENTS: samples}, machines=machines
                )
            ],
        )
        decoded.append(record.repetition.condition)
    return decoded


class TestComplete(unittest.TestCase):
    """A record that calls itself complete is checked."""

    def numbers(self, *values, **changes):
        """Return the repetitions whose values count."""
        decoded_conditions = conditions(*values, **changes)
        (metric,) = decoded_conditions[0].expected_metrics
        return [
            sample.number
            for sample in gathering.guest_samples(metric, decoded_conditions)
        ]

    def test_all_are_there(self):
        """They count."""
        self.assertEqual([1, 2], self.numbers([90.0, 91.0], [92.0, 93.0]))

    def test_a_guest_without_values(self):
        """A repetition without a value of a participant does not count."""
        self.assertEqual(
            [2], self.numbers([90.0, None], [92.0, 93.0], [94.0, None])
        )

    def test_guests_that_take_turns(self):
        """A guest that did not take part is not missing."""
        first = conditions([90.0], machines=["g1"])
        second = conditions([91.0], machines=["g2"])
        (metric,) = first[0].expected_metrics
        samples = gathering.guest_samples(metric, [*first, *second])
        self.assertEqual(2, len(samples))


@ddt.ddt
class TestBoots(unittest.TestCase):
    """From three boots on, a boot of bare metal has one value."""

    @ddt.data(
        ((), [100, 400, 200, 800, 50, 50]),
        (("a", "a", "a", "b", "b", "b"), [100, 400, 200, 800, 50, 50]),
        (("a", "a", "b", "b", "c", "c"), [200, 400, 50]),
        (("a", "b", "c", "d", "e", "f"), [100, 400, 200, 800, 50, 50]),
    )
    @ddt.unpack
    def test_values(self, boots, means):
        reference = dataclasses.replace(
            made.reference({made.IOPS: [100, 400, 200, 800, 50, 50]}, 2),
            boots=boots,
        )
        samples = gathering.bare_metal_samples(made.IOPS, reference)
        for expected, mean in zip(
            means, gathering.geometric_means(samples), strict=True
        ):
            self.assertAlmostEqual(expected, mean)

    def test_percentiles(self):
        """The percentiles of a boot are averaged, not its observations."""
        reference = dataclasses.replace(
            made.reference({made.IOPS: [1, 1, 1, 1]}),
            boots=("a", "a", "b", "c"),
            percentiles=tuple(
                {made.LATENCY: value} for value in (1.0, 4.0, 3.0, 5.0)
            ),
        )
        samples = gathering.bare_metal_samples(made.LATENCY, reference)
        self.assertEqual(
            [2.0, 3.0, 5.0], [sample.merged for sample in samples]
        )
