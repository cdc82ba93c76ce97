import shutil
import unittest

from rally_vmperf.cloud.resources import keys
from tests.unit.cloud import base


@unittest.skipUnless(shutil.which("ssh-keygen"), "there is no ssh-keygen")
class KeysTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.private = self.folders.etc / "id_ed25519"
        self.public = self.folders.etc / "id_ed25519.pub"
        self.make()

    def make(self):
        keys.make(self.folders)
        return self.private.read_text(), self.public.read_text()

    def test_kept(self):
        self.assertEqual(self.make(), self.make())
        known = (self.folders.root / "known_hosts").read_text()
        self.assertTrue(known.startswith("172.24.4.2 ssh-ed25519 "))

    def test_made_anew(self):
        for damage in (
            self.private.unlink,
            self.public.unlink,
            lambda: self.private.write_text(""),
            lambda: self.public.write_text("ssh-ed25519 AAAA other"),
        ):
            before = self.make()
            damage()
            after = self.make()
            self.assertNotEqual(before, after)
            self.assertEqual(after, self.make())
