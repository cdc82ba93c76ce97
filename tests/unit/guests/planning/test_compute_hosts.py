# SPDX-License-Identifier: Apache-2.0
"""Tests of the hosts of a cloud and their inventories."""

import unittest

from rally_vmperf.guests import errors
from rally_vmperf.guests.planning import compute_hosts
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


class TestComputeHosts(unittest.TestCase):
    """As an administrator sees them."""

    def setUp(self):
        super().setUp()
        self.cloud = testing.FakeCloud()
        self.cloud.compute.all_zones = {"nova": ["h2", "h1"], "fast": ["h3"]}
        self.cloud.compute.all_aggregates = [
            calls.Thing(id="1", name="ssd", hosts=["h1", "h9"]),
            calls.Thing(id="2", name="empty", hosts=None),
        ]

    def test_usable_hosts(self):
        """They are enabled and up."""
        self.assertEqual(
            ["h1", "h2", "h3"], compute_hosts.list_usable(self.cloud)
        )
        self.cloud.compute.service_states = {
            "h1": {"status": "disabled"},
            "h3": {"state": "down"},
        }
        self.assertEqual(["h2"], compute_hosts.list_usable(self.cloud))
        for zone, names in (("nova", ["h2"]), ("fast", [])):
            usable = compute_hosts.list_usable(self.cloud, zone=zone)
            self.assertEqual(names, usable)

    def test_aggregate(self):
        """Only its hosts that exist."""
        self.assertEqual(["h1"], compute_hosts.list_usable(self.cloud, "ssd"))
        self.assertEqual([], compute_hosts.list_usable(self.cloud, "empty"))
        with self.assertRaisesRegex(errors.GuestError, "sees empty, ssd"):
            compute_hosts.list_usable(self.cloud, "x")

    def test_inventories(self):
        """By the name of the host in Nova."""
        self.cloud.placement.all_hosts = {
            "h1.example.org": {"VCPU": (32, 4)},
            "h2": {"VCPU": (64, 0), "MEMORY_MB": (4096, 0)},
        }
        inventories = compute_hosts.read_inventories(
            self.cloud, ["h1", "h2", "gone"]
        )
        self.assertEqual({"h1", "h2"}, inventories.keys())
        self.assertEqual(
            {"total": 32, "reserved": 0, "allocation_ratio": 4.0},
            inventories["h1"]["VCPU"],
        )

    def test_forbidden(self):
        """It is one line."""
        self.cloud.placement.ok = False
        with self.assertRaisesRegex(
            errors.GuestError, "read inventories, as administrator: "
        ):
            compute_hosts.read_inventories(self.cloud, ["h1"])
