import configparser
import json
import pathlib
import shutil
import stat
import unittest
from unittest import mock

import jsonschema
import openstack
from rally_openstack.environment.platforms import existing

from rally_vmperf.cloud.resources import client_credentials
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
        shipped = self.make_templates()
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
        self.assertEqual(self.secrets["admin"], conf["auth"]["admin_password"])
        limits = pathlib.Path(conf["vmperf"]["limits_file"])
        self.assertIn("vmperf_overhead", limits.read_text())


@unittest.skipUnless(shutil.which("ssh-keygen"), "there is no ssh-keygen")
class KeysTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.private = self.folders.etc / "id_ed25519"
        self.public = self.folders.etc / "id_ed25519.pub"
        self.make()

    def make(self):
        client_credentials.make_keys(self.folders)
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
