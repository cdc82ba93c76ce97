import unittest

from rally_vmperf.cloud.resources import inventory
from rally_vmperf.cloud.system import errors

NOON = 1_767_268_800.0  # 2026-01-01 12:00 UTC


class HeardSinceTestCase(unittest.TestCase):
    def test_table(self):
        for report, heard in (
            (None, False),
            ("2026-01-01T11:59:59.000000", False),
            ("2026-01-01T12:00:00.000000", True),
            ("2026-01-01 12:00:01", True),
        ):
            with self.subTest(report):
                self.assertIs(heard, inventory.heard_since(report, NOON))


class WaitTestCase(unittest.TestCase):
    def test_there_already(self):
        inventory.wait("a hypervisor", lambda: True, patience=0)

    def test_too_late(self):
        with self.assertRaisesRegex(
            errors.CloudError, "a hypervisor is still"
        ):
            inventory.wait("a hypervisor", lambda: False, patience=-1)
