# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.machines import fingerprint

NOTHING = {
    "detected": "",
    "cpu_flags": "fpu sse",
    "lscpu_vendor": "",
    "clocksources": "tsc hpet acpi_pm",
    "dmi": "",
    "hypervisor": "",
}
GUEST = {"cpu_flags": "fpu hypervisor", "dmi": "QEMU Standard PC"}


@ddt.ddt
class DetectTestCase(unittest.TestCase):
    @ddt.data(
        ("none", {}),
        ("none", {"detected": "none", "dmi": "QEMU"}),
        ("qemu", {"detected": "qemu"}),
        ("kvm", {"detected": "kvm", "dmi": "QEMU"}),
        ("other", {"detected": "<script>"}),
        ("kvm", {**GUEST, "clocksources": "kvm-clock tsc"}),
        ("qemu", GUEST),
        ("qemu", {**GUEST, "lscpu_vendor": "KVM"}),
        ("unknown", {**GUEST, "clocksources": "arch_sys_counter"}),
        ("xen", {"hypervisor": "xen"}),
        ("vmware", {"lscpu_vendor": "VMware"}),
        ("unknown", {"cpu_flags": ""}),
        ("unknown", {"cpu_flags": "hypervisor"}),
    )
    @ddt.unpack
    def test_detect(self, expected, signs):
        self.assertEqual(
            expected, fingerprint.detect_hypervisor(**{**NOTHING, **signs})
        )
