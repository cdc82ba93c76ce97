from rally_vmperf.image.system import commands
from rally_vmperf.image.system import lock
from tests.unit.cloud import base


class HoldTestCase(base.CloudTestCase):
    def test_one_at_a_time(self):
        with (
            lock.hold(self.folders.root),
            self.assertRaisesRegex(commands.HostError, "another command"),
            lock.hold(self.folders.root),
        ):
            self.fail("both hold it")
        with lock.hold(self.folders.root):
            """Free again."""
