# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import ping
from tests.unit.workloads import golden

GOLDEN = golden.text("ping-20221126-loss.txt")
ENDS = base.Endpoints(peer="192.0.2.1", partner="192.0.2.2")
BOTH = {"directions": ["guest_to_guest", "to_peer"]}


@ddt.ddt
class LatencyTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = ping.Ping()

    @ddt.data(
        ({}, ["ping -n -c 50 -i 0.2 -s 56 192.0.2.1"]),
        (
            {**BOTH, "count": 1000, "interval": 0.01, "size": 1000},
            [
                "ping -n -c 1000 -i 0.01 -s 1000 192.0.2.1",
                "ping -n -c 1000 -i 0.01 -s 1000 192.0.2.2",
            ],
        ),
    )
    @ddt.unpack
    def test_command_lines(self, arguments, lines):
        commands = self.workload.commands(
            self.workload.complete(arguments), ENDS
        )
        self.assertEqual(lines, [" ".join(c.argv) for c in commands])
        self.assertEqual([None] * len(lines), [c.server for c in commands])

    @ddt.data(
        ({"count": 1}, "count: 1 is less .*2 to 10000"),
        ({"interval": 0.001}, "interval: 0.001 is less .*older versions"),
        ({"size": 8}, "size: 8 is less .*16 to 65507"),
        ({"directions": ["from_peer"]}, "directions.0: 'from_peer' .*to_peer"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload ping: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        (
            base.Endpoints(partner="192.0.2.2"),
            "to_peer requires a peer; configure",
        ),
        (
            base.Endpoints(peer="192.0.2.1"),
            "guest_to_guest requires a partner; configure",
        ),
    )
    @ddt.unpack
    def test_no_other_end(self, ends, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.workload.commands(self.workload.complete(BOTH), ends)

    def test_without_a_partner_only_the_peer_is_used(self):
        arguments = self.workload.complete(BOTH)
        self.assertEqual({"peer", "partner"}, self.workload.needs(arguments))
        for partner, directions in (
            ("", ["to_peer"]),
            ("192.0.2.2", ["to_peer", "guest_to_guest"]),
        ):
            for_endpoints = self.workload.for_endpoints(
                arguments, base.Endpoints(partner=partner)
            )
            self.assertEqual(directions, for_endpoints["directions"])

    def test_the_substitute_of_a_partner_is_reported(self):
        ((kind, _),) = self.workload.argument_findings(
            self.workload.complete(BOTH)
        )
        self.assertEqual("peer_replaces_partner", kind)

    def test_golden_output(self):
        arguments, files, _ = golden.RUNS["ping-loss"]
        samples = self.workload.parse_all(
            self.workload.complete(arguments), golden.outcomes(files)
        )
        measured = {s.metric.name.rpartition(".")[2]: s.value for s in samples}
        expected = {
            "latency_min": 26e-6,
            "latency_mean": 0.656e-3 / 17,
            "latency_p50": 37e-6,
            "latency_p95": 80e-6,
            "latency_max": 80e-6,
            "loss": 15,
        }
        self.assertEqual(list(expected), list(measured))
        for name, value in expected.items():
            self.assertAlmostEqual(value, measured[name], places=9)

    def test_no_answer(self):
        outcome = golden.outcome(
            "to_peer",
            "5 packets transmitted, 0 received, 100% packet loss, time 418ms",
            exit_status=1,
        )
        with self.assertRaisesRegex(base.WorkloadError, "100% packet loss"):
            self.workload.parse_all(
                self.workload.complete({}), {"to_peer": outcome}
            )


@ddt.ddt
class LatenciesTestCase(unittest.TestCase):
    @ddt.data(
        ("20210202-to_peer", 5),
        ("20221126-ipv6", 5),
        ("20221126-loss", 20),
        ("20221126-to_peer", 50),
        ("20240905-to_peer", 5),
    )
    @ddt.unpack
    def test_golden_outputs(self, name, count):
        text = golden.text(f"ping-{name}.txt")
        times = ping.parse_latencies(text, "to_peer", count, 56)
        self.assertEqual(sorted(times), times)
        self.assertGreater(times[0], 1e-6)
        self.assertLess(times[-1], 1e-2)

    def test_cut_short(self):
        for length in range(len(GOLDEN)):
            with self.assertRaises(base.WorkloadError):
                ping.parse_latencies(GOLDEN[:length], "to_peer", 20, 56)

    @ddt.data(
        (10, 56, "sent 20 packets instead of 10"),
        (20, 64, "did not start once with 64 bytes"),
    )
    @ddt.unpack
    def test_arguments_that_differ_from_the_run(self, *run_arguments):
        *arguments, message = run_arguments
        with self.assertRaisesRegex(base.WorkloadError, message):
            ping.parse_latencies(GOLDEN, "to_peer", *arguments)

    @ddt.data(
        ("17 received", "18 received", "printed 17 answers, but counted 18"),
        ("time=0.026", "time=inf", "'inf', not a finite number"),
        ("rtt ", "round-trip ", "ping of iputils is required"),
        (GOLDEN, GOLDEN * 2, "did not print counts and latencies at its end"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(base.WorkloadError, f"^ping: .*{message}"):
            ping.parse_latencies(GOLDEN.replace(old, new), "to_peer", 20, 56)

    def test_answers_that_come_twice_count_once(self):
        line = "64 bytes from 127.0.0.1: icmp_seq=2 ttl=64 time=0.040 ms\n"
        text = GOLDEN.replace(line, line + line.replace("ms\n", "ms (DUP!)\n"))
        text = text.replace("17 received,", "17 received, +1 duplicates,")
        self.assertEqual(
            ping.parse_latencies(GOLDEN, "to_peer", 20, 56),
            ping.parse_latencies(text, "to_peer", 20, 56),
        )

    def test_a_summary_includes_a_duplicate_answer(self):
        """The numbers are constructed."""
        text = golden.text("ping-constructed-duplicate.txt")
        self.assertIn("/0.430/0.490/", text)
        times = ping.parse_latencies(text, "to_peer", 4, 56)
        self.assertEqual([400, 410, 420, 430], [round(t * 1e6) for t in times])

    @ddt.data((1, 50, 1), (2, 50, 1), (3, 50, 2), (20, 95, 19), (21, 95, 20))
    @ddt.unpack
    def test_percentiles(self, count, percent, expected):
        times = [float(number) for number in range(1, count + 1)]
        self.assertEqual(expected, ping.find_percentile(times, percent))
