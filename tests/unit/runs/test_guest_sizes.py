"""Tests for the promised sizes of guests."""

import dataclasses
import unittest

from rally_vmperf.guests import models
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.runs import guest_sizes
from tests.unit.guests import made

GIB = 1 << 30
#: A disk of 20 GiB and one of 1 GiB in sectors of 512 bytes, and a CD-ROM.
DISKS = [
    {"name": "vda", "sectors": "41943040"},
    {"name": "vdb", "sectors": "2097152"},
    {"name": "sr0", "sectors": "1024"},
]
FACTS = {
    "online_cpus": 4,
    "firmware_memory_bytes": 8 * GIB,
    "disks": DISKS,
    "root_disk": "vda",
}


class GuestSizesTest(unittest.TestCase):
    """Promised and delivered vCPUs, memory and boot disk."""

    def setUp(self):
        guest = made.guest()
        self.guest = dataclasses.replace(
            guest,
            flavor=dataclasses.replace(
                guest.flavor, vcpus=4, memory_mib=8192, disk_gib=20
            ),
            disk=models.Disk(source="flavor", size_gib=20),
        )

    def find(self, **facts):
        """Return the sizes by name, and the findings."""
        sizes, unknown = guest_sizes.find_sizes(
            [self.guest], {"g1": {**FACTS, **facts}}
        )
        return {
            size.name: (size.promised, size.delivered) for size in sizes
        }, unknown

    def test_sizes(self):
        sizes, unknown = self.find()
        self.assertEqual(
            {
                "vcpus": (4, 4),
                "memory": (8 * GIB, 8 * GIB),
                "disk": (20 * GIB, 20 * GIB),
            },
            sizes,
        )
        self.assertEqual([], unknown)

    def test_unknown_facts(self):
        """They are named, and never taken as kept."""
        sizes, unknown = self.find(
            online_cpus=None, firmware_memory_bytes=None, root_disk=None
        )
        self.assertEqual({}, sizes)
        self.assertEqual(
            ["vcpus", "memory", "disk"],
            [found.detail.partition(":")[0] for found in unknown],
        )
        self.assertEqual(
            {("promise_not_checked", "g1")},
            {(found.kind, found.subject) for found in unknown},
        )

    def test_root_on_a_logical_volume(self):
        """The only fixed disk of the guest has it."""
        sizes, _ = self.find(root_disk="dm-0", disks=[DISKS[0], DISKS[2]])
        self.assertEqual((20 * GIB, 20 * GIB), sizes["disk"])

    def test_data_volumes(self):
        """Their devices are not the boot disk, whatever it has."""
        self.guest = dataclasses.replace(
            self.guest,
            volumes=(
                models.Volume(id="v1", size_gib=1),
                models.Volume(id="v2", size_gib=3, is_encrypted=True),
            ),
        )
        sizes, unknown = guest_sizes.find_sizes(
            [self.guest],
            {"g1": {**FACTS, "root_disk": "dm-0"}},
            {
                "g1": [
                    devices.Attached("/dev/vdb", GIB),
                    devices.Attached("/dev/vdc", 3 * GIB - 1),
                ]
            },
        )
        by_name = {size.name: size for size in sizes}
        self.assertEqual(20 * GIB, by_name["disk"].delivered)
        volume = by_name["volume_1"]
        self.assertEqual((GIB, GIB), (volume.promised, volume.delivered))
        self.assertEqual("guest.volume_1.size", volume.metric.name)
        self.assertEqual("size of volume 1", volume.title)
        self.assertEqual(
            ["volume_2: the header of its encryption takes a part of it"],
            [found.detail for found in unknown],
        )

    def test_flavor_without_a_disk(self):
        """The image decides its size."""
        self.guest = dataclasses.replace(
            self.guest, disk=models.Disk(source="flavor", size_gib=0)
        )
        sizes, unknown = self.find()
        self.assertNotIn("disk", sizes)
        self.assertEqual([], unknown)

    def test_guest_that_was_not_reached(self):
        self.assertEqual(((), []), guest_sizes.find_sizes([self.guest], {}))
