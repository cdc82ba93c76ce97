# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import tempfile
import unittest

from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint
from rally_vmperf.machines import local
from rally_vmperf.machines import scripts
from rally_vmperf.machines import testing
from tests.unit.machines import folders

#: Disks with the paths of their devices in sysfs, and links to drivers.
PCI = "devices/pci0000:00/0000:00:0"
DISKS = {
    "sda": (f"{PCI}5.0/virtio2/host2/target2:0:0/2:0:0:0", "virtio2"),
    "sdb": (f"{PCI}1.1/ata1/host0/target0:0:0/0:0:0:0", "0000:00:01.1"),
    "sdc": (f"{PCI}6.0/host3/target3:0:0/3:0:0:0", "0000:00:06.0"),
    "vda": (f"{PCI}2.0/virtio1", "virtio1"),
}
DRIVERS = {
    "virtio2": "virtio_scsi",
    "0000:00:01.1": "ata_piix",
    "0000:00:06.0": "sym53c8xx",
    "virtio1": "virtio_blk",
}


def create_sysfs(root):
    """Create the files of disks in the form of sysfs."""
    (root / "block").mkdir()
    for name, (path, driven) in DISKS.items():
        device = root / path
        device.mkdir(parents=True)
        (root / "block" / name).mkdir()
        (root / "block" / name / "device").symlink_to(device)
        bus = "scsi" if name.startswith("sd") else "virtio"
        for target in (root / "bus" / bus, root / "drivers" / DRIVERS[driven]):
            target.mkdir(parents=True, exist_ok=True)
        (device / "subsystem").symlink_to(root / "bus" / bus)
        (parent,) = (
            each for each in (device, *device.parents) if each.name == driven
        )
        (parent / "driver").symlink_to(root / "drivers" / DRIVERS[driven])


class TakeTestCase(unittest.IsolatedAsyncioTestCase):
    async def test_this_computer(self):
        facts = await fingerprint.collect(local.Local("here"))
        self.assertGreater(facts["memory_bytes"], 1 << 20)
        self.assertGreaterEqual(facts["threads"], 1)
        self.assertRegex(facts["boot_id"], "^[0-9a-f]{16}$")
        path = pathlib.Path("/sys/devices/system/cpu/isolated")
        if path.exists():
            self.assertEqual(
                path.read_text().strip() or "none", facts["isolated_cpus"]
            )
        again = await fingerprint.collect(local.Local("here"))
        self.assertEqual(facts, again)

    def test_controllers_of_disks(self):
        """Only disks behind a SCSI, SATA or IDE controller have one."""
        shell, option, text, *arguments = scripts.argv("fingerprint.sh")
        with tempfile.TemporaryDirectory(dir=folders.PLAIN) as directory:
            create_sysfs(pathlib.Path(directory))
            process = subprocess.run(
                [
                    shell,
                    option,
                    text.replace("/sys/", f"{directory}/"),
                    *arguments,
                ],
                capture_output=True,
                text=True,
                check=True,
            )
        disks = fingerprint.parse(process.stdout)["disks"]
        self.assertEqual(
            {
                "sda": "virtio_scsi",
                "sdb": "ata_piix",
                "sdc": "sym53c8xx",
                "vda": "",
            },
            {disk["name"]: disk["controller"] for disk in disks},
        )

    def collect_disks(self, root, place):
        """Return the facts on disks, with the number of the root disk.

        :param root: The directory with the files of sysfs.
        :param place: The mount point of the root file system.
        """
        shell, option, text, *arguments = scripts.argv("fingerprint.sh")
        text = text.replace("/sys/", f"{root}/").replace(
            "/proc/self/mountinfo", str(place)
        )
        process = subprocess.run(
            [shell, option, text, *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        return fingerprint.parse(process.stdout)

    def test_paths_of_disks(self):
        """A disk with several paths counts once, also below the root."""
        with tempfile.TemporaryDirectory(dir=folders.PLAIN) as directory:
            root = pathlib.Path(directory)
            create_sysfs(root)
            layers = {
                "dm-0": ("mpath-3600a", ("sdb", "sda")),
                "dm-1": ("part2-mpath-3600a", ("dm-0",)),
                "dm-2": ("LVM-vg-root", ("dm-1",)),
                "dm-3": ("LVM-vg-data", ("sdc", "vda")),
            }
            (root / "class/block").mkdir(parents=True)
            (root / "dev/block").mkdir(parents=True)
            for number, (name, (uuid, below)) in enumerate(layers.items()):
                block = root / "block" / name
                (block / "dm").mkdir(parents=True)
                (block / "slaves").mkdir()
                (block / "dm/uuid").write_text(f"{uuid}\n")
                (block / "dev").write_text(f"253:{number}\n")
                (root / f"dev/block/253:{number}").symlink_to(block)
                for disk in below:
                    holders = root / "block" / disk / "holders"
                    holders.mkdir(exist_ok=True)
                    (holders / name).symlink_to(block)
                    (block / "slaves" / disk).symlink_to(root / "block" / disk)
            for block in (root / "block").iterdir():
                (root / "class/block" / block.name).symlink_to(block)
            mounts = root / "mountinfo"
            for number, disk in enumerate(("sda", "sda", "sda", "dm-3")):
                mounts.write_text(f"1 0 253:{number} / / rw - ext4 /x rw\n")
                facts = self.collect_disks(root, mounts)
                self.assertEqual(disk, facts["root_disk"], number)
            self.assertEqual(
                {"sda": "dm-0", "sdc": None, "vda": None},
                {
                    disk["name"]: disk.get("multipath")
                    for disk in facts["disks"]
                },
            )

    def test_machine_type(self):
        """Other manufacturers put their own text where QEMU names it."""
        for text, machine_type in (
            ("pc-i440fx-7.2", "pc-i440fx-7.2"),
            ("pc-q35-rhel9.2.0", "pc-q35-rhel9.2.0"),
            ("Not Specified", None),
            ("", None),
        ):
            facts = fingerprint.parse(f"\n@@ dmi_chassis\n{text}\n")
            self.assertEqual(machine_type, facts["machine_type"])

    def test_memory_of_the_firmware(self):
        """A guest of 2 GiB: dmesg has 2096632K, MemTotal is less."""
        pages = (3998, 520160, 0)
        zones = "\n".join(f"        present  {number}" for number in pages)
        facts = fingerprint.parse(
            f"\n@@ zoneinfo\n{zones}\n\n@@ page_kib\n4\n"
            "\n@@ meminfo\nMemTotal: 2030056 kB\n"
        )
        self.assertEqual(2_096_632 * 1024, facts["firmware_memory_bytes"])
        for text in (
            "\n@@ zoneinfo\n\n@@ page_kib\n4\n",
            f"\n@@ zoneinfo\n{zones}\n\n@@ page_kib\n",
        ):
            facts = fingerprint.parse(text)
            self.assertIsNone(facts["firmware_memory_bytes"])

    def test_online_cpus(self):
        for text, number in (("0-3", 4), ("0,2-3,7", 4), ("0", 1), ("", None)):
            facts = fingerprint.parse(f"\n@@ online_cpus\n{text}\n")
            self.assertEqual(number, facts["online_cpus"])

    async def test_sizes_of_this_computer(self):
        """As other interfaces of the kernel report them."""
        facts = await fingerprint.collect(local.Local("here"))
        online = os.sysconf("SC_NPROCESSORS_ONLN")
        self.assertEqual(online, facts["online_cpus"])
        if facts["firmware_memory_bytes"] is not None:
            self.assertGreater(
                facts["firmware_memory_bytes"], facts["memory_bytes"]
            )
            self.assertEqual(
                0, facts["firmware_memory_bytes"] % os.sysconf("SC_PAGE_SIZE")
            )
        if facts["root_disk"]:
            self.assertTrue(
                pathlib.Path("/sys/block", facts["root_disk"]).exists()
            )

    async def test_a_machine_that_cannot(self):
        machine = testing.FakeMachine(
            "g1", {"sh": testing.completed(stderr="sh: bad", exit_status=2)}
        )
        with self.assertRaisesRegex(base.MachineError, "g1 .*sh: bad"):
            await fingerprint.collect(machine)
