# SPDX-License-Identifier: Apache-2.0
"""Tests for where guests are put."""

import unittest

import ddt
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import errors
from rally_vmperf.guests import hosts
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


def aggregate(name, members, zone=None):
    return calls.Thing(
        id=name, name=name, hosts=members, availability_zone=zone
    )


@ddt.ddt
class SettleTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()
        self.cloud.compute.all_zones = {
            "nova": ["h1", "h2", "h3"],
            "fast": ["h4", "h5"],
        }
        self.cloud.compute.all_aggregates = [
            aggregate("ssd", ["h1", "h2"]),
            aggregate("whole", ["h4", "h5"], "fast"),
            aggregate("part", ["h5"], "fast"),
            aggregate("one", ["h3"]),
            aggregate("empty", []),
            aggregate("gone", ["h9"]),
        ]

    def test_groups_of_their_own(self):
        """Each group has its host, or that of the request, or none."""
        groups = [
            {"name": name, "image": {"name": "i"}, "flavor": {"name": "f"}}
            for name in ("a", "b", "c")
        ]
        groups[1].update(host="h4", count=2)
        groups[2].update(aggregate="one")
        resolved = self.settle(groups=groups)
        self.assertEqual(
            (None, "fast:h4", "fast:h4", "nova:h3"), resolved.zones
        )
        self.assertEqual(frozenset(), resolved.hosts)
        resolved = self.settle(groups=groups, host="h1")
        self.assertEqual("nova:h1", resolved.zones[0])
        self.assertEqual({"h1", "h4", "h3"}, resolved.hosts)

    def settle(self, **options):
        return hosts.resolve_placement(
            self.cloud, made.build_request(**options)
        )

    @ddt.unpack
    @ddt.data(
        ({}, [None], ""),
        ({"count": 2}, [None, None], ""),
        ({"availability_zone": "fast"}, ["fast"], ""),
        ({"host": "h4"}, ["fast:h4"], "h4"),
        ({"host": "h4", "availability_zone": "fast"}, ["fast:h4"], "h4"),
        ({"host": "h2", "aggregate": "ssd"}, ["nova:h2"], "h2"),
        (
            {"hosts": ["h4", "h1"], "count": 4},
            ["fast:h4", "nova:h1"] * 2,
            "h1 h4",
        ),
        # hosts in turn
        (
            {"aggregate": "ssd", "count": 3},
            ["nova:h1", "nova:h2", "nova:h1"],
            "h1 h2",
        ),
        # together
        (
            {"aggregate": "ssd", "count": 2, "server_group": "affinity"},
            ["nova:h1", "nova:h1"],
            "h1 h2",
        ),
        (
            {"aggregate": "ssd", "count": 2, "server_group": "anti-affinity"},
            ["nova:h1", "nova:h2"],
            "h1 h2",
        ),
        # its zone has no other hosts, so the scheduler may choose
        ({"aggregate": "whole", "count": 2}, ["fast", "fast"], "h4 h5"),
        # its zone has others
        ({"aggregate": "part"}, ["fast:h5"], "h5"),
        (
            {"aggregate": "part", "availability_zone": "fast"},
            ["fast:h5"],
            "h5",
        ),
    )
    def test_zones(self, options, zones, there):
        resolved = self.settle(**options)
        self.assertEqual(zones, list(resolved.zones))
        self.assertEqual(set(there.split()), resolved.hosts)

    @ddt.unpack
    @ddt.data(
        (
            {"availability_zone": "x"},
            "availability_zone 'x' does not exist; there are: fast, nova",
        ),
        ({"availability_zone": "nova:h1"}, "to select a host, set host"),
        ({"host": "x"}, "host 'x' is not a compute host; to list"),
        (
            {"host": "h1", "availability_zone": "fast"},
            "availability_zone 'fast': host 'h1' is in 'nova'",
        ),
        (
            {"host": "h3", "aggregate": "ssd"},
            "host 'h3' is not in aggregate 'ssd', which has: h1, h2",
        ),
        (
            {"aggregate": "x"},
            "aggregate 'x' does not exist; the project sees empty, gone, one, "
            "part, ssd, whole",
        ),
        ({"hosts": ["h1", "h"]}, "host 'h' is not a compute host; to list"),
        (
            {"hosts": ["h1"], "host": "h2"},
            "^host and hosts: cannot be combined",
        ),
        (
            {"hosts": ["h1", "h2"], "count": 2, "server_group": "affinity"},
            "the guests cannot share one host of 2",
        ),
        (
            {
                "hosts": ["h1", "h2"],
                "count": 3,
                "server_group": "anti-affinity",
            },
            "3 guests require as many hosts, hosts has 2",
        ),
        ({"aggregate": "empty"}, "'empty' has no compute host .*has: none"),
        ({"aggregate": "gone"}, "'gone' has no compute host .*has: h9"),
        (
            {"aggregate": "ssd", "availability_zone": "fast"},
            "no compute host in availability_zone 'fast'",
        ),
        (
            {"host": "h1", "count": 2, "server_group": "anti-affinity"},
            "server_group 'anti-affinity': 2 guests require as many hosts, "
            "host 'h1' has 1; request fewer guests",
        ),
        (
            {"aggregate": "ssd", "count": 3, "server_group": "anti-affinity"},
            "3 guests require as many hosts, aggregate 'ssd' has 2",
        ),
    )
    def test_refused(self, options, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            self.settle(**options)

    @ddt.data({"status": "disabled"}, {"state": "down"})
    def test_hosts_that_take_no_guests_are_left_out(self, service):
        self.cloud.compute.service_states["h1"] = service
        resolved = self.settle(aggregate="ssd", count=2)
        self.assertEqual(("nova:h2", "nova:h2"), resolved.zones)

    def test_hosts_that_are_down(self):
        self.cloud.compute.service_states["h2"] = {"state": "down"}
        with self.assertRaisesRegex(errors.GuestError, "'h2' is disabled or"):
            self.settle(hosts=["h1", "h2"], count=2)

    @ddt.unpack
    @ddt.data(
        ({"host": "h4"}, [{"host": "h4"}]),
        ({"hosts": ["h1", "h4"]}, [{"host": "h1"}, {"host": "h4"}]),
        ({"aggregate": "ssd"}, [{"host": "h1"}, {"host": "h2"}]),
        ({"hosts": [f"h{number}" for number in range(1, 10)]}, [{}]),
    )
    def test_nova_lists_the_requested_hosts(self, options, queries):
        """Few hosts are requested by name, as a cloud may have thousands."""
        self.cloud.compute.all_zones["nova"] += [
            f"h{number}" for number in range(6, 2000)
        ]
        self.settle(**options)
        self.assertEqual(
            [{"binary": "nova-compute", **query} for query in queries],
            [
                query
                for call, query in self.cloud.queries
                if call == "services"
            ],
        )

    @ddt.data("host", "aggregate")
    def test_members_may_not(self, key):
        def refuse(called, is_done):
            if called in ("services", "aggregates"):
                raise sdk_errors.ForbiddenException("no", http_status=403)

        self.cloud.interrupt = refuse
        message = f"{key} 'x': only an administrator may select the {key}"
        with self.assertRaisesRegex(errors.GuestError, message):
            self.settle(**{key: "x"})
