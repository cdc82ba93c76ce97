import configparser
import json
import pathlib
import stat
import unittest
from unittest import mock

import jsonschema
import openstack
from rally_openstack.environment.platforms import existing

from rally_vmperf.cloud.resources import client_credentials
from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.state import credentials
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


class KnownPasswordsTestCase(base.CloudTestCase):
    def test_of_clouds_yaml(self):
        secrets = credentials.load(self.folders.etc / "secrets.json")
        shipped = templates.Templates(self.folders, {"secrets": secrets})
        self.folders.clouds.write_text(shipped.render("clouds.yaml.j2"))
        self.assertEqual(
            {"admin": secrets["admin"], "member": secrets["member"]},
            client_credentials.known_passwords(self.folders),
        )

    def test_of_a_broken_one(self):
        self.assertEqual({}, client_credentials.known_passwords(self.folders))
        for text in ("", "clouds: [", "clouds: {}", "[]"):
            with self.subTest(text):
                self.folders.clouds.write_text(text)
                self.assertEqual(
                    {}, client_credentials.known_passwords(self.folders)
                )


class PasswordsTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.path = self.folders.etc / "secrets.json"
        self.secrets = self.load()
        self.assertEqual([], self.findings)

    def load(self):
        return client_credentials.load_secrets(self.folders, self.found)

    def settle(self):
        """Bring the cloud up, as far as passwords go."""
        schema.mark(self.folders, "keystone").touch()
        client_credentials.note_passwords(self.folders, self.secrets)
        shipped = templates.Templates(self.folders, {"secrets": self.secrets})
        self.folders.clouds.write_text(shipped.render("clouds.yaml.j2"))

    def test_a_new_cloud_has_nothing_to_renew(self):
        self.assertFalse(
            client_credentials.passwords_changed(self.folders, self.secrets)
        )

    def test_as_before(self):
        self.settle()
        self.assertEqual(self.secrets, self.load())
        self.assertFalse(
            client_credentials.passwords_changed(self.folders, self.secrets)
        )
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
        self.assertTrue(
            client_credentials.passwords_changed(self.folders, secrets)
        )
        self.assertEqual(secrets, self.load())
        self.assertTrue(
            client_credentials.passwords_changed(self.folders, secrets)
        )
        client_credentials.note_passwords(self.folders, secrets)
        self.assertFalse(
            client_credentials.passwords_changed(self.folders, secrets)
        )

    def test_lost_with_what_users_have(self):
        self.settle()
        self.path.unlink()
        self.folders.clouds.unlink()
        self.assertNotEqual(self.secrets["admin"], self.load()["admin"])
        self.assertIn("recreate Rally's environments", self.findings[0])


def found(name, ignore_missing=True):
    """Return what the cloud knows by a name, or raise like the SDK."""
    if ignore_missing:
        raise AssertionError("what is missing must not become None")
    if name == "gone":
        raise openstack.exceptions.NotFoundException(name)
    return mock.Mock(id=f"id of {name}")


class TempestConfTestCase(base.CloudTestCase):
    """It names what is in the cloud by its identifiers."""

    def test_written(self):
        """Identifiers, the password, ours, and only root may read it."""
        secrets = credentials.load(self.folders.etc / "secrets.json")
        shipped = templates.Templates(self.folders, {"secrets": secrets})
        cloud = mock.Mock()
        cloud.image.find_image = found
        cloud.compute.find_flavor = found
        cloud.network.find_network = found
        there = [mock.Mock(alias=name) for name in ("router", "binding")]
        cloud.network.extensions.return_value = there
        client_credentials.write_tempest_conf(self.folders, shipped, cloud)
        path = self.folders.root / "tempest.conf"
        self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
        conf = configparser.ConfigParser(interpolation=None)
        conf.read(path)
        self.assertEqual("id of vmperf-guest", conf["compute"]["image_ref"])
        self.assertEqual("id of vmperf.small", conf["compute"]["flavor_ref"])
        self.assertEqual("id of public", conf["network"]["public_network_id"])
        self.assertEqual(
            "binding,router", conf["network-feature-enabled"]["api_extensions"]
        )
        self.assertEqual(secrets["admin"], conf["auth"]["admin_password"])
        limits = pathlib.Path(conf["vmperf"]["limits_file"])
        self.assertIn("vmperf_overhead", limits.read_text())
