# SPDX-License-Identifier: Apache-2.0
import pathlib
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.disk import dd
from tests.unit.workloads import golden

GOLDEN = golden.text("dd-9.1-write.txt")
OLD = golden.text("dd-2019-writethrough.txt")
GIB = 1 << 30


@ddt.ddt
class CopyTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = dd.Dd()

    @ddt.data(
        ({}, ["of=write.data bs=1M count=1024 conv=fdatasync"]),
        (
            {"sync": "dsync", "direct": True, "block_size": "4k"},
            ["of=write.data bs=4k count=1024 oflag=dsync oflag=direct"],
        ),
        ({"sync": "none"}, ["of=write.data bs=1M count=1024"]),
        (
            {"directions": ["read", "write"], "sync": "fsync", "count": 7},
            [
                "of=write.data bs=1M count=7 conv=fsync",
                "if=read.data of=/dev/null bs=1M count=7",
            ],
        ),
        (
            {"directions": ["read", "write"], "target": "volume"},
            [
                "of=volume-1 bs=1M count=1024 conv=notrunc,nocreat "
                "conv=fdatasync",
                "if=volume-1 of=/dev/null bs=1M count=1024",
            ],
        ),
        (
            {"directions": ["read"], "direct": True},
            ["if=read.data of=/dev/null bs=1M count=1024 iflag=direct"],
        ),
    )
    @ddt.unpack
    def test_command_lines(self, arguments, lines):
        commands = self.workload.commands(
            self.workload.complete(arguments), base.Endpoints()
        )
        whole = [
            f"dd if=/dev/zero {x}" if x.startswith("of") else f"dd {x}"
            for x in lines
        ]
        self.assertEqual(whole, [" ".join(c.argv) for c in commands])

    def test_files_are_there_before_they_are_measured(self):
        commands = self.workload.prepare(
            self.workload.complete(
                {"directions": ["read", "write"], "sync": "none"}
            )
        )
        self.assertEqual(
            [
                f"dd if=/dev/zero of={direction}.data bs=1M count=1024 "
                "conv=fdatasync"
                for direction in dd.DIRECTIONS
            ],
            [" ".join(command.argv) for command in commands],
        )

    def test_volume(self):
        """Its first blocks are measured, after they were written."""
        arguments = self.workload.complete({"target": "volume", "count": 7})
        self.assertEqual(
            (base.Target(number=1, form="device", size=7 << 20),),
            self.workload.targets(arguments),
        )
        (layout,) = self.workload.prepare(arguments)
        self.assertIn("of=volume-1", layout.argv)
        arguments = self.workload.complete({})
        self.assertEqual((), self.workload.targets(arguments))

    def test_write_of_a_volume(self):
        """It neither shortens the target nor creates one."""
        arguments = self.workload.complete(
            {"target": "volume", "block_size": "4k", "count": 2}
        )
        (command,) = self.workload.commands(arguments, base.Endpoints())
        with tempfile.TemporaryDirectory() as name:
            device = pathlib.Path(name, "volume-1")
            done = subprocess.run(
                command.argv, cwd=name, check=False, capture_output=True
            )
            self.assertNotEqual(0, done.returncode)
            self.assertFalse(device.exists())
            device.write_bytes(b"x" * 10000)
            subprocess.run(
                command.argv, cwd=name, check=True, capture_output=True
            )
            self.assertEqual(bytes(8192) + b"x" * 1808, device.read_bytes())

    @ddt.data(
        ({"count": 0}, "count: 0 is less .*1 to 1048576"),
        ({"block_size": "3M"}, "block_size: '3M' does not .*1k to 9999k"),
        ({"sync": "sync"}, "sync: 'sync' is not one of .*dsync"),
        ({"directions": []}, r"directions: \[\] .*write, read"),
        ({"direct": "yes"}, "direct: 'yes' is not .*true or false"),
        ({"target": "volumes"}, "target: 'volumes' is not .*root .*volume"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload dd: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        ({"sync": "none"}, "dd writes with sync: none, with direct: false"),
        ({"directions": ["read"]}, "dd reads, with direct: false"),
        ({"sync": "none", "direct": True}, None),
        ({"directions": ["read"], "direct": True}, None),
        ({"sync": "dsync"}, None),
    )
    @ddt.unpack
    def test_the_page_cache_is_reported(self, arguments, detail):
        findings = self.workload.argument_findings(
            self.workload.complete(arguments)
        )
        expected = (("page_cache_measured", detail),) if detail else ()
        self.assertEqual(expected, findings)

    def test_one_direction_failed(self):
        arguments, files, stream = golden.RUNS["dd"]
        outcomes = golden.outcomes({"read": files["read"]}, stream)
        (measured,) = self.workload.parse_all(
            self.workload.complete(arguments), outcomes
        )
        self.assertEqual("disk.dd.read.bandwidth", measured.metric.name)

    def test_exit_status(self):
        outcome = golden.outcome(
            "write",
            exit_status=1,
            stderr="dd: error writing 'write.data': No space left on device",
        )
        with self.assertRaisesRegex(base.WorkloadError, "No space left"):
            self.workload.parse_all(
                self.workload.complete({}), {"write": outcome}
            )


@ddt.ddt
class RateTestCase(unittest.TestCase):
    @ddt.data(
        ("writethrough", GIB / 7.44214, 144e6),
        ("unsafe", GIB / 0.915939, 1.2e9),
    )
    @ddt.unpack
    def test_published_outputs(self, mode, expected, published):
        text = golden.text(f"dd-2019-{mode}.txt")
        value = dd.parse_rate(text, "write", GIB, 1024)
        self.assertAlmostEqual(expected, value)
        self.assertAlmostEqual(1, published / value, delta=0.03)

    @ddt.data(
        ("1 byte copied, 9.7756e-05 s, 10.2 kB/s", 1),
        ("512 bytes copied, 0.0001 s, 5.1 MB/s", 512),
        ("1024 bytes (1.0 kB, 1.0 KiB) copied, 1 s, 1.0 kB/s", 1024),
        ("1024 bytes (1.0 kB) copied, 11 s, 93 B/s", 1024),
    )
    @ddt.unpack
    def test_small_ones(self, line, size):
        text = f"1+0 records in\n1+0 records out\n{line}\n"
        self.assertGreater(dd.parse_rate(text, "write", size, 1), 0)

    @ddt.data(
        (
            " s, ",
            " seconds, ",
            "printed '1024.0 records in .*GNU dd is required",
        ),
        ("7.44214", "7,44214", "seconds is '7,44214', not a finite number"),
        ("7.44214", "nan", "seconds is 'nan', not a finite number"),
        ("7.44214", "0", "took 0 s"),
        ("7.44214", "-7.44214", "took -7.44214 s"),
        ("144 MB", "Infinity B", "instead of the number of copied bytes"),
        (
            "1073741824",
            "536870912",
            "copied 536870912 bytes .1.1 GB. instead of 10",
        ),
        (OLD, "", "printed '' instead of the number of copied bytes"),
        (OLD, OLD + OLD, "instead of the number of copied bytes"),
    )
    @ddt.unpack
    def test_incoherent_outputs(self, old, new, message):
        self.assertIn(old, OLD)
        with self.assertRaisesRegex(base.WorkloadError, f"^dd: .*{message}"):
            dd.parse_rate(OLD.replace(old, new), "write", GIB, 1024)

    @ddt.data(GOLDEN[:40], GOLDEN[: GOLDEN.index(" copied")])
    def test_cut_short(self, text):
        with self.assertRaisesRegex(
            base.WorkloadError, "instead of the number of"
        ):
            dd.parse_rate(text, "write", 256 << 20, 256)


class RealCopyTestCase(unittest.TestCase):
    """The dd of this machine, as a job runs it."""

    def test_all_commands(self):
        workload = dd.Dd()
        arguments = workload.complete(
            {"directions": ["write", "read"], "count": 8, "block_size": "64k"}
        )
        with tempfile.TemporaryDirectory() as folder:
            outcomes = {}
            measured = workload.commands(arguments, base.Endpoints())
            for command in (*workload.prepare(arguments), *measured):
                process = subprocess.run(
                    command.argv,
                    cwd=folder,
                    env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
                    check=True,
                    capture_output=True,
                    text=True,
                )
                outcomes[command.name] = golden.outcome(
                    command.name, stderr=process.stderr
                )
            sizes = {
                path.name: path.stat().st_size
                for path in pathlib.Path(folder).iterdir()
            }
        self.assertEqual({"write.data": 8 << 16, "read.data": 8 << 16}, sizes)
        samples = workload.parse_all(
            arguments,
            {step.name: outcomes[step.name] for step in measured},
        )
        self.assertEqual(
            list(workload.metrics(arguments)), [s.metric for s in samples]
        )
