import json
from unittest import mock

from rally_vmperf.cloud.system import machine
from tests.unit.cloud import base


class MachineTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.settings = self.folder / "sys"
        self.settings.mkdir()
        (self.settings / "forward").write_text("0\n")
        self.own = self.folder / "own"
        self.made = self.folder / "made"
        self.left = self.folder / "left"
        self.own.mkdir()
        for name, value in (
            ("SETTINGS", self.settings),
            ("KERNEL_SETTINGS", ("forward", "not-in-this-kernel")),
            ("LEFTOVERS", (str(self.own), str(self.made), str(self.left))),
            ("OWN_FOLDERS", (str(self.own), str(self.made))),
        ):
            patch = mock.patch.object(machine, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_put_back(self):
        machine.remember(self.folders)
        (self.settings / "forward").write_text("1\n")
        (self.made / "below").mkdir()
        self.left.mkdir()
        (self.made / "below" / "file").touch()
        machine.put_back(self.folders)
        self.assertEqual("0", (self.settings / "forward").read_text().strip())
        self.assertTrue(self.own.exists())
        self.assertFalse(self.made.exists())
        self.assertFalse(self.left.exists())
        self.assertFalse(self.folders.before.exists())

    def test_what_others_have_come_to_use_stays(self):
        machine.remember(self.folders)
        self.made.rename(self.folder / "moved")
        for folder in (self.made, self.left):
            folder.mkdir()
            (folder / "namespace-of-others").touch()
        machine.put_back(self.folders)
        for folder in (self.made, self.left):
            self.assertTrue((folder / "namespace-of-others").exists())

    def test_what_the_cloud_changed_is_not_remembered(self):
        machine.remember(self.folders)
        (self.settings / "forward").write_text("1\n")
        machine.remember(self.folders)
        before = json.loads(self.folders.before.read_text())
        self.assertEqual({"forward": "0"}, before["settings"])

    def test_a_broken_note_changes_nothing(self):
        self.made.mkdir()
        self.folders.before.write_text("{")
        machine.put_back(self.folders)
        self.assertTrue(self.made.exists())
        self.assertFalse(self.folders.before.exists())

    def test_nothing_to_put_back(self):
        machine.put_back(self.folders)
