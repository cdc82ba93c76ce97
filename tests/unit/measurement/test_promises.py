# SPDX-License-Identifier: Apache-2.0
"""Tests of the CPUs that Nova reserves for a guest."""

import unittest

import ddt

from rally_vmperf.measurement import promises

MIXED = {"hw:cpu_policy": "mixed"}
REALTIME = {**MIXED, "hw:cpu_realtime": "yes"}


@ddt.ddt
class CpuPolicyTestCase(unittest.TestCase):
    """The numbers and the rules are those of nova/virt/hardware.py."""

    @ddt.data(
        ({}, "", "", 0),
        ({"hw:cpu_policy": "shared"}, "", "", 0),
        ({"hw:cpu_policy": "dedicated"}, "", "", 4),
        ({}, "dedicated", "", 4),
        ({"resources:PCPU": "4"}, "", "", 4),
        (
            {
                "hw:cpu_policy": "dedicated",
                "hw:emulator_threads_policy": "isolate",
            },
            "",
            "",
            5,
        ),
        ({**MIXED, "hw:cpu_dedicated_mask": "1"}, "", "", 1),
        ({**MIXED, "hw:cpu_dedicated_mask": "1-3"}, "", "", 3),
        ({**MIXED, "hw:cpu_dedicated_mask": "0-3, ^1-2"}, "", "", 2),
        ({**MIXED, "hw:cpu_dedicated_mask": "^0"}, "", "", 3),
        ({"hw:cpu_dedicated_mask": "^0-1"}, "mixed", "", 2),
        ({**REALTIME, "hw:cpu_realtime_mask": "^0-2"}, "", "", 1),
        ({**REALTIME, "hw:cpu_realtime_mask": "^0"}, "", "2-3", 2),
        ({**MIXED, "hw:cpu_realtime_mask": "^0"}, "", "", None),
        (
            {**REALTIME, "hw:emulator_threads_policy": "isolate"},
            "",
            "",
            5,
        ),
        (REALTIME, "", "", None),
        (MIXED, "", "", None),
        ({**MIXED, "hw:cpu_dedicated_mask": "0-3"}, "", "", None),
        ({**MIXED, "hw:cpu_dedicated_mask": "2-4"}, "", "", None),
        ({**MIXED, "hw:cpu_dedicated_mask": "^0-3"}, "", "", None),
        ({**MIXED, "hw:cpu_dedicated_mask": "a"}, "", "", None),
        ({**MIXED, "hw:cpu_dedicated_mask": "0-" + "9" * 9}, "", "", None),
    )
    @ddt.unpack
    def test_dedicated_cpus(self, extra_specs, policy, mask, number):
        self.assertEqual(
            number, promises.count_dedicated(extra_specs, policy, mask, 4)
        )

    @ddt.data(
        ("shared", "dedicated", True),
        ("shared", "mixed", True),
        ("mixed", "dedicated", True),
        ("mixed", "mixed", False),
        ("dedicated", "mixed", False),
        ("dedicated", "shared", False),
        ("", "dedicated", False),
        ("shared", "", False),
    )
    @ddt.unpack
    def test_conflict(self, policy, image_policy, is_rejected):
        """The image requires no more than a flavor with a policy allows."""
        extra_specs = {"hw:cpu_policy": policy} if policy else {}
        conflict = promises.describe_policy_conflict(extra_specs, image_policy)
        self.assertEqual(is_rejected, bool(conflict))

    def test_a_record(self):
        """Requested extra specs are among the settings."""
        facts = {
            "flavor": {"extra_specs": {"hw:cpu_policy": "mixed"}},
            "settings": {"hw:cpu_dedicated_mask": "^0"},
        }
        self.assertEqual(3, promises.count_recorded_dedicated(facts, 4))
