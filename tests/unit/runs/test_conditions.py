# SPDX-License-Identifier: Apache-2.0
"""Tests of the order in which conditions run."""

import statistics
import unittest

import ddt

from rally_vmperf.records import model
from rally_vmperf.runs import conditions

GIVEN = tuple(conditions.PlannedCondition(axes={"x": n}) for n in range(1, 9))


def orders(kind, seed, planned=GIVEN, repetitions=8):
    """Return the orders of the first repetitions."""
    order = model.Order(kind=kind, seed=seed)
    return [
        tuple(
            condition.axes["x"]
            for condition in conditions.order_conditions(
                planned, order, number
            )
        )
        for number in range(1, repetitions + 1)
    ]


@ddt.ddt
class TestOrder(unittest.TestCase):
    """The order of a repetition follows from seed and number alone."""

    def test_as_listed(self):
        """Every time."""
        self.assertEqual([(1, 2, 3, 4, 5, 6, 7, 8)] * 8, orders("listed", 9))

    def test_shuffled(self):
        """Anew in each repetition, the same from the same seed."""
        self.assertEqual(orders("shuffled", 1), orders("shuffled", 1))
        self.assertNotEqual(orders("shuffled", 1), orders("shuffled", 2))
        self.assertEqual(8, len(set(orders("shuffled", 1))))
        for axis_values in orders("shuffled", 1):
            self.assertEqual(
                (1, 2, 3, 4, 5, 6, 7, 8), tuple(sorted(axis_values))
            )

    def test_blocks(self):
        """Each condition has each position once in a block."""
        both = orders("blocks", 1, repetitions=16)
        for block in (both[:8], both[8:]):
            for row in (*block, *zip(*block, strict=True)):
                self.assertEqual(set(range(1, 9)), set(row))
        self.assertNotEqual(both[:8], both[8:])
        self.assertEqual(both, orders("blocks", 1, repetitions=16))
        self.assertNotEqual(both, orders("blocks", 2, repetitions=16))

    @ddt.data((5, 3, 0.7), (5, 7, 0.3), (4, 2, 0), (6, 8, 0), (7, 3, 1.34))
    @ddt.unpack
    def test_incomplete_block(self, size, repetitions, most):
        """Mean positions are similar for any number of repetitions."""
        for seed in range(20):
            rows = orders("blocks", seed, GIVEN[:size], repetitions)
            means = [
                statistics.fmean(row.index(x) for row in rows)
                for x in range(1, size + 1)
            ]
            self.assertLessEqual(max(means) - min(means), most)

    def test_one_condition(self):
        """It has no order."""
        for kind in ("listed", "shuffled", "blocks"):
            self.assertEqual([(1,)] * 8, orders(kind, 3, GIVEN[:1]))
