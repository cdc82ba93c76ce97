# SPDX-License-Identifier: Apache-2.0
"""Tests of what makes machines incomparable."""

import unittest

import ddt

from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.workloads import registry
from tests.unit import made

METAL = {
    "cpu_model": "Xeon",
    "microcode": "0x1",
    "kernel": "6.1.0-13",
    "mitigations": {"meltdown": "PTI", "mds": "clear"},
    "governor": "performance",
    "boot_id": "aa",
    "cpu_flags": ["aes", "avx2", "avx512f", "vmx"],
    "turbo": "on",
    "transparent_huge_pages": "always",
    "disks": [
        {"scheduler": "[none] bfq", "write_cache": "write back", "queues": "8"}
    ],
    "network_interfaces": [
        {"mtu": "1500", "queues": "8", "offloads": "tx-checksumming:on"}
    ],
}


@ddt.ddt
class TestCompareMachines(unittest.TestCase):
    """Each difference is one finding, with both values."""

    @ddt.data(
        ("cpu_model", "QEMU Virtual CPU", "cpu_model_differs"),
        ("microcode", "0x2", "microcode_differs"),
        ("kernel", "5.10", "kernel_differs"),
        ("mitigations", {"meltdown": "none"}, "mitigations_differ"),
        ("cpu_flags", ["aes", "avx2", "hypervisor"], "instructions_differ"),
        ("turbo", "off", "turbo_differs"),
        ("transparent_huge_pages", "madvise", "huge_pages_differ"),
        ("disks", [{"scheduler": "none [bfq]"}], "disk_settings_differ"),
        (
            "disks",
            [{"write_cache": "write through", "scheduler": "[none] kyber"}],
            "disk_settings_differ",
        ),
        ("disks", [{"queues": "1"}], "queues_differ"),
        ("network_interfaces", [{"mtu": "9000"}], "nic_settings_differ"),
        (
            "network_interfaces",
            [{"offloads": "tx-checksumming:off", "mtu": "1500"}],
            "nic_settings_differ",
        ),
        ("network_interfaces", [{"queues": "1"}], "queues_differ"),
    )
    @ddt.unpack
    def test_difference(self, key, value, kind):
        """A difference is named with the values of both sides."""
        findings = comparability.compare_machines(
            METAL, {**METAL, key: value}, "g1"
        )
        self.assertEqual([kind], [difference.kind for difference in findings])
        self.assertIn("g1", findings[0].detail)

    @ddt.data(
        {"cpu_flags": ["aes", "avx2", "avx512f"]},
        {"cpu_flags": []},
        {"turbo": None},
        {"disks": [{"scheduler": "[none]"}, {"scheduler": "[bfq]"}]},
        {"disks": [{"scheduler": "[none] kyber", "write_cache": ""}]},
        {"disks": []},
        {"network_interfaces": [{"mtu": "1500", "offloads": ""}]},
        {"network_interfaces": None},
        {"network_interfaces": 7, "disks": ["a"], "cpu_flags": "avx2"},
        {
            "mitigations": {
                "meltdown": "PTI",
                "mds": "Unknown: Dependent on hypervisor status",
            }
        },
    )
    def test_no_difference(self, changes):
        """Unknown facts, and facts of single devices, are not differences."""
        findings = comparability.compare_machines(METAL, METAL | changes, "g1")
        self.assertEqual([], findings)

    def test_instructions_are_named(self):
        """Only those that one side lacks."""
        (difference,) = comparability.compare_machines(
            METAL, METAL | {"cpu_flags": ["aes", "avx2", "sha_ni"]}, "g1"
        )
        self.assertEqual("bare metal: avx512f; g1: sha_ni", difference.detail)

    def test_only_the_mitigations_that_differ_are_told(self):
        """Equal ones would hide them."""
        other = {**METAL, "mitigations": {"meltdown": "PTI", "mds": "none"}}
        (difference,) = comparability.compare_machines(METAL, other, "g1")
        self.assertIn("mds=none", difference.detail)
        self.assertNotIn("meltdown", difference.detail)

    @ddt.data((None, []), ((), [()]), (("a.b.c",), [("a.b.c",)]))
    @ddt.unpack
    def test_sensitivity(self, metrics, expected):
        """A fact that no workload depends on gives no finding."""
        findings = comparability.compare_machines(
            METAL, {**METAL, "kernel": "5.10"}, "g1", {"kernel": metrics}
        )
        self.assertEqual(
            expected, [difference.metrics for difference in findings]
        )
        findings = comparability.governor({"governor": "powersave"}, metrics)
        self.assertEqual(
            expected, [difference.metrics for difference in findings]
        )

    @ddt.data(
        ([{"write_cache": "write back"}], "write back"),
        ([{"write_cache": "write back"}, {"write_cache": "none"}], ""),
        ([], ""),
        (None, ""),
    )
    @ddt.unpack
    def test_write_cache(self, disks, expected):
        """It is that of all disks, because no one knows which is used."""
        findings = comparability.find_write_cache({"disks": disks})
        self.assertEqual(expected, findings)

    def test_what_every_cloud_has_is_a_note(self):
        """A named CPU model, a virtual disk and a virtual NIC differ."""
        guest = {
            "cpu_model": "QEMU Virtual CPU",
            "disks": [{"scheduler": "none [bfq]"}],
            "network_interfaces": [{"mtu": "1450"}],
        }
        findings = comparability.compare_machines(METAL, METAL | guest, "g1")
        self.assertEqual(
            {
                "cpu_model_differs": "note",
                "disk_settings_differ": "note",
                "nic_settings_differ": "note",
            },
            {finding_.kind: finding_.severity for finding_ in findings},
        )

    def test_alike_and_unknown(self):
        """Equal or unknown values are not a difference."""
        self.assertEqual(
            [], comparability.compare_machines(METAL, METAL, "g1")
        )
        self.assertEqual([], comparability.compare_machines(METAL, {}, "g1"))


@ddt.ddt
class TestHostCpu(unittest.TestCase):
    """Linux and libvirt describe the same processor, or another one."""

    #: Both of one machine, as /proc/cpuinfo and as Nova have it.
    LINUX = (
        "fpu sse sse2 ss pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 popcnt "
        "aes f16c rdrand hypervisor abm bmi1 avx2 bmi2 erms mpx avx avx512f "
        "avx512dq rdseed adx avx512cd avx512bw avx512vl avx512_vnni md_clear"
    )
    LIBVIRT = (
        "sse rdseed sse4.1 avx512bw pni bmi1 avx512vl bmi2 popcnt fma adx "
        "pclmuldq ssse3 avx512vnni sse4.2 f16c invtsc avx512cd aes abm "
        "avx512f avx512dq avx sse2 avx2 mpx erms spec-ctrl arch-capabilities"
    )

    def kinds(self, linux, libvirt):
        """Return the findings on a guest."""
        findings = comparability.host_cpu(
            {"cpu_flags": linux.split()}, "g1", libvirt.split()
        )
        return [
            (difference.kind, difference.subject) for difference in findings
        ]

    @ddt.data(
        (LINUX, LIBVIRT, False),
        (LINUX, LIBVIRT.replace("avx512vnni", ""), True),
        (LINUX.replace("avx512_vnni", ""), LIBVIRT, True),
        (LINUX, LIBVIRT + " sse4a sha-ni", True),
        (LINUX + " vaes", LIBVIRT, False),
        (LINUX, "", False),
        (LINUX, "vaes", False),
        ("", LIBVIRT, False),
        ("asimd aes", "asimd aes sve", False),
    )
    @ddt.unpack
    def test_instructions(self, linux, libvirt, differs):
        """Only those are compared that both know, and only of whole lists."""
        expected = [("host_cpu_differs", "g1")] if differs else []
        self.assertEqual(expected, self.kinds(linux, libvirt))

    def test_seen(self):
        """It names what either has."""
        (difference,) = comparability.host_cpu(
            {"cpu_flags": ["sse2", "avx2"]}, "g1", ["sse2", "avx", "sha-ni"]
        )
        self.assertEqual(
            "bare metal: avx2; host of g1: avx shani", difference.detail
        )


@ddt.ddt
class TestOthers(unittest.TestCase):
    """Tools, hypervisor and peer."""

    @ddt.data(
        ({"version": "3.33", "checksum": "a"}, []),
        ({"version": "3.33", "checksum": "b"}, ["tool_checksum_differs"]),
        ({"version": "3.28", "checksum": "b"}, ["tool_version_differs"]),
    )
    @ddt.unpack
    def test_tools(self, guest_tool, kinds):
        """Another version weighs more than another checksum."""
        metal_tools = {"fio": {"version": "3.33", "checksum": "a"}}
        findings = tool_comparison.compare_tools(
            metal_tools, {"fio": guest_tool}, "g1"
        )
        self.assertEqual(kinds, [difference.kind for difference in findings])

    @ddt.data(
        ("fio", "fio-3.28", "fio-3.33", "note"),
        ("fio", "fio-2.20", "fio-3.33", "void"),
        ("fio", "of git", "fio-3.33", "void"),
        ("iperf3", "iperf 3.9 (cJSON 1.7.13)", "iperf 3.12", "note"),
        ("ping", "ping from iputils 20211215", "iputils-s20161105", "note"),
        ("mbw", "mbw 1.2.2-1", "mbw 1.4-1", "void"),
        ("mbw", "mbw 1.4-1", "mbw 1.5-1", "note"),
        ("sysbench", "sysbench 1.0.18", "sysbench 1.0.20", "void"),
        ("openssl", "OpenSSL 3.0.2", "OpenSSL 3.0.9", "void"),
        ("bzip2", "bzip2 1.0.6", "bzip2 1.0.8", "void"),
        ("perl", "perl 5.34.0", "perl 5.36.0", "void"),
    )
    @ddt.unpack
    def test_severity(self, command, metal_version, guest_version, severity):
        """Versions of a load generator are comparable, of a program not."""
        definitions = [
            tool
            for name in registry.workload_names()
            for tool in registry.get_workload(name).TOOLS
        ]
        (finding_,) = tool_comparison.compare_tools(
            {command: {"version": metal_version, "checksum": "a"}},
            {command: {"version": guest_version, "checksum": "b"}},
            "g1",
            definitions=definitions,
        )
        self.assertEqual(
            ("tool_version_differs", severity),
            (finding_.kind, finding_.severity),
        )

    @ddt.data(
        ("mbw 1.2.2-1+b1", "mbw 1.2.2-2", "tool_checksum_differs"),
        ("mbw 1.2.2-1", "mbw 1.3-1", "tool_version_differs"),
        ("unversioned", "of git", "tool_version_differs"),
    )
    @ddt.unpack
    def test_upstream_version(self, metal_version, guest_version, kind):
        """A distribution's revision is another build, not another version."""
        (difference,) = tool_comparison.compare_tools(
            {"mbw": {"version": metal_version, "checksum": "a"}},
            {"mbw": {"version": guest_version, "checksum": "b"}},
            "g1",
            {"mbw": ("memory.mbw.memcpy.bandwidth",)},
        )
        self.assertEqual(kind, difference.kind)
        self.assertEqual(("memory.mbw.memcpy.bandwidth",), difference.metrics)

    @ddt.data(
        ({"virtualisation": "kvm"}, []),
        ({"virtualisation": "qemu"}, ["emulated_guest"]),
        ({"virtualisation": "kvm", "emulated": True}, ["emulated_guest"]),
        ({"virtualisation": "none"}, ["virtualisation_unknown"]),
        ({}, ["virtualisation_unknown"]),
    )
    @ddt.unpack
    def test_virtualisation(self, guest, kinds):
        """Emulation is distinguished from virtualisation."""
        findings = comparability.virtualisation(guest, "g1")
        self.assertEqual(kinds, [difference.kind for difference in findings])

    @ddt.data(
        ("performance", "acpi-cpufreq", []),
        (None, None, []),
        ("powersave", None, ["governor_not_performance"]),
        ("schedutil", "intel_cpufreq", ["governor_not_performance"]),
        ("powersave", "amd-pstate", ["governor_not_performance"]),
        ("powersave", "intel_pstate", []),
        ("powersave", "amd-pstate-epp", []),
    )
    @ddt.unpack
    def test_governor(self, name, driver, kinds):
        """Bare metal saves power only with some frequency drivers."""
        findings = comparability.governor(
            {"governor": name, "scaling_driver": driver}
        )
        self.assertEqual(kinds, [finding_.kind for finding_ in findings])

    @ddt.data(("kvm", ["bare_metal_is_guest"]), ("none", []), (None, []))
    @ddt.unpack
    def test_nested(self, kind, kinds):
        """Bare metal that is a guest itself is reported."""
        findings = comparability.nested({"virtualisation": kind})
        self.assertEqual(kinds, [difference.kind for difference in findings])

    @ddt.data(
        ("compute-1", []),
        ("COMPUTE-1.example.org", []),
        ("compute-2", ["host_differs"]),
        ("compute-1.rack1.example.org", []),
        ("compute-1x", ["host_differs"]),
        (None, []),
    )
    @ddt.unpack
    def test_host(self, name, kinds):
        """Guests on another machine than the baseline's are reported."""
        machine = document.BaselineMachine(name="compute-1", fingerprint={})
        baseline = made.baseline(machine=machine)
        findings = comparability.host(baseline, "g1", name)
        self.assertEqual(kinds, [difference.kind for difference in findings])
        baseline = made.baseline(machine=machine, machine_class="r740")
        findings = comparability.host(baseline, "g1", name)
        self.assertEqual([], findings)

    @ddt.data(("a", []), ("b", ["peer_differs"]), (None, []))
    @ddt.unpack
    def test_same_peer(self, identity, kinds):
        """Another machine at the other end is reported."""
        findings = comparability.same_peer(
            {"machine_id": "a"}, {"machine_id": identity}
        )
        self.assertEqual(kinds, [difference.kind for difference in findings])

    @ddt.data(("aa", ["peer_on_host"]), ("bb", []), (None, []))
    @ddt.unpack
    def test_peer(self, boot, kinds):
        """A peer on the same boot is on the same machine."""
        findings = comparability.peer_on_host(METAL, {"boot_id": boot})
        self.assertEqual(kinds, [difference.kind for difference in findings])
