import json
import stat

from rally_vmperf.cloud.state import credentials
from tests.unit.cloud import base


class CredentialsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folders.etc / "secrets.json"

    def test_one_for_each_purpose_and_all_different(self):
        made = credentials.load(self.path)
        self.assertEqual(set(credentials.PURPOSES), set(made))
        self.assertEqual(len(made), len(set(made.values())))
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))

    def test_kept(self):
        self.assertEqual(
            credentials.load(self.path), credentials.load(self.path)
        )

    def test_a_new_purpose_leaves_the_others(self):
        self.path.write_text(json.dumps({"admin": "known"}))
        made = credentials.load(self.path)
        self.assertEqual("known", made["admin"])
        self.assertEqual(set(credentials.PURPOSES), set(made))

    def test_a_broken_file_is_made_anew(self):
        for text in ("", '{"admin": "x', "[1]", '{"admin": 1, "member": ""}'):
            with self.subTest(text):
                self.path.write_text(text)
                self.assertEqual({}, credentials.known(self.path))
                made = credentials.load(self.path, {"admin": "theirs"})
                self.assertEqual("theirs", made["admin"])
                self.assertEqual(made, credentials.load(self.path))

    def test_digest(self):
        one, same, other = (
            credentials.digest(values) for values in ("ab", "ab", "ba")
        )
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_a_readable_file_is_replaced_by_a_private_one(self):
        self.path.write_text("old")
        self.path.chmod(0o644)
        credentials.load(self.path)
        self.assertIn("admin", self.path.read_text())
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))
