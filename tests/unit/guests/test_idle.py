# SPDX-License-Identifier: Apache-2.0
"""Tests of who rests and who wakes."""

import unittest

import ddt

from rally_vmperf.guests import idle


@ddt.ddt
class RestingTest(unittest.TestCase):
    @ddt.data(
        ("running", {"g1": "ACTIVE", "g2": "ACTIVE"}),
        ("paused", {"g1": "ACTIVE", "g2": "PAUSED"}),
        ("stopped", {"g1": "ACTIVE", "g2": "SHUTOFF"}),
    )
    @ddt.unpack
    def test_target_of_all_live_guests(self, idle_guests, statuses):
        guests = ("g1", "g2", "g3")
        self.assertEqual(
            statuses,
            idle.target_statuses(guests, ("g1",), {"g3"}, idle_guests),
        )

    @ddt.data(
        ("running", "PAUSED", "ACTIVE", None),
        ("paused", "ACTIVE", "PAUSED", "pause"),
        ("paused", "PAUSED", "ACTIVE", "unpause"),
        ("paused", "PAUSED", "PAUSED", None),
        ("paused", "SHUTOFF", "ACTIVE", None),
        ("paused", "SHUTOFF", "PAUSED", None),
        ("stopped", "ACTIVE", "SHUTOFF", "stop"),
        ("stopped", "SHUTOFF", "ACTIVE", "start"),
        ("stopped", "ACTIVE", "ACTIVE", None),
        ("stopped", "PAUSED", "ACTIVE", None),
        ("stopped", "ERROR", "ACTIVE", None),
    )
    @ddt.unpack
    def test_verb(self, idle_guests, current, wish, verb):
        self.assertEqual(verb, idle.choose_action(current, wish, idle_guests))
