import json
import unittest

import jsonschema
from rally_openstack.environment.platforms import existing

from rally_vmperf.cloud import client_credentials
from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import templates
from tests.unit.cloud import base


class EnvironmentSpecTestCase(unittest.TestCase):
    def test_rally_accepts_both(self):
        for user, role, other in (
            ("admin", "admin", "users"),
            ("member", "users", "admin"),
        ):
            with self.subTest(user):
                spec = client_credentials.environment_spec(
                    user, "secret", "http://192.0.2.1:5000/v3"
                )
                inner = json.loads(json.dumps(spec))["existing@openstack"]
                jsonschema.validate(inner, existing.OpenStack.CONFIG_SCHEMA)
                self.assertIn(role, inner)
                self.assertNotIn(other, inner)


class PasswordsTestCase(base.CloudTestCase):
    def test_of_clouds_yaml(self):
        secrets = credentials.load(self.place.etc / "secrets.json")
        shipped = templates.Templates(self.place, {"secrets": secrets})
        self.place.clouds.write_text(shipped.render("clouds.yaml.j2"))
        self.assertEqual(
            {"admin": secrets["admin"], "member": secrets["member"]},
            client_credentials.passwords(self.place),
        )

    def test_of_a_broken_one(self):
        self.assertEqual({}, client_credentials.passwords(self.place))
        for text in ("", "clouds: [", "clouds: {}", "[]"):
            with self.subTest(text):
                self.place.clouds.write_text(text)
                self.assertEqual({}, client_credentials.passwords(self.place))
