import unittest

import ddt

from rally_vmperf.questions.density.section import shares
from tests.unit import made


@ddt.ddt
class SharesTestCase(unittest.TestCase):
    @ddt.data(*made.CURVE_METRICS)
    def test_all_is_a_share_of_the_lone_guest_whatever_the_direction(
        self, name
    ):
        row = made.density_row(name)
        found = shares.series(row)
        self.assertEqual(1, found.base)
        self.assertAlmostEqual(1, found.shares[0].value)
        for share, point in zip(found.shares[1:], row.points[1:], strict=True):
            self.assertAlmostEqual(
                1 - point.loss.overhead_percent / 100, share.value
            )
            low, high = share.ends
            self.assertLess(low, share.value)
            self.assertLess(share.value, high)
            self.assertLess(share.value, share.bare)
            self.assertEqual(5, len(share.repetitions))
            for one in share.repetitions:
                self.assertAlmostEqual(share.value, one, delta=0.05)

    def test_totals_are_numbers_of_lone_guests(self):
        found = shares.series(made.density_row("memory.mbw.memcpy.bandwidth"))
        for share in found.shares:
            self.assertAlmostEqual(
                share.value * share.guests, share.total, delta=0.05
            )
            self.assertEqual(5, len(share.totals))

    def test_what_does_not_add_up_has_no_total(self):
        found = shares.series(
            made.density_row("disk.fio.randread.latency.p99")
        )
        self.assertEqual([None] * 3, [one.total for one in found.shares])
        self.assertEqual([None] * 3, [one.bare_total for one in found.shares])

    def test_without_a_lone_guest_the_fewest_are_the_measure(self):
        row = made.density_row("cpu.events.rate", levels=(2, 4), gaps=(1,))
        found = shares.series(row)
        self.assertEqual(2, found.base)
        self.assertAlmostEqual(1, found.shares[0].value)

    def test_gaps_have_no_share_and_void_is_kept(self):
        row = made.density_row("cpu.events.rate", void=(2,), gaps=(3,))
        alone, void, gap = shares.series(row).shares
        self.assertEqual((False, True), (alone.void, void.void))
        self.assertIsNotNone(void.value)
        self.assertIsNone(gap.value)

    def test_nothing_measured_is_no_series(self):
        self.assertIsNone(shares.series(made.unmeasured("cpu.events.rate")))
