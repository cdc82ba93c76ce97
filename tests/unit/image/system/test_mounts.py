import pathlib
import types
import unittest
from unittest import mock

from rally_vmperf.image.system import mounts

POINTS = ("/", "/run/netns", "/run/netns/a", "/run/netns-of-others/b")


class BelowTestCase(unittest.TestCase):
    def test_the_last_one_first(self):
        table = [types.SimpleNamespace(mountpoint=point) for point in POINTS]
        with mock.patch.object(
            mounts.psutil, "disk_partitions", autospec=True, return_value=table
        ):
            self.assertEqual(
                ["/run/netns/a", "/run/netns"],
                mounts.below(pathlib.Path("/run/netns")),
            )

    def test_of_this_machine(self):
        self.assertIn("/proc", mounts.below(pathlib.Path("/")))
