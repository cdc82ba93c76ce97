import json
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import iperf3
from tests.unit.workloads import golden

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
