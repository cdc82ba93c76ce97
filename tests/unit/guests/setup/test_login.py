# SPDX-License-Identifier: Apache-2.0
"""Tests of the login of a cloud in clouds.yaml."""

import datetime
import os
import pathlib
import tempfile
from unittest import mock

import certifi
import ddt
import requests
import requests_mock
import yaml
from keystoneauth1 import fixture
from openstack import config as sdk_config

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
#: A file with certificates of authorities.
CACERT = certifi.where()


def create_token(*regions):
    """Return a token whose catalog has Nova in some regions."""
    token = fixture.V3Token(
        project_id="p1", project_name="demo", project_domain_name="Default"
    )
    token.add_role(name="member")
    nova = token.add_service("compute")
    for region in regions:
        nova.add_endpoint("public", "http://nova.example.org", region=region)
    return token


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
        ({}, None, "clouds.yaml: must have clouds: with the description"),
        ({"a": {"auth": AUTH}, "b": {"auth": AUTH}}, None, "several.*: a, b$"),
        ({"a": {}}, "a", "^cloud 'a' in .*/clouds.yaml: .* auth_url"),
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

    @ddt.data(
        ({"insecure": True}, {"https_insecure": True}),
        ({"verify": False}, {"https_insecure": True}),
        ({"verify": CACERT}, {"https_cacert": CACERT}),
        ({"insecure": "True"}, {"https_insecure": True}),
        ({"cacert": CACERT}, {"https_cacert": CACERT}),
        # It is not used.
        ({"insecure": True, "cacert": "/absent"}, {"https_insecure": True}),
        ({"region_name": "RegionTwo"}, {"region_name": "RegionTwo"}),
        (
            {
                "regions": ["RegionOne", "RegionTwo"],
                "region_name": "RegionTwo",
            },
            {"region_name": "RegionTwo"},
        ),
        ({"regions": [{"name": "RegionOne"}]}, {"region_name": "RegionOne"}),
    )
    @ddt.unpack
    def test_options(self, options, spec):
        """Rally's specification has the options of the connection."""
        access = self.log_in(mine={"auth": AUTH, **options})
        options = {
            key: option
            for key, option in access.spec.items()
            if key not in ("auth_url", "endpoint_type", "users")
        }
        self.assertEqual(spec, options)

    def test_login_outside_auth(self):
        """The SDK reads the keys of auth next to it, too."""
        access = self.log_in(mine=AUTH)
        self.assertEqual("s3cret-pass", access.spec["users"][0]["password"])

    @ddt.data(
        (
            {"region": "RegionTwo"},
            "region is not a key of clouds.yaml; rename it to region_name$",
        ),
        (
            {"regions": ["One", "Two"]},
            r"has several regions \(One, Two\), .*; set region_name to one",
        ),
        (
            {"cacert": "-----BEGIN CERTIFICATE-----\nMIIB\n"},
            "cacert is the path of a file, and not its content; write",
        ),
        ({"cacert": "/absent.pem"}, "cacert=/absent.pem: the file does not"),
        ({"cacert": __file__}, "cacert=.*: the file has no certificate"),
        ({"cert": "/absent.pem"}, "cert=/absent.pem: the file does not exist"),
        ({"auth": None}, "auth has no keys; add auth_url, username"),
        ({"auth": []}, "auth has no keys; add auth_url, username"),
        ({"auth": {**AUTH, "username": None}}, "has no username; add it"),
        ({"auth": {**AUTH, "user": "x"}}, "user is not a key of auth; its"),
        (
            {"auth": {**AUTH, "auth_url": "keystone.example.org/v3"}},
            "auth_url='keystone.example.org/v3': must be a URL such as https",
        ),
        (
            {
                "auth": {
                    **AUTH,
                    "auth_url": "http://me:s3cret-pass@keystone/v3",
                }
            },
            "auth_url: must not have a user or a password; set username",
        ),
        (
            {"auth": {**AUTH, "auth_url": 5000}},
            "auth_url: must be text; write it in quotation marks$",
        ),
        (
            {"auth": {**AUTH, "password": datetime.date(2026, 1, 31)}},
            "password: must be text; write it in quotation marks$",
        ),
        (
            {"auth": {"auth_url": AUTH["auth_url"]}, "password": 12345},
            "password: must be text; write it in quotation marks$",
        ),
        (
            {"auth": {**AUTH, "auth_url": "http://{address}:5000/v3"}},
            "{address} is a placeholder; replace it by the value$",
        ),
        ({"verify": "no"}, "verify=no: must be true or false, without quot"),
        ({"insecure": "yes"}, "insecure=yes: must be true or false, without"),
        ({"insecure": 1}, "insecure=1: must be true or false, without quot"),
        (
            {"auth_type": "v3oidcpassword"},
            "has auth_type v3oidcpassword: Rally accepts only a user with",
        ),
        (
            {
                "auth": {
                    "auth_url": AUTH["auth_url"],
                    "application_credential_id": "x",
                    "application_credential_secret": "y",
                }
            },
            "has an application credential, for which auth_type "
            "v3applicationcredential is missing; Rally "
            "accepts only a user with a password; .*member$",
        ),
    )
    @ddt.unpack
    def test_mistake(self, options, message):
        """One line names the cloud, the file and the key."""
        with self.assertRaisesRegex(
            errors.GuestError, f"^cloud 'mine' in {self.file}: {message}"
        ) as raised:
            self.log_in(mine={"auth": AUTH, **options})
        self.assertNotIn("\n", str(raised.exception))
        self.assertNotIn("s3cret-pass", str(raised.exception))

    @ddt.data(
        ("clouds: {mine: ", "is not valid YAML: line 1: "),
        ("clouds:\n\tmine:\n", "is not valid YAML: line 2: "),
        ("clouds:\n", "must have clouds: with the description of each cloud"),
        ("clouds: [mine]\n", "must have clouds: with the description of each"),
        ("\0", "is not valid YAML: "),
    )
    @ddt.unpack
    def test_file(self, text, message):
        """One line names the file, and not Python's types."""
        self.file.write_text(text)
        with self.assertRaisesRegex(
            errors.GuestError, f"^{self.file}: {message}"
        ):
            login.log_in(None)

    @mock.patch.object(sdk_config.loader, "CONFIG_FILES", new=[])
    def test_no_file(self):
        """The line names the directory and the variable."""
        with self.assertRaisesRegex(
            errors.GuestError, "^no cloud is described: write clouds.yaml to"
        ):
            login.log_in(None)

    def test_empty_cloud(self):
        """The line names the keys."""
        with self.assertRaisesRegex(
            errors.GuestError, "^cloud 'mine' in .*: is empty; add auth with"
        ):
            self.log_in(mine=None)

    @ddt.data(
        (None, "several regions, .*; set region_name .*: One, Two$"),
        ("one", "no region 'one'; set region_name .*: One, Two$"),
        ("Two", ""),
    )
    @ddt.unpack
    def test_catalog(self, region_name, message):
        """A cloud with several regions requires a choice."""
        self.mocker.post(
            f"{apis.KEYSTONE}/auth/tokens",
            json=create_token("One", "Two"),
            headers={"X-Subject-Token": "secret"},
        )
        options = {"region_name": region_name} if region_name else {}
        if not message:
            self.log_in(mine={"auth": AUTH, **options})
            return
        with self.assertRaisesRegex(
            errors.GuestError, f"^cloud 'mine': its catalog has {message}"
        ):
            self.log_in(mine={"auth": AUTH, **options})

    @ddt.data(
        # The texts are from urllib3 2.6 with OpenSSL 3.0.
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: "
            "self-signed certificate (_ssl.c:1006)",
            r"the certificate of http://identity.example.org is not trusted "
            r"\(self-signed certificate\); set cacert in clouds.yaml ",
        ),
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: "
            "Hostname mismatch, certificate is not valid for 'b'. (_ssl.c:99)",
            "http://identity.example.org has a certificate for another name",
        ),
        (
            "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)",
            "http://identity.example.org does not use TLS; its address must",
        ),
    )
    @ddt.unpack
    @mock.patch("time.sleep", new=mock.Mock())
    def test_tls(self, text, message):
        """The reason and the key, without the words of urllib3."""
        self.mocker.register_uri(
            requests_mock.ANY,
            requests_mock.ANY,
            exc=requests.exceptions.SSLError(
                "HTTPSConnectionPool(host='identity.example.org', port=443): "
                f"Max retries exceeded (Caused by SSLError(1, '{text}'))"
            ),
        )
        for path in ("/v3", ""):
            url = AUTH["auth_url"].removesuffix("/v3") + path
            with self.assertRaisesRegex(
                errors.GuestError, f"^log in to cloud 'mine': {message}"
            ):
                self.log_in(mine={"auth": {**AUTH, "auth_url": url}})

    def test_another_server(self):
        """The address has no Keystone."""
        self.mocker.register_uri(
            requests_mock.ANY, requests_mock.ANY, status_code=404
        )
        with self.assertRaisesRegex(
            errors.GuestError, "no Keystone answers at auth_url=http://identi"
        ):
            self.log_in(mine={"auth": AUTH})

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
