# SPDX-License-Identifier: Apache-2.0
import pathlib
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads.cpu import bzip2
from tests import skips
from tests.unit.workloads import golden


@ddt.ddt
class CompressionTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = bzip2.Bzip2()

    def test_command_lines(self):
        arguments = self.workload.complete({})
        lines = {
            command.name: " ".join(command.argv)
            for command in (
                *self.workload.prepare(arguments),
                *self.workload.commands(arguments, base.Endpoints()),
            )
        }
        self.assertEqual(
            {
                "generate": "python3 generate.py --size-mib=64 --seed=1 data",
                "copy": "cp data copy",
                "pack": "bzip2 -z -f -9 copy",
                "compress": "bzip2 -z -k -f -9 data",
                "decompress": "bzip2 -d -k -f copy.bz2",
            },
            lines,
        )

    def test_arguments_reach_the_commands(self):
        arguments = self.workload.complete(
            {"size_mib": 8, "seed": 5, "level": 1}
        )
        generate, _, pack = self.workload.prepare(arguments)
        compress, _ = self.workload.commands(arguments, base.Endpoints())
        self.assertIn("--size-mib=8", generate.argv)
        self.assertIn("--seed=5", generate.argv)
        self.assertIn("-1", pack.argv)
        self.assertIn("-1", compress.argv)

    @ddt.data(
        ({"size_mib": 0}, "size_mib: 0 is less .*1 to 16384"),
        ({"seed": -1}, "seed: -1 is less .*0 to 2147483647"),
        ({"level": 10}, "level: 10 is greater .*1 to 9"),
        ({"level": 9.5}, "level: 9.5 is not .*1 to 9"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload bzip2: {message}"
        ):
            self.workload.complete(arguments)

    def test_samples_are_the_wall_times(self):
        samples = self.workload.parse_all(
            self.workload.complete({}),
            {
                "compress": golden.outcome("compress", seconds=7.5),
                "decompress": golden.outcome("decompress", seconds=2.5),
            },
        )
        self.assertEqual(
            {"cpu.bzip2.compress_time": 7.5, "cpu.bzip2.decompress_time": 2.5},
            {s.metric.name: s.value for s in samples},
        )

    def test_failed_direction_is_absent(self):
        samples = self.workload.parse_all(
            self.workload.complete({}),
            {"decompress": golden.outcome("decompress", seconds=2.5)},
        )
        self.assertEqual(
            ["cpu.bzip2.decompress_time"], [s.metric.name for s in samples]
        )

    @ddt.data(
        {"exit_status": 2},
        {"seconds": 0.0},
        {"seconds": -1.0},
        {"seconds": float("nan")},
    )
    def test_outcomes_that_are_not_a_measurement(self, fault):
        with self.assertRaises(base.WorkloadError):
            self.workload.parse_all(
                self.workload.complete({}),
                {"compress": golden.outcome("compress", **fault)},
            )

    @ddt.data("", "sha256 xyz", "sha256 " + "A" * 64, "0" * 64)
    def test_checksum_of_another_form(self, text):
        with self.assertRaisesRegex(base.WorkloadError, "^generate.py print"):
            self.workload.facts({}, {"generate": golden.outcome("", text)})


@skips.requires("bzip2")
class RealCompressionTestCase(unittest.TestCase):
    """All commands as they are, with 4 MiB of data."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.workload = bzip2.Bzip2()
        cls.arguments = cls.workload.complete({"size_mib": 4})
        for file in cls.workload.files(cls.arguments):
            (cls.folder / file.name).write_bytes(files.read(file))
        cls.prepared = cls._run(cls.workload.prepare(cls.arguments))

    def test_ratio_is_that_of_the_documentation(self):
        ratio = self._size("copy.bz2") / self._size("data")
        self.assertAlmostEqual(0.94, ratio, delta=0.005)

    def test_checksum_becomes_a_fact(self):
        self.assertEqual(
            {
                "data_sha256": "b09b8afce0a1977a8f5c8cb8a1cb000d"
                "46b038354b7800a37bd7784c0495d70e"
            },
            self.workload.facts(self.arguments, self.prepared),
        )

    def test_repetitions_leave_the_same_files(self):
        """Without the temporary files, the input of the next one remains."""
        before = self._files()
        for _ in range(2):
            compress, decompress = self.workload.commands(
                self.arguments, base.Endpoints()
            )
            self._run([compress, decompress])
            self.assertEqual(
                before["copy.bz2"], self._remove(compress)["data.bz2"]
            )
            self.assertEqual(before["data"], self._remove(decompress)["copy"])
            self.assertEqual(before, self._files())

    def _remove(self, command):
        """Remove the temporary files of a command; return their contents."""
        contents = {}
        for name in command.temporary_files:
            contents[name] = (self.folder / name).read_bytes()
            (self.folder / name).unlink()
        return contents

    @classmethod
    def _run(cls, commands):
        outcomes = {}
        for command in commands:
            stdout = subprocess.run(
                command.argv,
                cwd=cls.folder,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            outcomes[command.name] = golden.outcome(command.name, stdout)
        return outcomes

    def _files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def _size(self, name):
        return (self.folder / name).stat().st_size
