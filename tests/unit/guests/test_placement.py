"""Tests for the look at where guests came to run."""

import unittest

import ddt

from rally_vmperf.guests import placement
from rally_vmperf.measurement import finding
from tests.unit.guests import made


def guests(*hosts, zone="nova"):
    """Return guests on these hosts; a capital is seen by its hash only."""
    return [
        made.guest(
            f"g{number}",
            host=host if host and host.islower() else None,
            host_id=host and f"hash-{host}",
            availability_zone=zone,
        )
        for number, host in enumerate(hosts, 1)
    ]


@ddt.ddt
class FindingsTest(unittest.TestCase):
    def kinds(self, *arguments):
        found = placement.findings(*arguments)
        return [(one.kind, one.subject) for one in found]

    @ddt.unpack
    @ddt.data(
        ("a a", {}, "", []),
        ("a", {"host": "a"}, "a", []),
        ("a b", {"host": "a"}, "a", [("wrong_host", "g2")]),
        ("a b", {"aggregate": "ssd"}, "a b", []),
        ("c b", {"aggregate": "ssd"}, "a b", [("wrong_host", "g1")]),
        ("A", {}, "", [("placement_unknown", "g1")]),
        ("a", {"availability_zone": "nova"}, "", []),
        ("a", {"availability_zone": "x"}, "", [("wrong_host", "g1")]),
        ("a a", {"server_group": "affinity"}, "", []),
        ("a b", {"server_group": "affinity"}, "", [("wrong_host", "guests")]),
        ("a b", {"server_group": "anti-affinity"}, "", []),
        (
            "a b a",
            {"server_group": "anti-affinity"},
            "",
            [("wrong_host", "guests")],
        ),
        (
            "a b",
            {"server_group": "soft-affinity"},
            "",
            [("guests_not_as_wished", "guests")],
        ),
        (
            "a a",
            {"server_group": "soft-anti-affinity"},
            "",
            [("guests_not_as_wished", "guests")],
        ),
        ("a b", {"server_group": "soft-anti-affinity"}, "", []),
    )
    def test_kinds(self, hosts, options, allowed, expected):
        found = self.kinds(
            guests(*hosts.split()), made.asked(**options), set(allowed.split())
        )
        self.assertEqual(expected, found)

    def test_members_see_who_shares_a_host(self):
        found = self.kinds(
            guests("A", "B"), made.asked(server_group="affinity"), set()
        )
        self.assertIn(("wrong_host", "guests"), found)

    def test_without_a_hash_nothing_is_said_of_sharing(self):
        found = self.kinds(
            guests(None, "a"), made.asked(server_group="anti-affinity"), set()
        )
        self.assertEqual([("placement_unknown", "g1")] * 2, found)

    def test_without_a_zone_it_is_unknown(self):
        found = placement.findings(
            guests("a", zone=None), made.asked(availability_zone="x"), set()
        )
        seen = "Nova does not say its availability zone, x was asked for"
        self.assertEqual(
            [("placement_unknown", seen)],
            [(one.kind, one.seen) for one in found],
        )

    @ddt.unpack
    @ddt.data(
        ({"host": "b"}, "b", "runs on a, host b was asked for"),
        (
            {"aggregate": "ssd"},
            "b c",
            "runs on a, aggregate ssd (b, c) was asked for",
        ),
        (
            {"availability_zone": "x"},
            "",
            "is in availability zone nova, x was asked for",
        ),
        (
            {"server_group": "anti-affinity"},
            "",
            "server_group anti-affinity was asked for, host by host they "
            "are: g1, g2",
        ),
    )
    def test_asked_and_seen(self, options, allowed, seen):
        found = placement.findings(
            guests("a", "a"), made.asked(**options), set(allowed.split())
        )
        self.assertEqual(seen, found[0].seen)
        self.assertEqual("void", finding.KINDS[found[0].kind].severity)

    def test_words(self):
        self.assertEqual("", placement.words(made.asked()))
        self.assertEqual(
            "aggregate 'ssd', server_group 'affinity'",
            placement.words(
                made.asked(aggregate="ssd", server_group="affinity")
            ),
        )
