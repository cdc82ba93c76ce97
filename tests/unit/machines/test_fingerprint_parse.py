# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import unittest

import hypothesis
from hypothesis import strategies as st

from rally_vmperf import facts
from rally_vmperf import formats
from rally_vmperf.machines import fingerprint

DATA = pathlib.Path(__file__).parent / "data"
ADAPTER = formats.create_adapter(facts.Fingerprint)
SECTIONS = [
    "cpuinfo",
    "lscpu",
    "meminfo",
    "kernel",
    "cmdline",
    "os",
    "mitigations",
    "governor",
    "scaling_driver",
    "smt",
    "isolated",
    "nodes",
    "detect_virt",
    "clocksources",
    "hypervisor",
    "dmi_vendor",
    "dmi_product",
    "boot_id",
    "machine_id",
    "disks",
    "network_interfaces",
]


class ParseTestCase(unittest.TestCase):
    def test_settings(self):
        """Turbo by either driver, huge pages, and queues."""
        for text, turbo in (
            ("@@ no_turbo\n1\n@@ boost\n", "off"),
            ("@@ no_turbo\n0\n@@ boost\n0\n", "on"),
            ("@@ no_turbo\n\n@@ boost\n1\n", "on"),
            ("@@ no_turbo\n\n@@ boost\n0\n", "off"),
            ("@@ no_turbo\n\n@@ boost\n", None),
        ):
            self.assertEqual(
                turbo, fingerprint.parse(f"\n{text}")["turbo"], text
            )
        facts = fingerprint.parse(
            "@@ transparent_huge_pages\nalways [madvise] never\n"
            "@@ meminfo\nMemTotal: 8 kB\nHugePages_Total:     512\n"
            "@@ disks\nname=vda\tqueues=4\n"
            "@@ nets\nname=eth0\tqueues=2\toffloads=rx-checksumming:on \n"
        )
        self.assertEqual(
            ("madvise", 512, 8192),
            (
                facts["transparent_huge_pages"],
                facts["huge_pages"],
                facts["memory_bytes"],
            ),
        )
        self.assertEqual("4", facts["disks"][0]["queues"])
        self.assertEqual(
            "rx-checksumming:on", facts["network_interfaces"][0]["offloads"]
        )

    def test_isolated_cpus(self):
        """None of them is another answer than no answer."""
        for text, isolated in (
            ("@@ isolated\ncpus=2-7,10\n", "2-7,10"),
            ("@@ isolated\ncpus=\n", "none"),
            ("@@ isolated\n", None),
            ("@@ isolated\ncpus=<b>\n", None),
            ("@@ smt\n0\n", None),
        ):
            self.assertEqual(
                isolated, fingerprint.parse(f"\n{text}")["isolated_cpus"], text
            )

    def test_a_kvm_guest(self):
        text = (DATA / "fingerprint-kvm-epyc.txt").read_text()
        facts = fingerprint.parse(text)
        flags = facts.pop("cpu_flags")
        self.assertIn("avx512f", flags)
        mitigations = facts.pop("mitigations")
        self.assertEqual(
            "Vulnerable: Safe RET, no microcode",
            mitigations["spec_rstack_overflow"],
        )
        for key in ("boot_id", "machine_id"):
            self.assertRegex(facts.pop(key), "^[0-9a-f]{16}$")
        # The script of an earlier version did not print these.
        for key in ("online_cpus", "firmware_memory_bytes", "root_disk"):
            self.assertIsNone(facts.pop(key))
        self.assertEqual(
            {
                "cpu_model": "AMD EPYC",
                "microcode": "0x1000065",
                "sockets": 1,
                "cores": 2,
                "threads": 2,
                "smt": False,
                "isolated_cpus": None,
                "numa_nodes": 1,
                "memory_bytes": 25276502016,
                "kernel": "6.18.44-fc-v669",
                "kernel_arguments": [
                    "BOOT_IMAGE=/vmlinuz",
                    "root=/dev/vda1",
                    "ro",
                    "mitigations=auto",
                    "ipxe.password=(hidden)",
                    "quiet",
                ],
                "governor": None,
                "scaling_driver": None,
                "turbo": None,
                "huge_pages": 0,
                "transparent_huge_pages": None,
                "virtualisation": "kvm",
                "machine_type": None,
                "emulated": False,
                "disks": [
                    {
                        "name": "vda",
                        "model": "",
                        "driver": "virtio_blk",
                        "bus": "virtio",
                        "rotational": "1",
                        "scheduler": "none [mq-deadline] kyber bfq",
                        "write_cache": "write back",
                        "sectors": "536870912",
                    }
                ],
                "network_interfaces": [
                    {
                        "name": "eth0",
                        "driver": "virtio_net",
                        "speed": "-1",
                        "mtu": "1400",
                    }
                ],
                "os": "Debian GNU/Linux 12 (bookworm)",
                "hostname": None,
                "connected_networks": [],
            },
            facts,
        )

    def test_devices_of_qemu(self):
        """A guest of QEMU 7.2 with a disk on each bus that its kernel has."""
        path = DATA / "fingerprint-qemu-7.2-devices.txt"
        facts = fingerprint.parse(path.read_text())
        self.assertEqual("pc-i440fx-7.2", facts["machine_type"])
        self.assertEqual(
            {
                "fd0": ("floppy", ""),
                "sda": ("sd", "ata_piix"),
                "sdb": ("sd", "ahci"),
                "sdc": ("sd", "virtio_scsi"),
                "sdd": ("sd", "sym53c8xx"),
                "vda": ("virtio_blk", ""),
                "vdb": ("virtio_blk", ""),
            },
            {
                disk["name"]: (disk["driver"], disk["controller"])
                for disk in facts["disks"]
            },
        )
        self.assertEqual(
            ["e1000", "virtio_net", "e1000e", "ne2k-pci", "vmxnet3"],
            [card["driver"] for card in facts["network_interfaces"]],
        )

    def test_networks_without_a_router(self):
        """The default route and invalid lines are skipped."""
        rows = [
            "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU",
            "eth0 00000000 0104A8C0 0003 0 0 0 00000000 0 0 0",
            "eth0 0004A8C0 00000000 0001 0 0 0 00FFFFFF 0 0 0",
            "eth1 000018AC 00000000 0001 0 0 0 0000FEFF 0 0 0",
            "eth2 0000000A 0104A8C0 0003 0 0 0 000000FF 0 0 0",
            "eth3 000018AC 00000000 0001 0 0 0 FF00FE00 0 0 0",
            "eth4 zz 00000000 0001 0 0 0 00FFFFFF 0 0 0",
            "eth5",
        ]
        facts = fingerprint.parse(
            "\n@@ node\ncompute1\n\n@@ routes\n" + "\n".join(rows)
        )
        self.assertEqual("compute1", facts["hostname"])
        self.assertEqual(
            ["172.24.0.0/15", "192.168.4.0/24"], facts["connected_networks"]
        )

    def test_missing_facts_are_none_or_empty(self):
        facts = fingerprint.parse("")
        self.assertEqual("unknown", facts.pop("virtualisation"))
        self.assertFalse(any(facts.values()))
        self.assertIsNone(facts["emulated"])

    @hypothesis.given(st.binary(max_size=2000))
    def test_any_bytes(self, content):
        self._check(content.decode("utf-8", "replace"))

    @hypothesis.given(
        st.dictionaries(st.sampled_from(SECTIONS), st.text(max_size=2000))
    )
    def test_any_sections(self, sections):
        self._check("".join(f"\n@@ {k}\n{v}" for k, v in sections.items()))

    @hypothesis.given(
        st.sampled_from(SECTIONS),
        st.sampled_from(["a", "b=c\t", "a:b\n", "flags:x", "9\n"]),
    )
    def test_floods_are_bounded(self, section, line):
        self._check(f"@@ {section}\n" + line * 10_000)

    def test_passwords_in_urls_are_hidden(self):
        """As installers and network boots have them."""
        facts = fingerprint.parse(
            "\n@@ cmdline\ninst.ks=http://me:PWNED@h/ks url=ftp://PWNED@h "
            "iso=nfs://a:b@PWNED@h:1/x http://plain/@x root=LABEL=a@b\n"
        )
        self.assertEqual(
            [
                "inst.ks=http://(hidden)@h/ks",
                "url=ftp://(hidden)@h",
                "iso=nfs://(hidden)@h:1/x",
                "http://plain/@x",
                "root=LABEL=a@b",
            ],
            facts["kernel_arguments"],
        )

    def _check(self, text):
        parsed = fingerprint.parse(text)
        # What a machine says can always be recorded.
        ADAPTER.validate_python(parsed)
        self.assertLess(len(json.dumps(parsed)), 2_000_000)
        self._bounded(parsed)

    def _bounded(self, value):
        if isinstance(value, str):
            self.assertLessEqual(len(value), 200)
            self.assertTrue(value.isprintable())
        elif isinstance(value, dict):
            self.assertLessEqual(len(value), 64)
            for key, item in value.items():
                self._bounded(key)
                self._bounded(item)
        elif isinstance(value, list):
            self.assertLessEqual(len(value), 512)
            for item in value:
                self._bounded(item)
