import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import iperf3
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
                "to_peer": "iperf3 -c 192.0.2.1 -p 5300 -J -i 0 -t 10 -O 1 "
                "-P 1 --connect-timeout 5000",
                "from_peer": "iperf3 -c 192.0.2.1 -p 5301 -J -i 0 -t 10 -O 1 "
                "-P 1 -R --connect-timeout 5000",
                "guest_to_guest": "iperf3 -c 2001:db8::2 -p 5302 -J -i 0 "
                "-t 10 -O 1 -P 1 --connect-timeout 5000",
            },
            {command.name: " ".join(command.argv) for command in commands},
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
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload iperf3: {message}"
        ):
            self.workload.complete(arguments)

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
                "network.to_peer.throughput",
                "network.to_peer.retransmits",
                "network.from_peer.throughput",
                "network.from_peer.retransmits",
                "network.guest_to_guest.throughput",
                "network.guest_to_guest.retransmits",
            ],
            [s.metric.name for s in samples],
        )
