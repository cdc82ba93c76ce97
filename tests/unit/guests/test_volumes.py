# SPDX-License-Identifier: Apache-2.0
"""Tests for volumes that guests boot from."""

import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.guests import volumes
from rally_vmperf.guests.planning import plan
from tests.unit.guests import made
from tests.unit.guests import testing
from tests.unit.guests.testing import calls


def volume(status):
    return calls.Thing(id="v1", name="v", status=status)


@ddt.ddt
@mock.patch("time.sleep", new=mock.Mock())
class VolumesTest(unittest.TestCase):
    def setUp(self):
        self.cloud = testing.FakeCloud()

    def make(self, **options):
        guest_request = made.build_request(**options)
        return volumes.create_volumes(
            self.cloud,
            {
                name: (demand.image, demand.group)
                for name, demand in plan.create_plan(self.cloud, guest_request)
                .guests()
                .items()
            },
            guest_request.boot_timeout,
            lambda: "c_rally_1234abcd_00000001",
            lambda line: None,
        )

    def test_the_disk_of_a_guest(self):
        """It is the boot volume, or else the disk of the flavor."""
        flavor = models.Flavor(
            id="f", name="f", vcpus=1, memory_mib=512, disk_gib=4
        )
        self.assertEqual(
            models.Disk(source="flavor", size_gib=4),
            volumes.describe_disk(None, flavor),
        )
        self.assertEqual(
            models.Disk(
                source="volume", size_gib=8, type="ssd", is_encrypted=True
            ),
            volumes.describe_disk(
                calls.Thing(size=8, volume_type="ssd", is_encrypted=True),
                flavor,
            ),
        )

    def test_no_volume_without_a_request(self):
        self.assertEqual({"g1": volumes.GuestVolumes()}, self.make())
        self.assertNotIn("create_volume", self.cloud.calls)

    def test_one_for_each_guest(self):
        made_volumes = self.make(
            count=2, boot_volume={"size_gib": 8, "type": "ssd"}
        )
        self.assertEqual(
            ["available"] * 2,
            [volumes.boot.status for volumes in made_volumes.values()],
        )
        self.assertEqual(
            {
                "name": "c_rally_1234abcd_00000001",
                "size": 8,
                "image_id": "i1",
                "volume_type": "ssd",
            },
            self.cloud.block_storage.requests[0],
        )

    def test_data_volumes(self):
        """Each guest has as many as requested, without an image."""
        made_volumes = self.make(
            count=2,
            boot_volume={"size_gib": 8},
            volumes=[
                {"size_gib": 3, "type": "ssd", "count": 2},
                {"size_gib": 5},
            ],
        )
        self.assertEqual(
            [(3, "ssd"), (3, "ssd"), (5, "standard")],
            [
                (each.size, each.volume_type)
                for each in made_volumes["g2"].data
            ],
        )
        requests = self.cloud.block_storage.requests
        self.assertEqual(8, len(requests))
        self.assertEqual(
            [True, False, False, False] * 2,
            ["image_id" in each for each in requests],
        )
        self.assertEqual(
            {"available"},
            {
                each.status
                for each in self.cloud.block_storage.all_volumes.values()
            },
        )

    def test_data_volumes_without_a_boot_volume(self):
        (guest_volumes,) = self.make(volumes=[{"size_gib": 3}]).values()
        self.assertIsNone(guest_volumes.boot)
        self.assertEqual([3], [each.size for each in guest_volumes.data])

    @ddt.data(("error", 60), ("creating", 0))
    @ddt.unpack
    def test_data_volume_that_fails(self, status, timeout):
        self.cloud.block_storage.final_status = status
        with self.assertRaisesRegex(errors.GuestError, f"v.* is .*{status}"):
            self.make(volumes=[{"size_gib": 8}], boot_timeout=timeout)

    @ddt.unpack
    @ddt.data(
        ([{"size_gib": 8, "type": "x"}], "volumes: type 'x' does not.*ssd"),
        ([{"size_gib": 8, "count": 11}], "quota for 10 more volumes, 11 are"),
        ([{"size_gib": 60, "count": 2}], "100 more GiB of volumes, 120 are"),
        ([{"size_gib": 51}], "quota for 50 more GiB of one volume, 51 are"),
    )
    def test_data_volumes_refused_before(self, listed, message):
        self.cloud.block_storage.quota.per_volume_gigabytes = 50
        with self.assertRaisesRegex(errors.GuestError, message):
            plan.create_plan(
                self.cloud, made.build_request(volumes=listed)
            ).requirements.check()
        self.assertNotIn("create_volume", self.cloud.calls)

    @ddt.unpack
    @ddt.data(
        (
            "error",
            60,
            "is in error; check the free space of its volume type",
        ),
        ("downloading", 0, "is creating, not available in time; raise"),
    )
    def test_failure(self, status, timeout, message):
        self.cloud.block_storage.final_status = status
        with self.assertRaisesRegex(errors.GuestError, message):
            self.make(boot_volume={"size_gib": 8}, boot_timeout=timeout)

    @ddt.unpack
    @ddt.data(
        ({"size_gib": 2}, "size_gib=2: must be >= 3 for image 'debian'"),
        ({"size_gib": 8, "type": "x"}, "type 'x' does not exist.*ssd"),
        ({"size_gib": 101}, "quota for 100 more GiB of volumes, 101 are"),
    )
    def test_refused_before(self, boot_volume, message):
        with self.assertRaisesRegex(errors.GuestError, message):
            plan.create_plan(
                self.cloud, made.build_request(boot_volume=boot_volume)
            ).requirements.check()

    def test_a_cloud_without(self):
        self.cloud.services.clear()
        message = "boot_volume: the cloud has no block-storage service"
        with self.assertRaisesRegex(errors.GuestError, message):
            plan.create_plan(
                self.cloud, made.build_request(boot_volume={"size_gib": 8})
            )

    def test_a_cloud_without_data_volumes(self):
        self.cloud.services.clear()
        with self.assertRaisesRegex(errors.GuestError, "^volumes: the cloud"):
            plan.create_plan(
                self.cloud, made.build_request(volumes=[{"size_gib": 8}])
            )

    def test_the_flavors_disk_does_not_count(self):
        self.cloud.image.all_images[0].min_disk = 8
        plan.create_plan(
            self.cloud, made.build_request(boot_volume={"size_gib": 8})
        )

    @ddt.unpack
    @ddt.data(
        ("available", True),
        ("error", True),
        ("error_deleting", True),
        ("in-use", False),
        ("detaching", False),
        ("deleting", False),
    )
    def test_a_volume_in_use_waits(self, status, asked_for):
        try:
            volumes.delete_volume(self.cloud, volume(status))
        except cloud.CloudBusy as error:
            self.assertTrue(cloud.is_temporary(error))
        self.assertEqual(asked_for, "delete_volume" in self.cloud.calls)
