# SPDX-License-Identifier: Apache-2.0
import json
import math
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import fio
from tests import skips
from tests.unit.workloads import golden


@ddt.ddt
class DiskTestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.workload = fio.Fio()

    def test_layout(self):
        (command,) = self.workload.prepare(self.workload.complete({}))
        self.assertEqual(
            "fio --name=layout --filename=vmperf.data --size=256M --rw=write "
            "--bs=1M --ioengine=libaio --iodepth=8 --direct=1 --randseed=1 "
            "--eta=never --output-format=json+ --refill_buffers --end_fsync=1",
            " ".join(command.argv),
        )

    def test_volume(self):
        """Its blocks are written first, and no file is ever created."""
        arguments = self.workload.complete(
            {"patterns": ["randread", "search"], "target": "volume"}
        )
        self.assertEqual(
            (base.Target(number=1, form="device", size=256 << 20),),
            self.workload.targets(arguments),
        )
        (layout,) = self.workload.prepare(arguments)
        self.assertEqual(
            "fio --name=layout --filename=volume-1 --size=256M --rw=write "
            "--bs=1M --ioengine=libaio --iodepth=8 --direct=1 --randseed=1 "
            "--eta=never --output-format=json+ --refill_buffers --end_fsync=1 "
            "--allow_file_create=0",
            " ".join(layout.argv),
        )
        for command in self.workload.commands(arguments, base.Endpoints()):
            self.assertIn("--filename=volume-1", command.argv)
            self.assertIn("--allow_file_create=0", command.argv)

    def test_several_volumes(self):
        """One run uses the same part of each of them."""
        arguments = self.workload.complete(
            {"target": "volumes", "volume_count": 3, "patterns": ["read"]}
        )
        self.assertEqual(
            ["volume-1", "volume-2", "volume-3"],
            [target.path for target in self.workload.targets(arguments)],
        )
        (command,) = self.workload.commands(arguments, base.Endpoints())
        self.assertIn("--filename=volume-1:volume-2:volume-3", command.argv)
        self.assertIn("--size=768M", command.argv)
        (layout,) = self.workload.prepare(arguments)
        self.assertEqual(120 + 768, layout.timeout)

    def test_parts_of_a_volume(self):
        """Concurrent processes have parts of it, as of a file."""
        arguments = self.workload.complete(
            {"target": "volume", "patterns": ["write"], "jobs": 4}
        )
        (command,) = self.workload.commands(arguments, base.Endpoints())
        self.assertEqual("--offset_increment=64M", command.argv[-1])

    @ddt.data(
        (
            {"target": "volume", "patterns": ["first_write"]},
            "target=volume: first_write .*; use target root, or remove",
        ),
        ({"target": "volumes", "jobs": 2}, "jobs=2: must be 1 with target"),
        ({"volume_count": 3}, "volume_count=3: requires target volumes; set"),
        (
            {
                "target": "volume",
                "job_file": "/a.fio",
                "sections": ["a.read"],
            },
            "target='volume': applies to patterns and not to job_file",
        ),
    )
    @ddt.unpack
    def test_targets_that_are_rejected(self, arguments, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.workload.complete(arguments)

    def test_further_options(self):
        """Only writes are flushed, and each job has a part of the file."""
        arguments = self.workload.complete(
            {
                "patterns": ["read", "randwrite"],
                "jobs": 3,
                "flush": "fdatasync",
                "rate_iops": 500,
            }
        )
        read, write = self.workload.commands(arguments, base.Endpoints())
        further = ("--numjobs=3", "--size=85M", "--offset_increment=85M")
        self.assertEqual((*further, "--rate_iops=500"), read.argv[-4:])
        self.assertEqual(
            (*further, "--fdatasync=1", "--rate_iops=500"), write.argv[-5:]
        )

    def test_reads_and_writes_at_once(self):
        """Each side has metrics of its own, and both are work."""
        arguments = self.workload.complete(golden.RUNS["fio-mixed"].arguments)
        sequential, random = self.workload.commands(
            arguments, base.Endpoints()
        )
        self.assertIn("--rw=rw", sequential.argv)
        self.assertEqual("--rwmixread=70", random.argv[-1])
        flushed = {**arguments, "flush": "fsync"}
        *_, last = self.workload.commands(flushed, base.Endpoints())
        self.assertEqual("--fsync=1", last.argv[-1])
        outcomes = golden.RUNS["fio-mixed"].outcomes()
        measured = {
            measured_value.metric.name: measured_value.value
            for measured_value in golden.values(
                self.workload.parse_all(arguments, outcomes)
            )
        }
        every = [metric.name for metric in self.workload.metrics(arguments)]
        self.assertEqual(36, len(every))
        self.assertLessEqual(set(measured), set(every))
        for pattern in fio.MIXED:
            read, write = (
                measured[f"disk.fio.{pattern}.{side}.iops"]
                for side in ("read", "write")
            )
            self.assertAlmostEqual(0.7, read / (read + write), delta=0.02)
        outcome = outcomes["randrw"]
        counted = json.loads(golden.last(outcome.stdout))["jobs"][0]
        both = sum(counted[x]["total_ios"] for x in ("read", "write"))
        work = self.workload.work_done(arguments, outcome)
        self.assertAlmostEqual(1.5 * both, work.amount)
        self.assertIsNone(self.workload.progress(arguments, outcome))

    def test_first_write(self):
        """A fresh file, laid out, is written to its end once."""
        arguments = self.workload.complete(golden.RUNS["fio-first"].arguments)
        (command,) = self.workload.commands(arguments, base.Endpoints())
        self.assertEqual("size", command.bound)
        line = " ".join(command.argv)
        self.assertIn("--filename=vmperf.new --size=64M --rw=write", line)
        self.assertIn("--fallocate=posix --unlink=1", line)
        self.assertNotIn("--time_based", line)
        outcomes = golden.RUNS["fio-first"].outcomes()
        measured = {
            measured_value.metric.name: measured_value.value
            for measured_value in golden.values(
                self.workload.parse_all(arguments, outcomes)
            )
        }
        report = json.loads(outcomes["first_write"].stdout)["jobs"][0]["write"]
        self.assertEqual(
            report["bw_bytes"], measured["disk.fio.first_write.bandwidth"]
        )
        work = self.workload.work_done(arguments, outcomes["first_write"])
        self.assertEqual(64, work.amount)
        with self.assertRaisesRegex(base.WorkloadError, "64 of 65 requests"):
            self.workload.parse_all({**arguments, "size_mib": 65}, outcomes)
        with self.assertRaisesRegex(
            base.WorkloadError, "must be 1 with first_write"
        ):
            self.workload.complete({"patterns": ["first_write"], "jobs": 2})

    def test_rate_of_some_patterns(self):
        """The others have no limit."""
        arguments = self.workload.complete(
            {
                "patterns": ["write", "randread"],
                "rate_iops": {"randread": 900.0},
                "arrivals": "poisson",
            }
        )
        write, read = self.workload.commands(arguments, base.Endpoints())
        self.assertEqual(
            ("--rate_iops=900", "--rate_process=poisson"), read.argv[-2:]
        )
        self.assertNotIn("rate", " ".join(write.argv))
        # Guests and repetitions have other arrivals.
        for command in (write, read):
            self.assertIn("--randrepeat=0", command.argv)
            self.assertNotIn("--randseed=1", command.argv)
        (layout,) = self.workload.prepare(arguments)
        self.assertIn("--randseed=1", layout.argv)

    def test_golden_output_at_a_rate(self):
        run = golden.RUNS["fio-rate"]
        readings = self.workload.parse_all(
            self.workload.complete(run.arguments), run.outcomes()
        )
        self.assertAlmostEqual(291.708292, readings[0].value)
        for changes, message in (
            ({"arrivals": "regular"}, "ran without randseed=1"),
            ({"rate_iops": 301}, "rate_iops=300 instead of rate_iops=301"),
        ):
            with self.assertRaisesRegex(base.WorkloadError, message):
                self.workload.parse_all(
                    self.workload.complete({**run.arguments, **changes}),
                    run.outcomes(),
                )

    @ddt.data(
        (
            {"rate_iops": {"write": 5}, "patterns": ["read", "randread"]},
            "rate_iops: write: must be one of patterns: read, randread",
        ),
        (
            {"rate_iops": {"x": 5}},
            "rate_iops: 'x' is not one .*limited patter",
        ),
        ({"rate_iops": {"read": 0}}, "rate_iops.read: 0 is less"),
        ({"rate_iops": {}}, "rate_iops: {} "),
        (
            {
                "rate_iops": {"read": 5},
                "job_file": "/srv/a.fio",
                "sections": ["read.read"],
            },
            "rate_iops: must be one number with job_file",
        ),
        (
            {
                "arrivals": "poisson",
                "rate_iops": 5,
                "job_file": "/srv/a.fio",
                "sections": ["read.read"],
            },
            "arrivals='poisson': applies to patterns and not to job_file",
        ),
        ({"arrivals": "poisson"}, "arrivals=poisson: requires rate_iops;"),
        (
            {"arrivals": "poisson", "rate_iops": 5, "flush": "fsync"},
            "arrivals=poisson: requires flush: none",
        ),
    )
    @ddt.unpack
    def test_invalid_rates(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload fio: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        # Random arrivals have intervals of whole microseconds.
        ("none", 1, 900, {"read": 900, "randwrite": 900}, 900.495, True),
        ("none", 3, 30000, {"read": 10000, "randwrite": 10000}, 30150.5, True),
        ("fsync", 3, 900.4, {"read": 300, "randwrite": 300}, 900, False),
    )
    @ddt.unpack
    def test_driven(self, flush, jobs, rate, limits, offered, is_random):
        arguments = self.workload.complete(
            {"patterns": ["randwrite", "read"], "flush": flush, "jobs": jobs}
        )
        self.assertEqual(
            {None}, {offer.rate for offer in self.workload.offers(arguments)}
        )
        driven = self.workload.at_rates(
            arguments, {"randwrite": rate, "read": rate}
        )
        self.assertEqual(limits, driven["rate_iops"])
        for offer in self.workload.offers(driven):
            self.assertAlmostEqual(offered, offer.rate, places=1)
            self.assertEqual(is_random, offer.is_random)
            self.assertIn(
                f"disk.fio.{offer.command}.latency_p99_9", offer.late
            )
            self.assertNotIn(offer.metric, offer.late)

    def test_rate_below_one_request_of_each_process(self):
        arguments = self.workload.complete({"patterns": ["read"], "jobs": 16})
        with self.assertRaisesRegex(
            base.WorkloadError,
            "^workload fio: rate of read=4: the nearest possible rate with "
            "these arguments is 16$",
        ):
            self.workload.at_rates(arguments, {"read": 4})

    @ddt.data(
        ({"patterns": ["read", "rw"]}, "pattern rw cannot be driven"),
        ({"patterns": ["search"]}, "pattern search cannot be driven"),
        ({"patterns": ["first_write"]}, "pattern first_write cannot be dri"),
        (
            {"job_file": "/srv/a.fio", "sections": ["read.read"]},
            "job_file: cannot be driven at a rate; use patterns",
        ),
    )
    @ddt.unpack
    def test_that_cannot_be_driven(self, arguments, message):
        complete = self.workload.complete(arguments)
        for attempt in (
            lambda: self.workload.check_drivable(complete),
            lambda: self.workload.at_rates(complete, {"read": 10}),
        ):
            with self.assertRaisesRegex(
                base.WorkloadError, f"^workload fio: {message}"
            ):
                attempt()

    def test_parts_that_are_too_small(self):
        with self.assertRaisesRegex(base.WorkloadError, "jobs=64: the share"):
            self.workload.complete({"size_mib": 32, "jobs": 64})

    @ddt.data(
        (
            {"patterns": ["randread"]},
            "fio --name=randread --filename=vmperf.data --size=256M "
            "--rw=randread --bs=4k --ioengine=libaio --iodepth=8 --direct=1 "
            "--randseed=1 --eta=never --output-format=json+ "
            "--allow_file_create=0 --time_based --runtime=10 --ramp_time=2 "
            "--norandommap --group_reporting "
            "--percentile_list=50:90:95:99:99.9:99.99 --status-interval=1",
        ),
        (
            {
                "patterns": ["write"],
                "sequential_block_size": "4M",
                "depth": 1,
                "size_mib": 1024,
                "runtime": 30,
                "ramp_time": 0,
                "direct": False,
            },
            "fio --name=write --filename=vmperf.data --size=1024M --rw=write "
            "--bs=4M --ioengine=libaio --iodepth=1 --direct=0 --randseed=1 "
            "--eta=never --output-format=json+ --allow_file_create=0 "
            "--time_based --runtime=30 --ramp_time=0 --norandommap "
            "--group_reporting --percentile_list=50:90:95:99:99.9:99.99 "
            "--status-interval=3",
        ),
    )
    @ddt.unpack
    def test_command_line(self, arguments, line):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), base.Endpoints()
        )
        self.assertEqual(line, " ".join(command.argv))

    def test_patterns_run_in_their_own_order(self):
        commands = self.workload.commands(
            self.workload.complete({"patterns": ["randwrite", "read"]}),
            base.Endpoints(),
        )
        self.assertEqual(
            ["read", "randwrite"], [command.name for command in commands]
        )

    @ddt.data(
        ({"patterns": ["trim"]}, "patterns.0: 'trim' .*read, write"),
        ({"patterns": []}, r"patterns: \[\] .*read, write"),
        ({"block_size": "4096"}, "block_size: '4096' .*1k to 9999k"),
        ({"block_size": "0k"}, "block_size: '0k' .*1k to 9999k"),
        ({"block_size": 4}, "block_size: 4 is not .*1k to 9999k"),
        ({"sequential_block_size": "3M"}, "sequential_block_size: '3M'"),
        ({"depth": 0}, "depth: 0 is less .*1 to 1024"),
        ({"size_mib": 8}, "size_mib: 8 is less .*16 to 1048576"),
        ({"runtime": 0}, "runtime: 0 is less .*1 to 3600"),
        ({"read_percent": 100}, "read_percent: 100 is greater .*1 to 99"),
        ({"ramp_time": -1}, "ramp_time: -1 is less .*0 to 600"),
        ({"direct": 1}, "direct: 1 is not .*true or false"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload fio: {message}"
        ):
            self.workload.complete(arguments)

    def test_samples_are_the_metrics_in_their_order(self):
        arguments = self.workload.complete(golden.RUNS["fio"][0])
        readings = self.workload.parse_all(
            arguments, golden.outcomes(golden.RUNS["fio"][1])
        )
        names = [s.metric.name for s in golden.values(readings)]
        every = [s.name for s in self.workload.metrics(arguments)]
        self.assertEqual(36, len(every))
        others = ("_p90", "_p95", "_p99_9", "_p99_99")
        self.assertEqual(
            [name for name in every if not name.endswith(others)], names
        )

    def test_each_pattern_has_a_distribution_and_a_series(self):
        arguments = self.workload.complete(golden.RUNS["fio"][0])
        readings = self.workload.parse_all(
            arguments, golden.outcomes(golden.RUNS["fio"][1])
        )
        for kind, what in (
            (sample.Distribution, "latency"),
            (sample.Series, "iops"),
        ):
            self.assertEqual(
                [f"disk.fio.{pattern}.{what}" for pattern in fio.PATTERNS],
                [
                    reading.metric.name
                    for reading in readings
                    if isinstance(reading, kind)
                ],
            )

    @ddt.data((10, 2, 1), (10, 600, 31), (3600, 0, 360), (1, 0, 1))
    @ddt.unpack
    def test_reports_fit_into_the_output_limit(self, runtime, ramp, interval):
        arguments = self.workload.complete(
            {"runtime": runtime, "ramp_time": ramp}
        )
        command, *_ = self.workload.commands(arguments, base.Endpoints())
        self.assertIn(f"--status-interval={interval}", command.argv)
        reports = (runtime + ramp) // interval + 1
        self.assertLessEqual(reports * 88_000, command.output_limit)

    def test_course_of_a_pattern(self):
        outcome = golden.outcome(
            "randread", golden.text("fio-3.33-randread-reports.json")
        )
        course = self.workload.progress(self.workload.complete({}), outcome)
        self.assertEqual(
            {"disk.fio.randread.iops", "disk.fio.randread.bandwidth"},
            course.metrics,
        )
        metrics = self.workload.metrics(self.workload.complete({}))
        self.assertLess(course.metrics, {metric.name for metric in metrics})

    def test_work_is_counted_with_the_ramp(self):
        text = golden.text("fio-3.33-randread.json")
        arguments = self.workload.complete({"runtime": 2, "ramp_time": 1})
        outcome = golden.outcome("randread", text)
        work = self.workload.work_done(arguments, outcome)
        counted = json.loads(golden.last(text))["jobs"][0]["read"]["total_ios"]
        self.assertEqual((counted * 1.5, "ops"), (work.amount, work.unit))
        layout = golden.outcome("layout", text)
        self.assertIsNone(self.workload.work_done(arguments, layout))

    def test_failed_pattern_is_absent(self):
        outcomes = golden.outcomes({"randread": "fio-3.33-randread.json"})
        samples = self.workload.parse_all(
            self.workload.complete(golden.RUNS["fio"].arguments), outcomes
        )
        self.assertEqual(5, len(samples))
        self.assertTrue(
            all(
                s.metric.name.startswith("disk.fio.randread.") for s in samples
            )
        )


class RealRateTestCase(unittest.TestCase):
    """The fio of this machine, where it has one."""

    def test_rate_of_a_machine_alone(self):
        skips.require(self, "fio")
        workload = fio.Fio()
        arguments = workload.at_rates(
            workload.complete(
                {
                    "patterns": ["randread"],
                    "size_mib": 16,
                    "runtime": 2,
                    "ramp_time": 0,
                    # A memory file system has no direct I/O.
                    "direct": False,
                    "depth": 1,
                }
            ),
            {"randread": 200},
        )
        (command,) = workload.commands(arguments, base.Endpoints())
        with tempfile.TemporaryDirectory() as folder:
            for prepared in (*workload.prepare(arguments), command):
                process = subprocess.run(
                    prepared.argv,
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    check=True,
                )
        outcome = golden.outcome("randread", process.stdout)
        rate, *_ = workload.parse_all(arguments, {"randread": outcome})
        # Arrivals are random; five standard deviations.
        self.assertAlmostEqual(200, rate.value, delta=5 * math.sqrt(400) / 2)
