import pathlib
import unittest

from rally_vmperf.cloud.network import packet_filter
from rally_vmperf.cloud.state import addresses

DATA = pathlib.Path(__file__).parents[1] / "data"


class RulesTestCase(unittest.TestCase):
    def test_tunnels_first_and_ranges_last(self):
        rules = packet_filter.rules(addresses.parse("10.66.0.0/22"))
        self.assertIn("8472", rules[0])
        self.assertIn("5672", rules[1])
        self.assertEqual(
            ["10.66.0.0/24", "10.66.1.0/24", "10.66.2.0/24"],
            [rule[1] for rule in rules[-3:]],
        )
        for rule in (*rules[:2], *rules[-3:]):
            self.assertEqual("DROP", rule[-1])

    def test_there(self):
        """As iptables-save tells it of a cloud that is up."""
        saved = (DATA / "iptables-save-1.8.9-raw.txt").read_text().splitlines()
        self.assertTrue(packet_filter.there(saved))
        ours = [ln for ln in saved if packet_filter.CHAIN in ln and "-A" in ln]
        self.assertEqual(10, len(ours))
        for line in ours:
            self.assertFalse(
                packet_filter.there([ln for ln in saved if ln != line]), line
            )
