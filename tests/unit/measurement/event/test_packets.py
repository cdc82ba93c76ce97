# SPDX-License-Identifier: Apache-2.0
"""Tests of the longest gap between replies to a ping."""

import unittest

import ddt

from rally_vmperf.measurement.event import packets


@ddt.ddt
class TestReply(unittest.TestCase):
    """Lines of ping of iputils 20221126."""

    def test_reply(self):
        line = (
            "[1764184511.412345] 64 bytes from 10.20.0.15: icmp_seq=12 "
            "ttl=64 time=0.512 ms"
        )
        self.assertEqual(1764184511.412345, packets.parse_reply(line))

    @ddt.data(
        "PING 10.20.0.15 (10.20.0.15) 56(84) bytes of data.",
        "[1764184511.412345] From 10.20.0.1 icmp_seq=3 Destination Host "
        "Unreachable",
        "64 bytes from 10.20.0.15: icmp_seq=12 ttl=64 time=0.512 ms",
        "[1e9] 64 bytes from 10.20.0.15: icmp_seq=12 ttl=64 time=0.5 ms",
        "",
    )
    def test_other_line(self, line):
        self.assertIsNone(packets.parse_reply(line))


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
        estimate = packets.estimate_gap(self.replies((5, 5.4)), 4, 6, 0.01)
        self.assertAlmostEqual(0.4, estimate.value)
        self.assertAlmostEqual(0.01, estimate.error)

    def test_gap_before_the_request_is_ignored(self):
        replies = self.replies((1, 2), (5, 5.4))
        estimate = packets.estimate_gap(replies, 4, 6, 0.01)
        self.assertAlmostEqual(0.4, estimate.value)

    def test_gap_across_the_request(self):
        estimate = packets.estimate_gap(self.replies((3.9, 5)), 4, 6, 0.01)
        self.assertAlmostEqual(1.1, estimate.value)

    def test_slow_replies_increase_the_error(self):
        replies = [step / 10 for step in range(50)] + [5.5, 5.6, 5.7, 7.0]
        estimate = packets.estimate_gap(replies, 4, 6, 0.01)
        self.assertAlmostEqual(1.3, estimate.value)
        self.assertGreater(estimate.error, 0.09)

    @ddt.data([], [4.5, 5.0, 7.0], [3.0, 3.5, 5.9])
    def test_no_reply_at_an_end(self, replies):
        """The gap may be longer than the measurement."""
        with self.assertRaisesRegex(ValueError, "no reply to ping"):
            packets.estimate_gap(replies, 4, 6, 0.01)
