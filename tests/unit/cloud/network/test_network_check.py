import json
import pathlib

from rally_vmperf.cloud.network import network_check
from rally_vmperf.cloud.state import addresses
from tests.unit.cloud import base

DATA = pathlib.Path(__file__).parents[1] / "data"
BARRED = set(map(str, addresses.USUAL.ranges))


def links(name):
    content = json.loads((DATA / name).read_text())
    return {link["ifname"]: link for link in content}


class CompareTestCase(base.CloudTestCase):
    def setUp(self):
        super().setUp()
        self.here = links("ip-6.1.0-address.json")
        self.inside = links("ip-6.1.0-address-peer.json")

    def wrong(self, barred=frozenset(BARRED)):
        return network_check.compare(
            addresses.USUAL, self.here, self.inside, barred
        )

    def test_all_there(self):
        self.assertEqual([], self.wrong())

    def test_gone(self):
        for name, trouble in (
            ("br-ex", "bridge br-ex is gone"),
            ("br-mgmt", "bridge br-mgmt is gone"),
            ("vmperf-ext-br", "link vmperf-ext-br is gone"),
            ("vmperf-peer", "link vmperf-peer is gone"),
        ):
            with self.subTest(name):
                kept = self.here.pop(name)
                self.assertEqual([trouble], self.wrong())
                self.here[name] = kept

    def test_the_far_end_of_a_link(self):
        del self.inside["eth0"]
        self.assertEqual(["the peer's eth0 is gone"], self.wrong())

    def test_the_namespace(self):
        self.inside = None
        self.assertEqual(["namespace vmperf-peer is gone"], self.wrong())

    def test_addresses(self):
        self.here["br-ex"]["addr_info"] = []
        self.inside["eth0"]["addr_info"] = []
        self.assertEqual(
            [
                "bridge br-ex has lost its address 172.24.4.1/24",
                "the peer's eth0 has lost its address 172.24.4.2/24",
            ],
            self.wrong(),
        )

    def test_down(self):
        self.here["br-mgmt"]["flags"].remove("UP")
        self.assertEqual(["bridge br-mgmt is down"], self.wrong())

    def test_a_link_that_was_taken_out_of_its_bridge(self):
        del self.here["vmperf-peer"]["master"]
        self.assertEqual(["link vmperf-peer is not in br-ex"], self.wrong())

    def test_routes(self):
        self.assertEqual(
            ["the route that keeps 10.254.1.0/24 here is gone"],
            self.wrong(BARRED - {"10.254.1.0/24"}),
        )


class ExpectedTestCase(base.CloudTestCase):
    def test_only_what_was_made_in_this_boot(self):
        self.assertFalse(network_check.expected(self.folders, "boot"))
        network_check.note(self.folders, "boot")
        self.assertTrue(network_check.expected(self.folders, "boot"))
        self.assertFalse(network_check.expected(self.folders, "next boot"))
