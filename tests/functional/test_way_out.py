"""Bridges are made beside what the machine has, or not at all.

Each case is a machine of its own as far as networks go: new namespaces for
network devices and mounts, a card with a gateway behind it.
"""

import json
import os
import subprocess
import sys
import unittest

import ddt

#: Says what was chosen and whether the way out is as it was.
CODE = """
import json, sys
from rally_vmperf.cloud.network import network, network_removal, routing
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.system import errors

def look():
    servers = []
    known = routing.routes()
    return known, routing.look(routing.targets(known, servers))

known, before = look()
told = {"error": "", "chosen": []}
try:
    if sys.argv[1] == "choose":
        chosen = addresses.choose(routing.used(known, []))
    else:
        chosen = addresses.USUAL
    told["chosen"] = [str(one) for one in chosen.ranges]
    network.up(chosen)
    told["bridges"] = network.exists("br-ex")
    told["during"] = look()[1] == before
    network_removal.remove(chosen)
except errors.CloudError as refused:
    told["error"] = str(refused)
told["left"] = network.exists("br-ex") or network.exists("br-mgmt")
told["after"] = look() == (known, before)
print(json.dumps(told))
"""
SETUP = """
set -e
mount -t sysfs none /sys
mount -t tmpfs none /run
ip link set lo up
ip link add card0 type veth peer name cable
ip link set cable up
ip link set card0 up
"""


@unittest.skipIf(os.geteuid(), "only root makes namespaces")
@ddt.ddt
class TestWayOut(unittest.TestCase):
    """As on machines with Docker, with a VPN, and with nothing special."""

    def told(self, how, *words):
        """Return what happened on a machine with such addresses and routes."""
        lines = [SETUP, *(f"ip {one}" for one in words), 'exec "$@"', ""]
        done = subprocess.run(
            ["unshare", "--net", "--mount", "sh", "-c", "\n".join(lines),
             "sh", sys.executable, "-c", CODE, how],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        self.assertEqual(0, done.returncode, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    @ddt.data(
        (("address add 192.0.2.2/24 dev card0",
          "route add default via 192.0.2.1"),
         "172.30.0.0/24 172.24.4.0/24 10.254.1.0/24"),
        (("address add 172.30.0.9/16 dev card0",
          "route add default via 172.30.0.1"),
         "10.254.240.0/24 172.24.4.0/24 10.254.1.0/24"),
        (("address add 192.0.2.2/24 dev card0",
          "route add default via 192.0.2.1",
          "route add 10.254.0.0/16 via 192.0.2.7"),
         "172.30.0.0/24 172.24.4.0/24 172.30.240.0/24"),
    )  # fmt: skip
    @ddt.unpack
    def test_free_ranges(self, words, ranges):
        """The way out stays, and nothing of the cloud does."""
        told = self.told("choose", *words)
        self.assertEqual("", told["error"])
        self.assertEqual(ranges.split(), told["chosen"])
        self.assertTrue(told["bridges"])
        self.assertTrue(told["during"])
        self.assertFalse(told["left"])
        self.assertTrue(told["after"])

    def test_undone(self):
        """Bridges that take the machine's gateway are removed again."""
        told = self.told(
            "usual",
            "address add 172.30.0.9/16 dev card0",
            "route add default via 172.30.0.77",
        )
        self.assertRegex(told["error"], "lose a route: packets to .*--net")
        self.assertFalse(told["left"])
        self.assertTrue(told["after"])

    def test_no_range_is_free(self):
        """Refused before anything is made, with the reason."""
        told = self.told(
            "choose",
            *(f"route add blackhole {network}" for network in (
                "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
                "100.64.0.0/10", "198.18.0.0/15",
            )),
        )  # fmt: skip
        self.assertRegex(told["error"], "no range is free .*172.16.0.0/12")
        self.assertFalse(told["left"])
