import pathlib
import unittest

from rally_vmperf.cloud.system import mounts

TABLE = """\
/dev/vda / ext4 rw 0 0
/dev/vda /run/netns ext4 rw 0 0
nsfs /run/netns/a nsfs rw 0 0
nsfs /run/netns-of-others/b nsfs rw 0 0
"""


class BelowTestCase(unittest.TestCase):
    def test_the_last_one_first(self):
        self.assertEqual(
            ["/run/netns/a", "/run/netns"],
            mounts.below(pathlib.Path("/run/netns"), TABLE),
        )
