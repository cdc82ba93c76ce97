# SPDX-License-Identifier: Apache-2.0
"""Tests of raw devices that must not be overwritten."""

import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.machines import scripts
from rally_vmperf.machines import testing
from rally_vmperf.machines.provisioning import devices
from rally_vmperf.machines.provisioning import raw_devices
from rally_vmperf.machines.remote import ssh
from tests.unit.machines import folders
from tests.unit.machines import loop_devices
from tests.unit.machines import sshd

MIB = 1 << 20


@ddt.ddt
class ParseTest(unittest.IsolatedAsyncioTestCase):
    """One strict line for each device."""

    async def check(self, stdout, *names, exit_status=0):
        """Return the devices in an output."""
        self.machine = testing.FakeMachine(
            "metal",
            {
                "id -u": "0\n",
                "bash": testing.completed(stdout, "no bash", exit_status),
            },
        )
        return await raw_devices.check(self.machine, names)

    async def test_devices(self):
        found = await self.check(
            f"device 1 /dev/sdb {MIB}\ndevice 2 /dev/dm-0 7\n",
            "/dev/disk/by-id/ata-1:2",
            "/dev/mapper/a-b",
        )
        self.assertEqual(
            [
                ("/dev/disk/by-id/ata-1:2", "/dev/sdb", MIB),
                ("/dev/mapper/a-b", "/dev/dm-0", 7),
            ],
            found,
        )
        self.assertEqual(
            ("check", "/dev/disk/by-id/ata-1:2", "/dev/mapper/a-b"),
            self.machine.commands[-1][4:],
        )
        self.assertEqual(
            devices.Device(
                path="/dev/disk/by-id/ata-1:2", least=MIB, most=MIB
            ),
            found[0].to_device(),
        )

    async def test_no_device(self):
        self.assertEqual([], await self.check(""))
        self.assertEqual([], self.machine.calls)
        await raw_devices.clear(self.machine, ())
        self.assertEqual([], self.machine.calls)

    @ddt.data(
        ("absent", "does not exist; list the devices there: lsblk"),
        ("kind directory", "is a directory: must be a block device; "),
        ("empty", "has 0 bytes; insert a medium"),
        ("readonly", "is read-only; run blockdev --setrw /dev/sdb, or"),
        ("mounted /srv", "or a partition of it is mounted at /srv; .*umount"),
        ("swap /dev/sdb1", r".* is swap \(/dev/sdb1\).*: swapoff /dev/sdb1"),
        ("holder md0", r"or .* a part of md0 \(LVM.*; use md0 itself"),
        ("partitions sdb1", r"has partitions \(sdb1\); .*wipefs -a /dev/sdb"),
        ("signature ext4", "has data of the type ext4; .*wipefs -a /dev/sdb"),
        ("busy", "is in use by another program.*lsof /dev/sdb"),
        ("unknown a\x1bb", r"cannot be checked \(a.b\); the machine needs"),
        ("unknown", r"cannot be checked \(\?\); the machine needs bash"),
    )
    @ddt.unpack
    async def test_refused(self, refusal, reason):
        """The line has the device, the cause and the solution."""
        with self.assertRaisesRegex(
            base.MachineError, f"^metal: device /dev/sdb {reason}"
        ) as caught:
            await self.check(f"device 1 refused {refusal}\n", "/dev/sdb")
        self.assertTrue(str(caught.exception).isprintable())

    @ddt.data(
        *("", "device 1 /dev/sdb 7\n" * 2, "device 2 /dev/sdb 7\n"),
        *("device 1 /dev/sdb\n", "device 1 /dev/sdb -7\n", "x\n"),
        *("device 1 /etc/passwd 7\n", "device 1 refused other\n"),
        *("device 1 refused Busy\n", "device 1 /dev/sdb 7 refused busy\n"),
        *("device 1 /dev/sdb 0x7\n", f"device 1 /dev/sdb {'9' * 19}\n"),
        f"device 1 refused signature {'x' * 400}\n",
    )
    async def test_another_output(self, stdout):
        with self.assertRaisesRegex(base.MachineError, "^metal") as caught:
            await self.check(stdout, "/dev/sdb")
        self.assertTrue(str(caught.exception).isprintable())

    async def test_empty_device(self):
        with self.assertRaisesRegex(base.MachineError, "sdb has 0 bytes"):
            await self.check("device 1 /dev/sdb 0\n", "/dev/sdb")

    async def test_the_same_device_twice(self):
        with self.assertRaisesRegex(
            base.MachineError, "device /dev/c is /dev/sdb, and so is /dev/b;"
        ):
            await self.check(
                "device 1 /dev/sdb 7\ndevice 2 /dev/sdb 7\n",
                "/dev/b",
                "/dev/c",
            )

    async def test_a_machine_without_bash(self):
        with self.assertRaisesRegex(base.MachineError, "cannot check /dev/a"):
            await self.check("", "/dev/a", exit_status=127)
        with self.assertRaisesRegex(base.MachineError, "run wipefs -a /dev/a"):
            await raw_devices.clear(self.machine, ["/dev/a"])


class LoopTest(unittest.IsolatedAsyncioTestCase):
    """The script, with a loop device for each cause."""

    def setUp(self):
        super().setUp()
        self.device = loop_devices.create(self)
        self.machine = local.Local("metal")
        folder = self.enterContext(
            tempfile.TemporaryDirectory(dir=folders.PLAIN)
        )
        self.folder = pathlib.Path(folder)

    def run_program(self, *words):
        """Run a program on this machine, which must succeed."""
        subprocess.run(words, check=True, capture_output=True)

    async def refuse(self, reason, name=None):
        """Expect that the device is refused, and that nothing is written."""
        before = self.read()
        with self.assertRaisesRegex(base.MachineError, reason):
            await raw_devices.check(self.machine, [name or self.device])
        self.assertEqual(before, self.read())

    async def accept(self):
        """Expect that the device may be overwritten."""
        before = self.read()
        self.assertEqual(
            [(self.device, self.device, 64 * MIB)],
            await raw_devices.check(self.machine, [self.device]),
        )
        self.assertEqual(before, self.read())

    def read(self):
        """Return the beginning of the device."""
        with pathlib.Path(self.device).open("rb") as file:
            return file.read(2 * MIB)

    async def test_an_empty_one(self):
        await self.accept()
        link = self.folder / "link"
        link.symlink_to(self.device)
        self.assertEqual(
            [(str(link), self.device, 64 * MIB)],
            await raw_devices.check(self.machine, [str(link)]),
        )

    async def test_what_is_no_block_device(self):
        await self.refuse("is a character special file", "/dev/null")
        await self.refuse("is a directory: must", str(self.folder))
        await self.refuse("/none does not exist", str(self.folder / "none"))

    async def test_read_only(self):
        self.run_program("blockdev", "--setro", self.device)
        self.addCleanup(self.run_program, "blockdev", "--setrw", self.device)
        await self.refuse("is read-only; run blockdev --setrw /dev/loop")

    async def test_file_system(self):
        """A later recording erases what this one made."""
        self.run_program("mkfs.ext4", "-q", self.device)
        await self.refuse("has data of the type ext4; .*wipefs -a /dev/loop")
        self.run_program("mount", self.device, str(self.folder))
        try:
            await self.refuse(f"is mounted at {self.folder}; unmount")
            with self.assertRaisesRegex(base.MachineError, "busy"):
                await raw_devices.clear(self.machine, [self.device])
        finally:
            self.run_program("umount", str(self.folder))
        await raw_devices.clear(self.machine, [self.device])
        await self.accept()

    async def test_swap(self):
        self.run_program("mkswap", self.device)
        await self.refuse("has data of the type swap")
        try:
            self.run_program("swapon", self.device)
        except subprocess.CalledProcessError:
            self.skipTest("this machine cannot swap")
        try:
            await self.refuse(rf"is swap \({self.device}\).*swapoff /dev/loop")
        finally:
            self.run_program("swapoff", self.device)

    async def test_partitions(self):
        """The table is enough; a mounted partition is named."""
        entry = struct.pack(
            "<B3sB3sII", 0, b"", 0x83, b"", 2048, 20000
        ) + bytes(48)
        with pathlib.Path(self.device).open("r+b") as file:
            file.seek(446)
            file.write(entry + b"\x55\xaa")
        await self.refuse("has data of the type dos")
        self.run_program("partx", "-a", self.device)
        self.addCleanup(
            subprocess.run, ["partx", "-d", self.device], capture_output=True
        )
        name = self.device.removeprefix("/dev/") + "p1"
        if not pathlib.Path(f"/dev/{name}").exists():
            self.skipTest("no udev or devtmpfs")
        await self.refuse(rf"has partitions \({name}\); use one of them")
        (partition,) = await raw_devices.check(self.machine, [f"/dev/{name}"])
        self.assertEqual(20000 * 512, partition.size)
        self.run_program("mkfs.ext4", "-q", f"/dev/{name}")
        self.run_program("mount", f"/dev/{name}", str(self.folder))
        try:
            await self.refuse(f"a partition of it is mounted at {self.folder}")
        finally:
            self.run_program("umount", str(self.folder))

    async def test_another_program(self):
        """It has opened the device for itself alone."""
        descriptor = os.open(self.device, os.O_RDONLY | os.O_EXCL)
        try:
            await self.refuse("is in use by another program")
        finally:
            os.close(descriptor)
        await self.accept()

    async def test_holders(self):
        """LVM and RAID use it, or a partition of it."""
        number = os.stat(self.device).st_rdev
        system = self.folder / f"{os.major(number)}:{os.minor(number)}"
        for place in ("holders", "loop0p1/holders"):
            (system / place).mkdir(parents=True)
        (system / "loop0p1" / "partition").write_text("1\n")
        (system / "loop0p1" / "dev").write_text("259:0\n")
        (system / "dev").write_text(f"{system.name}\n")
        argv = scripts.argv("raw_devices.bash", "check", self.device)
        argv[2] = argv[2].replace("/sys/dev/block", str(self.folder))
        for place, output in (
            ("", "device 1 refused partitions loop0p1\n"),
            ("loop0p1/holders/dm-0", "device 1 refused holder dm-0\n"),
            ("holders/md127", "device 1 refused holder md127\n"),
        ):
            if place:
                (system / place).symlink_to(self.folder)
            with self.subTest(place=place):
                done = subprocess.run(
                    argv, capture_output=True, text=True, check=True
                )
                self.assertEqual(output, done.stdout)

    async def test_without_util_linux(self):
        """A device that cannot be checked is not accepted."""
        argv = scripts.argv("raw_devices.bash", "check", self.device)
        argv[2] = argv[2].replace("wipefs", "no-such-program")
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        self.assertRegex(
            done.stdout, "^device 1 refused unknown .*not found\n$"
        )

    async def test_over_ssh(self):
        """The same script gives the same answers."""
        async with sshd.Sshd() as server:
            self.machine = ssh.Ssh(server.endpoint("metal"))
            await self.accept()
            await self.refuse("is a character special file", "/dev/null")
            await self.machine.close()
