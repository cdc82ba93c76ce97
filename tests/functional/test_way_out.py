# SPDX-License-Identifier: Apache-2.0
"""Ranges are chosen apart from those of the machine, or not at all.

Each case is a machine of its own as far as networks go: a new namespace with a
card and a gateway behind it.
"""

import json
import os
import subprocess
import sys
import unittest

import ddt

#: Says what was chosen, or why nothing was.
CODE = """
import json
import pathlib
import tempfile
from tests.cloud.state import addresses
from rally_vmperf.image import commands as programs
from tests.cloud.system import layout

addresses.RESOLVERS = pathlib.Path("/dev/null")
with tempfile.TemporaryDirectory() as folder:
    folders = layout.Layout(pathlib.Path(folder))
    try:
        chosen = addresses.choose(folders, addresses.find_used(), None)
        print(json.dumps(str(chosen.external)))
    except programs.HostError as refused:
        print(json.dumps(str(refused)))
"""
SETUP = """
set -e
ip link set lo up
ip link add card0 type veth peer name cable
ip link set cable up
ip link set card0 up
"""


@unittest.skipIf(os.geteuid(), "only root makes namespaces")
@ddt.ddt
class TestWayOut(unittest.TestCase):
    """As on machines with Docker, with a VPN, and with nothing special."""

    def chosen(self, *commands):
        """Return what is chosen on a machine with such addresses, routes."""
        lines = [
            SETUP,
            *(f"ip {command}" for command in commands),
            'exec "$@"',
            "",
        ]
        process = subprocess.run(
            ["unshare", "--net", "sh", "-c", "\n".join(lines),
             "sh", sys.executable, "-c", CODE],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        self.assertEqual(0, process.returncode, process.stderr)
        return json.loads(process.stdout)

    @ddt.data(
        (("address add 192.0.2.2/24 dev card0",
          "route add default via 192.0.2.1"),
         "172.24.4.0/24"),
        (("address add 172.24.0.9/16 dev card0",
          "route add default via 172.24.0.1"),
         "172.30.240.0/24"),
        (("address add 192.0.2.2/24 dev card0",
          "route add default via 192.0.2.1",
          "route add 172.16.0.0/12 via 192.0.2.7"),
         "10.254.240.0/24"),
    )  # fmt: skip
    @ddt.unpack
    def test_free_ranges(self, commands, expected):
        self.assertEqual(expected, self.chosen(*commands))

    def test_no_range_is_free(self):
        networks = (
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
            *("100.64.0.0/10", "198.18.0.0/15"),
        )
        refused = self.chosen(
            *(f"route add blackhole {network}" for network in networks)
        )
        self.assertRegex(refused, "cannot have its networks: .*172.16.0.0/12")
