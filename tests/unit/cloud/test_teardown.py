# SPDX-License-Identifier: Apache-2.0
import os
from unittest import mock

from rally_vmperf.image import commands
from tests.cloud import teardown
from tests.cloud.container import container
from tests.cloud.system import layout
from tests.unit.cloud import base


class TeardownTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.ended = self.enterContext(
            mock.patch.object(container.Container, "end", autospec=True)
        )

    def down(self, *, purge=False):
        teardown.down(self.folders, self.progress, purge=purge)

    def test_no_cloud(self):
        teardown.down(
            layout.Layout(self.folder / "none"), self.progress, purge=True
        )
        self.assertIn("does not contain a cloud", self.output.getvalue())
        self.ended.assert_not_called()

    def test_data_remains(self):
        self.down()
        self.ended.assert_called_once()
        self.assertTrue(self.folders.data.exists())

    def test_a_purge_leaves_nothing(self):
        self.folders.package_root.mkdir()
        self.folders.image.touch()
        self.down(purge=True)
        self.ended.assert_called_once()
        self.assertFalse(self.folders.root.exists())

    def test_a_mount_ends_a_purge(self):
        with (
            mock.patch.object(
                commands,
                "list_mounts",
                autospec=True,
                return_value=[f"{self.folders.data}/x"],
            ),
            self.assertRaisesRegex(
                commands.HostError,
                "data/x is mounted, so .*; unmount it first",
            ),
        ):
            self.down(purge=True)
        self.assertTrue(self.folders.data.exists())

    def test_a_cloud_of_an_earlier_form(self):
        """Its processes would remain, without their files."""
        (self.folders.root / "before.json").touch()
        with self.assertRaisesRegex(
            commands.HostError, "before.json belongs to a cloud of an earlier"
        ):
            self.down(purge=True)
        self.ended.assert_not_called()
        self.assertTrue(self.folders.data.exists())

    def test_a_rebuild_keeps_what_takes_long_or_is_the_users(self):
        self.fill_databases()
        kept_paths = [
            *(self.folders.package_root, self.folders.tarball),
            *(self.folders.image, self.folders.root / "baselines/a.json"),
            *(self.folders.root / "journal/b", self.folders.addresses),
            self.folders.etc / "secrets.json",
        ]
        for path in kept_paths:
            path.touch()
        teardown.discard(self.folders, self.progress)
        self.ended.assert_called_once()
        self.assertFalse(self.folders.used)
        for path in (self.folders.data, self.folders.log, self.folders.run):
            self.assertFalse(path.exists())
        for path in kept_paths:
            self.assertTrue(path.exists(), path)

    def test_a_rebuild_updates_old_packages(self):
        """The archive is replaced, which needs no deletion."""
        self.fill_databases()
        self.folders.package_root.mkdir(exist_ok=True)
        self.folders.tarball.touch()
        os.utime(self.folders.tarball, (0, 0))
        teardown.discard(self.folders, self.progress)
        self.assertFalse(self.folders.package_root.exists())
