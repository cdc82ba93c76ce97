"""Tests of the login of a cloud in clouds.yaml."""

import os
import pathlib
import tempfile
from unittest import mock

import ddt
import requests
import requests_mock
import yaml

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests.setup import login
from tests.unit.guests import apis

AUTH = {
    "auth_url": apis.KEYSTONE,
    "username": "vmperf",
    "password": "s3cret-pass",
    "project_name": "demo",
    "user_domain_name": "Default",
    "project_domain_name": "Default",
}


@ddt.ddt
class LoginTest(apis.ApiTestCase):
    """The login in the form of Rally, or a line with the way out."""

    def setUp(self):
        """Have a connection that Keystone accepts, as a member."""
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.file = pathlib.Path(folder, "clouds.yaml")
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("OS_")
        }
        environment |= {
            "OS_CLIENT_CONFIG_FILE": str(self.file),
            "HOME": folder,
        }
        self.enterContext(mock.patch.dict(os.environ, environment, clear=True))
        self.mock_keystone()

    def mock_keystone(self, *roles, **scope):
        """Accept the user, as a member and with additional roles."""
        self.tokens = apis.mock_keystone(
            self.mocker, {}, ("member", *roles), user_name="vmperf", **scope
        )

    def log_in(self, name=None, **clouds):
        """Log in to one of these clouds."""
        self.file.write_text(yaml.safe_dump({"clouds": clouds}))
        return login.log_in(name)

    def test_member(self):
        """The password is in the specification, and not in the text."""
        access = self.log_in(mine={"auth": AUTH, "region_name": "one"})
        self.assertEqual(
            ("mine", "vmperf", "demo"),
            (access.cloud_name, access.user, access.project),
        )
        self.assertEqual("one", access.spec["region_name"])
        self.assertEqual("s3cret-pass", access.spec["users"][0]["password"])
        self.assertNotIn("admin", access.spec)
        self.assertNotIn("s3cret-pass", repr(access))
        request = apis.get_request(self.tokens)
        self.assertEqual(cloud.TIMEOUT, request.timeout)
        self.assertEqual(
            {
                "name": "vmperf",
                "password": "s3cret-pass",
                "domain": {"name": "Default"},
            },
            request.json()["auth"]["identity"]["password"]["user"],
        )

    def test_administrator(self):
        """It owns the guests, and shows the hosts."""
        self.mock_keystone("admin")
        access = self.log_in(mine={"auth": AUTH, "verify": False})
        self.assertEqual(access.spec["users"][0], access.spec["admin"])
        self.assertIs(True, access.spec["https_insecure"])
        self.assertIs(False, apis.get_request(self.tokens).verify)

    @ddt.data(
        ({}, None, "no cloud is described"),
        ({"a": {"auth": AUTH}, "b": {"auth": AUTH}}, None, "several.*: a, b$"),
        ({"a": {}}, "a", "^cloud 'a' in clouds.yaml: .* auth_url"),
        ({"a": {"auth": AUTH}}, "c", "'c' is not in clouds.yaml; .*: a$"),
        (
            {"a": {"auth": {**AUTH, "password": ""}}},
            None,
            "no password in clouds.yaml or secure.yaml",
        ),
        (
            {
                "a": {
                    "auth_type": "v3applicationcredential",
                    "auth": {
                        "auth_url": AUTH["auth_url"],
                        "application_credential_id": "x",
                        "application_credential_secret": "y",
                    },
                }
            },
            None,
            "openstack user create .*; openstack role add .* member$",
        ),
    )
    @ddt.unpack
    def test_rejected(self, clouds, name, message):
        """The line names the cloud and what to change."""
        with self.assertRaisesRegex(errors.GuestError, message):
            self.log_in(name, **clouds)

    def test_no_project(self):
        """The line names the missing key."""
        self.mock_keystone(
            project_id=None, project_name=None, project_domain_name=None
        )
        with self.assertRaisesRegex(
            errors.GuestError, "^cloud 'mine': .*; set project_name in clouds"
        ):
            self.log_in(mine={"auth": AUTH})

    @mock.patch("time.sleep", new=mock.Mock())
    def test_silent_cloud(self):
        """The line names what clouds.yaml has, and no command of Rally."""
        self.mocker.register_uri(
            requests_mock.ANY,
            requests_mock.ANY,
            exc=requests.exceptions.ConnectionError(
                "[Errno 111] Connection refused"
            ),
        )
        with self.assertRaisesRegex(
            errors.GuestError,
            "^log in to cloud 'mine': http://identity.example.org does not "
            "answer: Connection refused; check auth_url in clouds.yaml",
        ):
            self.log_in(mine={"auth": AUTH})
        methods = [sent.method for sent in self.mocker.request_history]
        self.assertEqual(3, methods.count("POST"))

    def test_wrong_password(self):
        """The line names the cloud, and not the password."""
        self.mocker.post(f"{apis.KEYSTONE}/auth/tokens", status_code=401)
        with self.assertRaisesRegex(
            errors.GuestError, "rejects the user of cloud 'mine' .HTTP 401."
        ) as raised:
            self.log_in(mine={"auth": AUTH})
        self.assertNotIn("s3cret-pass", str(raised.exception))
