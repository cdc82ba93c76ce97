from rally_vmperf.cloud import errors
from rally_vmperf.cloud import lock
from tests.unit.cloud import base


class HoldTestCase(base.CloudTestCase):
    def test_one_at_a_time(self):
        with (
            lock.hold(self.place.root),
            self.assertRaisesRegex(errors.CloudError, "another command"),
            lock.hold(self.place.root),
        ):
            self.fail("both hold it")
        with lock.hold(self.place.root):
            """Free again."""
