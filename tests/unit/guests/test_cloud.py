"""Tests for the way to a cloud."""

import logging
import unittest

import ddt
from keystoneauth1 import exceptions as auth_errors
from openstack import exceptions as sdk_errors

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors

CREDENTIAL = {
    "auth_url": "http://keystone/v3",
    "username": "member",
    "password": "secret",
    "tenant_name": "demo",
    "https_insecure": False,
    "https_cacert": None,
    "https_cert": ("c.pem", "k.pem"),
}


@ddt.ddt
class CloudTest(unittest.TestCase):
    def test_credential(self):
        config = cloud.connect(CREDENTIAL).config.config
        self.assertEqual("demo", config["auth"]["project_name"])
        self.assertEqual("Default", config["auth"]["user_domain_name"])
        self.assertEqual("c.pem", config["cert"])

    def test_a_wrong_password(self):
        """The user, the project and the cloud are named, not the password."""

        class Rejected:
            @property
            def current_project_id(self):
                raise auth_errors.Unauthorized("requires authentication")

        with self.assertRaisesRegex(
            errors.GuestError,
            "^Keystone at http://keystone/v3 rejects user 'member' of project "
            "demo .HTTP 401.: the password in Rally's environment is wrong",
        ) as raised:
            cloud.check_login(Rejected(), CREDENTIAL)
        self.assertNotIn("secret", str(raised.exception))

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
        cloud.connect(CREDENTIAL)
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
