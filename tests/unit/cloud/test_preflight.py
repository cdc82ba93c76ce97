import dataclasses
import unittest

from rally_vmperf.cloud import preflight
from rally_vmperf.cloud.system import errors

GIB = preflight.GIB
GOOD = preflight.Facts(
    user=0, systems=("debian",), memory=8 * GIB, disk=50 * GIB
)


class CheckTestCase(unittest.TestCase):
    def test_accepted(self):
        for change in (
            {},
            {"systems": ("ubuntu", "debian")},
            {"systems": ("kin", "debian")},
            {"memory": 6 * GIB, "disk": 10 * GIB},
            # its own bridges and its own use of the disk
            {"brought_up": True, "bridges": ("br-ex",), "disk": GIB},
        ):
            with self.subTest(**change):
                preflight.check(dataclasses.replace(GOOD, **change))

    def test_refused(self):
        for change, value, way_out in (
            ({"user": 1000}, "user 1000", "sudo"),
            ({"systems": ("fedora",)}, "'fedora'", "Debian or Ubuntu"),
            ({"memory": 5 * GIB}, "5.0 GiB", "with 6 GiB"),
            ({"disk": 9 * GIB}, "9.0 GiB", "--root"),
            ({"rivals": ((12, "libvirtd"),)}, "process 12", "stop it"),
            (
                {"disk": GIB // 2, "brought_up": True},
                "0.5 GiB",
                "free some",
            ),
            ({"bridges": ("br-ex",)}, "br-ex", "remove it"),
        ):
            with (
                self.subTest(**change),
                self.assertRaises(errors.CloudError) as refused,
            ):
                preflight.check(dataclasses.replace(GOOD, **change))
            reason = str(refused.exception)
            self.assertIn(value, reason)
            self.assertIn(way_out, reason)
            self.assertNotIn("\n", reason)
