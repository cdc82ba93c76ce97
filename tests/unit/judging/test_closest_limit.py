"""Tests of the limit that a run came closest to."""

import unittest

import ddt

from rally_vmperf.judging import closest_limit
from tests.unit.judging import test_contrast_judge

ROWS = test_contrast_judge.rows_of({"e1000": 1, "virtio": 3, "same": 1})


@ddt.ddt
class GainTestCase(unittest.TestCase):
    """The limit of a gain is the smallest tolerated one."""

    @ddt.data(
        # A gain of 200 % is farther from 50 % than one of 200 % from 150 %.
        ({"virtio": {"network.*": 150}}, {}, "rate of virtio, .* least 150 %"),
        # A small loss, with the largest tolerated one.
        ({"virtio": {"network.*": 50}}, {"same": 0.5}, "of same, .* least -0"),
        ({"virtio": {"network.*": 50}}, {"same": 20}, "of virtio, .* least 5"),
        ({"same": {"network.*": 50}}, {"virtio": 1}, "of same, .* least 50 %"),
    )
    @ddt.unpack
    def test_the_closest(self, gains, losses, expected):
        judgement = test_contrast_judge.judge(
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
