"""Tests of the tempest.conf of the embedded cloud."""

import configparser
import pathlib
import stat
from unittest import mock

import openstack

from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import tempest_conf
from rally_vmperf.cloud import templates
from tests.unit.cloud import base


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
        secrets = credentials.load(self.place.etc / "secrets.json")
        shipped = templates.Templates(self.place, {"secrets": secrets})
        cloud = mock.Mock()
        cloud.image.find_image = found
        cloud.compute.find_flavor = found
        cloud.network.find_network = found
        tempest_conf.write(self.place, shipped, cloud)
        path = self.place.root / "tempest.conf"
        self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
        conf = configparser.ConfigParser(interpolation=None)
        conf.read(path)
        self.assertEqual("id of vmperf-guest", conf["compute"]["image_ref"])
        self.assertEqual("id of vmperf.small", conf["compute"]["flavor_ref"])
        self.assertEqual("id of public", conf["network"]["public_network_id"])
        self.assertEqual(secrets["admin"], conf["auth"]["admin_password"])
        limits = pathlib.Path(conf["vmperf"]["limits_file"])
        self.assertIn("vmperf_overhead", limits.read_text())
