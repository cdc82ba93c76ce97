# SPDX-License-Identifier: Apache-2.0
"""The embedded cloud is reached from its own host only."""

import contextlib
import json
import pathlib
import re
import socket
import subprocess
import unittest

from tests.functional import breakage as d
from tests.functional import laboratory

#: A namespace at the host's other side, and a veth pair to it.
OUTSIDE, NEAR = "vmpt-outside", "vmpt-near"
HERE, THERE = "203.0.113.1", "203.0.113.2"
FORWARD = pathlib.Path("/proc/sys/net/ipv4/ip_forward")
APIS = (5000, 8774, 8778, 9292, 9696)
LIBVIRT = (16509, 16514)
#: What a machine of OpenStack listens at, MariaDB, RabbitMQ and libvirt too.
PORTS = (
    *(22, 80, 3306, 4369, 4370, 5672, 8775, 15672, 25672, 25673),
    *APIS,
    *LIBVIRT,
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
#: Sends datagrams that VXLAN would take for the network 1353.
SEND = """
import socket, sys
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for host in sys.argv[1:]:
    for _ in range(10):
        end.sendto(bytes.fromhex("0800000000054900") + bytes(60), (host, 8472))
"""


def outside(code, *arguments):
    """Run Python in the namespace outside; return the lines it prints."""
    command = ["ip", "netns", "exec", OUTSIDE, "python3", "-c", code]
    return d.run(*command, *arguments).split()


def peer(code, *arguments):
    """Run Python where guests are; return the lines it prints."""
    command = ["ip", "netns", "exec", "vmperf-peer", "python3", "-c", code]
    return d.CONTAINER.run(*command, *arguments).split()


def here(code, *arguments):
    """Run Python on the host; return the lines it prints."""
    return d.run("python3", "-c", code, *arguments).split()


def dropped():
    """Return how many packets the container has dropped so far."""
    listed = "".join(
        d.CONTAINER.run("iptables", "-nvxL", chain)
        for chain in ("INPUT", "vmperf-answers")
    )
    return sum(map(int, re.findall(r"^\s*(\d+)\s+\d+\s+DROP", listed, re.M)))


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class TestOutside(unittest.TestCase):
    """Asked from the other end of a cable of a host that forwards."""

    def setUp(self):
        """Connect a namespace that sends all it has to the host."""
        super().setUp()
        chosen = laboratory.networks()
        # It outlives a connection for a moment, and the link goes first.
        self.addCleanup(d.run, "ip", "netns", "delete", OUTSIDE)
        self.addCleanup(d.run, "ip", "link", "delete", NEAR)
        for arguments in (
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
            d.run("ip", *arguments)
        self.addCleanup(FORWARD.write_text, FORWARD.read_text())
        FORWARD.write_text("1")
        # Else nothing could come back, whatever the container does.
        route = ("ip", "route", "replace", f"{THERE}/32")
        d.CONTAINER.run(*route, "via", str(chosen.management[1]))
        self.addCleanup(
            d.CONTAINER.run, "ip", "route", "delete", f"{THERE}/32"
        )
        self.addresses = (
            *(chosen.controller, chosen.management[3], chosen.external[1]),
            chosen.peer,
        )

    def test_the_cable_works(self):
        """Without it, silence of the other addresses would prove nothing."""
        with socket.create_server((HERE, 0)) as server:
            address = f"{HERE}:{server.getsockname()[1]}"
            self.assertEqual([address], outside(ASK, address))
        # The host forwards: the container drops what arrives.
        before = dropped()
        outside(SEND, laboratory.networks().controller)
        self.assertGreaterEqual(dropped(), before + 10)

    def test_no_service_answers(self):
        """Neither at the cloud's addresses nor at the host's own."""
        targets = [
            f"{host}:{port}"
            for host in (*self.addresses, HERE)
            for port in PORTS
        ]
        allowed = [f"{HERE}:22"]  # the host's sshd is no service of ours
        self.assertEqual(set(), {*outside(ASK, *targets)} - {*allowed})


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class TestGuests(unittest.TestCase):
    """Asked from the peer, which is where guests are."""

    def setUp(self):
        super().setUp()
        self.chosen = laboratory.networks()

    def test_the_host_reaches_apis_and_the_peer(self):
        targets = [f"{self.chosen.controller}:{port}" for port in APIS]
        targets.append(f"{self.chosen.peer}:22")
        self.assertEqual(targets, here(ASK, *targets))

    def test_guests_reach_each_other_only(self):
        """No API, messages or database, and no service of the host."""
        with contextlib.ExitStack() as stack:
            mine = [
                stack.enter_context(socket.create_server((address, 0)))
                for address in (str(self.chosen.management[1]), "0.0.0.0")
            ]
            names = [
                f"{self.chosen.management[1]}:{server.getsockname()[1]}"
                for server in mine
            ]
            self.assertEqual(names, here(ASK, *names))
            addresses = [
                f"{host}:{port}"
                for host in (
                    self.chosen.controller,
                    self.chosen.management[3],
                    self.chosen.external[1],
                )
                for port in PORTS
            ]
            peer_address = f"{self.chosen.peer}:22"
            self.assertEqual(
                [peer_address], peer(ASK, peer_address, *addresses, *names)
            )

    def test_guests_open_no_tunnel(self):
        """A VXLAN packet of theirs is dropped at whichever address."""
        for address in (self.chosen.controller, self.chosen.external[1]):
            before = dropped()
            peer(SEND, str(address))
            self.assertGreaterEqual(dropped(), before + 10)


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class TestPort(unittest.TestCase):
    """Connect from a port of Neutron's own bridge of the network public."""

    NAME = "vmpt-guest"

    def setUp(self):
        """Connect a namespace to the bridge, as Nova connects a guest."""
        super().setUp()
        self.chosen = laboratory.networks()
        links = json.loads(
            d.CONTAINER.run("ip", "-j", "link", "show", "dev", "ext1")
        )
        (bridge,) = (link["master"] for link in links)
        external = self.chosen.external
        address = f"{external[-3]}/{external.prefixlen}"
        self.addCleanup(self.ip, "netns", "delete", self.NAME)
        for arguments in (
            ("netns", "add", self.NAME),
            ("link", "add", "vmpt-port", "type", "veth",
             "peer", "name", "eth0", "netns", self.NAME),
            ("link", "set", "vmpt-port", "up", "master", bridge),
            ("-n", self.NAME, "address", "add", address, "dev", "eth0"),
            ("-n", self.NAME, "link", "set", "eth0", "up"),
            ("-n", self.NAME, "route", "add", "default",
             "via", str(external[1])),
        ):  # fmt: skip
            self.ip(*arguments)

    def ip(self, *arguments):
        return d.CONTAINER.run("ip", *arguments)

    def connect(self, *targets):
        """Return the targets HOST:PORT that accept a connection."""
        inside = ("ip", "netns", "exec", self.NAME, "python3", "-c", ASK)
        return d.CONTAINER.run(*inside, *targets, timeout=300).split()

    def test_guests_reach_each_other_only(self):
        """The kernel answers for each address on each of its bridges."""
        with socket.create_server(("0.0.0.0", 0)) as server:
            name = f"{self.chosen.management[1]}:{server.getsockname()[1]}"
            self.assertEqual([name], here(ASK, name))
            targets = [
                f"{host}:{port}"
                for host in (
                    self.chosen.controller,
                    self.chosen.management[1],
                    self.chosen.management[3],
                    self.chosen.external[1],
                )
                for port in PORTS
            ]
            reached = f"{self.chosen.peer}:22"
            self.assertEqual([reached], self.connect(reached, name, *targets))


@unittest.skipUnless(laboratory.CLOUD, "VMPERF_CLOUD names no embedded cloud")
class TestUsers(unittest.TestCase):
    """Users of the host and of the container without rights get no access."""

    def check_mode(self, mode, path):
        self.assertEqual(mode, path.stat().st_mode & 0o777, path)

    def test_the_folder(self):
        """Only root enters it."""
        self.check_mode(0o700, d.PLACE.root)

    def test_sockets(self):
        """They are root's."""
        paths = [*d.PLACE.run.glob("libvirt-*")]
        self.assertEqual(2, len(paths))
        for path in (*paths, d.PLACE.run / "supervisord.sock"):
            self.check_mode(0o700, path)

    def test_libvirt_has_no_port(self):
        chosen = laboratory.networks()
        addresses = [
            f"{host}:{port}"
            for host in ("127.0.0.1", chosen.controller, chosen.management[3])
            for port in LIBVIRT
        ]
        reachable = f"{chosen.controller}:5000"
        command = ["python3", "-c", ASK, reachable, *addresses]
        self.assertEqual([reachable], d.CONTAINER.run(*command).split())
        self.assertEqual([reachable], here(ASK, reachable, *addresses))

    def test_disks_of_guests(self):
        """Only QEMU's user passes on the way to them."""
        folder = d.PLACE.data / "nova"
        self.check_mode(0o710, folder)
        group = laboratory.name_of(folder.stat().st_gid, "group")
        self.assertEqual("libvirt-qemu", group)

    def test_the_cookie(self):
        """RabbitMQ uses the cookie of the cloud, and keeps it closed."""
        path = d.PLACE.data / "rabbitmq" / ".erlang.cookie"
        self.check_mode(0o400, path)
        self.assertEqual(64, len(path.read_text()))

    def test_status_is_clean(self):
        """All of it is in place, says the cloud."""
        shown = subprocess.run(
            [*d.COMMAND, "status", *d.ROOT],
            capture_output=True,
            text=True,
            check=True,
        )
        header, *services = shown.stdout.splitlines()
        self.assertTrue(services)
        column = header.index("Trouble")
        self.assertEqual(
            [], [service for service in services if service[column:]]
        )
