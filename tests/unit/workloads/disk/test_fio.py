import json
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import fio
from tests.unit.workloads import golden


@ddt.ddt
class DiskTestCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.workload = fio.Disk()

    def test_layout(self):
        (command,) = self.workload.prepare(self.workload.complete({}))
        self.assertEqual(
            "fio --name=layout --filename=vmperf.data --size=256M --rw=write "
            "--bs=1M --ioengine=libaio --iodepth=8 --direct=1 --randseed=1 "
            "--eta=never --output-format=json --refill_buffers --end_fsync=1",
            " ".join(command.argv),
        )

    @ddt.data(
        (
            {"patterns": ["randread"]},
            "fio --name=randread --filename=vmperf.data --size=256M "
            "--rw=randread --bs=4k --ioengine=libaio --iodepth=8 --direct=1 "
            "--randseed=1 --eta=never --output-format=json "
            "--allow_file_create=0 --time_based --runtime=10 --ramp_time=2 "
            "--norandommap --group_reporting "
            "--percentile_list=50:99 --status-interval=1",
        ),
        (
            {
                "patterns": ["write"],
                "sequential_block_size": "4M",
                "depth": 1,
                "size_mib": 1024,
                "runtime": 30,
                "ramp": 0,
                "direct": False,
            },
            "fio --name=write --filename=vmperf.data --size=1024M --rw=write "
            "--bs=4M --ioengine=libaio --iodepth=1 --direct=0 --randseed=1 "
            "--eta=never --output-format=json --allow_file_create=0 "
            "--time_based --runtime=30 --ramp_time=0 --norandommap "
            "--group_reporting --percentile_list=50:99 --status-interval=3",
        ),
    )
    @ddt.unpack
    def test_command_line(self, arguments, line):
        (command,) = self.workload.commands(
            self.workload.complete(arguments), base.Ends()
        )
        self.assertEqual(line, " ".join(command.argv))

    def test_patterns_run_in_their_own_order(self):
        commands = self.workload.commands(
            self.workload.complete({"patterns": ["randwrite", "read"]}),
            base.Ends(),
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
        ({"ramp": -1}, "ramp: -1 is less .*0 to 600"),
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
        samples = self.workload.parse(
            arguments, golden.outcomes(golden.RUNS["fio"][1])
        )
        self.assertEqual(20, len(samples))
        self.assertEqual(
            list(self.workload.metrics(arguments)),
            [s.metric for s in samples],
        )

    def test_course_of_a_pattern(self):
        outcome = golden.outcome(
            "randread", golden.text("fio-3.33-randread-reports.json")
        )
        course = self.workload.course(self.workload.complete({}), outcome)
        self.assertEqual(
            {"disk.fio.randread.iops", "disk.fio.randread.bandwidth"},
            course.metrics,
        )
        metrics = self.workload.metrics(self.workload.complete({}))
        self.assertLess(course.metrics, {one.name for one in metrics})

    def test_work_is_what_was_counted_and_the_ramp(self):
        text = golden.text("fio-3.33-randread.json")
        arguments = self.workload.complete({"runtime": 2, "ramp": 1})
        outcome = golden.outcome("randread", text)
        work = self.workload.work(arguments, outcome)
        counted = json.loads(text)["jobs"][0]["read"]["total_ios"]
        self.assertEqual((counted * 1.5, "ops"), (work.amount, work.unit))
        layout = golden.outcome("layout", text)
        self.assertIsNone(self.workload.work(arguments, layout))

    def test_failed_pattern_is_absent(self):
        outcomes = golden.outcomes({"randread": "fio-3.33-randread.json"})
        samples = self.workload.parse(
            self.workload.complete({"runtime": 2}), outcomes
        )
        self.assertEqual(5, len(samples))
