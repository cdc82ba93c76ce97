import errno
import io
from unittest import mock

from rally_vmperf.cloud import recovery
from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import errors
from tests.unit.cloud import base


class RecoveryTestCase(base.CloudTestCase):
    """With the steps, and all that touches the machine, replaced."""

    def setUp(self):
        super().setUp()
        self.stream = io.StringIO()
        self.progress = console.Progress(self.stream)
        for name in (
            "run", "preflight", "teardown", "network_removal", "packages",
            "machine", "paths", "routing",
        ):  # fmt: skip
            patch = mock.patch.object(recovery, name, autospec=True)
            setattr(self, name, patch.start())
            self.addCleanup(patch.stop)

    def up(self):
        recovery.up(self.folders, self.progress, None)
        return self.stream.getvalue()

    def test_nothing_wrong(self):
        self.assertNotIn("found", self.up())
        self.assertEqual(1, self.run.call_count)

    def test_rejected_machine_is_not_changed(self):
        """No directory is claimed, and no package is installed."""
        self.preflight.check.side_effect = errors.CloudError("debian 13")
        with (
            mock.patch.object(recovery, "state_root", autospec=True) as root,
            self.assertRaisesRegex(errors.CloudError, "debian 13"),
        ):
            self.up()
        self.assertEqual([], root.mock_calls)
        self.assertEqual([], self.packages.mock_calls)
        self.run.assert_not_called()

    def test_damage_is_rebuilt_once(self):
        self.run.side_effect = [errors.DamageError("a table is gone"), None]
        for name in ("kvm.json", "mysql/ibdata1", "done/schema-nova"):
            (self.folders.data / name).touch()
        self.folders.image.touch()
        self.assertRegex(
            self.up(), "found: a table is gone; the databases were recreated"
        )
        self.teardown.sweep.assert_called_once()
        self.assertFalse((self.folders.data / "mysql/ibdata1").exists())
        self.assertFalse(schema.any_filled(self.folders))
        self.assertTrue((self.folders.data / "kvm.json").exists())
        self.assertTrue((self.folders.data / "mysql").is_dir())
        self.assertTrue(self.folders.image.exists())

    def test_damage_after_a_rebuild_is_an_error(self):
        self.run.side_effect = errors.DamageError("a table is gone")
        with self.assertRaisesRegex(errors.CloudError, "a table is gone"):
            self.up()

    def test_other_errors_lose_nothing(self):
        (self.folders.data / "mysql/ibdata1").touch()
        self.run.side_effect = errors.CloudError("glance ended")
        with self.assertRaisesRegex(errors.CloudError, "glance ended"):
            self.up()
        self.assertTrue((self.folders.data / "mysql/ibdata1").exists())

    def test_a_full_disk(self):
        self.run.side_effect = OSError(errno.ENOSPC, "No space", "/a/b")
        with self.assertRaisesRegex(
            errors.CloudError, "^the disk is full: /a/b cannot .* up' again$"
        ):
            self.up()

    def test_an_interrupted_purge_is_finished(self):
        self.folders.purging.touch()
        self.assertIn("an earlier purge was interrupted", self.up())
        self.teardown.empty.assert_called_once_with(self.folders)

    def test_folders(self):
        (self.folders.data / "nova/instances").rmdir()
        self.assertNotIn("found", self.up())
        schema.mark(self.folders, "nova").touch()
        (self.folders.data / "nova/instances").rmdir()
        (self.folders.data / "locks").rmdir()
        said = self.up()
        self.paths.remove.assert_not_called()
        self.assertIn("found: folder data/locks is gone; recreated", said)
        self.assertRegex(said, "data/nova/instances is gone; .* guests of")
        self.assertTrue(self.folders.guests_gone.exists())
        self.assertEqual([], self.folders.missing_folders())

    def test_the_folder_of_what_serves_guests(self):
        schema.mark(self.folders, "nova").touch()
        (self.folders.data / "neutron").rmdir()
        self.assertIn("folder data/neutron is gone", self.up())
        self.paths.remove.assert_called_once()

    def test_files_that_cannot_be_read(self):
        schema.mark(self.folders, "nova").touch()
        self.folders.settings.write_text("{")
        self.assertIn("settings.json cannot be read; recreated", self.up())
