# SPDX-License-Identifier: Apache-2.0
from tests.cloud.system import layout
from tests.unit.cloud import base


class DirectoriesTestCase(base.CloudTestCase):
    def test_guests_disks(self):
        """QEMU's user reaches them, and on the host only root does."""
        (self.folders.data / "nova").chmod(0o755)
        self.folders.root.chmod(0o755)
        self.folders.make_directories()
        for number in (1, 2):
            data = self.folders.hypervisor_data(number)
            for path, mode in (
                (self.folders.root, 0o700),
                (self.folders.data, 0o711),
                (data / "nova", 0o710),
                (data / "nova/instances", 0o711),
                (data / "libvirt", 0o700),
                (data / "libvirt/lib", 0o711),
                (self.folders.data / "glance", 0o700),
            ):
                self.assertEqual(mode, path.stat().st_mode & 0o777, path)

    def test_used(self):
        self.assertFalse(layout.Layout(self.folder / "none").used)
        (self.folders.data / "done" / "identity").touch()
        self.assertFalse(self.folders.used)
        self.fill_databases()
        self.assertTrue(self.folders.used)
