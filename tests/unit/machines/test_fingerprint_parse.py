import json
import pathlib
import unittest

import hypothesis
from hypothesis import strategies as st

from rally_vmperf.machines import fingerprint

DATA = pathlib.Path(__file__).parent / "data"
SECTIONS = [
    "cpuinfo",
    "lscpu",
    "meminfo",
    "kernel",
    "cmdline",
    "os",
    "mitigations",
    "governor",
    "smt",
    "nodes",
    "detect_virt",
    "clocksources",
    "hypervisor",
    "dmi_vendor",
    "dmi_product",
    "boot_id",
    "machine_id",
    "disks",
    "nets",
]


class ParseTestCase(unittest.TestCase):
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
        self.assertEqual(
            {
                "cpu_model": "AMD EPYC",
                "microcode": "0x1000065",
                "sockets": 1,
                "cores": 2,
                "threads": 2,
                "smt": False,
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
                "virtualisation": "kvm",
                "tcg": False,
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
                "nets": [
                    {
                        "name": "eth0",
                        "driver": "virtio_net",
                        "speed": "-1",
                        "mtu": "1400",
                    }
                ],
                "os": "Debian GNU/Linux 12 (bookworm)",
            },
            facts,
        )

    def test_what_is_not_told_is_none_or_empty(self):
        facts = fingerprint.parse("")
        self.assertEqual("unknown", facts.pop("virtualisation"))
        self.assertFalse(any(facts.values()))
        self.assertIsNone(facts["tcg"])

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

    def _check(self, text):
        facts = fingerprint.parse(text)
        self.assertLess(len(json.dumps(facts)), 2_000_000)
        self._bounded(facts)

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
