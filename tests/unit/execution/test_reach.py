import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import reach
from rally_vmperf.machines import hostkey

HOP = {"address": "192.0.2.1", "user": "rally"}
FURTHER = {"address": "192.0.2.2", "user": "u", "port": 23}


@ddt.ddt
class WayToTestCase(unittest.TestCase):
    @ddt.data(
        ({}, ""),
        ({"jump": None, "namespace": None}, ""),
        ({"jump": HOP}, " through rally@192.0.2.1:22"),
        (
            {"jump": [HOP, FURTHER]},
            " through u@192.0.2.2:23 through rally@192.0.2.1:22",
        ),
        ({"namespace": "qrouter-1"}, " in namespace qrouter-1"),
    )
    @ddt.unpack
    def test_words(self, options, words):
        self.assertEqual(words, reach.way_to(options).words)

    def test_guests_share_it(self):
        client = hostkey.generate("client")
        guests = [
            {
                "name": name,
                "address": "10.0.0.5",
                "measure_address": "10.0.0.5",
                "user": "debian",
                "host_key": hostkey.generate("host").public,
                "jump": HOP,
            }
            for name in ("g1", "g2")
        ]
        with mock.patch.object(reach, "connect", autospec=True) as connect:
            reach.guest_stations(guests, client.private)
        first, second = (call.args[2] for call in connect.call_args_list)
        self.assertIs(first, second)

    def test_a_login_replaces_the_key_of_the_run(self):
        guest = {
            "name": "g1",
            "address": "10.0.0.5",
            "user": "debian",
            "host_key": None,
        }
        with mock.patch.object(reach.ssh, "Ssh", autospec=True) as made:
            reach.connect(guest, "key", reach.way_to({}))
            reach.connect(
                {**guest, "login": {"password_file": "/p"}},
                "key",
                reach.way_to({}),
            )
        ours, theirs = (call.kwargs for call in made.call_args_list)
        self.assertEqual("key", ours["client_key"])
        self.assertNotIn("client_key", theirs)
        self.assertEqual("/p", theirs["password_file"])
