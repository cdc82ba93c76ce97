# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.memory import stream
from tests.unit.workloads import golden

GOLDEN = golden.text("stream-5.10.txt")
ARGUMENTS = golden.RUNS["stream"].arguments


@ddt.ddt
class StreamTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = stream.Stream()

    def parse(self, text, **changes):
        """Return the values of an output."""
        samples = self.workload.parse_all(
            self.workload.complete({**ARGUMENTS, **changes}),
            {"stream": golden.outcome("stream", text, seconds=60.0)},
        )
        return {s.metric.name: s.value for s in samples}

    def test_command_lines(self):
        arguments = self.workload.complete(
            {"size_mib": 64, "runs": 20, "threads": 4}
        )
        commands = (
            *self.workload.prepare(arguments),
            *self.workload.commands(arguments, base.Endpoints()),
        )
        self.assertEqual(
            [
                "gcc -O3 -fopenmp -DSTREAM_ARRAY_SIZE=8388608 -DNTIMES=20 "
                "stream.c -o stream",
                "env OMP_NUM_THREADS=4 ./stream",
            ],
            [" ".join(command.argv) for command in commands],
        )

    def test_the_source_is_the_operators(self):
        """The record has its checksum."""
        arguments = self.workload.complete({"source": "/srv/stream.c"})
        (file,) = self.workload.files(arguments)
        self.assertEqual(("", "/srv/stream.c"), (file.package, file.path))
        self.workload.check_files(
            arguments, {"stream.c": b"#ifndef STREAM_ARRAY_SIZE\n"}
        )
        with self.assertRaisesRegex(
            base.WorkloadError, "^source: /srv/stream.c is not STREAM 5.10"
        ):
            self.workload.check_files(arguments, {"stream.c": b"int main()"})

    def test_golden_output(self):
        """A megabyte is a million bytes."""
        self.assertEqual(
            {
                "memory.stream.copy.bandwidth": 8401200000,
                "memory.stream.scale.bandwidth": 8391700000,
                "memory.stream.add.bandwidth": 12586100000,
                "memory.stream.triad.bandwidth": 12625600000,
            },
            {name: round(value) for name, value in self.parse(GOLDEN).items()},
        )

    @ddt.data(
        ("Triad:          12625.6", "Triad:           9625.6", "Triad moved"),
        ("all three arrays\n---", "all three arrays\n-", "validate"),
        ("Solution Validates", "Failed Validation on array a[]", "validate"),
        ("counted = 2", "counted = 1", "Threads counted = 2"),
        ("Scale:  ", "Scalar: ", "ran 3 kernels instead of 4"),
        ("Scale:  ", "Copy:   ", "printed Copy twice"),
        ("size = 4194304", "size = 10000000", "Array size = 4194304"),
        ("0.007988     0.008460", "0.000000     0.008460", "Copy took 0 to"),
    )
    @ddt.unpack
    def test_other_outputs(self, before, after, message):
        self.assertIn(before, GOLDEN)
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(GOLDEN.replace(before, after))

    @ddt.data(
        ({"size_mib": 641}, "size_mib: 641 is greater .*1 to 640"),
        ({"runs": 1}, "runs: 1 is less .*2 to 1000"),
        ({"flags": "-O9"}, "flags: '-O9' is not one of"),
        ({"source": "stream.c"}, "source: 'stream.c' .*an absolute path"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload stream: {message}"
        ):
            self.workload.complete(arguments)
