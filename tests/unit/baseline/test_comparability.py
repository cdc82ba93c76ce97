"""Tests of what makes machines incomparable."""

import unittest

import ddt

from rally_vmperf.baseline import comparability

METAL = {
    "cpu_model": "Xeon",
    "microcode": "0x1",
    "kernel": "6.1.0-13",
    "mitigations": {"meltdown": "PTI", "mds": "clear"},
    "governor": "performance",
    "boot_id": "aa",
}


@ddt.ddt
class TestCompareMachines(unittest.TestCase):
    """Each difference is one finding, with both values."""

    @ddt.data(
        ("cpu_model", "QEMU Virtual CPU", "cpu_model_differs"),
        ("microcode", "0x2", "microcode_differs"),
        ("kernel", "5.10", "kernel_differs"),
        ("mitigations", {"meltdown": "none"}, "mitigations_differ"),
    )
    @ddt.unpack
    def test_difference(self, key, value, kind):
        """What differs is named with what both sides have."""
        found = comparability.compare_machines(
            METAL, {**METAL, key: value}, "g1"
        )
        self.assertEqual([kind], [one.kind for one in found])
        self.assertIn("g1", found[0].seen)

    def test_only_the_mitigations_that_differ_are_told(self):
        """Equal ones would hide them."""
        other = {**METAL, "mitigations": {"meltdown": "PTI", "mds": "none"}}
        (found,) = comparability.compare_machines(METAL, other, "g1")
        self.assertIn("mds=none", found.seen)
        self.assertNotIn("meltdown", found.seen)

    @ddt.data((None, []), ((), [()]), (("a.b.c",), [("a.b.c",)]))
    @ddt.unpack
    def test_sensitivity(self, metrics, expected):
        """What matters to no workload is no finding; else it names whose."""
        found = comparability.compare_machines(
            METAL, {**METAL, "kernel": "5.10"}, "g1", {"kernel": metrics}
        )
        self.assertEqual(expected, [one.metrics for one in found])
        found = comparability.governor({"governor": "powersave"}, metrics)
        self.assertEqual(expected, [one.metrics for one in found])

    def test_alike_and_unknown(self):
        """Equal or unknown values are no difference."""
        self.assertEqual(
            [], comparability.compare_machines(METAL, METAL, "g1")
        )
        self.assertEqual([], comparability.compare_machines(METAL, {}, "g1"))


@ddt.ddt
class TestOthers(unittest.TestCase):
    """Tools, hypervisor and peer."""

    @ddt.data(
        ({"version": "3.33", "checksum": "a"}, []),
        ({"version": "3.33", "checksum": "b"}, ["tool_checksum_differs"]),
        ({"version": "3.28", "checksum": "b"}, ["tool_version_differs"]),
    )
    @ddt.unpack
    def test_tools(self, theirs, kinds):
        """Another version weighs more than another checksum."""
        ours = {"fio": {"version": "3.33", "checksum": "a"}}
        found = comparability.compare_tools(ours, {"fio": theirs}, "g1")
        self.assertEqual(kinds, [one.kind for one in found])

    @ddt.data(
        ("mbw 1.2.2-1+b1", "mbw 1.2.2-2", "tool_checksum_differs"),
        ("mbw 1.2.2-1", "mbw 1.3-1", "tool_version_differs"),
        ("unversioned", "of git", "tool_version_differs"),
    )
    @ddt.unpack
    def test_upstream_version(self, ours, theirs, kind):
        """A distribution's revision is another build, not another version."""
        (found,) = comparability.compare_tools(
            {"mbw": {"version": ours, "checksum": "a"}},
            {"mbw": {"version": theirs, "checksum": "b"}},
            "g1",
            {"mbw": ("memory.mbw.memcpy",)},
        )
        self.assertEqual(kind, found.kind)
        self.assertEqual(("memory.mbw.memcpy",), found.metrics)

    @ddt.data(
        ({"virtualisation": "kvm"}, []),
        ({"virtualisation": "qemu"}, ["emulated_guest"]),
        ({"virtualisation": "kvm", "tcg": True}, ["emulated_guest"]),
        ({"virtualisation": "none"}, ["virtualisation_unknown"]),
        ({}, ["virtualisation_unknown"]),
    )
    @ddt.unpack
    def test_virtualisation(self, guest, kinds):
        """Emulation is told from virtualisation."""
        found = comparability.virtualisation(guest, "g1")
        self.assertEqual(kinds, [one.kind for one in found])

    @ddt.data(
        ("performance", []),
        (None, []),
        ("powersave", ["governor_not_performance"]),
    )
    @ddt.unpack
    def test_governor(self, name, kinds):
        """Bare metal that saved power looks slower than it is."""
        found = comparability.governor({"governor": name})
        self.assertEqual(kinds, [one.kind for one in found])

    @ddt.data(("kvm", ["bare_metal_is_guest"]), ("none", []), (None, []))
    @ddt.unpack
    def test_nested(self, kind, kinds):
        """Bare metal that is a guest itself is told."""
        found = comparability.nested({"virtualisation": kind})
        self.assertEqual(kinds, [one.kind for one in found])

    @ddt.data(
        ("compute-1", []),
        ("COMPUTE-1.example.org", []),
        ("compute-2", ["other_host"]),
        (None, []),
    )
    @ddt.unpack
    def test_host(self, name, kinds):
        """Guests on another machine than the baseline's are told."""
        found = comparability.host("compute-1", "g1", name)
        self.assertEqual(kinds, [one.kind for one in found])

    @ddt.data(("a", []), ("b", ["other_peer"]), (None, []))
    @ddt.unpack
    def test_same_peer(self, identity, kinds):
        """Another machine at the other end is told."""
        found = comparability.same_peer(
            {"machine_id": "a"}, {"machine_id": identity}
        )
        self.assertEqual(kinds, [one.kind for one in found])

    @ddt.data(("aa", ["peer_on_host"]), ("bb", []), (None, []))
    @ddt.unpack
    def test_peer(self, boot, kinds):
        """A peer on the same boot is on the same machine."""
        found = comparability.peer_place(METAL, {"boot_id": boot})
        self.assertEqual(kinds, [one.kind for one in found])
