# SPDX-License-Identifier: Apache-2.0
"""Tests of the fit of images and flavors."""

import unittest
from unittest import mock

import ddt
from openstack import exceptions

from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import request
from rally_vmperf.guests import resolve
from tests.unit.guests import testing
from tests.unit.guests.testing import calls

IMAGE = calls.Thing(
    name="debian", min_disk=3, min_ram=0, size=1 << 29, virtual_size=2 << 30
)


def build_flavor(**changes):
    """Return a flavor."""
    return models.Flavor(
        **{
            "id": "f1",
            "name": "SCS-1V-4",
            "vcpus": 1,
            "memory_mib": 4096,
            "disk_gib": 10,
            "extra_specs": {},
            **changes,
        }
    )


class TestFlavor(unittest.TestCase):
    """A flavor in Nova."""

    def test_sizes(self):
        """Before microversion 2.75, no swap is an empty text."""
        cloud = testing.FakeCloud()
        (listed,) = cloud.compute.all_flavors
        for swap, ephemeral, expected in (("", 0, (0, 0)), (512, 3, (512, 3))):
            listed.swap, listed.ephemeral = swap, ephemeral
            flavor = resolve.get_flavor(
                cloud, request.ResourceReference(by="name", value="small")
            )
            self.assertEqual(expected, (flavor.swap_mib, flavor.ephemeral_gib))

    def test_hidden_extra_specs(self):
        """They differ from a flavor that has none."""
        cloud = testing.FakeCloud()
        reference = request.ResourceReference(by="name", value="small")
        flavor = resolve.get_flavor(cloud, reference)
        self.assertFalse(flavor.has_hidden_extra_specs)
        cloud.compute.fetch_flavor_extra_specs = mock.Mock(
            side_effect=exceptions.ForbiddenException
        )
        flavor = resolve.get_flavor(cloud, reference)
        self.assertTrue(flavor.has_hidden_extra_specs)
        self.assertEqual({}, flavor.extra_specs)


@ddt.ddt
class TestCheckFit(unittest.TestCase):
    """An image fits on the disk of a flavor or on a volume."""

    @ddt.data(
        ({}, None),
        ({"disk_gib": 0}, 3),
        ({"extra_specs": {"resources:CUSTOM_SCS_TIER": "1"}}, None),
    )
    @ddt.unpack
    def test_fits(self, changes, volume_gib):
        resolve.check_fit(IMAGE, build_flavor(**changes), volume_gib)

    @ddt.data(
        ({"disk_gib": 2}, None, "disk of 2 GiB, image 'debian' requires 3"),
        ({"disk_gib": 0}, 2, "size_gib=2: must be >= 3"),
        (
            {"disk_gib": 0},
            None,
            "'SCS-1V-4' has no disk.*boot_volume: {size_gib: 3} to the guests",
        ),
        ({"extra_specs": {"resources:VCPU": "0"}}, None, "nodes of Ironic"),
        (
            {"extra_specs": {"resources:CUSTOM_BAREMETAL_GOLD": "1"}},
            None,
            "nodes of Ironic",
        ),
    )
    @ddt.unpack
    def test_does_not_fit(self, changes, volume_gib, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            resolve.check_fit(IMAGE, build_flavor(**changes), volume_gib)
