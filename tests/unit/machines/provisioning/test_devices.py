# SPDX-License-Identifier: Apache-2.0
"""Tests of volumes in the work directory of a machine."""

import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import scripts
from rally_vmperf.machines import testing
from rally_vmperf.machines import workfolder
from rally_vmperf.machines.provisioning import devices
from tests.unit.machines import folders
from tests.unit.machines import loop_devices

ID = "1b2c3d4e-1111-4222-8333-444455556666"
MIB = 1 << 20
FOLDER = "/root/rally-vmperf-0123456789"


@ddt.ddt
class ParseTest(unittest.IsolatedAsyncioTestCase):
    """The output of a guest is not trusted."""

    async def attach(self, stdout, exit_status=0, **options):
        answer = testing.completed(stdout, "no mkfs\n", exit_status)
        self.machine = testing.FakeMachine(
            "g1", {"id -u": "0\n", "bash": answer}
        )
        requested = [
            devices.Device(id=ID, least=MIB, most=MIB),
            devices.Device(path="/dev/sdb"),
        ]
        return await devices.attach(
            self.machine,
            FOLDER,
            requested,
            **{"forms": {}, "is_new": True, **options},
        )

    async def test_sizes(self):
        sizes = await self.attach(
            f"volume 1 {MIB} /dev/vdb\nvolume 2 7 /dev/sdb\n",
            forms={2: "filesystem"},
            titles=["cp", "iozone-a"],
        )
        self.assertEqual([("/dev/vdb", MIB), ("/dev/sdb", 7)], sizes)
        self.assertEqual(
            (
                *("attach", FOLDER, "1", "2"),
                *(ID, "", "device", str(MIB), str(MIB)),
                *("", "/dev/sdb", "filesystem", "1", str(1 << 62)),
                *("cp", "iozone-a"),
            ),
            self.machine.commands[-1][4:],
        )

    @ddt.data(
        (
            "volume 1 0\n",
            "g1 has no block device for volume 1 .serial number "
            "1b2c3d4e-1111-4222-8.; check",
        ),
        (
            "volume 1 3145728 /dev/vdb\n",
            "volume 1 ./dev/vdb. has 3 MiB: must have 1 MiB; check",
        ),
        (f"volume 2 {MIB} /dev/vdb\n", "is not the description of volume 1"),
        (f"volume 1 {MIB} /etc/passwd\n", "is not the description"),
        (f"volume 1 {'9' * 30} /dev/vdb\n", "is not the description"),
        ("\x1b[1mhello\n", "'.*hello' is not the description"),
        ("", "g1 describes 0 of 2 volumes"),
        (f"volume 1 {MIB} /dev/vdb\nvolume 2 0\n", "volume 2 ./dev/sdb."),
    )
    @ddt.unpack
    async def test_rejected(self, stdout, message):
        with self.assertRaisesRegex(base.MachineError, message) as caught:
            await self.attach(stdout)
        self.assertNotIn("\x1b", str(caught.exception))

    async def test_script_that_fails(self):
        with self.assertRaisesRegex(
            base.MachineError, "g1: cannot provide its volumes: no mkfs; it"
        ):
            await self.attach(f"volume 1 {MIB} /dev/vdb\n", exit_status=1)


@ddt.ddt
class FindTest(unittest.TestCase):
    """Devices are found by the serial number that a bus shows."""

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir=folders.PLAIN))
        )

    def add(self, path, content):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def find(self):
        shell, option, text, *_ = scripts.argv("devices.bash")
        done = subprocess.run(
            [
                *(shell, option),
                text.replace("/sys/block", str(self.root / "block")).replace(
                    "/dev/disk/by-id", str(self.root / "by-id")
                ),
                *("devices.bash", "find_device", ID),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual("", done.stderr)
        return done.stdout

    @ddt.data(
        ("block/vdc/serial", ID[:20].encode()),
        ("block/vdc/serial", ID[:20].encode() + b"\n"),
        ("block/vdc/device/vpd_pg80", b"\0\x80\0\x24" + ID.encode()),
        ("block/vdc/device/vpd_pg80", b"\0\x80\0\x14" + ID[:20].encode()),
    )
    @ddt.unpack
    def test_serial_number(self, path, content):
        self.add("block/vda/serial", b"")
        self.add("block/vdb/serial", b"2b2c3d4e-1111-4222-8")
        self.add("block/sr0/device/vpd_pg80", b"\0\x80\0\x04QM01")
        self.add(path, content)
        self.assertEqual("/dev/vdc\n", self.find())

    def test_paths(self):
        """Two paths of one volume are used as their multipath device."""
        for name in ("sda", "sdb"):
            self.add(
                f"block/{name}/device/vpd_pg80", b"\0\x80\0\x24" + ID.encode()
            )
        self.assertEqual("/dev/sda\n", self.find())
        self.add("block/sda/holders/dm-1/dm/uuid", b"LVM-abc\n")
        self.assertEqual("/dev/sda\n", self.find())
        for name in ("sda", "sdb"):
            self.add(f"block/{name}/holders/dm-0/dm/uuid", b"mpath-3600a\n")
        self.assertEqual("/dev/dm-0\n", self.find())

    @ddt.data(
        ("block/vdb/serial", ID[:19].encode()),
        ("block/vdb/serial", b""),
        ("block/vdb/serial", b"*"),
        ("by-id/virtio-" + ID[:20], b"a file that is no device"),
    )
    @ddt.unpack
    def test_wrong_serial_number(self, path, content):
        self.add(path, content)
        self.assertEqual("", self.find())

    def test_link_of_udev(self):
        """Buses whose serial numbers sysfs does not show have links."""
        directory = self.root / "by-id"
        directory.mkdir()
        device = next(
            (
                path
                for path in pathlib.Path("/dev").iterdir()
                if path.is_block_device()
            ),
            None,
        )
        if device is None:
            self.skipTest("this machine has no block device")
        name = f"ata-QEMU_HARDDISK_{ID[:20]}"
        (directory / f"{name}-part1").symlink_to(device)
        self.assertEqual("", self.find())
        (directory / name).symlink_to(device)
        self.assertEqual(f"{device}\n", self.find())


class DeviceTest(unittest.IsolatedAsyncioTestCase):
    """A loop device is linked, mounted, and released again."""

    def setUp(self):
        super().setUp()
        self.machine = local.Local("here")
        self.folder = folders.made(self)
        self.device = loop_devices.create(self)
        self.addCleanup(
            subprocess.run,
            scripts.argv("devices.bash", "detach", str(self.folder)),
        )
        self.volume = devices.Device(path=self.device, most=64 * MIB)

    async def attach(self, form="device", *, is_new=True, **options):
        return await devices.attach(
            self.machine,
            str(self.folder),
            [self.volume],
            forms={1: form},
            titles=["fio"],
            is_new=is_new,
            **options,
        )

    async def test_device(self):
        """Workloads find it in their directory, also after a repetition."""
        for is_new in (True, False):
            self.assertEqual(
                [(self.device, 64 * MIB)], await self.attach(is_new=is_new)
            )
            for link in ("volume-1", "fio/volume-1"):
                path = self.folder / link
                self.assertEqual(self.device, os.readlink(path))
        self.assertFalse((self.folder / "volume-1.fs").exists())

    async def test_device_of_another_size(self):
        """It is neither linked nor written."""
        self.volume = devices.Device(path=self.device, most=MIB)
        with self.assertRaisesRegex(base.MachineError, "has 64 MiB"):
            await self.attach("filesystem")
        self.assertEqual([], [*self.folder.glob("volume-*")])

    async def test_user_other_than_root(self):
        """The owner of the directory gets this device and no other one."""
        nobody = 65534
        os.chown(self.folder, nobody, nobody)
        await self.attach()
        node = pathlib.Path(os.readlink(self.folder / "fio" / "volume-1"))
        self.assertNotEqual(self.device, str(node))
        status, real = node.stat(), os.stat(self.device)
        self.assertEqual(
            (nobody, real.st_rdev), (status.st_uid, status.st_rdev)
        )
        self.assertEqual(0o600, stat.S_IMODE(status.st_mode))
        self.assertEqual(nobody, (self.folder / "fio").stat().st_uid)
        self.assertNotEqual(nobody, real.st_uid)
        await devices.detach(self.machine, str(self.folder))
        self.assertFalse(node.exists())

    async def test_file_system(self):
        """It is made once, and mounted again after a reboot."""
        await self.attach("filesystem")
        mounted = self.folder / "fio" / "volume-1.fs"
        (mounted / "data").write_text("x")
        self.assertNotEqual(mounted.stat().st_dev, self.folder.stat().st_dev)
        await devices.detach(self.machine, str(self.folder))
        with self.assertRaises(FileNotFoundError):
            (mounted / "data").write_text("not on the root disk")
        await self.attach("filesystem", is_new=False)
        self.assertEqual("x", (mounted / "data").read_text())
        await self.attach("filesystem", is_new=False)
        await devices.detach(self.machine, str(self.folder))
        await devices.detach(self.machine, str(self.folder))

    async def test_killed_run(self):
        """The clean-up unmounts the volumes before it removes the files."""
        await self.attach("filesystem")
        node = pathlib.Path(f"/dev/{self.folder.name}-1")
        node.symlink_to("null")
        self.addCleanup(node.unlink, missing_ok=True)
        await workfolder.end(self.machine, str(self.folder))
        self.assertFalse(self.folder.exists())
        self.assertFalse(node.is_symlink())
