# SPDX-License-Identifier: Apache-2.0
import re
import socket
import subprocess
import time
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.network import sockperf
from tests import skips
from tests.unit.workloads import golden

ENDS = base.Endpoints(
    peer="192.0.2.1", partner="192.0.2.2", own_ports=(5201, 5202)
)
GOLDEN = golden.text("sockperf-3.7-to_peer.txt")
UDP = golden.text("sockperf-3.7-udp.txt")
#: Its numbers are constructed.
NEW = golden.text("sockperf-3.8-constructed.txt")


@ddt.ddt
class SmallMessagesTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = sockperf.Sockperf()

    @ddt.data(
        (
            {},
            "sockperf ping-pong -i 192.0.2.1 -p 5201 -t 10 -m 64 --full-rtt "
            "--tcp",
            ("peer", "sockperf server -p 5201 --tcp", "tcp"),
        ),
        (
            {
                "directions": ["guest_to_guest"],
                "protocol": "udp",
                "time": 2,
                "size": 1400,
            },
            "sockperf ping-pong -i 192.0.2.2 -p 5202 -t 2 -m 1400 --full-rtt",
            ("partner", "sockperf server -p 5202", "udp"),
        ),
        (
            {"rate": 500},
            "sockperf under-load -i 192.0.2.1 -p 5201 -t 10 -m 64 --full-rtt "
            "--mps 500 --reply-every 1 --tcp",
            ("peer", "sockperf server -p 5201 --tcp", "tcp"),
        ),
    )
    @ddt.unpack
    def test_command_lines(self, arguments, client, server):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), ENDS
        )
        self.assertEqual(client, " ".join(command.argv))
        server_command = command.server
        self.assertEqual(
            server,
            (
                server_command.on,
                " ".join(server_command.argv),
                server_command.transport,
            ),
        )

    def parse(self, text, **arguments):
        complete = self.workload.complete({"time": 2, **arguments})
        readings = self.workload.parse_all(
            complete, {"to_peer": golden.outcome("to_peer", text)}
        )
        begin = "network.sockperf.to_peer."
        return {
            reading.metric.name.removeprefix(begin): reading.value
            for reading in readings
        }

    def test_by_tcp(self):
        measured = self.parse(GOLDEN)
        self.assertAlmostEqual(73008 / 1.55, measured.pop("rate"))
        self.assertEqual(0, measured.pop("dropped"))
        self.assertEqual(
            {
                "latency_min": 10455,
                "latency_mean": 21141,
                "latency_p50": 17124,
                "latency_p90": 19155,
                "latency_p99": 37311,
                "latency_p99_9": 1024550,
                "latency_max": 5262704,
            },
            {name: round(seconds * 1e9) for name, seconds in measured.items()},
        )

    def test_more_statistics_of_version_3_8(self):
        measured = self.parse(NEW, time=10)
        self.assertAlmostEqual(5177.38, measured["rate"], places=2)
        self.assertEqual(0, measured["dropped"])
        self.assertEqual(
            [190250, 180750, 401500, 5120500],
            [
                round(measured[f"latency_{name}"] * 1e9)
                for name in ("mean", "p50", "p99", "max")
            ],
        )

    def test_a_port_of_four_digits(self):
        """It is padded to five, and those of a run begin at 5201."""
        text = GOLDEN.replace("PORT = 11112", "PORT =  5335")
        self.assertNotEqual(GOLDEN, text)
        self.assertEqual(self.parse(GOLDEN), self.parse(text))

    def test_by_udp(self):
        measured = self.parse(UDP, protocol="udp")
        self.assertAlmostEqual(94198 / 1.55, measured["rate"])
        self.assertEqual(14188, round(measured["latency_p50"] * 1e9))

    def test_at_a_rate(self):
        """The counted time is from the first to the last message."""
        text = golden.text("sockperf-3.7-rate.txt")
        sent, seconds = re.search(
            r"Valid Duration\] RunTime=(\S+) sec; SentMessages=(\d+)", text
        ).group(2, 1)
        measured = self.parse(text, rate=500)
        self.assertEqual(0, measured["dropped"])
        self.assertAlmostEqual(
            (int(sent) - 1) / float(seconds), measured["rate"]
        )
        self.assertAlmostEqual(500, measured["rate"], delta=5)

    def test_rate_that_is_not_achieved(self):
        """The rate of answers is measured; others are dropped."""
        text = golden.text("sockperf-3.7-udp-overload.txt")
        self.assertIn("Info: The requested message-per-second rate", text)
        measured = self.parse(text, protocol="udp", rate=10**6)
        self.assertAlmostEqual(50935.48, measured["rate"], places=2)
        self.assertEqual(334217, measured["dropped"])
        with self.assertRaisesRegex(
            base.WorkloadError, "did not print a complete report"
        ):
            self.parse(text, protocol="udp")

    def test_remarks_of_other_threads(self):
        text = golden.text("sockperf-3.7-rate.txt")
        remark = "sockperf: Test end (interrupted by signal 2)\n"
        plain = text.replace(remark, "")
        measured = self.parse(plain, rate=500)
        lines = plain.splitlines(keepends=True)
        for place in range(6, len(lines)):
            changed = "".join([*lines[:place], remark, *lines[place:]])
            self.assertEqual(measured, self.parse(changed, rate=500))

    @ddt.data(
        ({"rate": 5, "time": 4}, "rate=5: a run of 4 s must have at least 20"),
        ({"rate": 10**7}, "rate: 10000000 is greater"),
        (
            {"rate": {"guest_to_guest": 5}},
            "rate: guest_to_guest: must be one of directions: to_peer",
        ),
    )
    @ddt.unpack
    def test_invalid_rates(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload sockperf: {message}"
        ):
            self.workload.complete(arguments)

    def test_offers(self):
        arguments = self.workload.complete(
            {"directions": ["to_peer", "guest_to_guest"]}
        )
        self.assertEqual(
            {None}, {offer.rate for offer in self.workload.offers(arguments)}
        )
        rates = {"to_peer": 499.6, "guest_to_guest": 900}
        driven = self.workload.at_rates(arguments, rates)
        self.assertEqual(
            {"to_peer": 500, "guest_to_guest": 900}, driven["rate"]
        )
        to_peer, between = self.workload.offers(driven)
        self.assertEqual((500, 900), (to_peer.rate, between.rate))
        self.assertEqual(7, len(to_peer.late))
        commands = self.workload.commands(driven, ENDS)
        self.assertEqual(
            ["500", "900"],
            [
                command.argv[command.argv.index("--mps") + 1]
                for command in commands
            ],
        )

    def test_of_few_messages_the_tail_is_left_out(self):
        few = (
            GOLDEN.replace("73008", "2000")
            .replace("contains 730.08", "contains 20.00")
            .replace("21.141", "770.000")
        )
        measured = self.parse(few)
        self.assertIn("latency_p99", measured)
        self.assertNotIn("latency_p99_9", measured)

    def test_dropped_ones_are_counted(self):
        text = UDP.replace("dropped messages = 0", "dropped messages = 8")
        text = text.replace("SentMessages=94198", "SentMessages=94206")
        self.assertEqual(8, self.parse(text, protocol="udp")["dropped"])

    @ddt.data(
        (
            "percentile 50.000",
            "percentile 75.000",
            "not print a complete report",
        ),
        ("TCP", "UDP", "used udp instead of tcp"),
        ("RunTime=1.550", "RunTime=1.5.0", "is '1.5.0', not a finite number"),
        (
            "duplicated messages = 0",
            "duplicated messages = 1",
            "not print a complete",
        ),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, GOLDEN)
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(GOLDEN.replace(old, new))

    def test_of_another_time(self):
        with self.assertRaisesRegex(
            base.WorkloadError,
            "ran for 2 s, 1.55 s of them counted, .* of 3 s",
        ):
            self.parse(GOLDEN, time=3)

    def test_its_words_where_it_has_failed(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "ended with 'sockperf: No messages were rec"
        ):
            self.parse(
                "sockperf: Test ended\nsockperf: No messages were received "
                "from the server. Is the server down?\n"
            )

    def test_cut_short(self):
        for length in range(len(GOLDEN)):
            with self.assertRaises(base.WorkloadError):
                self.parse(GOLDEN[:length])


@ddt.ddt
class RealSmallMessagesTestCase(unittest.TestCase):
    """The sockperf of this machine, where it has one, with its own server."""

    @ddt.data(
        ("tcp", socket.SOCK_STREAM, 0),
        ("tcp", socket.SOCK_STREAM, 200),
        ("udp", socket.SOCK_DGRAM, 0),
    )
    @ddt.unpack
    def test_to_peer(self, protocol, kind, rate):
        workload = sockperf.Sockperf()
        arguments = workload.complete({"time": 2, "protocol": protocol})
        if rate:
            arguments = workload.at_rates(arguments, {"to_peer": rate})
        with socket.socket(type=kind) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (command,) = workload.commands(
            arguments, base.Endpoints(peer="127.0.0.1", own_ports=(port, port))
        )
        skips.require(self, "sockperf")
        server = subprocess.Popen(
            command.server.argv,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self.wait(port, kind)
            process = subprocess.run(
                command.argv, capture_output=True, text=True, check=True
            )
        finally:
            server.kill()
            server.wait()
        if rate:
            # Of the output itself: load delays messages, and loses none.
            number, seconds = re.search(
                r"Valid Duration\] RunTime=(\S+) sec; SentMessages=(\d+)",
                process.stdout,
            ).group(2, 1)
            self.assertAlmostEqual(
                rate, int(number) / float(seconds), delta=0.1 * rate
            )
        outcome = golden.outcome(
            "to_peer", self.relieve(process.stdout), stderr=process.stderr
        )
        readings = workload.parse_all(arguments, {"to_peer": outcome})
        self.assertLessEqual(
            {metric.name for metric in workload.metrics(arguments)}
            - {reading.metric.name for reading in readings},
            {
                f"network.sockperf.to_peer.latency_{name}"
                for name in ("p99", "p99_9")
            },
        )

    def relieve(self, text):
        """Return a report with the durations of a machine without load.

        Load delays the end of the run, and shortens the counted time. A run
        that is shorter than requested stays so, and is rejected.
        """
        text = re.sub(
            r"(\[Total Run\] RunTime=)([2-9]|[0-9]{2,})\.[0-9]{3} sec;",
            r"\g<1>2.000 sec;",
            text,
        )
        text, number = re.subn(
            r"(\[Valid Duration\] RunTime=)[0-9]+\.[0-9]{3} sec;",
            r"\g<1>1.550 sec;",
            text,
        )
        self.assertEqual(1, number, text)
        return text

    def wait(self, port, kind):
        """Wait until the port is reserved."""
        for _ in range(300):
            with socket.socket(type=kind) as trial:
                try:
                    trial.bind(("0.0.0.0", port))
                except OSError:
                    return
            time.sleep(0.1)
