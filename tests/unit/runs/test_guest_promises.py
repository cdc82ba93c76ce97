# SPDX-License-Identifier: Apache-2.0
"""Tests for the promised sizes of guests."""

import dataclasses
import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.guests import models
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.runs import guest_promises
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


@ddt.ddt
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
        sizes, unknown = guest_promises.find_sizes(
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

    def test_volume_with_several_paths(self):
        """The path of a data volume is no local disk."""
        self.guest = dataclasses.replace(
            self.guest,
            flavor=dataclasses.replace(self.guest.flavor, ephemeral_gib=10),
            volumes=(models.Volume(id="v1", size_gib=1),),
        )
        disks = [
            DISKS[0],
            {"name": "sda", "sectors": "2097152", "multipath": "dm-0"},
        ]
        for path, found in (("/dev/dm-0", {"ephemeral_disk": 0}), ("", {})):
            sizes, _ = guest_promises.find_sizes(
                [self.guest],
                {"g1": {**FACTS, "disks": disks}},
                {"g1": [devices.Attached(path, GIB)]},
            )
            ephemeral = {
                size.name: size.delivered
                for size in sizes
                if size.name == "ephemeral_disk"
            }
            self.assertEqual(found or {"ephemeral_disk": GIB}, ephemeral)

    def test_root_on_a_logical_volume(self):
        """The only fixed disk of the guest has it."""
        sizes, _ = self.find(root_disk="dm-0", disks=[DISKS[0], DISKS[2]])
        self.assertEqual((20 * GIB, 20 * GIB), sizes["disk"])

    def find_extra(self, *disks, ephemeral=10, swap=0, **facts):
        """Return the sizes of the extra disks, and what is not known.

        :param disks: The sizes in MiB of the disks next to the boot disk.
        :param ephemeral: The promised GiB.
        :param swap: The promised MiB.
        """
        self.guest = dataclasses.replace(
            self.guest,
            flavor=dataclasses.replace(
                self.guest.flavor, ephemeral_gib=ephemeral, swap_mib=swap
            ),
        )
        listed = [
            {"name": f"vd{letter}", "sectors": str(size * 2048)}
            for letter, size in zip("bcdefgh", disks, strict=False)
        ]
        sizes, unknown = self.find(
            **{"disks": [DISKS[0], *listed, DISKS[2]], **facts}
        )
        found = {
            name: delivered >> 20
            for name, (_, delivered) in sizes.items()
            if name not in ("vcpus", "memory", "disk")
        }
        return found, [each.detail.partition(":")[0] for each in unknown]

    @ddt.unpack
    @ddt.data(
        # Nova puts the ephemeral disk before swap, and both before volumes.
        ((10240, 512), {"ephemeral_disk": 10240, "swap_disk": 512}),
        ((512, 10240), {"ephemeral_disk": 10240, "swap_disk": 512}),
        ((10240,), {"ephemeral_disk": 10240, "swap_disk": 0}),
        ((), {"ephemeral_disk": 0, "swap_disk": 0}),
        ((5120, 512), {"ephemeral_disk": 5120, "swap_disk": 512}),
        # A disk that someone attached, and a config drive.
        ((5120, 10240, 512), {"ephemeral_disk": 10240, "swap_disk": 512}),
        ((10240, 512, 64), {"ephemeral_disk": 10240, "swap_disk": 512}),
    )
    def test_extra_disks(self, disks, found):
        """They are known by their sizes: they have no serial numbers."""
        self.assertEqual((found, []), self.find_extra(*disks, swap=512))

    @ddt.unpack
    @ddt.data(
        ((5120, 256), 512, {}, ["ephemeral_disk", "swap_disk"]),
        ((5120,), 512, {}, ["ephemeral_disk", "swap_disk"]),
        ((5120, 4096), 0, {}, ["ephemeral_disk"]),
        # A cloud may give each guest a config drive.
        ((10240, 64), 512, {"ephemeral_disk": 10240}, ["swap_disk"]),
    )
    def test_unknown_extra_disks(self, disks, swap, found, unknown):
        """It is never guessed which disk has the wrong size."""
        self.assertEqual((found, unknown), self.find_extra(*disks, swap=swap))

    def test_paths_to_nvme_disks(self):
        """They are no disks, but ways to the one that has the name."""
        disks = [
            {"name": name, "sectors": DISKS[0]["sectors"]}
            for name in ("nvme0n1", "nvme0c0n1")
        ]
        self.assertEqual(
            ({"ephemeral_disk": 0}, []),
            self.find_extra(disks=disks, root_disk="nvme0n1", ephemeral=20),
        )

    def test_requested_config_drive(self):
        """It is none of the promised disks."""
        self.guest = dataclasses.replace(self.guest, config_drive=True)
        self.assertEqual(({"ephemeral_disk": 0}, []), self.find_extra(64))

    @ddt.unpack
    @ddt.data(
        ((64,), {}, ["swap_disk"]),
        ((64, 64), {"swap_disk": 64}, []),
        ((), {"swap_disk": 0}, []),
    )
    def test_swap_of_the_size_of_a_config_drive(self, disks, found, unknown):
        """One disk can be the one or the other: most drives are CD-ROMs."""
        for is_requested in (True, False):
            self.guest = dataclasses.replace(
                self.guest, config_drive=is_requested
            )
            self.assertEqual(
                (found, unknown),
                self.find_extra(*disks, ephemeral=0, swap=64),
            )

    def test_extra_disks_of_an_unknown_boot_disk(self):
        """A disk of each promised size is enough; nothing else is judged."""
        unknown = {"root_disk": "dm-0"}
        self.assertEqual(
            ({"ephemeral_disk": 10240}, []), self.find_extra(10240, **unknown)
        )
        ephemeral = {"name": "vdb", "sectors": str(10240 * 2048)}
        sizes, _ = self.find(disks=[DISKS[0], ephemeral], **unknown)
        self.assertEqual((20 * GIB, 20 * GIB), sizes["disk"])
        self.assertEqual(
            ({}, ["disk", "ephemeral_disk"]),
            self.find_extra(5120, **unknown),
        )
        # The disk of 10 GiB can be a boot disk of a wrong size.
        wrong = [
            {"name": name, "sectors": str(size * 2048)}
            for name, size in (("vda", 10240), ("vdb", 5120))
        ]
        self.assertEqual(
            ({}, ["disk", "ephemeral_disk"]),
            self.find_extra(disks=wrong, **unknown),
        )
        # The only disk is the boot disk.
        self.assertEqual(
            ({"ephemeral_disk": 0}, []), self.find_extra(**unknown)
        )
        # The disk of 20 GiB can be the one or the other.
        self.assertEqual(
            ({}, ["disk", "ephemeral_disk"]),
            self.find_extra(5120, ephemeral=20, **unknown),
        )
        self.guest = dataclasses.replace(
            self.guest, disk=models.Disk(source="flavor", size_gib=0)
        )
        self.assertEqual(
            ({}, ["ephemeral_disk"]), self.find_extra(10240, **unknown)
        )

    def test_unreadable_disks(self):
        """What the kernel does not report is not missing."""
        strange = {"name": "vdb", "sectors": "many"}
        self.assertEqual(
            ({}, ["ephemeral_disk"]),
            self.find_extra(disks=[DISKS[0], strange]),
        )
        # The fingerprint has 64 disks, and here as many CD-ROMs.
        self.assertEqual(
            ({}, ["ephemeral_disk"]),
            self.find_extra(disks=[DISKS[0], *[DISKS[2]] * 63]),
        )
        self.guest = dataclasses.replace(
            self.guest, volumes=(models.Volume(id="v1", size_gib=1),)
        )
        self.assertEqual(({}, ["ephemeral_disk"]), self.find_extra())

    def test_extra_disk_of_a_guest_with_a_boot_volume(self):
        self.guest = dataclasses.replace(
            self.guest, disk=models.Disk(source="volume", size_gib=20)
        )
        self.assertEqual(
            ({"boot_volume": 20480, "ephemeral_disk": 10240}, []),
            self.find_extra(10240),
        )

    def test_encrypted_boot_volume(self):
        self.guest = dataclasses.replace(
            self.guest,
            disk=models.Disk(source="volume", size_gib=21, is_encrypted=True),
        )
        sizes, unknown = self.find()
        self.assertNotIn("boot_volume", sizes)
        self.assertEqual(
            ["boot_volume: the header of its encryption takes a part of it"],
            [found.detail for found in unknown],
        )

    def test_data_volumes(self):
        """Their devices are not the boot disk, whatever it has."""
        self.guest = dataclasses.replace(
            self.guest,
            volumes=(
                models.Volume(id="v1", size_gib=1),
                models.Volume(id="v2", size_gib=3, is_encrypted=True),
            ),
        )
        sizes, unknown = guest_promises.find_sizes(
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
        self.assertEqual(((), []), guest_promises.find_sizes([self.guest], {}))


def cap(rate, name, guests=(), direction="total"):
    """Return a limit on operations per second."""
    return rate_caps.disk(
        rate, "ops/s", name, direction=direction, guests=guests
    )


def assign(label="", **arguments):
    """Return the workload fio with one metric of interest."""
    return assignment.create_assignment(
        {
            "name": "fio",
            "label": label,
            "arguments": {"patterns": ["randread"], **arguments},
        }
    )


FLAVOR = cap(100, "flavor")
PORT = rate_caps.network(1e6, "port")


@ddt.ddt
class ListCapsTest(unittest.TestCase):
    def list(self, *assignments, **volumes):
        """Return the rate and the metrics of each cap by its name.

        :param volumes: The caps by the number of the volume after a v.
        """
        booted = models.BootedGuests(
            guests=(),
            client_key="",
            caps=(FLAVOR, PORT),
            volume_caps={
                int(name[1:]): tuple(caps) for name, caps in volumes.items()
            },
        )
        caps, self.findings = guest_promises.list_caps(booted, assignments)
        return {
            each.name: (each.rate, self.shorten(each.metrics)) for each in caps
        }

    def shorten(self, names):
        """Return only names that end in iops."""
        if names is None:
            return None
        return [name for name in names if name.endswith(".iops")]

    def test_only_the_root_disk(self):
        """The record is the same as without volumes."""
        self.assertEqual(
            {
                "flavor": (100, None),
                "port": (1e6, None),
                "type": (200, []),
            },
            self.list(assign(), v1=[cap(200, "type")]),
        )

    def test_root_disk_and_volume(self):
        self.assertEqual(
            {
                "flavor": (100, ["disk.fio.randread.iops"]),
                "port": (1e6, None),
                "type": (200, ["disk.fio.data.randread.iops"]),
                "other": (300, []),
            },
            self.list(
                assign(),
                assign("data", target="volume"),
                v1=[cap(200, "type")],
                v2=[cap(300, "other")],
            ),
        )

    def test_only_a_volume(self):
        """The flavor limits no metric then."""
        caps = self.list(assign(target="volume"), v1=[cap(200, "type")])
        self.assertEqual((100, []), caps["flavor"])

    @ddt.data(
        ([cap(200, "type")], [cap(200, "type")], {"2 x type": 400}, []),
        ([cap(200, "fast")], [cap(50, "slow")], {"2 x slow": 100}, []),
        ([cap(200, "type")], [], {}, ["type"]),
        (
            [cap(200, "all")],
            [cap(200, "reads", direction="read")],
            {},
            ["all", "reads"],
        ),
        (
            [cap(9, "a", ("g1", "g2"))],
            [cap(9, "a", ("g1",)), cap(5, "b", ("g2",))],
            {},
            ["a", "b"],
        ),
        (
            [cap(9, "a", ("g1",)), cap(5, "b", ("g2",))],
            [cap(7, "a", ("g1",)), cap(5, "b", ("g2",))],
            {"2 x a": 14, "2 x b": 10},
            [],
        ),
    )
    @ddt.unpack
    def test_several_volumes(self, first, second, expected, partial):
        """The slowest of them determines the rate of the others.

        Limits that only some of them have are not checked, and stay.
        """
        caps = self.list(assign(target="volumes"), v1=first, v2=second)
        self.assertEqual(
            expected,
            {
                name: rate
                for name, (rate, metrics) in caps.items()
                if metrics == ["disk.fio.randread.iops"]
            },
        )
        self.assertEqual(
            [("promise_not_checked", name) for name in partial],
            [(found.kind, found.subject) for found in self.findings],
        )


class FindFactorTest(unittest.TestCase):
    """A cap applies to the metrics of its disk."""

    def test_metrics(self):
        (metric, *_) = [
            metric
            for metric in assign(target="volume").metrics()
            if metric.name.endswith(".iops")
        ]
        for metrics, factor in (
            (None, 1),
            ((), 0),
            ((metric.name,), 1),
            (("disk.fio.other.iops",), 0),
        ):
            limit = rate_caps.disk(1, "ops/s", "type", metrics=metrics)
            self.assertEqual(factor, limit.find_factor(metric), metrics)
