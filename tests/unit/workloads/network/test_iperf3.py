# SPDX-License-Identifier: Apache-2.0
import json
import socket
import subprocess
import time
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import iperf3
from tests import skips
from tests.unit.workloads import golden

GOLDEN = golden.text("iperf3-3.12-to_peer.json")
PORTS = range(5300, 5303)
ENDS = base.Endpoints(peer="192.0.2.1", partner="2001:db8::2", own_ports=PORTS)
ALL = {"directions": ["guest_to_guest", "from_peer", "to_peer"]}


@ddt.ddt
class NetworkTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = iperf3.Iperf3()

    def test_command_lines(self):
        commands = self.workload.commands(self.workload.complete(ALL), ENDS)
        self.assertEqual(
            {
                "to_peer": "iperf3 -c 192.0.2.1 -p 5300 -J -i 1 -t 10 -O 1 "
                "-P 1 --connect-timeout 5000",
                "from_peer": "iperf3 -c 192.0.2.1 -p 5301 -J -i 1 -t 10 -O 1 "
                "-P 1 -R --connect-timeout 5000",
                "guest_to_guest": "iperf3 -c 2001:db8::2 -p 5302 -J -i 1 "
                "-t 10 -O 1 -P 1 --connect-timeout 5000",
            },
            {command.name: " ".join(command.argv) for command in commands},
        )

    @ddt.data((1, 1), (10, 1), (11, 2), (600, 60), (601, 0), (3600, 0))
    @ddt.unpack
    def test_few_reports(self, time, interval):
        """The longest interval that iperf3 knows is a minute."""
        command, _ = self.workload.commands(
            self.workload.complete({"time": time}), ENDS
        )
        argv = list(command.argv)
        self.assertEqual(f"{interval}", argv[argv.index("-i") + 1])

    def test_both_directions_at_once(self):
        run = golden.RUNS["iperf3-bidir"]
        arguments = self.workload.complete(run.arguments)
        self.assertEqual({"peer"}, self.workload.needs(arguments))
        self.assertEqual(
            ["bidir"],
            self.workload.for_endpoints(arguments, ENDS)["directions"],
        )
        (command,) = self.workload.commands(arguments, ENDS)
        self.assertIn("--bidir", command.argv)
        server = command.server
        self.assertEqual(("peer", 5300), (server.on, server.port))
        every = self.workload.complete(ALL)
        both = {**every, "directions": [*every["directions"], "bidir"]}
        *_, last = self.workload.commands(both, ENDS)
        self.assertEqual(("bidir", 5300), (last.name, last.server.port))
        outcomes = run.outcomes()
        measured = {
            reading.metric.name: reading.value
            for reading in golden.values(
                self.workload.parse_all(arguments, outcomes)
            )
        }
        metrics = [metric.name for metric in self.workload.metrics(arguments)]
        self.assertEqual(metrics, list(measured))
        report_end = json.loads(outcomes["bidir"].stdout)["end"]
        for direction, key in (
            ("to_peer", "sum_received"),
            ("from_peer", "sum_received_bidir_reverse"),
        ):
            name = f"network.iperf3.bidir.{direction}.throughput"
            self.assertEqual(
                report_end[key]["bits_per_second"], measured[name]
            )
        work = self.workload.work_done(arguments, outcomes["bidir"])
        arrived = sum(
            report_end[key]["bytes"]
            for key in ("sum_received", "sum_received_bidir_reverse")
        )
        self.assertAlmostEqual(1.5, work.amount / arrived, 3)
        self.assertIsNone(self.workload.progress(arguments, outcomes["bidir"]))

    @ddt.data(
        (
            ["end", "sum_received_bidir_reverse"],
            None,
            "did not run in two directions",
        ),
        (["end", "streams", 1, "sender", "sender"], True, "1 streams"),
        (["start", "connected"], [], "1 streams"),
        (["intervals"], [], "did not print interval reports"),
        (["start", "test_start", "bidir"], 0, "did not run in two directions"),
    )
    @ddt.unpack
    def test_contradictions_of_both_directions(self, path, value, message):
        run = golden.RUNS["iperf3-bidir"]
        (outcome,) = run.outcomes().values()
        result = json.loads(outcome.stdout)
        node = result
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value
        arguments = self.workload.complete(run.arguments)
        changed = golden.outcome("bidir", json.dumps(result))
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.workload.parse_all(arguments, {"bidir": changed})

    def test_datagrams_go_one_way(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "bidir requires protocol: tcp"
        ):
            self.workload.complete(
                {"protocol": "udp", "directions": ["bidir"]}
            )

    def test_further_options(self):
        arguments = self.workload.complete(
            {
                "directions": ["to_peer"],
                "window_kib": 256,
                "segment": 1200,
                "zero_copy": True,
            }
        )
        (command,) = self.workload.commands(arguments, ENDS)
        self.assertEqual(("-w", "256K", "-M", "1200", "-Z"), command.argv[-5:])
        with self.assertRaisesRegex(
            base.WorkloadError, "segment=1200: requires protocol: tcp"
        ):
            self.workload.complete({"protocol": "udp", "segment": 1200})

    @ddt.data(
        ("to_peer", "tcp", "network.iperf3.to_peer", "to_peer"),
        ("to_peer-udp", "udp", "network.iperf3.to_peer.udp", "udp-to_peer"),
    )
    @ddt.unpack
    def test_cpu_of_both_ends(self, name, protocol, prefix, file):
        text = golden.text(f"iperf3-3.12-{file}.json")
        cpu_report = json.loads(text)["end"]["cpu_utilization_percent"]
        (options,) = (
            run.arguments
            for run in golden.RUNS.values()
            if f"iperf3-3.12-{file}.json" in run.files.values()
        )
        arguments = self.workload.complete({**options, "cpu": True})
        outcome = golden.outcome(name, text)
        measured = {
            reading.metric.name: reading.value
            for reading in golden.values(
                self.workload.parse_all(arguments, {name: outcome})
            )
        }
        self.assertEqual(
            cpu_report["host_total"], measured[f"{prefix}.client_cpu"]
        )
        self.assertEqual(
            cpu_report["remote_total"], measured[f"{prefix}.server_cpu"]
        )

    @ddt.data(
        ("to_peer", "tcp", "to_peer", "network.iperf3.to_peer.throughput"),
        (
            "from_peer-udp",
            "udp",
            "udp-from_peer",
            "network.iperf3.from_peer.udp.throughput",
        ),
    )
    @ddt.unpack
    def test_course_of_a_direction(self, name, protocol, file, metric):
        arguments = self.workload.complete({"protocol": protocol, "time": 4})
        text = golden.text(f"iperf3-3.12-{file}-reports.json")
        course = self.workload.progress(
            arguments, golden.outcome(name, text, seconds=5.4)
        )
        self.assertEqual({metric}, course.metrics)
        self.assertIn(
            metric, {m.name for m in self.workload.metrics(arguments)}
        )
        other = golden.outcome("guest_to_guest", text)
        self.assertIsNone(self.workload.progress(arguments, other))

    def test_work_includes_the_omitted_seconds(self):
        arguments = self.workload.complete({"time": 4, "omit": 1})
        text = golden.text("iperf3-3.12-to_peer-reports.json")
        work = self.workload.work_done(
            arguments, golden.outcome("to_peer", text)
        )
        arrived = json.loads(text)["end"]["sum_received"]
        self.assertEqual("B", work.unit)
        self.assertAlmostEqual(
            arrived["bytes"] * 5 / 4, work.amount, delta=work.amount / 1e4
        )

    def test_servers(self):
        commands = self.workload.commands(self.workload.complete(ALL), ENDS)
        self.assertEqual(
            [
                ("peer", "iperf3 -s -p 5300", 5300),
                ("peer", "iperf3 -s -p 5301", 5301),
                ("partner", "iperf3 -s -p 5302", 5302),
            ],
            [
                (c.server.on, " ".join(c.server.argv), c.server.port)
                for c in commands
            ],
        )

    def test_arguments_reach_the_command(self):
        command, _ = self.workload.commands(
            self.workload.complete({"time": 30, "omit": 0, "streams": 4}), ENDS
        )
        self.assertIn("-t 30 -O 0 -P 4", " ".join(command.argv))
        self.assertGreater(command.timeout, 30)

    def test_command_lines_of_udp(self):
        arguments = {
            **ALL,
            "protocol": "udp",
            "bitrate": 5e8,
            "datagram": 1200,
            "streams": 2,
        }
        commands = self.workload.commands(
            self.workload.complete(arguments), ENDS
        )
        datagrams = "-u -b 500000000 -l 1200 --udp-counters-64bit"
        self.assertEqual(
            {
                "to_peer-udp": "iperf3 -c 192.0.2.1 -p 5300 -J -i 1 -t 10 "
                f"-O 0 -P 2 --connect-timeout 5000 {datagrams}",
                "from_peer-udp": "iperf3 -c 192.0.2.1 -p 5301 -J -i 1 -t 10 "
                f"-O 0 -P 2 -R --connect-timeout 5000 {datagrams}",
                "guest_to_guest-udp": "iperf3 -c 2001:db8::2 -p 5302 -J -i 1 "
                f"-t 10 -O 0 -P 2 --connect-timeout 5000 {datagrams}",
            },
            {command.name: " ".join(command.argv) for command in commands},
        )

    def test_rate_of_tcp(self):
        arguments = self.workload.complete(
            {**ALL, "streams": 2, "tcp_bitrate": {"from_peer": 5e8}}
        )
        to_peer, from_peer, _ = self.workload.commands(arguments, ENDS)
        self.assertNotIn("-b", to_peer.argv)
        self.assertEqual(("-b", "500000000"), from_peer.argv[-2:])

    @ddt.data(
        (
            {},
            {"to_peer": 2e9, "from_peer": 1e9 + 1},
            "tcp_bitrate",
            {"to_peer": 10**9, "from_peer": 5 * 10**8},
            {"to_peer.throughput": 2e9, "from_peer.throughput": 1e9},
        ),
        (
            {"protocol": "udp"},
            {"to_peer-udp": 4e6, "from_peer-udp": 2e5},
            "bitrate",
            {"to_peer": 2 * 10**6, "from_peer": 10**5},
            {"to_peer.udp.throughput": 4e6, "from_peer.udp.throughput": 2e5},
        ),
    )
    @ddt.unpack
    def test_driven(self, arguments, rates, key, numbers, offered):
        complete = self.workload.complete({**arguments, "streams": 2})
        driven = self.workload.at_rates(complete, rates)
        self.assertEqual({**complete, key: numbers}, driven)
        offers = self.workload.offers(driven)
        self.assertEqual(
            offered,
            {
                offer.metric.removeprefix("network.iperf3."): offer.rate
                for offer in offers
            },
        )
        self.assertEqual(
            [command.name for command in self.workload.commands(driven, ENDS)],
            [offer.command for offer in offers],
        )

    def test_bidir_cannot_be_driven(self):
        arguments = self.workload.complete(
            {"directions": ["bidir"], "tcp_bitrate": 10**8}
        )
        self.assertEqual(
            [10**8] * 2,
            [offer.rate for offer in self.workload.offers(arguments)],
        )
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^workload iperf3: direction bidir cannot be driven at a rate; "
            "these can: to_peer, from_peer, guest_to_guest$",
        ):
            self.workload.at_rates(arguments, {"bidir": 5})

    def test_golden_output_at_a_rate(self):
        run = golden.RUNS["iperf3-rate"]
        for changes, message in (
            ({}, None),
            ({"tcp_bitrate": 10**8}, "did not run with target_bitrate: 1000"),
            ({"tcp_bitrate": 0}, "did not run with target_bitrate: 0"),
        ):
            arguments = self.workload.complete({**run.arguments, **changes})
            if message is None:
                throughput, *_ = self.workload.parse_all(
                    arguments, run.outcomes()
                )
                self.assertAlmostEqual(10123185.88, throughput.value, places=2)
                continue
            with self.assertRaisesRegex(base.WorkloadError, message):
                self.workload.parse_all(arguments, run.outcomes())

    def test_both_protocols_in_one_task(self):
        """Neither metrics nor commands have a name in common."""
        tcp, udp = (
            self.workload.complete({"protocol": protocol})
            for protocol in ("tcp", "udp")
        )
        for names in (
            lambda a: {m.name for m in self.workload.metrics(a)},
            lambda a: {c.name for c in self.workload.commands(a, ENDS)},
        ):
            self.assertEqual(set(), names(tcp) & names(udp))

    def test_complete_arguments_stay_as_they_are(self):
        """Arguments of UDP, which omits nothing, do not change either."""
        for protocol, omit in (("tcp", 1), ("udp", 0)):
            complete = self.workload.complete({"protocol": protocol})
            self.assertEqual(omit, complete["omit"])
            self.assertEqual(complete, self.workload.complete(complete))

    @ddt.data(
        ({}, {"peer"}),
        (ALL, {"peer", "partner"}),
        ({"directions": ["guest_to_guest"]}, {"partner"}),
    )
    @ddt.unpack
    def test_needs(self, arguments, ends):
        self.assertEqual(
            ends, self.workload.needs(self.workload.complete(arguments))
        )

    @ddt.data(
        (
            {},
            base.Endpoints(partner="192.0.2.2", own_ports=PORTS),
            "to_peer requires a peer",
        ),
        (
            ALL,
            base.Endpoints(peer="192.0.2.1", own_ports=PORTS),
            "guest_to_guest requires a partner",
        ),
    )
    @ddt.unpack
    def test_missing_end(self, arguments, ends, message):
        with self.assertRaisesRegex(base.WorkloadError, f"^iperf3: {message}"):
            self.workload.commands(self.workload.complete(arguments), ends)

    @ddt.data(
        (ENDS, ["to_peer", "from_peer", "guest_to_guest"]),
        (base.Endpoints(peer="192.0.2.1"), ["to_peer", "from_peer"]),
        (base.Endpoints(), ["to_peer", "from_peer"]),
    )
    @ddt.unpack
    def test_without_partner_no_work_between_guests(self, ends, directions):
        complete = self.workload.complete(ALL)
        for_endpoints = self.workload.for_endpoints(complete, ends)
        self.assertEqual({**complete, "directions": directions}, for_endpoints)
        self.assertEqual(3, len(complete["directions"]))

    @ddt.data(
        ({"directions": ["both"]}, "directions.0: 'both' .*guest_to_guest"),
        ({"directions": []}, r"directions: \[\] .*to_peer"),
        ({"time": 0}, "time: 0 is less .*1 to 3600"),
        ({"omit": 61}, "omit: 61 is greater .*0 to 60"),
        ({"streams": 129}, "streams: 129 is greater .*1 to 128"),
        ({"protocol": "sctp"}, "protocol: 'sctp' is not .*tcp, .*udp"),
        (
            {"bitrate": 10**6},
            "bitrate=1000000: requires protocol: udp.*: udp$",
        ),
        ({"datagram": 1472}, "datagram=1472: requires protocol: udp; remove"),
        (
            {"protocol": "udp", "omit": 1},
            "omit=1: requires protocol: tcp.*: tcp$",
        ),
        ({"protocol": "udp", "bitrate": 0}, "bitrate: 0 is less .*100000 to"),
        ({"protocol": "udp", "bitrate": "10M"}, "bitrate: '10M' is not"),
        ({"protocol": "udp", "datagram": 65508}, "datagram: .*16 to 65507"),
        ({"protocol": "udp", "datagram": 15}, "datagram: 15 is less"),
        (
            {"protocol": "udp", "tcp_bitrate": 10**9},
            "tcp_bitrate=1000000000: requires protocol: tcp; remove",
        ),
        (
            {"tcp_bitrate": 10**6},
            "tcp_bitrate=1000000: must be >= 2097152 in a run of 10 s",
        ),
        (
            {"tcp_bitrate": {"bidir": 10**9}},
            "tcp_bitrate: bidir: must be one of directions: to_peer, from_pee",
        ),
        (
            {"protocol": "udp", "bitrate": {"to_peer": 10**6}},
            "bitrate: must have a number for from_peer, because udp",
        ),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload iperf3: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        (
            "iperf3",
            "to_peer",
            ("test_start", "blksize"),
            1024,
            "blksize: 131072",
        ),
        (
            "iperf3",
            "to_peer",
            ("test_start", "blksize"),
            None,
            "blksize: 131072",
        ),
        ("iperf3", "to_peer", ("test_start", "reverse"), None, "reverse: 0"),
        (
            "iperf3",
            "to_peer",
            ("test_start", "target_bitrate"),
            1000,
            "target_bitrate: 0",
        ),
        ("iperf3", "to_peer", ("sock_bufsize",), 65536, "sock_bufsize: 0"),
        ("iperf3", "to_peer", ("tcp_mss",), 500, "tcp_mss: None"),
        (
            "iperf3-udp",
            "to_peer-udp",
            ("test_start", "blksize"),
            9,
            "blksize: 1400",
        ),
    )
    @ddt.unpack
    def test_other_settings(self, run, command, path, value, message):
        arguments, files, _ = golden.RUNS[run]
        loads = json.loads(golden.text(files[command]))
        node = loads["start"]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        outcome = golden.outcome(command, json.dumps(loads), seconds=60)
        workload = golden.workload(run)
        with self.assertRaisesRegex(
            base.WorkloadError, f"did not run with {message}"
        ):
            workload.parse_all(
                workload.complete(arguments), {command: outcome}
            )

    def test_a_segment_that_was_not_set(self):
        arguments, files, _ = golden.RUNS["iperf3"]
        workload = golden.workload("iperf3")
        with self.assertRaisesRegex(base.WorkloadError, "with tcp_mss: 1000"):
            workload.parse_all(
                workload.complete({**arguments, "segment": 1000}),
                golden.outcomes(files),
            )

    def test_samples_of_udp_are_the_metrics_in_their_order(self):
        arguments = self.workload.complete(golden.RUNS["iperf3-udp"][0])
        samples = self.workload.parse_all(
            arguments, golden.outcomes(golden.RUNS["iperf3-udp"][1])
        )
        self.assertEqual(
            list(self.workload.metrics(arguments)),
            [s.metric for s in golden.values(samples)],
        )
        self.assertEqual(
            [
                f"network.iperf3.{direction}.udp.{what}"
                for direction in ("to_peer", "from_peer", "guest_to_guest")
                for what in ("throughput", "jitter", "loss")
            ],
            [s.metric.name for s in golden.values(samples)],
        )

    def test_samples_are_the_metrics_in_their_order(self):
        arguments = self.workload.complete(golden.RUNS["iperf3"][0])
        samples = self.workload.parse_all(
            arguments, golden.outcomes(golden.RUNS["iperf3"][1])
        )
        self.assertEqual(
            list(self.workload.metrics(arguments)),
            [s.metric for s in golden.values(samples)],
        )
        self.assertEqual(
            [
                "network.iperf3.to_peer.throughput",
                "network.iperf3.to_peer.retransmits",
                "network.iperf3.from_peer.throughput",
                "network.iperf3.from_peer.retransmits",
                "network.iperf3.guest_to_guest.throughput",
                "network.iperf3.guest_to_guest.retransmits",
            ],
            [s.metric.name for s in golden.values(samples)],
        )


def read(outcome, direction, protocol):
    """Return the samples of a run of two seconds, or raise its error."""
    iperf3.raise_reported_error(outcome, protocol)
    return report(base.check_result(outcome), direction, protocol).samples()


def report(outcome, direction="to_peer", protocol="tcp", omit=1):
    """Return the report of a run of two seconds."""
    arguments = {"protocol": protocol, "time": 2, "omit": omit, "cpu": False}
    return iperf3.Iperf3Report(direction, arguments, outcome)


@ddt.ddt
class ReadTestCase(unittest.TestCase):
    @ddt.data("to_peer", "from_peer", "guest_to_guest")
    def test_received_bytes_are_the_throughput(self, direction):
        text = golden.text(f"iperf3-3.12-{direction}.json")
        end = json.loads(text)["end"]
        throughput, retransmits = self._read(text, direction)
        self.assertEqual(
            end["sum_received"]["bits_per_second"], throughput.value
        )
        self.assertEqual("bit/s", throughput.metric.unit)
        self.assertEqual(end["sum_sent"]["retransmits"], retransmits.value)
        self.assertEqual("count", retransmits.metric.scale)

    def test_versions_that_print_their_report_twice(self):
        """The last one is read, and nothing may follow it."""
        changed = self._changed("bits_per_second", 1e6)
        throughput, _ = self._read(f"{GOLDEN}\n{changed}\n")
        self.assertEqual(1e6, throughput.value)
        for text in (f"{GOLDEN}\n{changed}\nend", f"{GOLDEN}\nx\n{GOLDEN}"):
            with self.assertRaisesRegex(base.WorkloadError, "text after its"):
                self._read(text)
        with self.assertRaisesRegex(base.WorkloadError, "instead of valid"):
            self._read(f"{GOLDEN}\n{changed[:-9]}")

    def test_no_retransmits_are_a_sample_too(self):
        _, retransmits = self._read(self._changed("retransmits", 0))
        self.assertEqual(0, retransmits.value)

    @ddt.data(0, 1)
    def test_its_own_error_is_reported(self, exit_status):
        refused = golden.text("iperf3-3.12-refused.json")
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^iperf3: to_peer: unable to connect to server: Connection "
            "refused; check that the server is reachable",
        ):
            self._read(refused, exit_status=exit_status)

    def test_its_own_error_is_bounded(self):
        text = json.dumps({"error": "x\n\x1b[2J" * 10000})
        with self.assertRaises(base.WorkloadError) as caught:
            self._read(text)
        self.assertLess(len(str(caught.exception)), 320)
        self.assertTrue(str(caught.exception).isprintable())

    def test_failure_without_json(self):
        with self.assertRaisesRegex(base.WorkloadError, "exit status 1"):
            self._read("iperf3: unrecognized option", exit_status=1)

    @ddt.data(
        ("bits_per_second", 0, "throughput is 0.0 bit/s"),
        ("bits_per_second", 2e13, "throughput is 2e.13 bit/s"),
        ("bits_per_second", "1", "bits_per_second must .* is str"),
        ("retransmits", -1, "retransmits is -1 1"),
        ("retransmits", None, "retransmits must .* is missing"),
        ("seconds", 1.5, "ended after 1.5 s of 2 s"),
    )
    @ddt.unpack
    def test_broken_result(self, key, value, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self._read(self._changed(key, value))

    def _changed(self, key, value):
        result = json.loads(GOLDEN)
        for side in ("sum_sent", "sum_received"):
            result["end"][side][key] = value
        return json.dumps(result)

    def _read(self, text, direction="to_peer", exit_status=0):
        outcome = golden.outcome(direction, text, exit_status=exit_status)
        return read(outcome, direction, "tcp")


@ddt.ddt
class ReadDatagramsTestCase(unittest.TestCase):
    @ddt.data(
        ("to_peer", 9995255.353476167, 0.025105284781034888, 0),
        ("from_peer", 10001189.951212, 0.007078038766594488, 0),
        ("loss", 8947645.753697773, 0.023832497551470853, 187 / 1785),
        ("loss-reverse", 8965223.460614653, 0.00717727366489518, 184 / 1785),
        ("streams", 26944209.1927796, 0.056355443635666934, 542 / 5354),
        (
            "streams-reverse",
            26996331.1724349,
            0.010745269716493104,
            534 / 5355,
        ),
    )
    @ddt.unpack
    def test_figures_of_the_receiver(self, name, rate, jitter_ms, loss):
        """In both directions, and of all streams together."""
        samples = self._read(golden.text(f"iperf3-3.12-udp-{name}.json"))
        self.assertEqual(
            [
                ("throughput", rate, "bit/s", "ratio"),
                ("jitter", jitter_ms / 1000, "s", "count"),
                ("loss", loss * 100, "%", "count"),
            ],
            [
                (
                    sample.metric.name.removeprefix(
                        "network.iperf3.to_peer.udp."
                    ),
                    sample.value,
                    sample.metric.unit,
                    sample.metric.scale,
                )
                for sample in samples
            ],
        )

    @ddt.data("none", "none-reverse")
    def test_nothing_received_is_not_a_loss_of_zero(self, name):
        """iperf3 reports a loss of zero then."""
        text = golden.text(f"iperf3-3.12-udp-{name}.json")
        lost = json.loads(text)["end"]["sum_received"]["lost_percent"]
        self.assertEqual(0, lost)
        with self.assertRaisesRegex(
            base.WorkloadError,
            r"^iperf3: to_peer: none of \d+ datagrams arrived; check that the "
            "server accepts UDP",
        ):
            self._read(text)

    @ddt.data(
        ("unanswered", "unable to read from stream socket: Resource"),
        ("ended", "control socket has closed unexpectedly"),
    )
    @ddt.unpack
    def test_its_own_error_is_reported(self, name, message):
        text = golden.text(f"iperf3-3.12-udp-{name}.json")
        with self.assertRaisesRegex(
            base.WorkloadError, f"^iperf3: to_peer: {message}.* and by UDP$"
        ):
            self._read(text)

    def test_neither_jitter_nor_loss_are_samples_too(self):
        _, jitter, loss = self._read(
            self._changed(jitter_ms=0, lost_packets=0)
        )
        self.assertEqual((0, 0), (jitter.value, loss.value))

    @ddt.data(
        ({"jitter_ms": -0.1}, "jitter is -0.0001 s"),
        ({"lost_packets": 1803}, "loss is 101.008 %"),
        ({"lost_packets": -1}, "loss is -0.05.* %"),
        ({"lost_packets": None}, "lost_packets must .* is missing"),
        ({"packets": 1600}, "none of the last 185 of 1785 datagrams arr"),
        ({"packets": 0}, "none of 1785 datagrams arrived"),
        ({"bits_per_second": 2e13}, "throughput is 2e.13 bit/s"),
        ({"seconds": 1.5}, "ended after 1.5 s of 2 s"),
    )
    @ddt.unpack
    def test_broken_result(self, values, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self._read(self._changed(**values))

    @ddt.data("nan", "inf")
    def test_no_numbers(self, value):
        text = self._changed(jitter_ms=float(value))
        with self.assertRaisesRegex(base.WorkloadError, "of valid JSON"):
            self._read(text)

    def test_a_version_that_reports_only_sent_bytes(self):
        result = json.loads(golden.text("iperf3-3.12-udp-loss.json"))
        del result["end"]["sum_received"]
        with self.assertRaisesRegex(
            base.WorkloadError, "sum_received.* is missing"
        ):
            self._read(json.dumps(result))

    def _changed(self, **values):
        result = json.loads(golden.text("iperf3-3.12-udp-loss.json"))
        result["end"]["sum_received"].update(values)
        return json.dumps(result)

    def _read(self, text):
        outcome = golden.outcome("to_peer-udp", text)
        return read(outcome, "to_peer", "udp")


class CourseTestCase(unittest.TestCase):
    """The rate over time, from reports during the run."""

    def course(self, file, protocol, seconds, omit):
        text = golden.text(f"iperf3-3.12-{file}-reports.json")
        direction = file.removeprefix("udp-")
        outcome = golden.outcome("x", text, seconds=seconds)
        return report(outcome, direction, protocol, omit).progress()

    def test_omitted_seconds_are_excluded(self):
        """Connecting and leaving take the same time."""
        course = self.course("to_peer", "tcp", 5.4, 1)
        moments = [moment for moment, _ in course.points]
        for moment, expected in zip(
            moments, (1.2, 2.2, 3.2, 4.2, 5.2), strict=True
        ):
            self.assertAlmostEqual(expected, moment, delta=0.01)
        end = json.loads(golden.text("iperf3-3.12-to_peer-reports.json"))
        self.assertEqual(end["end"]["sum_sent"]["bytes"], course.points[-1][1])

    def test_datagrams(self):
        course = self.course("udp-from_peer", "udp", 3.0, 0)
        self.assertEqual(4, len(course.points))
        self.assertAlmostEqual(1.0, course.relative_rate(0.5, 2.5), delta=0.01)

    def test_without_reports_it_has_no_pace_of_its_own(self):
        outcome = golden.outcome("x", GOLDEN, seconds=3.2)
        course = report(outcome).progress()
        self.assertAlmostEqual(1.0, course.relative_rate(1.2, 3.0), places=12)

    def test_series_of_measured_seconds(self):
        """In bits, as the throughput is, and no second that is omitted."""
        text = golden.text("iperf3-3.12-to_peer-reports.json")
        outcome = golden.outcome("to_peer", text, seconds=5.4)
        (series,) = report(outcome).series()
        self.assertEqual(
            "network.iperf3.to_peer.throughput", series.metric.name
        )
        self.assertEqual(4, len(series.points))
        last_rate = json.loads(text)["intervals"][-1]["sum"]["bits_per_second"]
        self.assertAlmostEqual(
            1.0, series.points[-1][1] / last_rate, delta=0.02
        )

    def test_one_report_is_not_a_series(self):
        outcome = golden.outcome("x", GOLDEN, seconds=3.2)
        self.assertLess(
            len(report(outcome).progress().points),
            3,
        )
        self.assertEqual([], report(outcome).series())

    def test_absurd_reports_are_none(self):
        for reports in (None, 5, {}, [], "x" * 5):
            text = json.dumps({**json.loads(GOLDEN), "intervals": reports})
            self.assertIsNone(report(golden.outcome("x", text)).progress())


class RealRateTestCase(unittest.TestCase):
    """The iperf3 of this machine, where it has one, with its own server."""

    def test_rate_of_a_machine_alone(self):
        skips.require(self, "iperf3")
        workload = iperf3.Iperf3()
        arguments = workload.at_rates(
            workload.complete({"directions": ["to_peer"], "time": 2}),
            {"to_peer": 10**8},
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (command,) = workload.commands(
            arguments, base.Endpoints(peer="127.0.0.1", own_ports=(port,) * 3)
        )
        server = subprocess.Popen(
            command.server.argv, stdout=subprocess.DEVNULL
        )
        try:
            process = self.run_client(command)
        finally:
            server.kill()
            server.wait()
        outcome = golden.outcome("to_peer", process.stdout, seconds=60.0)
        throughput, *_ = workload.parse_all(arguments, {"to_peer": outcome})
        # It sends buffers of 1 Mbit, and after a pause without a limit.
        self.assertAlmostEqual(1e8, throughput.value, delta=1e7)

    def run_client(self, command):
        """Run the client as soon as the server listens."""
        for _ in range(100):
            process = subprocess.run(
                command.argv, capture_output=True, text=True, check=False
            )
            if "Connection refused" not in process.stdout:
                break
            time.sleep(0.1)
        return process
