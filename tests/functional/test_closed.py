"""The embedded cloud is reached from its own bridges only."""

import os
import socket
import subprocess
import unittest

from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.state import addresses
from tests.functional import breakage as d
from tests.functional import laboratory

#: A namespace at the machine's other side, and a veth pair to it.
OUTSIDE, NEAR = "vmpt-outside", "vmpt-near"
HERE, THERE = "203.0.113.1", "203.0.113.2"
#: What a machine of OpenStack listens at, MariaDB, RabbitMQ and libvirt too.
PORTS = (
    *(22, 80, 3306, 4369, 4370, 5000, 5672, 8774, 8775, 8778, 9292, 9696),
    *(15672, 16509, 16514, 25672, 25673),
)
#: Prints which of some addresses HOST:PORT take a connection.
ASK = """
import socket, sys
for word in sys.argv[1:]:
    host, port = word.split(":")
    try:
        socket.create_connection((host, int(port)), timeout=0.5).close()
    except OSError:
        continue
    print(word)
"""
#: Sends a datagram that VXLAN would take for the network 1353.
SEND = """
import socket, sys
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for host in sys.argv[1:]:
    end.sendto(bytes.fromhex("0800000000054900") + bytes(60), (host, 8472))
"""


def inside(namespace, code, *words):
    """Run Python in a network namespace; return the lines it prints."""
    command = ["ip", "netns", "exec", namespace, "python3", "-c", code]
    return d.run(*command, *words).split()


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class TestClosed(unittest.TestCase):
    """Asked from the other end of a cable of the machine."""

    def setUp(self):
        """Connect a namespace that sends all it has to the machine."""
        super().setUp()
        self.chosen: addresses.Addresses = laboratory.networks()
        for words in (
            ("netns", "add", OUTSIDE),
            ("link", "add", NEAR, "type", "veth",
             "peer", "name", "eth0", "netns", OUTSIDE),
            ("address", "add", f"{HERE}/24", "dev", NEAR),
            ("link", "set", NEAR, "up"),
            ("-n", OUTSIDE, "link", "set", "lo", "up"),
            ("-n", OUTSIDE, "address", "add", f"{THERE}/24", "dev", "eth0"),
            ("-n", OUTSIDE, "link", "set", "eth0", "up"),
            ("-n", OUTSIDE, "route", "add", "default", "via", HERE),
        ):  # fmt: skip
            d.run("ip", *words)
            if words[1] == "add" and words[0] != "address":
                # the link first, as a namespace takes its time to go
                undo = (words[0], "delete", words[2])
                self.addCleanup(d.run, "ip", *undo)
        self.targets = [
            f"{host}:{port}"
            for host in (
                self.chosen.controller,
                self.chosen.gateway,
                str(self.chosen.peer.ip),
                HERE,
            )
            for port in PORTS
        ]

    def dropped(self):
        """Return how many packets for tunnels were dropped so far."""
        listed = d.run("iptables", "-t", "raw", "-nvxL", "vmperf-cloud")
        (line,) = (ln for ln in listed.splitlines() if "dpt:8472" in ln)
        return int(line.split()[0])

    def test_the_cable_works(self):
        """Else the silence of all others would prove nothing."""
        with socket.create_server((HERE, 0)) as server:
            port = server.getsockname()[1]
            asked = f"{HERE}:{port}"
            self.assertEqual([asked], inside(OUTSIDE, ASK, asked))

    def test_no_service_answers(self):
        """Neither at the cloud's addresses nor at the machine's own."""
        own = [f"{HERE}:22"]  # the machine's sshd is no service of ours
        found = set(inside(OUTSIDE, ASK, *self.targets)) - {*own}
        self.assertEqual(set(), found)

    def test_no_tunnel_opens(self):
        """A VXLAN packet is dropped at whichever address it comes in."""
        before = self.dropped()
        inside(OUTSIDE, SEND, HERE, self.chosen.controller)
        inside(OUTSIDE, SEND, self.chosen.gateway)
        self.assertEqual(before + 3, self.dropped())

    def test_guests_and_the_controller_are_answered(self):
        """The peer is where guests are; all APIs answer it and us."""
        apis = [
            service.ready["http"].split("/")[2]
            for service in services.shipped(d.PLACE)
            if "http" in service.ready
        ]
        self.assertEqual(5, len(apis))
        self.assertEqual(apis, inside("vmperf-peer", ASK, *apis))
        self.assertEqual(apis, d.run("python3", "-c", ASK, *apis).split())

    def test_guests_reach_no_messages_and_no_database(self):
        """RabbitMQ answers the services of this machine only."""
        controller = self.chosen.controller
        ports = (3306, 4369, 4370, 5672, 15672, 25672, 25673)
        asked = [f"{controller}:{port}" for port in ports]
        self.assertIn(
            f"{controller}:5672", d.run("python3", "-c", ASK, *asked).split()
        )
        self.assertEqual([], inside("vmperf-peer", ASK, *asked))

    def test_guests_open_no_tunnel(self):
        """Nor do packets from the cloud's public network."""
        before = self.dropped()
        inside("vmperf-peer", SEND, self.chosen.controller)
        inside("vmperf-peer", SEND, self.chosen.gateway)
        self.assertEqual(before + 2, self.dropped())


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class TestUsers(unittest.TestCase):
    """What users of the machine without rights find."""

    def test_sockets_of_libvirt(self):
        """They are root's."""
        for name in ("", "-ro"):
            mode = os.stat(f"/run/libvirt/libvirt-sock{name}").st_mode
            self.assertEqual(0o700, mode & 0o777)

    def test_disks_of_guests(self):
        """Nobody but QEMU's user passes on the way to them."""
        folder = d.PLACE.data / "nova"
        self.assertEqual(0o710, folder.stat().st_mode & 0o777)
        self.assertEqual("libvirt-qemu", folder.group())

    def test_the_cookie(self):
        """RabbitMQ has taken ours, and keeps it closed."""
        path = d.PLACE.data / "rabbitmq" / ".erlang.cookie"
        self.assertEqual(0o400, path.stat().st_mode & 0o777)
        self.assertEqual(64, len(path.read_text()))

    def test_status_is_clean(self):
        """All of it is in place, says the cloud."""
        shown = subprocess.run(
            [*d.COMMAND, "status", *d.ROOT, "-c", "Trouble", "-f", "value"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual("", shown.stdout.strip())
