import json
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import iperf3
from tests.unit.workloads import golden

ENDS = base.Ends(peer="192.0.2.1", partner="2001:db8::2", port=5300)
ALL = {"directions": ["guest_to_guest", "from_peer", "to_peer"]}


@ddt.ddt
class NetworkTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = iperf3.Network()

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
        course = self.workload.course(
            arguments, golden.outcome(name, text, seconds=5.4)
        )
        self.assertEqual({metric}, course.metrics)
        self.assertIn(
            metric, {m.name for m in self.workload.metrics(arguments)}
        )
        other = golden.outcome("guest_to_guest", text)
        self.assertIsNone(self.workload.course(arguments, other))

    def test_work_is_what_arrived_and_what_was_left_out(self):
        arguments = self.workload.complete({"time": 4, "omit": 1})
        text = golden.text("iperf3-3.12-to_peer-reports.json")
        work = self.workload.work(arguments, golden.outcome("to_peer", text))
        arrived = json.loads(text)["end"]["sum_received"]
        self.assertEqual("B", work.unit)
        self.assertAlmostEqual(
            arrived["bytes"] * 5 / 4, work.amount, delta=work.amount / 1e4
        )

    def test_servers(self):
        commands = self.workload.commands(self.workload.complete(ALL), ENDS)
        self.assertEqual(
            [
                ("peer", "iperf3 -s -1 -p 5300", 5300),
                ("peer", "iperf3 -s -1 -p 5301", 5301),
                ("partner", "iperf3 -s -1 -p 5302", 5302),
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
        """Those of UDP too, which omits nothing."""
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
        ({}, base.Ends(partner="192.0.2.2"), "to_peer needs a peer"),
        (ALL, base.Ends(peer="192.0.2.1"), "guest_to_guest needs a partner"),
    )
    @ddt.unpack
    def test_missing_end(self, arguments, ends, message):
        with self.assertRaisesRegex(base.WorkloadError, f"^iperf3: {message}"):
            self.workload.commands(self.workload.complete(arguments), ends)

    @ddt.data(
        (ENDS, ["to_peer", "from_peer", "guest_to_guest"]),
        (base.Ends(peer="192.0.2.1"), ["to_peer", "from_peer"]),
        (base.Ends(), ["to_peer", "from_peer"]),
    )
    @ddt.unpack
    def test_without_partner_no_work_between_guests(self, ends, directions):
        complete = self.workload.complete(ALL)
        narrowed = self.workload.narrowed(complete, ends)
        self.assertEqual({**complete, "directions": directions}, narrowed)
        self.assertEqual(3, len(complete["directions"]))

    @ddt.data(
        ({"directions": ["both"]}, "directions.0: 'both' .*guest_to_guest"),
        ({"directions": []}, r"directions: \[\] .*to_peer"),
        ({"time": 0}, "time: 0 is less .*1 to 3600"),
        ({"omit": 61}, "omit: 61 is greater .*0 to 60"),
        ({"streams": 129}, "streams: 129 is greater .*1 to 128"),
        ({"protocol": "sctp"}, "protocol: 'sctp' is not .*tcp, .*udp"),
        ({"bitrate": 10**6}, "bitrate: 1000000 is of udp.*: udp$"),
        ({"datagram": 1472}, "datagram: 1472 is of udp, .*is tcp; leave"),
        ({"protocol": "udp", "omit": 1}, "omit: 1 is of tcp.*: tcp$"),
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

    def test_samples_of_udp_are_the_metrics_in_their_order(self):
        arguments = self.workload.complete(golden.RUNS["iperf3-udp"][0])
        samples = self.workload.parse(
            arguments, golden.outcomes(golden.RUNS["iperf3-udp"][1])
        )
        self.assertEqual(
            list(self.workload.metrics(arguments)),
            [s.metric for s in samples],
        )
        self.assertEqual(
            [
                f"network.iperf3.{direction}.udp.{what}"
                for direction in ("to_peer", "from_peer", "guest_to_guest")
                for what in ("throughput", "jitter", "loss")
            ],
            [s.metric.name for s in samples],
        )

    def test_samples_are_the_metrics_in_their_order(self):
        arguments = self.workload.complete(golden.RUNS["iperf3"][0])
        samples = self.workload.parse(
            arguments, golden.outcomes(golden.RUNS["iperf3"][1])
        )
        self.assertEqual(
            list(self.workload.metrics(arguments)),
            [s.metric for s in samples],
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
            [s.metric.name for s in samples],
        )
