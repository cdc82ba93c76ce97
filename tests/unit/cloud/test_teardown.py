import io
from unittest import mock

from rally_vmperf import removal
from rally_vmperf.cloud import teardown
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import console
from rally_vmperf.cloud.system import layout
from tests.unit.cloud import base


class DownTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.stream = io.StringIO()
        for name in ("sweep", "network_removal", "mounts", "packages"):
            patch = mock.patch.object(teardown, name, autospec=True)
            setattr(self, name, patch.start())
            self.addCleanup(patch.stop)

    def down(self, *, purge, folders=None):
        teardown.down(
            folders or self.folders, console.Progress(self.stream), purge=purge
        )

    def test_no_cloud(self):
        self.down(purge=True, folders=layout.Layout(self.folder / "none"))
        self.assertIn("does not contain a cloud", self.stream.getvalue())

    def test_names_of_others_are_left_alone(self):
        """What is called qrouter-* is ours only while the cloud is up."""
        self.down(purge=False)
        self.network_removal.remove.assert_not_called()

    def test_bridges_go_with_the_cloud(self):
        self.folders.before.write_text('{"settings": {}, "leftovers": []}')
        with mock.patch.object(teardown.machine, "LEFTOVERS", ()):
            self.down(purge=False)
        self.network_removal.remove.assert_called_once_with(addresses.USUAL)
        self.assertFalse(self.folders.before.exists())

    def test_databases_stay_and_guests_do_not(self):
        self.down(purge=False)
        self.assertTrue((self.folders.data / "mysql").exists())
        self.assertTrue(self.folders.guests_gone.exists())

    def test_a_purge_keeps_the_image(self):
        kept = {self.folders.image.name, "vmperf-guest.manifest"}
        for name in kept:
            (self.folders.root / name).touch()
        self.down(purge=True)
        self.assertEqual(
            {*kept, removal.MARKER},
            {path.name for path in self.folders.root.iterdir()},
        )

    def test_guests_are_given_up_before_they_are_ended(self):
        self.sweep.side_effect = KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.down(purge=False)
        self.assertTrue(self.folders.guests_gone.exists())

    def test_an_interrupted_purge_is_known_for_one(self):
        self.sweep.side_effect = KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.down(purge=True)
        self.assertTrue(self.folders.purging.exists())

    def test_a_purge_without_an_image_leaves_nothing(self):
        self.down(purge=True)
        self.assertFalse(self.folders.root.exists())
