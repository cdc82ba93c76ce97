import dataclasses
import platform
import unittest
from unittest import mock

import ddt

from rally_vmperf.cloud import preflight
from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

GIB = preflight.GIB
GOOD = preflight.Facts(
    user=0, system="debian 12", memory=8 * GIB, disk=50 * GIB
)


class CheckTestCase(unittest.TestCase):
    def test_accepted(self):
        for change in (
            {},
            {"memory": 6 * GIB, "disk": 10 * GIB},
            # its own bridges and its own use of the disk
            {"brought_up": True, "bridges": ("br-ex",), "disk": GIB},
        ):
            with self.subTest(**change):
                preflight.check(dataclasses.replace(GOOD, **change))

    def test_refused(self):
        for change, value, way_out in (
            ({"user": 1000}, "user 1000", "sudo"),
            ({"system": "debian 13"}, "'debian 13'", "with Debian 12"),
            ({"system": "debian"}, "'debian'", "with Debian 12"),
            ({"system": "ubuntu 24.04"}, "'ubuntu 24.04'", "with Debian 12"),
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


@ddt.ddt
class GatherTestCase(base.CloudTestCase):
    @ddt.data(
        ({"ID": "debian", "VERSION_ID": "12"}, "debian 12"),
        # Debian's unstable release has no version.
        ({"ID": "debian"}, "debian"),
        (
            {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "24.04"},
            "ubuntu 24.04",
        ),
    )
    @ddt.unpack
    def test_system(self, release, system):
        """The release is part of it, and ancestors do not count."""
        owner = mock.create_autospec(ownership.Ownership, instance=True)
        owner.rivals.return_value = []
        with mock.patch.object(
            platform,
            "freedesktop_os_release",
            autospec=True,
            return_value=release,
        ):
            self.assertEqual(
                system, preflight.gather(self.folders, owner).system
            )
