# SPDX-License-Identifier: Apache-2.0
"""Tests for the way to a cloud."""

import logging
import os
import unittest
from unittest import mock

import ddt
from keystoneauth1 import exceptions as auth_errors
from keystoneauth1 import fixture
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from tests.unit.guests import apis

TOKENS = f"{apis.KEYSTONE}/auth/tokens"


@ddt.ddt
class ConnectionTest(apis.ApiTestCase):
    def log_in(self, **credential):
        """Return the request for a token with additional keys."""
        connection = self.connect({}, **credential)
        cloud.check_login(connection, credential)
        self.assertEqual(TOKENS, self.mocker.last_request.url)
        return self.mocker.last_request

    def test_credential(self):
        request = self.log_in(user_domain_name="", project_domain_name="d2")
        user = {"name": "member", "password": "secret"}
        self.assertEqual(
            {
                "identity": {
                    "methods": ["password"],
                    "password": {
                        "user": {**user, "domain": {"name": "Default"}}
                    },
                },
                "scope": {
                    "project": {"name": "demo", "domain": {"name": "d2"}}
                },
            },
            request.json()["auth"],
        )
        self.assertRegex(request.headers["User-Agent"], "^rally-vmperf")

    def test_domain(self):
        request = self.log_in(tenant_name="", domain_name="d1")
        self.assertEqual(
            {"domain": {"name": "d1"}}, request.json()["auth"]["scope"]
        )

    @ddt.unpack
    @ddt.data(
        ({}, True, None),
        ({"https_insecure": True}, False, None),
        ({"https_cacert": "ca.pem"}, "ca.pem", None),
        ({"https_cert": "c.pem"}, True, "c.pem"),
        ({"https_cert": ("c.pem", "k.pem")}, True, ("c.pem", "k.pem")),
    )
    @mock.patch.dict(os.environ, REQUESTS_CA_BUNDLE="", CURL_CA_BUNDLE="")
    def test_certificates_and_timeout(self, credential, verify, cert):
        request = self.log_in(**credential)
        self.assertEqual(
            (verify, cert, cloud.TIMEOUT),
            (request.verify, request.cert, request.timeout),
        )

    @ddt.data("public", "internal")
    def test_endpoint_type(self, endpoint_type):
        """The catalogue has other URLs for other networks."""
        url = "http://compute-internal.example.org/v2.1"
        connection = self.connect_nova(endpoint_type=endpoint_type)
        token = fixture.V3Token(project_id="p1")
        token.add_service("compute").add_standard_endpoints(
            public=apis.NOVA, internal=url, region="RegionOne"
        )
        self.mocker.post(
            TOKENS, json=token, headers={"X-Subject-Token": "secret"}
        )
        self.assertEqual(
            url if endpoint_type == "internal" else apis.NOVA,
            connection.compute.get_endpoint(),
        )

    def test_a_wrong_password(self):
        """The user, the project and the cloud are named, not the password."""
        connection = self.connect({})
        self.mocker.post(
            TOKENS,
            status_code=401,
            json={
                "error": {"code": 401, "message": "requires authentication"}
            },
        )
        with self.assertRaisesRegex(
            errors.GuestError,
            f"^Keystone at {apis.KEYSTONE} rejects user 'member' of project "
            "demo .HTTP 401.: the password in Rally's environment is wrong",
        ) as raised:
            cloud.check_login(connection, apis.create_credential())
        self.assertNotIn("secret", str(raised.exception))


@ddt.ddt
class CloudTest(unittest.TestCase):
    def test_a_cloud_that_does_not_answer(self):
        """The message has the address, the reason and the log to read."""
        message = (
            "Unable to establish connection to http://keystone:5000/v3/auth/"
            "tokens: HTTPConnectionPool(host='keystone', port=5000): Max "
            "retries exceeded with url: /v3/auth/tokens (Caused by "
            "NewConnectionError(\"HTTPConnection(host='keystone', port=5000): "
            "Failed to establish a new connection: [Errno 111] Connection "
            'refused"))'
        )
        with (
            self.assertRaisesRegex(
                errors.GuestError,
                "^list images: http://keystone:5000 does not answer: "
                "Connection refused; .*: rally env check$",
            ),
            cloud.convert_errors("list images"),
        ):
            raise auth_errors.ConnectFailure(message)

    def test_secrets_stay_out_of_debug_logs(self):
        cloud.connect(apis.create_credential())
        logger = logging.getLogger("keystoneauth.session")
        with self.assertLogs(logger, "DEBUG") as logs:
            logger.debug('REQ: -d {"server": {"user_data": "secret"}}')
            logger.debug('RESP BODY: {"server": {"adminPass": "secret"}}')
            logger.debug("REQ: GET /servers")
        (line,) = logs.output
        self.assertIn("GET /servers", line)

    def test_refusals_in_one_line(self):
        with (
            self.assertRaisesRegex(errors.GuestError, "^list: not so$"),
            cloud.convert_errors("list"),
        ):
            raise sdk_errors.HttpException("x", details="not\nso")

    @ddt.unpack
    @ddt.data(
        (sdk_errors.ConflictException("x", http_status=409), True),
        (sdk_errors.HttpException("x", http_status=503), True),
        (auth_errors.ConnectFailure("x"), True),
        (sdk_errors.ForbiddenException("x", http_status=403), False),
        (sdk_errors.SDKException("x"), False),
    )
    def test_passing(self, error, expected):
        self.assertIs(expected, cloud.is_temporary(error))
