# SPDX-License-Identifier: Apache-2.0
import configparser
import pathlib
import stat
import types
from unittest import mock

from tests.cloud.resources import inventory
from tests.unit.cloud import base


def resource(**attributes):
    return types.SimpleNamespace(**attributes)


class ImageTestCase(base.CloudTestCase):
    def ensure(self, *images):
        """Return what is deleted, and the arguments of an upload."""
        cloud = mock.Mock()
        cloud.image.images.return_value = images
        inventory.ensure_image(cloud, {"name": "g"}, self.folders.image)
        upload = cloud.create_image.call_args
        return (
            [call.args[0] for call in cloud.image.delete_image.mock_calls],
            upload and upload.kwargs,
        )

    def test_upload(self):
        """Unless Glance has this build of it."""
        self.folders.image.touch()
        removed, upload = self.ensure()
        self.assertEqual(([], "g"), (removed, upload["name"]))
        stamp = {"vmperf_build": upload["vmperf_build"]}
        whole = resource(properties=stamp, status="active")
        self.assertEqual(([], None), self.ensure(whole))
        for image in (
            resource(properties={}, status="active"),
            resource(properties=stamp, status="queued"),
        ):
            removed, upload = self.ensure(image)
            self.assertEqual([image], removed)
            self.assertLessEqual(stamp.items(), upload.items())


class IdentityTestCase(base.CloudTestCase):
    def test_only_what_is_missing(self):
        cloud = mock.Mock()
        keystone = cloud.identity
        keystone.find_user.return_value = None
        keystone.roles.return_value = [
            resource(name="admin"),
            resource(name="member"),
        ]
        keystone.endpoints.return_value = [resource(interface="public")]
        templates = self.make_templates()
        identity = templates.data("identity.yaml.j2")
        inventory.ensure_identity(cloud, identity, self.secrets)
        keystone.create_project.assert_not_called()
        keystone.create_service.assert_not_called()
        self.assertEqual(
            {user["name"]: self.secrets[user["secret"]]
             for user in identity["users"]},
            {call.kwargs["name"]: call.kwargs["password"]
             for call in keystone.create_user.mock_calls},
        )  # fmt: skip
        self.assertEqual(
            sorted(
                2 * [endpoint["url"] for endpoint in identity["endpoints"]]
            ),
            sorted(
                call.kwargs["url"]
                for call in keystone.create_endpoint.mock_calls
            ),
        )


class VolumeTypesTestCase(base.CloudTestCase):
    def ensure(self, *, types=(), specs=()):
        cloud = mock.Mock()
        cinder = cloud.block_storage
        known = {name: resource(id=f"old {name}") for name in types}
        cinder.find_type = lambda name, ignore_missing: known.get(name)
        cinder.create_type = lambda name: resource(id=f"new {name}")
        cinder.qos_specs.return_value = [resource(name=name) for name in specs]
        resources = self.make_templates(volumes=True).data("resources.yaml.j2")
        inventory.ensure_volume_types(cloud, resources["volume_types"])
        return cinder

    def test_limits(self):
        """Only one type has them, and QEMU enforces them."""
        cinder = self.ensure()
        cinder.create_qos_spec.assert_called_once_with(
            name="vmperf-limited", consumer="front-end", total_iops_sec="200"
        )
        cinder.associate_qos_spec.assert_called_once_with(
            cinder.create_qos_spec.return_value, "new vmperf-limited"
        )

    def test_only_what_is_missing(self):
        """A command that was interrupted has not associated them."""
        cinder = self.ensure(
            types=["vmperf-limited"], specs=["vmperf-limited"]
        )
        cinder.create_qos_spec.assert_not_called()
        ((spec, type_id), _) = cinder.associate_qos_spec.call_args
        self.assertEqual("vmperf-limited", spec.name)
        self.assertEqual("old vmperf-limited", type_id)


class QuotasTestCase(base.CloudTestCase):
    def test_volumes(self):
        """A cloud without Cinder has no quotas for them."""
        for has_volumes in (False, True):
            cloud = mock.Mock()
            quotas = self.make_templates(volumes=has_volumes).data(
                "resources.yaml.j2"
            )["quotas"]
            inventory.ensure_quotas(cloud, quotas)
            self.assertEqual(
                2 * has_volumes, cloud.set_volume_quotas.call_count
            )


class TempestConfTestCase(base.CloudTestCase):
    def test_written(self):
        """It has identifiers and the password, and only root may read it."""

        def find(name, ignore_missing):
            self.assertFalse(ignore_missing)
            return mock.Mock(id=f"id of {name}")

        cloud = mock.Mock()
        cloud.image.find_image = find
        cloud.compute.find_flavor = find
        cloud.network.find_network = find
        there = [mock.Mock(alias=name) for name in ("router", "binding")]
        cloud.network.extensions.return_value = there
        inventory.write_tempest_conf(
            self.folders, self.make_templates(), cloud
        )
        path = self.folders.root / "tempest.conf"
        self.assertEqual(0o600, stat.S_IMODE(path.stat().st_mode))
        conf = configparser.ConfigParser(interpolation=None)
        conf.read(path)
        for section, option, expected in (
            ("compute", "image_ref", "id of vmperf-guest"),
            ("compute", "flavor_ref", "id of vmperf.small"),
            ("network", "public_network_id", "id of public"),
            ("network-feature-enabled", "api_extensions", "binding,router"),
            ("auth", "admin_password", self.secrets["admin"]),
        ):
            self.assertEqual(expected, conf[section][option])
        limits = pathlib.Path(conf["vmperf"]["limits_file"])
        self.assertIn("vmperf_overhead", limits.read_text())
