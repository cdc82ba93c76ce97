# SPDX-License-Identifier: Apache-2.0
"""Tests of the participants of a level."""

import unittest

import ddt

from rally_vmperf.runs import host_groups
from tests.unit.guests import made


def guests(*host_ids):
    """Return booted guests on these hosts."""
    return [
        made.guest(f"g{number}", host_id=host)
        for number, host in enumerate(host_ids, 1)
    ]


@ddt.ddt
class TestHosts(unittest.TestCase):
    """Guests that are to share a host are looked for on it."""

    @ddt.data(
        (("a", "a", "a"), 3, (("g1", "g2", "g3"),)),
        (("a", "b", "a", "b"), 2, (("g1", "g3"), ("g2", "g4"))),
        (("a", "b"), 1, (("g1",), ("g2",))),
    )
    @ddt.unpack
    def test_as_requested(self, hosts, largest, groups):
        """They are grouped by host, without a finding."""
        grouping = host_groups.group_by_host(guests(*hosts), largest)
        self.assertEqual((host_groups.HostGroups(groups), []), grouping)

    @ddt.data(
        (("a", "a", "b"), 3, "3 guests on one host .*: g1, g2; g3"),
        (("a", "a", "a", "a"), 2, "2 guests on each of 2 hosts .*: g1, g2, g"),
    )
    @ddt.unpack
    def test_elsewhere(self, hosts, largest, detail):
        """The finding names the guests of each host."""
        together, (placement_finding,) = host_groups.group_by_host(
            guests(*hosts), largest
        )
        self.assertEqual("level_placement_wrong", placement_finding.kind)
        self.assertEqual("void", placement_finding.severity)
        self.assertRegex(placement_finding.detail, detail)
        self.assertEqual(
            len(hosts) // largest, len(together.choose(1, ()).names)
        )

    def test_guests_that_booted(self):
        """Absent ones void nothing; the levels beyond are not formed."""
        there = guests("a", "a", "b", "b", "b")
        grouping, findings = host_groups.group_by_host(there, 3, ("g6",))
        self.assertEqual([], findings)
        self.assertEqual((("g1", "g2"), ("g3", "g4", "g5")), grouping.groups)
        names = grouping.choose(2, ()).names
        self.assertEqual(("g1", "g2", "g3", "g4"), names)
        participants = grouping.choose(3, ())
        self.assertEqual(("g6",), participants.unavailable)
        self.assertEqual(
            "3 guests of a host are required, 2 of 2 are left: "
            "g6 failed to boot",
            participants.reason,
        )

    def test_more_hosts_than_requested(self):
        """An absent guest does not excuse one that is elsewhere."""
        _, (placement_finding,) = host_groups.group_by_host(
            guests("a", "b"), 3, ("g3",)
        )
        self.assertEqual("level_placement_wrong", placement_finding.kind)

    def test_host_that_is_unknown(self):
        """The placement is unknown, which is not the same as wrong."""
        together, (placement_finding,) = host_groups.group_by_host(
            guests("a", None), 2
        )
        self.assertEqual("placement_unknown", placement_finding.kind)
        self.assertEqual(("g1", "g2"), together.choose(2, ()).names)


class TestEachAlone(unittest.TestCase):
    """Every guest is the solo guest of its host, one after another."""

    def test_hosts_at_once(self):
        """Guests of different hosts do not disturb each other."""
        groups = host_groups.HostGroups((("g1", "g2"), ("g3", "g4")))
        participants = groups.choose_one_by_one(())
        self.assertEqual((("g1", "g3"), ("g2", "g4")), participants.batches)
        self.assertEqual(("g1", "g3", "g2", "g4"), participants.names)

    def test_lost_ones_are_left_out(self):
        """A host without any leaves nothing to compare with."""
        groups = host_groups.HostGroups((("g1", "g2"), ("g3", "g4")))
        participants = groups.choose_one_by_one({"g3"}, 2)
        self.assertEqual((("g1", "g4"), ("g2",)), participants.batches)
        none = groups.choose_one_by_one({"g3", "g4"})
        self.assertEqual(("g3", "g4"), none.unavailable)


class TestTeam(unittest.TestCase):
    """A level takes the first guests of each host that are alive."""

    def setUp(self):
        """Put three guests on each of two hosts."""
        super().setUp()
        groups = (("g1", "g3", "g5"), ("g2", "g4", "g6"))
        self.together = host_groups.HostGroups(groups)

    def test_all_alive(self):
        """The same number of guests is chosen on each host."""
        self.assertEqual(("g1", "g2"), self.together.choose(1, ()).names)
        names = self.together.choose(2, ()).names
        self.assertEqual(("g1", "g3", "g2", "g4"), names)

    def test_solo_guests_take_turns(self):
        """Over the repetitions; several guests are the first ones."""
        for number, names in (
            (1, ("g1", "g2")),
            (2, ("g3", "g4")),
            (3, ("g5", "g6")),
            (4, ("g1", "g2")),
        ):
            team = self.together.choose(1, (), number)
            self.assertEqual(names, team.names)
            two = self.together.choose(2, (), number)
            self.assertEqual(("g1", "g3", "g2", "g4"), two.names)

    def test_without_the_dead(self):
        """Other guests of the same host replace it if there are any."""
        team = self.together.choose(2, {"g1"})
        self.assertEqual(("g3", "g5", "g2", "g4"), team.names)
        self.assertEqual("", team.reason)

    def test_too_few_left(self):
        """The level cannot be formed; the reason names the guest."""
        team = self.together.choose(3, {"g4"})
        self.assertEqual(("g4",), team.unavailable)
        self.assertEqual(
            "3 guests of a host are required, 2 of 3 are left: g4 stopped "
            "answering",
            team.reason,
        )
