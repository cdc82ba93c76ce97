"""Tests of requests to a cloud that does not answer as it should."""

import unittest
from unittest import mock

import ddt

from rally_vmperf.guests import cloud
from tests.functional import fault_proxy
from tests.unit.guests import wire

NOVA = "/compute/v2.1"
LIST = f"compute GET {NOVA}/servers/detail"
CREATE = f"compute POST {NOVA}/os-keypairs"
TOKEN = "identity POST /identity/v3/auth/tokens"
ANSWERS = {
    ("GET", NOVA): wire.version("v2.1", "2.90", f"URL{NOVA}/"),
    ("GET", f"{NOVA}/servers/detail"): {"servers": []},
    ("POST", f"{NOVA}/os-keypairs"): {"keypair": {"name": "k"}},
}

#: What a repeated question gets over.
PASSING = (429, 500, 502, 503, 504, "hang", "reset", "lost")
#: What it does not.
FINAL = (400, 403, 404, 409, 413, "truncated", "garbage")


@ddt.ddt
@mock.patch("time.sleep", new=mock.Mock())
@mock.patch.object(cloud, "TIMEOUT", 1)
class SessionTest(unittest.TestCase):
    def setUp(self):
        keystone = wire.Wire({}, {"compute": NOVA})
        self.nova = wire.Wire(ANSWERS, {})
        for service in (self.nova, keystone):
            self.enterContext(wire.served(service))
        keystone.catalog_url = self.nova.url
        self.proxy = self.enterContext(
            fault_proxy.FaultProxy(f"{keystone.url}/identity/v3")
        )

    def connect(self):
        return cloud.connect(wire.credential(self.proxy.auth_url))

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
        self.assertRegex(text, "fault of the test|/servers/detail")
        self.assertEqual(3 if action in PASSING else 1, self.count(LIST))
        stays = action in (400, 403, 404)
        self.assertIs(not stays, cloud.is_temporary(caught.exception))

    @ddt.data(*PASSING, *FINAL)
    def test_nothing_is_made_twice(self, action):
        self.break_(CREATE, action)
        with self.assertRaises(cloud.CLOUD_ERRORS):
            self.create()
        self.assertEqual(1, self.count(CREATE))
        is_created = action in ("lost", "truncated")
        created = [call for call in self.nova.sent if call[0] == "POST"]
        self.assertEqual(1 if is_created else 0, len(created))

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
