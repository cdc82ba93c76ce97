# SPDX-License-Identifier: Apache-2.0
"""Tests for the look at where guests came to run."""

import unittest

import ddt
from openstack import exceptions

from rally_vmperf.guests import cloud
from rally_vmperf.guests.booting import placement
from rally_vmperf.measurement import finding
from tests.unit.guests import apis
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

#: A pinned server, as in the reference of Nova's API.
PINNED = {
    "nodes": [
        {
            "cpu_pinning": {"0": 0, "1": 5},
            "host_node": 0,
            "memory_mb": 1024,
            "siblings": [[0, 1]],
            "vcpu_set": [0, 1],
        }
    ],
    "pagesize_kb": 4,
}


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
        placement_findings = placement.find_placement_findings(*arguments)
        return [
            (finding_.kind, finding_.subject)
            for finding_ in placement_findings
        ]

    @ddt.unpack
    @ddt.data(
        ("a a", {}, "", []),
        ("a", {"host": "a"}, "a", []),
        ("a b", {"host": "a"}, "a", [("wrong_host", "g2")]),
        ("a b", {"aggregate": "ssd"}, "a b", []),
        ("a c", {"hosts": ["a", "b"]}, "a b", [("wrong_host", "g2")]),
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
            [("server_group_not_satisfied", "guests")],
        ),
        (
            "a a",
            {"server_group": "soft-anti-affinity"},
            "",
            [("server_group_not_satisfied", "guests")],
        ),
        ("a b", {"server_group": "soft-anti-affinity"}, "", []),
    )
    def test_kinds(self, hosts, options, allowed, expected):
        kinds = self.kinds(
            guests(*hosts.split()),
            made.build_request(**options),
            set(allowed.split()),
        )
        self.assertEqual(expected, kinds)

    def test_members_see_guests_that_share_a_host(self):
        kinds = self.kinds(
            guests("A", "B"),
            made.build_request(server_group="affinity"),
            set(),
        )
        self.assertIn(("wrong_host", "guests"), kinds)

    def test_without_a_hash_sharing_is_unknown(self):
        kinds = self.kinds(
            guests(None, "a"),
            made.build_request(server_group="anti-affinity"),
            set(),
        )
        self.assertEqual([("placement_unknown", "g1")] * 2, kinds)

    def test_without_a_zone_it_is_unknown(self):
        placement_findings = placement.find_placement_findings(
            guests("a", zone=None),
            made.build_request(availability_zone="x"),
            set(),
        )
        detail = "Nova does not say its availability zone, x was requested"
        self.assertEqual(
            [("placement_unknown", detail)],
            [(change.kind, change.detail) for change in placement_findings],
        )

    @ddt.unpack
    @ddt.data(
        ({"host": "b"}, "b", "runs on a, host b was requested"),
        (
            {"aggregate": "ssd"},
            "b c",
            "runs on a, aggregate ssd (b, c) was requested",
        ),
        (
            {"availability_zone": "x"},
            "",
            "is in availability zone nova, x was requested",
        ),
        (
            {"server_group": "anti-affinity"},
            "",
            "server_group anti-affinity was requested, the guests by host: "
            "g1, g2",
        ),
    )
    def test_requested_and_actual(self, options, allowed, detail):
        placement_findings = placement.find_placement_findings(
            guests("a", "a"),
            made.build_request(**options),
            set(allowed.split()),
        )
        self.assertEqual(detail, placement_findings[0].detail)
        self.assertEqual(
            "void", finding.KINDS[placement_findings[0].kind].severity
        )

    def test_words(self):
        self.assertEqual("", placement.describe_request(made.build_request()))
        self.assertEqual(
            "aggregate 'ssd', server_group 'affinity'",
            placement.describe_request(
                made.build_request(aggregate="ssd", server_group="affinity")
            ),
        )


class TopologyTest(apis.ApiTestCase):
    def get(self, **response):
        """Return the topology in a response, and the mock."""
        connection = self.connect_nova()
        topology = self.mocker.get(
            f"{apis.NOVA}/servers/id-g1/topology", **response
        )
        facts = placement.get_topology(connection, made.guest().id)
        return facts, apis.get_request(topology)

    def test_a_pinned_guest(self):
        facts, request = self.get(json=PINNED)
        self.assertEqual(PINNED, facts)
        self.assertEqual(
            "compute 2.78", request.headers["OpenStack-API-Version"]
        )

    def test_a_release_that_does_not_show_it(self):
        self.assertIsNone(self.get(status_code=404, json={"code": 404})[0])


@ddt.ddt
class ChangesTest(unittest.TestCase):
    """Guests that were on host A, listed again while they measure."""

    def setUp(self):
        super().setUp()
        self.cloud = testing.FakeCloud()

    def reject(self, name):
        """Reject all requests with this name."""

        def interrupt(called, is_done):
            if called == name:
                raise exceptions.SDKException("no")

        self.cloud.interrupt = interrupt

    def add_server(self, guest, host_id="hash-A", status="ACTIVE"):
        """Add the server of a guest to the cloud."""
        server = calls.Thing(
            id=guest.id,
            name=guest.server_name,
            host_id=host_id,
            status=status,
            task_state=None,
            updated_at="2026-01-01T10:00:00Z",
            detail=0,
            deleted=False,
        )
        self.cloud.compute.all_servers[guest.id] = server
        return server

    def kinds(self, guests_):
        """Return the findings on guests, which need one request."""
        changes = placement.find_changes(self.cloud, guests_, {})
        names = cloud.create_prefix_pattern(
            guest.server_name for guest in guests_
        )
        self.assertEqual([("servers", {"name": names})], self.cloud.queries)
        return [(change.kind, change.subject) for change in changes]

    @ddt.unpack
    @ddt.data(
        ("hash-A", "ACTIVE", []),
        ("hash-B", "ACTIVE", [("guest_host_changed", "g1")]),
        ("hash-A", "MIGRATING", [("guest_host_changed", "g1")]),
        ("hash-A", "REBOOT", [("guest_host_changed", "g1")]),
        ("", "ACTIVE", [("guest_host_changed", "g1")]),
    )
    def test_host_and_status(self, host_id, status, expected):
        (guest,) = guests("A")
        self.add_server(guest, host_id, status)
        self.assertEqual(expected, self.kinds([guest]))

    @ddt.data(
        ("2026-01-01T10:00:00Z", [], None),
        ("2026-01-01T10:09:00Z", ["pause", "unpause"], ""),
        (
            "2026-01-01T10:09:00Z",
            ["live-migration", "live-migration"],
            "g1 is on hostId hash-A again, after live-migration at "
            "2026-01-01T10:00:00, live-migration at 2026-01-01T10:01:00",
        ),
        (
            "2026-01-01T10:09:00Z",
            ["reboot", "resize"],
            "g1 is on hostId hash-A again, after resize at "
            "2026-01-01T10:01:00",
        ),
    )
    @ddt.unpack
    def test_there_and_back(self, updated, actions, expected):
        """The actions on a server are read if Nova changed it meanwhile."""
        (guest,) = guests("A")
        server = self.add_server(guest)
        old = {"action": "live-migration", "start_time": "2026-01-01T09:00:00"}
        new = [
            {"action": action, "start_time": f"2026-01-01T10:0{at}:00.000000"}
            for at, action in enumerate(actions)
        ]
        self.cloud.compute.actions = {
            f"/servers/{guest.id}/os-instance-actions": [*reversed(new), old]
        }
        updates = {}
        self.assertEqual(
            [], placement.find_changes(self.cloud, [guest], updates)
        )
        server.updated_at = updated
        changes = placement.find_changes(self.cloud, [guest], updates)
        self.assertEqual(
            [], placement.find_changes(self.cloud, [guest], updates)
        )
        requests = 0 if expected is None else 1
        self.assertEqual(requests, self.cloud.calls.count("get"))
        self.assertEqual(
            [("guest_host_changed", expected)] * bool(expected),
            [(change.kind, change.detail) for change in changes],
        )

    def test_actions_that_nova_does_not_list(self):
        (guest,) = guests("A")
        self.add_server(guest)
        self.reject("get")
        updates = {guest.id: "2026-01-01T09:00:00Z"}
        self.assertEqual(
            [], placement.find_changes(self.cloud, [guest], updates)
        )
        self.assertEqual(["servers", "get"], self.cloud.calls)

    @ddt.data(("ACTIVE", True), ("HARD_REBOOT", True), ("SHUTOFF", False))
    @ddt.unpack
    def test_runs(self, status, expected):
        """One that is being rebooted is waited for, a dead one is not."""
        (guest,) = guests("A")
        self.add_server(guest, status=status)
        self.assertIs(expected, placement.is_running(self.cloud, guest))
        self.reject("get_server")
        self.assertIs(False, placement.is_running(self.cloud, guest))

    def test_only_the_one_that_moved(self):
        three = guests("A", "A", "A")
        servers = [self.add_server(guest) for guest in three]
        servers[1].host_id = "hash-C"
        self.assertEqual([("guest_host_changed", "g2")], self.kinds(three))

    def test_a_server_that_nova_does_not_list(self):
        both = guests("A", "A")
        self.add_server(both[1])
        self.assertEqual([("placement_unknown", "g1")], self.kinds(both))

    def test_nova_does_not_list_servers(self):
        both = guests("A", "A")
        self.reject("servers")
        self.assertEqual(
            [("placement_unknown", guest.name) for guest in both],
            self.kinds(both),
        )

    def test_no_request_without_guests(self):
        self.assertEqual([], placement.find_changes(self.cloud, [], {}))
        self.assertEqual([], self.cloud.calls)
