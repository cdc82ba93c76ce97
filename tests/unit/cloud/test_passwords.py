from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import passwords
from rally_vmperf.cloud import schema
from rally_vmperf.cloud import templates
from tests.unit.cloud import base


class PasswordsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.path = self.place.etc / "secrets.json"
        self.secrets = self.load()
        self.assertEqual([], self.findings)

    def load(self):
        return passwords.load(self.place, self.found)

    def settle(self):
        """Bring the cloud up, as far as passwords go."""
        schema.mark(self.place, "keystone").touch()
        passwords.note(self.place, self.secrets)
        shipped = templates.Templates(self.place, {"secrets": self.secrets})
        self.place.clouds.write_text(shipped.render("clouds.yaml.j2"))

    def test_a_new_cloud_has_nothing_to_renew(self):
        self.assertFalse(passwords.changed(self.place, self.secrets))

    def test_as_before(self):
        self.settle()
        self.assertEqual(self.secrets, self.load())
        self.assertFalse(passwords.changed(self.place, self.secrets))
        self.assertEqual([], self.findings)

    def test_lost(self):
        self.settle()
        self.path.write_text("{")
        secrets = self.load()
        for name in credentials.PURPOSES:
            same = secrets[name] == self.secrets[name]
            self.assertEqual(name in ("admin", "member"), same, name)
        self.assertRegex(self.findings[0], "^14 secrets .* are as before$")
        # until everyone has the new ones
        self.assertTrue(passwords.changed(self.place, secrets))
        self.assertEqual(secrets, self.load())
        self.assertTrue(passwords.changed(self.place, secrets))
        passwords.note(self.place, secrets)
        self.assertFalse(passwords.changed(self.place, secrets))

    def test_lost_with_what_users_have(self):
        self.settle()
        self.path.unlink()
        self.place.clouds.unlink()
        self.assertNotEqual(self.secrets["admin"], self.load()["admin"])
        self.assertIn("make Rally's environments anew", self.findings[0])
