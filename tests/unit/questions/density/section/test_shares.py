# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.questions.density.section import shares
from tests.unit import made


@ddt.ddt
class SharesTestCase(unittest.TestCase):
    @ddt.data(*made.CURVE_METRICS)
    def test_values_are_shares_of_the_solo_guest_in_both_directions(
        self, name
    ):
        row = made.density_row(name)
        share_series = shares.series(row)
        self.assertEqual(1, share_series.base)
        self.assertAlmostEqual(1, share_series.shares[0].value)
        for share, point in zip(
            share_series.shares[1:], row.points[1:], strict=True
        ):
            self.assertAlmostEqual(
                1 - point.loss.overhead_percent / 100, share.value
            )
            low, high = share.ends
            self.assertLess(low, share.value)
            self.assertLess(share.value, high)
            self.assertLess(share.value, share.bare)
            self.assertEqual(5, len(share.repetitions))
            for repetition_share in share.repetitions:
                self.assertAlmostEqual(
                    share.value, repetition_share, delta=0.05
                )

    def test_totals_are_numbers_of_solo_guests(self):
        share_series = shares.series(
            made.density_row("memory.mbw.memcpy.bandwidth")
        )
        for share in share_series.shares:
            self.assertAlmostEqual(
                share.value * share.guests, share.total, delta=0.05
            )
            self.assertEqual(5, len(share.totals))

    def test_a_metric_that_does_not_add_up_has_no_total(self):
        share_series = shares.series(
            made.density_row("disk.fio.randread.latency.p99")
        )
        self.assertEqual(
            [None] * 3, [share.total for share in share_series.shares]
        )
        self.assertEqual(
            [None] * 3, [share.bare_total for share in share_series.shares]
        )

    def test_without_a_solo_guest_the_smallest_level_is_the_base(self):
        row = made.density_row("cpu.events.rate", levels=(2, 4), gaps=(1,))
        share_series = shares.series(row)
        self.assertEqual(2, share_series.base)
        self.assertAlmostEqual(1, share_series.shares[0].value)

    def test_gaps_have_no_share_and_void_is_kept(self):
        row = made.density_row("cpu.events.rate", void=(2,), gaps=(3,))
        alone, void, gap = shares.series(row).shares
        self.assertEqual((False, True), (alone.void, void.void))
        self.assertIsNotNone(void.value)
        self.assertIsNone(gap.value)

    def test_nothing_measured_has_no_series(self):
        self.assertIsNone(shares.series(made.unmeasured("cpu.events.rate")))
