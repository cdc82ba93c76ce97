# SPDX-License-Identifier: Apache-2.0
"""Tests of the limit that a run came closest to."""

import unittest

import ddt

from rally_vmperf.judging import closest_limit
from rally_vmperf.measurement.comparison import verdict
from tests.unit import made
from tests.unit.judging import test_axis

ROWS = test_axis.rows_of({"e1000": 1, "virtio": 3, "same": 1})


@ddt.ddt
class GainTestCase(unittest.TestCase):
    """The limit of a gain is the smallest tolerated one."""

    @ddt.data(
        # A gain of 200 % is farther from 50 % than one of 200 % from 150 %.
        (
            {"virtio": {"network.*": 150}},
            {},
            "rate of virtio, .*least limit 150 %",
        ),
        # A small loss, with the largest tolerated one.
        (
            {"virtio": {"network.*": 50}},
            {"same": 0.5},
            "of same, .*least limit -0",
        ),
        (
            {"virtio": {"network.*": 50}},
            {"same": 20},
            "of virtio, .*least limit 5",
        ),
        (
            {"same": {"network.*": 50}},
            {"virtio": 1},
            "of same, .*least limit 50 %",
        ),
    )
    @ddt.unpack
    def test_the_closest(self, gains, losses, expected):
        judgement = test_axis.judge(
            ROWS,
            min_gain_percent=gains,
            max_loss_percent={
                variant: {"network.*": limit}
                for variant, limit in losses.items()
            },
        )
        text = closest_limit.describe(judgement)
        self.assertRegex(text, expected)
        beyond = judgement.status == "failed"
        self.assertEqual(beyond, text.startswith("Furthest beyond: "))


@ddt.ddt
class WordingTestCase(unittest.TestCase):
    """A figure is not a share of its limit."""

    @ddt.data(
        ({"value": 81.14, "limit": 5.0}, "81.1 % (limit 5 %)"),
        (
            {"value": 41.2, "limit": 10.0, "guests": 4},
            "41.2 % at 4 guests (limit 10 %)",
        ),
        (
            {
                "name": "min",
                "unit": "s",
                "value": 0.5,
                "limit": 1.0,
                "is_minimum": True,
            },
            "500 ms (least limit 1.00 s)",
        ),
        ({"reason": "no sample"}, "no sample"),
        ({}, "not measured"),
    )
    @ddt.unpack
    def test_a_figure(self, fields, expected):
        value = verdict.FigureValue(**{"name": "loss", "unit": "%"} | fields)
        self.assertEqual(expected, closest_limit.format_figure(value))

    def test_an_undecided_figure_beyond_its_limit(self):
        """It is not the closest."""
        levels = {made.EVENTS: {1: [300.0], 4: [150.0] * 4}}
        judgement = made.degradation(made.levels(levels, 2), {"*": 10})
        self.assertEqual("inconclusive", judgement.status)
        self.assertEqual(
            "Furthest beyond: cpu.sysbench.rate, "
            "50.0 % at 4 guests (limit 10 %)",
            closest_limit.describe(judgement),
        )
