# SPDX-License-Identifier: Apache-2.0
import unittest

from rally_vmperf.measurement.samples import cpu_seconds


def usage(command="randread", **changes):
    """Return what a run took, some of it changed."""
    whole = {
        "workload": "fio",
        "command": command,
        "runs": 1,
        "seconds": 10.0,
        "user": 1.0,
        "system": 3.0,
        "work": 2000.0,
        "unit": "ops",
    }
    return cpu_seconds.Usage(**{**whole, **changes})


class UsageTestCase(unittest.TestCase):
    def test_runs_of_a_command_add_up(self):
        both, other = cpu_seconds.total(
            [usage(), usage("read"), usage(user=2.0, work=6000.0)]
        )
        self.assertEqual(
            usage(runs=2, seconds=20, user=3, system=6, work=8000), both
        )
        self.assertEqual(usage("read"), other)

    def test_another_command_is_refused(self):
        with self.assertRaisesRegex(ValueError, "randread and fio read"):
            usage() + usage("read")

    def test_per_thousand_operations_and_per_gigabyte(self):
        self.assertEqual((2.0, "1000 operations"), usage().per_work)
        sent = usage(work=8e9, unit="B")
        self.assertEqual((0.5, "GB"), sent.per_work)

    def test_work_of_which_some_is_not_known(self):
        for unknown in (usage(work=None, unit=""), usage(unit="B")):
            with self.subTest(unknown):
                self.assertIsNone((usage() + unknown).per_work)
        self.assertIsNone(usage(work=0.0).per_work)
