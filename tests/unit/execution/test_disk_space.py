# SPDX-License-Identifier: Apache-2.0
"""Tests of the check whether the files of workloads fit on machines."""

import dataclasses
import tempfile
import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.execution import disk_space
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import testing
from rally_vmperf.measurement.samples import units

GIB = units.GIB
#: A study with one file of 1 GiB.
STUDY = (
    {
        "name": "wget",
        "arguments": {"protocols": ["ftp"], "to_disk": True},
    },
    {"name": "cp", "arguments": {"files": 1, "file_kib": 1048576}},
    {"name": "bzip2", "arguments": {"size_mib": 1024}},
)


def find_need(*documents):
    return disk_space.find_need(assignment.assign(documents))


class NeedTestCase(unittest.TestCase):
    def test_files_that_remain_add_up(self):
        """Of temporary files, those of one workload are there at a time."""
        need = find_need(*STUDY)
        self.assertAlmostEqual(3.95, need.size / GIB, places=2)
        self.assertEqual(("wget", "cp", "bzip2"), need.titles)
        self.assertEqual(
            ("bzip2", ("size_mib",)), (need.largest, need.arguments)
        )

    def test_files_of_the_operator(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(3 << 20))
            file.flush()
            arguments = {"command": ["true"], "files": [file.name]}
            need = find_need({"name": "job", "arguments": arguments})
        self.assertEqual(3 << 20, need.size >> 20 << 20)

    def test_volumes(self):
        """What is written to a volume needs no space in the directory."""
        for name in ("fio", "dd"):
            need = find_need({"name": name, "arguments": {"target": "volume"}})
            self.assertEqual(0, need.size, name)

    def test_the_peer(self):
        need = disk_space.find_peer_need(assignment.assign(STUDY))
        self.assertEqual(
            (GIB, ("wget",), "wget"), (need.size, need.titles, need.largest)
        )

    def test_nothing_is_needed(self):
        need = find_need({"name": "openssl"})
        self.assertEqual(disk_space.SpaceNeed(), need)
        self.assertEqual(
            disk_space.SpaceNeed(),
            disk_space.find_peer_need(assignment.assign(STUDY[1:])),
        )

    def test_messages(self):
        one = find_need({"name": "fio", "arguments": {"size_mib": 30720}})
        self.assertEqual(
            "workload fio needs 30.0 GiB of disk: must be <= 20.0 GiB of "
            "it; buy more, or reduce size_mib",
            one.describe_shortage(20 * GIB, " of it", "buy more"),
        )
        self.assertEqual(
            "workloads wget, cp, bzip2 need 4.0 GiB of disk: must be <= 1.0 "
            "GiB; buy more, or reduce size_mib of bzip2",
            find_need(*STUDY).describe_shortage(GIB, "", "buy more"),
        )
        self.assertEqual(
            "workload x needs 64 MiB of disk: must be <= 63 MiB; buy more",
            disk_space.SpaceNeed(
                size=64 << 20, titles=("x",), largest="x"
            ).describe_shortage(63 << 20, "", "buy more"),
        )


class MachinesTestCase(unittest.TestCase):
    NEED = disk_space.SpaceNeed(
        size=4 * GIB, titles=("cp",), largest="cp", arguments=("file_kib",)
    )

    def station(self, name, gib, role="guest", **fields):
        available = None if gib is None else int(gib * GIB)
        return roles.Station(
            **{
                "name": name,
                "machine": testing.FakeMachine(name),
                "role": role,
                "available_bytes": available,
                **fields,
            }
        )

    def refuse(self, *stations):
        with self.assertRaises(base.MachineError) as caught:
            disk_space.check(stations, self.NEED)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_machines_with_space(self):
        disk_space.check(
            [self.station("g1", 4), self.station("g2", None)], self.NEED
        )
        disk_space.check([self.station("g1", 0)], disk_space.SpaceNeed())

    def test_guests_without_space(self):
        self.assertEqual(
            "g1, g3: workload cp needs 4.0 GiB of disk: must be <= 3.9 GiB, "
            "which are free in the home directory; use a flavor or "
            "boot_volume with a larger disk, or reduce file_kib; "
            "g4: workload cp needs 4.0 GiB of disk: must be <= 1.0 GiB, "
            "which are free in the home directory; use a flavor or "
            "boot_volume with a larger disk, or reduce file_kib",
            self.refuse(
                self.station("g1", 3.9),
                self.station("g2", 5),
                self.station("g3", 3.9),
                self.station("g4", 1),
            ),
        )

    def test_copies_share_bare_metal(self):
        machine = testing.FakeMachine("metal")
        copies = [
            self.station(
                f"copy-{number}",
                11 + number,
                "copy",
                machine=machine,
                parent="/var/tmp",
            )
            for number in (1, 2, 3)
        ]
        disk_space.check(copies[1:2], self.NEED)
        disk_space.check(
            copies, dataclasses.replace(self.NEED, size=4 * GIB - 1)
        )
        disk_space.check(copies, self.NEED)
        copies[0].available_bytes -= 3
        self.assertEqual(
            "metal: workload cp needs 4294967296 bytes of disk: must be <= "
            "4294967295 bytes, which are free "
            "for each of 3 copies in /var/tmp; set --work-dir "
            "to a directory on a larger disk, or reduce file_kib",
            self.refuse(*copies),
        )
