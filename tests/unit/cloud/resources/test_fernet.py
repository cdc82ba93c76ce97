import base64

from rally_vmperf.cloud.resources import fernet
from tests.unit.cloud import base

KEY = base64.urlsafe_b64encode(bytes(fernet.LENGTH))


class FernetTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.keys = self.folders.data / "keystone"
        for name in fernet.REPOSITORIES:
            (self.keys / name).mkdir()
            for number in "01":
                (self.keys / name / number).write_bytes(KEY)

    def test_whole(self):
        self.assertEqual([], fernet.broken(self.folders))

    def test_broken(self):
        for content in (b"", KEY[:20], b"\xff" * 44, b"a"):
            with self.subTest(content):
                (self.keys / "fernet/1").write_bytes(content)
                self.assertEqual(["fernet"], fernet.broken(self.folders))

    def test_gone(self):
        (self.keys / "credential/0").unlink()
        self.assertEqual(["credential"], fernet.broken(self.folders))

    def test_forget(self):
        fernet.forget(self.folders, ["fernet"])
        self.assertEqual(["fernet"], fernet.broken(self.folders))
        self.assertFalse((self.keys / "fernet").exists())
        fernet.forget(self.folders, ["fernet"])
