# SPDX-License-Identifier: Apache-2.0
"""Tests for the look at the quota."""

import unittest

import ddt

from rally_vmperf.guests.planning import quota
from tests.unit.guests import testing


@ddt.ddt
class CheckTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()

    @ddt.unpack
    @ddt.data(
        (
            {"instances": 3},
            "quota: project demo has quota for 1 more instances, 3 are "
            "required; request less, delete unused resources, or raise the "
            "quota",
        ),
        (
            {"instances": 3, "cores": 25},
            "quota: project demo has quota for 1 more instances, 3 are "
            "required; has quota for 20 more cores, 25 are required; request "
            "less, delete unused resources, or raise the quota",
        ),
        (
            {"server groups": 2, "volumes": 11, "ports": 51},
            "quota: project demo has quota for 1 more server groups, 2 are "
            "required; has quota for 10 more volumes, 11 are required; has "
            "quota for 50 more ports, 51 are required; request less, delete "
            "unused resources, or raise the quota",
        ),
        (
            {"security groups": 10, "security group rules": 97},
            "quota: project demo has quota for 9 more security groups, 10 are "
            "required; has quota for 96 more security group rules, 97 are "
            "required; request less, delete unused resources, or raise the "
            "quota",
        ),
        (
            {"floating IPs": 6},
            "quota: project demo has quota for 5 more floating IPs, 6 "
            "are required; request less, delete unused resources, or "
            "raise the quota",
        ),
    )
    def test_refusal(self, needs, message):
        self.cloud.compute.limits.instances_used = 9
        self.cloud.compute.limits.server_groups_used = 9
        self.assertEqual(message, self.refusal(needs))

    @ddt.data(
        {"instances": 10, "cores": 20},
        {"MiB of memory": 1 << 30},
        {"floating IPs": 5},
        {},
    )
    def test_room(self, needs):
        self.assertEqual("", self.refusal(needs))

    def refusal(self, needs):
        rooms = quota.find_free_quota(self.cloud, needs)
        return quota.describe_shortage("demo", rooms, needs)

    def test_key_pairs_of_the_user(self):
        """Nova does not count them in its limits."""
        self.cloud.compute.limits.keypairs = 1
        self.assertEqual("", self.refusal({"key pairs": 1}))
        self.cloud.compute.create_keypair(
            name="other", public_key="ssh-ed25519 AAAA"
        )
        self.assertIn(
            "has quota for 0 more key pairs, 1 is required",
            self.refusal({"key pairs": 1}),
        )

    def test_neutrons_quota_may_be_hidden(self):
        self.cloud.network.floating_quota = None
        self.cloud.network.port_quota = None
        self.cloud.network.group_quota = None
        self.cloud.network.rule_quota = None
        self.assertEqual({}, quota.find_free_network_quota(self.cloud))
