# SPDX-License-Identifier: Apache-2.0
"""Tests of requests to a cloud that does not answer as it should."""

from unittest import mock

import ddt
import requests

from rally_vmperf.guests import cloud
from tests.functional import fault_proxy
from tests.unit.guests import apis

LIST = "compute GET /v2.1/servers/detail"
CREATE = "compute POST /v2.1/os-keypairs"
TOKEN = "identity POST /v3/auth/tokens"

#: What a repeated question gets over.
PASSING = (429, 500, 502, 503, 504, "hang", "reset", "lost")
#: What it does not.
FINAL = (400, 403, 404, 409, 413, "truncated", "garbage")

#: A connection on which no service listens, as requests reports it.
REFUSED = requests.exceptions.ConnectionError("[Errno 111] Connection refused")


@ddt.ddt
@mock.patch("time.sleep", new=mock.Mock())
@mock.patch.object(cloud, "TIMEOUT", 1)
class SessionTest(apis.ApiTestCase):
    """A proxy in front of the mocked cloud fails; only it is on a socket."""

    def setUp(self):
        super().setUp()
        self.mocker.real_http = True
        apis.mock_keystone(self.mocker, {"compute": apis.NOVA})
        apis.mock_microversions(self.mocker, apis.NOVA, "v2.1", "2.90")
        self.mocker.get(f"{apis.NOVA}/servers/detail", json={"servers": []})
        self.created = self.mocker.post(
            f"{apis.NOVA}/os-keypairs", json={"keypair": {"name": "k"}}
        )
        self.proxy = self.enterContext(fault_proxy.FaultProxy(apis.KEYSTONE))

    def connect(self):
        connection = cloud.connect(apis.create_credential(self.proxy.auth_url))
        self.addCleanup(connection.close)
        return connection

    def break_(self, call, action, times=1):
        rule = fault_proxy.Rule(call=call, action=action, times=times)
        self.proxy.rules = [rule]
        self.addCleanup(lambda: self.assertTrue(rule.struck))

    def count(self, call):
        return [str(request) for request in self.proxy.calls].count(call)

    def list(self):
        return list(self.connect().compute.servers())

    def create(self):
        self.connect().compute.create_keypair(name="k", public_key="A")

    @ddt.data(*PASSING)
    def test_a_question_is_repeated(self, action):
        self.break_(LIST, action, times=2)
        self.assertEqual([], self.list())
        self.assertEqual(3, self.count(LIST))

    @ddt.data(*PASSING)
    def test_the_request_for_a_token_is_repeated(self, action):
        self.break_(TOKEN, action)
        self.assertEqual([], self.list())

    @ddt.data(*PASSING, *FINAL)
    def test_a_permanent_failure_is_reported_in_one_line(self, action):
        self.break_(LIST, action, times=None)
        with self.assertRaises(cloud.CLOUD_ERRORS) as caught:
            self.list()
        text = cloud.one_line(caught.exception)
        self.assertRegex(
            text, "fault of the test|/servers/detail|answer: Connection reset"
        )
        repeated = 3 * (1 + len(cloud._RESTART_PAUSES) * (action == 503))
        self.assertEqual(
            repeated if action in PASSING else 1, self.count(LIST)
        )
        stays = action in (400, 403, 404)
        self.assertIs(not stays, cloud.is_temporary(caught.exception))

    def test_restart(self):
        """Requests are repeated for 30 s after the first answer."""
        self.assertEqual(30, sum(cloud._RESTART_PAUSES))
        connection = self.connect()
        self.assertEqual([], list(connection.compute.servers()))
        http = connection.session.session
        answer = http.request
        for send in (
            lambda: list(connection.compute.servers()),
            lambda: connection.compute.create_keypair(name="k"),
        ):
            refused = [REFUSED] * 5

            def refuse(*args, refused=refused, **kwargs):
                """Refuse the first connections."""
                if refused:
                    raise refused.pop()
                return answer(*args, **kwargs)

            with mock.patch.object(
                http, "request", autospec=True, side_effect=refuse
            ):
                send()
            self.assertEqual([], refused)
        self.assertEqual(1, self.created.call_count)

    def test_no_service_at_the_first_request(self):
        """The address may be wrong, and a wait does not help."""
        connection = self.connect()
        with (
            mock.patch.object(
                requests.Session, "request", autospec=True, side_effect=REFUSED
            ) as request,
            self.assertRaises(cloud.CLOUD_ERRORS),
        ):
            list(connection.compute.servers())
        self.assertGreater(10, request.call_count)

    @ddt.data(*PASSING, *FINAL)
    def test_nothing_is_made_twice(self, action):
        self.break_(CREATE, action)
        with self.assertRaises(cloud.CLOUD_ERRORS):
            self.create()
        self.assertEqual(1, self.count(CREATE))
        is_created = action in ("lost", "truncated")
        self.assertEqual(int(is_created), self.created.call_count)

    @ddt.data(*FINAL)
    def test_a_token_that_cannot_be_had(self, action):
        self.break_(TOKEN, action, times=None)
        with self.assertRaises(cloud.CLOUD_ERRORS):
            self.list()

    def test_a_slow_answer_is_an_answer(self):
        self.break_(LIST, "slow")
        with mock.patch.object(fault_proxy, "DELAY", 0.01):
            self.assertEqual([], self.list())
        self.assertEqual(1, self.count(LIST))
