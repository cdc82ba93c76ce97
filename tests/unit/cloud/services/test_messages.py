from rally_vmperf.cloud.services import messages
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base

RABBIT = services.Service(name="rabbitmq", argv=["rabbitmq-server"])


class FakeKeeper:
    """Starts a service that fails as often as it is told.

    :param failures: what it fails with, one after the other
    """

    def __init__(self, *failures):
        self.failures = list(failures)
        self.stopped = 0

    def ensure(self, service):
        """Start it."""
        if self.failures:
            raise self.failures.pop(0)
        return "was not started"

    def stop(self, name):
        """Stop it."""
        self.stopped += 1


class EnsureTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.files = self.folders.data / "rabbitmq" / "vmperf@localhost"

    def ensure(self, *failures, password="secret"):
        keeper = FakeKeeper(*failures)
        messages.ensure(self.folders, keeper, RABBIT, password, self.found)
        return keeper

    def test_files_stay(self):
        self.files.mkdir()
        self.ensure()
        self.ensure()
        self.assertTrue(self.files.exists())
        self.assertEqual([], self.findings)

    def test_files_it_does_not_start_with(self):
        self.files.mkdir()
        self.ensure(errors.CloudError("rabbitmq ended: badarg"))
        self.assertFalse(self.files.exists())
        self.assertIn("ended: badarg", self.findings[0])

    def test_files_that_are_not_to_blame(self):
        with self.assertRaisesRegex(errors.CloudError, "no memory"):
            self.ensure(errors.CloudError("no memory"))
        self.files.mkdir()
        with self.assertRaises(errors.AddressError):
            self.ensure(errors.AddressError("taken"))
        self.assertTrue(self.files.exists())

    def test_the_cookie(self):
        """It is long and random, for root alone, and stays."""
        path = self.folders.data / "rabbitmq" / ".erlang.cookie"
        self.ensure()
        first = path.read_text()
        self.assertRegex(first, "^[0-9a-f]{64}$")
        self.assertEqual(0o400, path.stat().st_mode & 0o777)
        self.assertEqual(0, self.ensure().stopped)
        self.assertEqual(first, path.read_text())
        for damage in (
            path.unlink,
            lambda: path.chmod(0o600),
            lambda: path.write_text("ERLANGSOWNTWENTYCHARS"),
        ):
            damage()
            self.assertEqual(1, self.ensure().stopped)
            self.assertNotEqual(first, path.read_text())
            self.assertEqual(0o400, path.stat().st_mode & 0o777)

    def test_another_password(self):
        self.ensure()
        self.files.mkdir()
        self.assertEqual(1, self.ensure(password="new").stopped)
        self.assertFalse(self.files.exists())
