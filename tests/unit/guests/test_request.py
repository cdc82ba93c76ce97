# SPDX-License-Identifier: Apache-2.0
"""Tests of requests for guests, and of guests as plain data."""

import copy
import unittest

import ddt
import jsonschema

from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.machines.remote import target
from rally_vmperf.plugins import contexts
from tests.unit.guests import made

SMALL = {"image": {"name": "debian"}, "flavor": {"name": "small"}}
HOP = {"address": "192.0.2.1", "user": "rally"}


def groups(*names, **options):
    """Return the options of a group for each name."""
    return [{"name": name, **SMALL, **options} for name in names]


@ddt.ddt
class RequestTest(unittest.TestCase):
    def test_one_group(self):
        """Its options are next to those of the run."""
        config = request.parse_config(
            {**SMALL, "count": 3, "host": "h1", "jump": HOP, "install": True}
        )
        (group,) = config.groups
        self.assertEqual(("default", 3), (group.name, group.count))
        self.assertEqual(
            request.ResourceReference(by="name", value="small"), group.flavor
        )
        self.assertEqual((target.JumpHost(**HOP),), config.jump)
        self.assertEqual("h1", config.host)
        self.assertEqual(3, config.count)

    def test_groups(self):
        """Options next to the groups are defaults of the groups."""
        guest_groups = groups("a", count=2) + groups("b", user="rocky")
        config = request.parse_config(
            {"groups": guest_groups, "user": "me", "count": 1}
        )
        self.assertEqual(
            [("a", 2, "me"), ("b", 1, "rocky")],
            [(group.name, group.count, group.user) for group in config.groups],
        )
        self.assertEqual(3, config.count)

    @ddt.unpack
    @ddt.data(
        (SMALL, True),
        ({**SMALL, "count": 2}, True),
        ({"image": {"name": "x"}}, False),
        ({}, False),
        ({**SMALL, "groups": groups("a")}, False),
        ({"groups": groups("a")}, False),
        ({**SMALL, "extra_specs": {"hw:cpu_policy": "dedicated"}}, True),
        ({**SMALL, "extra_specs": {"hw:numa_nodes": 2}}, False),
        ({**SMALL, "extra_specs": {"hw cpu": "a"}}, False),
        ({**SMALL, "extra_specs": {"hw:a\n": "a"}}, False),
        ({**SMALL, "extra_specs": {"hw:a": ""}}, False),
        ({**SMALL, "extra_specs": {}}, True),
        ({**SMALL, "network": "", "host": None, "hosts": []}, True),
        ({**SMALL, "network": "private", "image": "debian"}, True),
        ({**SMALL, "image": ""}, False),
        ({**SMALL, "flavor": {}}, False),
        ({**SMALL, "network": {"nmae": "private"}}, False),
        ({**SMALL, "network": 1.5}, False),
        ({**SMALL, "count": 0}, False),
        ({**SMALL, "image_properties": {"hw_a": "b"}}, True),
        ({**SMALL, "image_properties": {"hw_a": True}}, False),
        ({**SMALL, "image_properties": {"visibility": "b"}}, False),
    )
    def test_schema(self, options, valid):
        """Image and flavor are required, empty ones not given."""
        rule = jsonschema.Draft7Validator(contexts.Guests.CONFIG_SCHEMA)
        self.assertEqual(valid, rule.is_valid(options))


class GuestTest(unittest.TestCase):
    def test_copies(self):
        """Rally copies its context for every iteration."""
        guest = made.guest(
            jump=target.jump_hosts([HOP, HOP]),
            login=target.Login(password_file="/p"),
            disk=models.Disk(source="volume", size_gib=8, type="ssd"),
            networks=("a", "b"),
        )
        for each in (guest, made.guest(namespace="qrouter-1"), made.guest()):
            self.assertEqual(each, copy.deepcopy(each))

    def test_started(self):
        guest = made.guest(boot="s#9")
        started = guest.started(7.0)
        self.assertEqual(("s#10", 7.0), (started.boot, started.requested_at))
        self.assertEqual(2.5, started.answered(9.5).ssh_seconds)
