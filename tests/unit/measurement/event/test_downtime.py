# SPDX-License-Identifier: Apache-2.0
"""Tests of the downtime from the offsets of a clock."""

import dataclasses
import math
import unittest

import ddt

from rally_vmperf.measurement.event import downtime


def read(at, offset, error=0.001):
    """Return a reading."""
    return downtime.OffsetReading(at=at, offset=offset, error=error)


def count_up(number, begin=0.0, offset=0.0, drift=0.0):
    """Return readings every 20 ms."""
    return [
        read(begin + 0.02 * step, offset + drift * 0.02 * step)
        for step in range(number)
    ]


@ddt.ddt
class TestDowntime(unittest.TestCase):
    """The jump of the offset between neighbouring readings."""

    def test_jump(self):
        readings = [*count_up(50), *count_up(50, 1.3, -0.3)]
        estimate = downtime.estimate_downtime(readings)
        self.assertAlmostEqual(0.3, estimate.value)
        self.assertAlmostEqual(0.002, estimate.error)

    def test_bounds_of_several_readings_are_combined(self):
        """A late and an early bound leave less than each of them."""
        before = [read(0.1, 0.002, 0.004), read(0.2, -0.002, 0.004)]
        after = [read(0.3, -0.302, 0.004), read(0.4, -0.298, 0.004)]
        estimate = downtime.estimate_downtime([*before, *after])
        self.assertAlmostEqual(0.3, estimate.value)
        self.assertAlmostEqual(0.004, estimate.error)

    def test_drift_is_not_downtime(self):
        """The clock loses 0.5 s during the window, and stops for 0.2 s."""
        early = count_up(500, drift=-0.05)
        late = count_up(500, 10.2, early[-1].offset - 0.2, drift=-0.05)
        estimate = downtime.estimate_downtime([*early, *late])
        self.assertTrue(estimate.contains(0.2), estimate)
        self.assertLess(estimate.error, 0.01)

    def test_waiting_request_is_ignored(self):
        """It was sent before the guest stopped, and answered after."""
        readings = [
            *count_up(50),
            read(1.15, -0.15, 0.15),
            *count_up(50, 1.3, -0.3),
        ]
        estimate = downtime.estimate_downtime(readings)
        self.assertAlmostEqual(0.3, estimate.value)

    def test_step_of_a_time_service_is_not_downtime(self):
        """It corrects the clock, which then is ahead of the last reading."""
        readings = [
            *count_up(50),
            *count_up(50, 1.3, -0.3),
            *count_up(50, 2.3, 0.4),
        ]
        self.assertAlmostEqual(0.3, downtime.estimate_downtime(readings).value)

    def test_no_jump(self):
        """It is a downtime of at most the time between two readings."""
        estimate = downtime.estimate_downtime(count_up(100))
        self.assertTrue(estimate.contains(0))
        self.assertAlmostEqual(0.022, estimate.value + estimate.error)

    def with_boot(self, readings, stops=()):
        """Return readings with the time since a boot, in steps of 10 ms.

        :param stops: The time and the duration of each downtime.
        """
        found = []
        for reading in readings:
            late = sum(lasts for at, lasts in stops if at <= reading.at)
            up = reading.at + 77.123 - late
            running = math.floor(up * 100) / 100 - reading.at
            found.append(dataclasses.replace(reading, running=running))
        return found

    def test_step_of_the_clock(self):
        """The time since the boot goes on, so that the guest ran."""
        readings = [*count_up(50), *count_up(50, 1.0, -0.5)]
        estimate = downtime.estimate_downtime(self.with_boot(readings))
        self.assertTrue(estimate.contains(0))
        self.assertLess(estimate.value + estimate.error, 0.05)

    def test_step_that_hides_a_downtime(self):
        readings = [*count_up(50), *count_up(50, 1.3)]
        estimate = downtime.estimate_downtime(
            self.with_boot(readings, [(1.2, 0.3)])
        )
        self.assertTrue(estimate.contains(0.3), estimate)
        self.assertLess(estimate.error, 0.015)

    def test_both_agree(self):
        """The clock has the better resolution."""
        readings = [*count_up(50), *count_up(50, 1.3, -0.3)]
        estimate = downtime.estimate_downtime(
            self.with_boot(readings, [(1.2, 0.3)])
        )
        self.assertAlmostEqual(0.3, estimate.value)
        self.assertAlmostEqual(0.002, estimate.error)

    def test_corrected_clock(self):
        """The hypervisor sets the clock: only a request shows the stop."""
        readings = [*count_up(50), read(1.15, 0, 0.15), *count_up(50, 1.3)]
        estimate = downtime.estimate_downtime(readings)
        self.assertTrue(estimate.contains(0.3), estimate)

    @ddt.data(0, 2)
    def test_too_few_readings(self, number):
        with self.assertRaisesRegex(ValueError, f"{number} precise readings"):
            downtime.estimate_downtime(count_up(number))


class TestStop(unittest.TestCase):
    """The bounds of a stop, from the probes around it."""

    def test_bounds(self):
        """It stops after the last answer, and is back before the next."""
        stop = downtime.Stop(
            last=100.0, silent=100.5, absent=130.0, answered=131.0
        )
        estimate = stop.estimate_downtime()
        self.assertAlmostEqual(29.5, estimate.value - estimate.error)
        self.assertAlmostEqual(31.0, estimate.value + estimate.error)

    def test_short(self):
        """The first probe after the silence has an answer."""
        stop = downtime.Stop(
            last=100.0, silent=100.5, absent=100.5, answered=103.0
        )
        estimate = stop.estimate_downtime()
        self.assertAlmostEqual(0.0, estimate.value - estimate.error)
        self.assertAlmostEqual(3.0, estimate.value + estimate.error)


@ddt.ddt
class TestReply(unittest.TestCase):
    """Lines of ping of iputils 20221126."""

    def test_reply(self):
        line = (
            "[1764184511.412345] 64 bytes from 10.20.0.15: icmp_seq=12 "
            "ttl=64 time=0.512 ms"
        )
        self.assertEqual(1764184511.412345, downtime.parse_reply(line))

    @ddt.data(
        "PING 10.20.0.15 (10.20.0.15) 56(84) bytes of data.",
        "[1764184511.412345] From 10.20.0.1 icmp_seq=3 Destination Host "
        "Unreachable",
        "64 bytes from 10.20.0.15: icmp_seq=12 ttl=64 time=0.512 ms",
        "[1e9] 64 bytes from 10.20.0.15: icmp_seq=12 ttl=64 time=0.5 ms",
        "",
    )
    def test_other_line(self, line):
        self.assertIsNone(downtime.parse_reply(line))


@ddt.ddt
class TestGap(unittest.TestCase):
    """The longest gap around a migration."""

    def replies(self, *outages):
        """Return replies every 10 ms for 10 s, except in outages."""
        moments = [step / 100 for step in range(1000)]
        return [
            moment
            for moment in moments
            if not any(begin < moment < end for begin, end in outages)
        ]

    def test_gap(self):
        estimate = downtime.estimate_gap(self.replies((5, 5.4)), 4, 6, 0.01)
        self.assertAlmostEqual(0.4, estimate.value)
        self.assertAlmostEqual(0.01, estimate.error)

    def test_gap_before_the_request_is_ignored(self):
        replies = self.replies((1, 2), (5, 5.4))
        estimate = downtime.estimate_gap(replies, 4, 6, 0.01)
        self.assertAlmostEqual(0.4, estimate.value)

    def test_gap_across_the_request(self):
        estimate = downtime.estimate_gap(self.replies((3.9, 5)), 4, 6, 0.01)
        self.assertAlmostEqual(1.1, estimate.value)

    def test_slow_replies_increase_the_error(self):
        replies = [step / 10 for step in range(50)] + [5.5, 5.6, 5.7, 7.0]
        estimate = downtime.estimate_gap(replies, 4, 6, 0.01)
        self.assertAlmostEqual(1.3, estimate.value)
        self.assertGreater(estimate.error, 0.09)

    @ddt.data([], [4.5, 5.0, 7.0], [3.0, 3.5, 5.9])
    def test_no_reply_at_an_end(self, replies):
        """The gap may be longer than the measurement."""
        with self.assertRaisesRegex(ValueError, "no reply to ping"):
            downtime.estimate_gap(replies, 4, 6, 0.01)
