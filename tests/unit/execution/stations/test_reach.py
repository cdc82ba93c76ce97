# SPDX-License-Identifier: Apache-2.0
import dataclasses
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution.stations import reach
from rally_vmperf.machines.remote import hostkey
from rally_vmperf.machines.remote import target

HOP = {"address": "192.0.2.1", "user": "rally"}
FURTHER = {"address": "192.0.2.2", "user": "u", "port": 23}


@ddt.ddt
class WayToTestCase(unittest.TestCase):
    @ddt.data(
        ({}, ""),
        ({"jump": []}, ""),
        ({"jump": HOP}, " through rally@192.0.2.1:22"),
        (
            {"jump": [HOP, FURTHER]},
            " through u@192.0.2.2:23 through rally@192.0.2.1:22",
        ),
        ({"namespace": "qrouter-1"}, " in namespace qrouter-1"),
    )
    @ddt.unpack
    def test_words(self, options, label):
        hosts = target.jump_hosts(options.get("jump"))
        way = reach.create_route(hosts, options.get("namespace"))
        self.assertEqual(label, way.label)

    def test_guests_share_it(self):
        client = hostkey.generate("client")
        guests = [
            target.Target(
                name=name,
                address="10.0.0.5",
                measure_address="10.0.0.5",
                user="debian",
                host_key=hostkey.generate("host").public,
                jump=target.jump_hosts(HOP),
            )
            for name in ("g1", "g2")
        ]
        with mock.patch.object(reach, "connect", autospec=True) as connect:
            reach.guest_stations(guests, client.private)
        first, second = (call.args[2] for call in connect.call_args_list)
        self.assertIs(first, second)

    def test_volumes(self):
        """A header of the encryption makes the device a little smaller."""
        guest = target.Target(
            name="g1",
            address="10.0.0.5",
            measure_address="10.0.0.5",
            user="debian",
            volumes=(
                target.Volume(id="v1", size_gib=2),
                target.Volume(id="v2", size_gib=2, is_encrypted=True),
            ),
        )
        (station,) = reach.guest_stations([guest], "key")
        size = 2 << 30
        self.assertEqual(
            [("v1", size, size), ("v2", size - (16 << 20), size)],
            [(each.id, each.least, each.most) for each in station.volumes],
        )

    def test_a_login_replaces_the_key_of_the_run(self):
        guest = target.Target(
            name="g1",
            address="10.0.0.5",
            measure_address="10.0.0.5",
            user="debian",
        )
        login = target.Login(password_file="/p")
        with mock.patch.object(
            reach.endpoint, "Endpoint", autospec=True
        ) as made:
            made.return_value.name = "g1"
            reach.connect(guest, "key", reach.create_route(()))
            reach.connect(
                dataclasses.replace(guest, login=login),
                "key",
                reach.create_route(()),
            )
        without_login, with_login = (
            call.kwargs for call in made.call_args_list
        )
        self.assertEqual("key", without_login["client_key"])
        self.assertIsNone(with_login["client_key"])
        self.assertEqual("/p", with_login["password_file"])
