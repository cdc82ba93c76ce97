# SPDX-License-Identifier: Apache-2.0
import socket
import subprocess
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import iperf2
from tests import skips
from tests.unit.workloads import golden

PORTS = range(5201, 5204)
ENDS = base.Endpoints(peer="192.0.2.1", partner="192.0.2.2", own_ports=PORTS)
GOLDEN = golden.text("iperf2-2.1.8-to_peer.txt")
PUBLISHED = golden.text("iperf-r730xd-2019-baremetal.txt")


@ddt.ddt
class ThroughputTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = iperf2.Iperf2()

    @ddt.data(
        (
            {},
            "iperf -c 192.0.2.1 -p 5201 -P 1 -f k -t 10",
            "iperf -s -p 5201 -P 1",
        ),
        (
            {"directions": ["from_peer"], "time": 60, "window_kib": 256},
            "iperf -c 192.0.2.1 -p 5202 -P 1 -w 256K -f k -t 60 -R",
            "iperf -s -p 5202 -P 1 -w 256K",
        ),
        (
            {"directions": ["guest_to_guest"], "streams": 8},
            "iperf -c 192.0.2.2 -p 5203 -P 8 -f k -t 10",
            "iperf -s -p 5203 -P 8",
        ),
    )
    @ddt.unpack
    def test_command_lines(self, arguments, client, server):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), ENDS
        )
        self.assertEqual(client, " ".join(command.argv))
        self.assertEqual(server, " ".join(command.server.argv))

    def test_both_ends_speak_ipv6(self):
        (command,) = self.workload.commands(
            self.workload.complete({}),
            base.Endpoints(peer="2001:db8::1", own_ports=PORTS),
        )
        self.assertIn("-V", command.argv)
        self.assertIn("-V", command.server.argv)

    @ddt.data(("to_peer", "peer"), ("guest_to_guest", "partner"))
    @ddt.unpack
    def test_missing_ends(self, direction, on):
        arguments = self.workload.complete({"directions": [direction]})
        with self.assertRaisesRegex(
            base.WorkloadError, f"{direction} requires a {on}; configure one"
        ):
            self.workload.commands(arguments, base.Endpoints(own_ports=PORTS))

    def test_a_guest_without_partner_runs_the_others(self):
        arguments = self.workload.complete(
            {"directions": ["guest_to_guest", "to_peer"]}
        )
        self.assertEqual({"peer", "partner"}, self.workload.needs(arguments))
        for_endpoints = self.workload.for_endpoints(
            arguments, base.Endpoints(peer="x")
        )
        self.assertEqual(["to_peer"], for_endpoints["directions"])
        ((kind, _),) = self.workload.argument_findings(arguments)
        self.assertEqual("peer_replaces_partner", kind)
        self.assertEqual((), self.workload.argument_findings(for_endpoints))

    def test_only_the_reverse_wants_a_new_one(self):
        for directions, minimum in (
            (["to_peer"], None),
            (["from_peer"], "2.1"),
        ):
            arguments = self.workload.complete({"directions": directions})
            (tool,) = self.workload.tools(arguments)
            self.assertEqual(
                minimum, tool.minimum_version and tool.minimum_version.version
            )

    def test_ended_early(self):
        arguments, files, _ = golden.RUNS["iperf2"]
        with self.assertRaisesRegex(
            base.WorkloadError, "to_peer took 2.0036 s instead of 60 s"
        ):
            self.workload.parse_all(
                self.workload.complete({**arguments, "time": 60}),
                golden.outcomes(files),
            )

    def parse(self, command, text, **arguments):
        """Parse an output as that of a command of the recorded run."""
        run_arguments = {**golden.RUNS["iperf2"].arguments, **arguments}
        outcome = {command: golden.outcome(command, text, seconds=60)}
        return self.workload.parse_all(
            self.workload.complete(run_arguments), outcome
        )

    def test_ended_late(self):
        text = golden.text("iperf2-2.1.8-to_peer.txt").replace(
            "2.0036 sec  1891584 KBytes  7734030",
            "4.0036 sec  1891584 KBytes  3870510",
        )
        with self.assertRaisesRegex(
            base.WorkloadError, "to_peer took 4.0036 s instead of 2 s"
        ):
            self.parse("to_peer", text)

    @ddt.data(("to_peer", "from_peer"), ("from_peer", "to_peer"))
    @ddt.unpack
    def test_another_direction(self, command, measured):
        text = golden.text(f"iperf2-2.1.8-{measured}.txt")
        with self.assertRaisesRegex(
            base.WorkloadError, f"{command} measured the other direction"
        ):
            self.parse(command, text)

    def test_another_window(self):
        text = golden.text("iperf2-2.1.8-to_peer.txt")
        requested = text.replace("3.76 MByte (default)", "64.0 KByte")
        with self.assertRaisesRegex(
            base.WorkloadError, "did not run with window_kib: 64: 'TCP window"
        ):
            self.parse("to_peer", text, window_kib=64)
        with self.assertRaisesRegex(base.WorkloadError, "window_kib: 0: "):
            self.parse("to_peer", requested)
        self.assertTrue(self.parse("to_peer", requested, window_kib=64))


@ddt.ddt
class RateTestCase(unittest.TestCase):
    @ddt.data(
        ("iperf2-2.1.8-to_peer.txt", 2, 7734030000),
        ("iperf2-2.1.8-from_peer.txt", 2, 9830270000),
        ("iperf-r730xd-2019-baremetal.txt", 1, 7.82e9),
        ("iperf-r730xd-2019-guest-to-guest.txt", 1, 7.04e9),
    )
    @ddt.unpack
    def test_real_outputs(self, file, streams, expected):
        rate, _ = iperf2.parse_rate(golden.text(file), "to_peer", streams)
        self.assertAlmostEqual(expected, rate)

    def test_refusal_has_its_words(self):
        """The exit status of iperf is 0 then."""
        with self.assertRaisesRegex(
            base.WorkloadError,
            "to_peer has 0 connections instead of 1: 'tcp connect failed",
        ):
            iperf2.parse_rate(
                "---\n", "to_peer", 1, "tcp connect failed: Connection refused"
            )

    def test_another_number_of_connections(self):
        with self.assertRaisesRegex(base.WorkloadError, "2 connections inste"):
            iperf2.parse_rate(GOLDEN, "to_peer", 3)
        with self.assertRaisesRegex(base.WorkloadError, "2 connections inste"):
            iperf2.parse_rate(GOLDEN, "to_peer", 1)

    @ddt.data(
        ("0.0-10.0", "10.0-10.0", "took 0 s"),
        ("7.82", "7.8.2", "bits is '7.8.2', not a finite number"),
        ("bits/sec", "bytes/sec", "has 0 connections"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, PUBLISHED)
        with self.assertRaisesRegex(base.WorkloadError, message):
            iperf2.parse_rate(PUBLISHED.replace(old, new), "to_peer", 1)

    def test_cut_short(self):
        whole = GOLDEN.rstrip()
        for length in range(len(whole)):
            with self.assertRaises(base.WorkloadError):
                iperf2.parse_rate(whole[:length], "to_peer", 2)


class RealThroughputTestCase(unittest.TestCase):
    """The iperf of this machine, where it has one, with its own server."""

    def test_to_peer(self):
        workload = iperf2.Iperf2()
        arguments = workload.complete({"time": 1, "streams": 2})
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (command,) = workload.commands(
            arguments,
            base.Endpoints(peer="127.0.0.1", own_ports=range(port, port + 3)),
        )
        skips.require(self, "iperf")
        server = subprocess.Popen(
            command.server.argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            server.stdout.readline()
            server.stdout.readline()
            process = subprocess.run(
                command.argv, capture_output=True, text=True, check=True
            )
            server.communicate(timeout=20)
        finally:
            server.kill()
            server.wait()
        (throughput,) = workload.parse_all(
            arguments,
            {"to_peer": golden.outcome("to_peer", process.stdout)},
        )
        self.assertGreater(throughput.value, 0)
        self.assertEqual(0, server.returncode)
