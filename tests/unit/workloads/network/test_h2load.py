# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import ddt

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads.network import h2load
from tests import skips
from tests.unit.workloads import golden

ENDS = base.Endpoints(peer="192.0.2.1", shared_ports=(5301,))
GOLDEN = golden.text("h2load-1.52.0-pages.json")
SHORT = golden.RUNS["h2load"].arguments


@ddt.ddt
class PagesTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = h2load.H2load()

    def command(self, arguments, ends=ENDS):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), ends
        )
        return command

    @ddt.data(
        ({}, "-c 100 -r 1 --rate-period=50ms --rps=0.2 -n 1200"),
        (
            {"users": 2500, "think_time": 1, "time": 30},
            "-c 2500 -r 25 --rate-period=10ms --rps=1 -n 75000",
        ),
        (
            {"users": 2, "think_time": 10, "time": 1},
            "-c 2 -r 1 --rate-period=5000ms --rps=0.1 -n 2",
        ),
        # h2load rejects more starts at once than users.
        (
            {"users": 10, "think_time": 0.001, "time": 2},
            "-c 10 -r 10 --rate-period=1ms --rps=1000 -n 20000",
        ),
        ({"users": 4, "think_time": 0, "time": 2}, "-c 4 -D 2"),
    )
    @ddt.unpack
    def test_command_lines(self, arguments, line):
        self.assertEqual(
            f"python3 h2load.py --h1 {line} http://192.0.2.1:5301/page",
            " ".join(self.command(arguments).argv),
        )

    def test_offers(self):
        for think, rate in ((5, 20), (0, None), (0.001, 10**5)):
            arguments = self.workload.complete({"think_time": think})
            (offer,) = self.workload.offers(arguments)
            self.assertEqual(rate, offer.rate)
            self.assertIn("network.h2load.response_time_p99_9", offer.late)
            driven = self.workload.at_rates(arguments, {"pages": 285})
            self.assertEqual({**arguments, "think_time": 0.350877}, driven)
            (offer,) = self.workload.offers(driven)
            self.assertAlmostEqual(285, offer.rate, places=3)

    @ddt.data(
        ({"think_time": -1}, "think_time: -1 is less .*0 to 600; 0 for"),
        ({"think_time": 0.0009}, "think_time=0.0009: must be 0, or at least"),
        ({"think_time": 0, "time": 301}, "time=301: must be <= 300 with"),
    )
    @ddt.unpack
    def test_invalid_rates(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload h2load: {message}"
        ):
            self.workload.complete(arguments)

    def test_users_without_pauses(self):
        """The number of pages is not fixed, and the time is."""
        run = golden.RUNS["h2load-full"]
        (output,) = run.outcomes().values()
        rate, *_ = self.parse(output.stdout, **run.arguments)
        self.assertAlmostEqual(23215.2956, rate.value, places=4)
        for change, message in (
            ({"time": 3}, "^h2load took .* s instead of 3 s"),
            ({"users": 3}, "but h2load reported"),
        ):
            with self.assertRaisesRegex(base.WorkloadError, message):
                self.parse(output.stdout, **{**run.arguments, **change})

    def test_users_of_a_control(self):
        """A second h2load no longer exists."""
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^workload h2load: .*'control_users'.*; allowed keys: .*users",
        ):
            self.workload.complete({"users": 1000, "control_users": 25})

    def test_one_server_for_all(self):
        server = self.command({"size_kib": 3}).server
        self.assertEqual(
            ("peer", 5301, "repetition", "many"),
            (server.on, server.port, server.lifetime, server.clients),
        )
        self.assertIn("listen 0.0.0.0:5301 ", server.files["nginx.conf"])
        self.assertEqual(3072, len(server.files["page"]))

    def test_both_ends_speak_ipv6(self):
        ends = base.Endpoints(peer="2001:db8::1", shared_ports=(5301,))
        command = self.command({}, ends)
        self.assertEqual("http://[2001:db8::1]:5301/page", command.argv[-1])
        text = command.server.files["nginx.conf"]
        self.assertIn("listen [::]:5301 ", text)

    def test_without_a_peer(self):
        with self.assertRaisesRegex(
            base.WorkloadError, "the pages are on the peer, which is missing"
        ):
            self.command({}, base.Endpoints(shared_ports=(5301,)))

    def parse(self, text, **arguments):
        complete = self.workload.complete({**SHORT, **arguments})
        return self.workload.parse_all(
            complete, {"pages": golden.outcome("pages", text)}
        )

    def test_golden(self):
        readings = self.parse(GOLDEN)
        measured = {
            reading.metric.name: reading.value
            for reading in golden.values(readings)
        }
        loads = json.loads(GOLDEN)
        pages = loads["rows"]
        rate = pages / loads["microseconds"] * 1e6
        self.assertAlmostEqual(rate, measured["network.h2load.rate"])
        self.assertAlmostEqual(
            rate * 16384, measured["network.h2load.throughput"], 3
        )
        self.assertEqual(0, measured["network.h2load.failed_requests"])
        self.assertAlmostEqual(
            loads["response_microseconds"] / pages / 1e6,
            measured["network.h2load.response_time_mean"],
        )
        self.assertIn("network.h2load.response_time_p50", measured)
        rate, mean, p95 = (
            reading
            for reading in readings
            if isinstance(reading, sample.Series)
        )
        self.assertEqual(
            loads["per_second"][:-1],
            [pages_per_second for _, pages_per_second in rate.points],
        )
        self.assertEqual(
            ["response_time_mean", "response_time_p95"],
            [series.metric.name.rpartition(".")[2] for series in (mean, p95)],
        )
        self.assertEqual([1, 2, 3], [second for second, _ in mean.points])
        for (_, found_mean), (_, found_p95), pages, (total, most) in zip(
            mean.points,
            p95.points,
            loads["per_second"],
            loads["response_times_per_second"].values(),
            strict=False,
        ):
            self.assertAlmostEqual(total / pages / 1e6, found_mean)
            self.assertAlmostEqual(most / 1e6, found_p95)

    def test_a_second_without_pages_has_no_response_time(self):
        """Its rate is zero."""
        report = json.loads(GOLDEN)
        pages = report["per_second"]
        report["per_second"] = [pages[0] + pages[1], 0, *pages[2:], 0]
        times = report["response_times_per_second"]
        times["0"][0] += times.pop("1")[0]
        report["microseconds"] = 4000000
        series = {
            reading.metric.name: reading
            for reading in self.parse(json.dumps(report))
            if isinstance(reading, sample.Series)
        }
        self.assertEqual(
            [1, 3, 4],
            [
                second
                for second, _ in series[
                    "network.h2load.response_time_mean"
                ].points
            ],
        )
        self.assertEqual(0, series["network.h2load.rate"].points[1][1])

    def change(self, key, change):
        loads = json.loads(GOLDEN)
        loads[key] = change(loads.get(key))
        return json.dumps(loads)

    def test_of_no_time(self):
        loads = json.loads(GOLDEN)
        loads["microseconds"] = 0
        loads["per_second"] = [100]
        with self.assertRaisesRegex(
            base.WorkloadError,
            "ended after 0 s, but reported a page with 0.00522 s",
        ):
            self.parse(json.dumps(loads))

    def test_failed_pages_are_counted(self):
        def fail(lines):
            return [
                lines[0].replace(
                    "100 started, 100 done, 100 succeeded, 0 failed",
                    "100 started, 100 done, 99 succeeded, 1 failed",
                )
            ]

        report = json.loads(self.change("h2load", fail))
        report["per_second"][0] -= 1
        first = next(iter(report["response_times"]))
        report["response_times"][first] -= 1
        if not report["response_times"][first]:
            del report["response_times"][first]
        report["response_microseconds"] -= int(first)
        report["response_times_per_second"]["0"][0] -= int(first)
        samples = golden.values(self.parse(json.dumps(report)))
        self.assertEqual(1, samples[-1].value)

    @ddt.data(
        (
            "h2load",
            lambda lines: [],
            "did not report the request counts of h2load",
        ),
        (
            "h2load",
            lambda lines: [lines[0].replace("100 total", "99 total")],
            "must load 100 pages, but h2load reported 99",
        ),
        ("rows", lambda rows: rows - 1, "and its log has 99"),
        ("response_times", lambda old: {}, "did not report response times"),
        (
            "response_times",
            lambda old: {"1": 1},
            "response times of other than 100 pages",
        ),
        ("response_times", lambda old: {**old, "2": 0}, "0 times"),
        (
            "response_microseconds",
            lambda old: 2 * old,
            "differs from its counts",
        ),
        ("microseconds", lambda old: old + 2000000, "but reported pages in"),
        (
            "per_second",
            lambda old: [*old, 1],
            "per second of other than 100 pages",
        ),
        ("per_second", lambda old: [], "did not report pages per second"),
        (
            "response_times_per_second",
            lambda old: {**old, "0": [1, 1]},
            "reported other response times per second",
        ),
        (
            "response_times_per_second",
            lambda old: {**old, "0": [old["0"][0], "x"]},
            "h2load",
        ),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, key, change, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(self.change(key, change))

    def test_of_another_number_of_users(self):
        with self.assertRaisesRegex(base.WorkloadError, "must load 2000 pag"):
            self.parse(GOLDEN, users=500)

    def test_cut_short(self):
        for length in range(0, len(GOLDEN) - 1, 7):
            with self.assertRaises(base.WorkloadError):
                self.parse(GOLDEN[:length])


@ddt.ddt
class RealPagesTestCase(unittest.TestCase):
    """The h2load and the nginx of this machine, where it has them."""

    @ddt.data(50, None)
    def test_from_a_real_server(self, rate):
        skips.require(self, "h2load", "nginx", "prlimit")
        workload = h2load.H2load()
        arguments = workload.complete({**SHORT, "time": 2, "think_time": 0})
        if rate:
            arguments = workload.at_rates(arguments, {"pages": rate})
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (command,) = workload.commands(
            arguments, base.Endpoints(peer="127.0.0.1", shared_ports=(port,))
        )
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        (script,) = workload.files(arguments)
        (top / script.name).write_bytes(files.read(script))
        for name, text in command.server.files.items():
            (top / name).write_text(text)
        server = subprocess.Popen(
            command.server.argv, cwd=top, stderr=subprocess.DEVNULL
        )
        try:
            self.wait(port)
            process = subprocess.run(
                [sys.executable, *command.argv[1:]],
                cwd=top,
                capture_output=True,
                text=True,
                check=True,
            )
        finally:
            server.terminate()
            server.wait()
        readings = workload.parse_all(
            arguments, {"pages": golden.outcome("pages", process.stdout)}
        )
        measured = {
            reading.metric.name: reading.value
            for reading in golden.values(readings)
        }
        self.assertEqual(0, measured["network.h2load.failed_requests"])
        if rate:
            self.assertAlmostEqual(
                rate, measured["network.h2load.rate"], delta=0.1 * rate
            )
        self.assertGreater(measured["network.h2load.rate"], 0)
        self.assertEqual([], list(top.glob("*.log")))

    def wait(self, port):
        for _ in range(300):
            with socket.socket() as trial:
                if not trial.connect_ex(("127.0.0.1", port)):
                    return
            time.sleep(0.1)
