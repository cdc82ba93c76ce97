# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import subprocess
import tempfile
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads.disk import cp
from tests.unit.workloads import golden


@ddt.ddt
class TreeCopyTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = cp.Cp()

    def test_command_lines(self):
        arguments = self.workload.complete({})
        lines = [
            f"{command.name}: {' '.join(command.argv)}"
            for command in (
                *self.workload.prepare(arguments),
                *self.workload.commands(arguments, base.Endpoints()),
            )
        ]
        self.assertEqual(
            [
                "generate: python3 tree.py --files=4096 --file-kib=16 "
                "--seed=1 tree",
                "layout: bash copy.bash flush",
                "copy: bash copy.bash flush",
            ],
            lines,
        )

    def test_volume(self):
        """The tree and its copy are in its file system."""
        arguments = self.workload.complete({"target": "volume", "files": 4})
        self.assertEqual(
            (base.Target(form="filesystem", size=2 * 4 * 16 * 1024),),
            self.workload.targets(arguments),
        )
        generate, layout = self.workload.prepare(arguments)
        self.assertEqual("volume-1.fs/tree", generate.argv[-1])
        self.assertEqual(
            ("bash", "copy.bash", "flush", "volume-1.fs"), layout.argv
        )
        unflushed = {**arguments, "flush": False}
        (copy,) = self.workload.commands(unflushed, base.Endpoints())
        self.assertEqual(("bash", "copy.bash", "volume-1.fs"), copy.argv)
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "volume-1.fs").mkdir()
            for file in self.workload.files(arguments):
                (directory / file.name).write_bytes(files.read(file))
            for command in (generate, layout, copy):
                done = subprocess.run(
                    command.argv,
                    cwd=name,
                    capture_output=True,
                    text=True,
                    check=True,
                )
            self.assertRegex(done.stderr, "^seconds ")
            self.assertEqual(
                {"volume-1.fs", "tree.py", "copy.bash"},
                {path.name for path in directory.iterdir()},
            )
            (tree,) = (directory / "volume-1.fs").iterdir()
            self.assertEqual("tree", tree.name)
        # Without a mounted file system, nothing is copied elsewhere.
        with tempfile.TemporaryDirectory() as name:
            script = pathlib.Path(name, "copy.bash")
            script.write_bytes(files.read(self.workload.files(arguments)[1]))
            done = subprocess.run(
                copy.argv, cwd=name, capture_output=True, check=False
            )
            self.assertNotEqual(0, done.returncode)

    def test_arguments_reach_the_commands(self):
        arguments = self.workload.complete(
            {"files": 7, "file_kib": 8, "seed": 5, "flush": False}
        )
        generate, *_ = self.workload.prepare(arguments)
        self.assertEqual(
            ("--files=7", "--file-kib=8", "--seed=5", "tree"),
            generate.argv[2:],
        )
        (copy,) = self.workload.commands(arguments, base.Endpoints())
        self.assertEqual(("bash", "copy.bash"), copy.argv)

    @ddt.data(
        ({"files": 0}, "files: 0 is less .*1 to 1000000"),
        ({"file_kib": 0}, "file_kib: 0 is less .*1 to 16777216"),
        ({"seed": -1}, "seed: -1 is less .*0 to 2147483647"),
        ({"flush": 1}, "flush: 1 is not .*true or false"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload cp: {message}"
        ):
            self.workload.complete(arguments)

    def test_the_page_cache_is_reported(self):
        findings = self.workload.argument_findings(
            self.workload.complete({"flush": False})
        )
        self.assertEqual(
            (("page_cache_measured", "cp writes with flush: false"),), findings
        )

    def test_sample_is_the_time_of_the_copy(self):
        (measured,) = self.workload.parse_all(
            self.workload.complete({}),
            {
                "copy": golden.outcome(
                    "copy", seconds=9, stderr="seconds 2.500, that is 2.500\n"
                )
            },
        )
        self.assertEqual(cp.TIME, measured.metric)
        self.assertEqual(2.5, measured.value)

    @ddt.data(
        ({"exit_status": 1, "stderr": "cp: No space left"}, "No space left"),
        ({"stderr": "cp: x\nseconds 0.5"}, "cp printed 'cp: x seconds 0.5'"),
        ({"stdout": "copied"}, "cp printed 'copied' instead of its duration"),
        ({"stderr": ""}, "cp printed '' instead of"),
        ({"stderr": "seconds 0.12"}, "cp printed 'seconds 0.12' instead of"),
        (
            {"stderr": "seconds 0.123, that is 0.124\n"},
            "cp printed 'seconds 0.123, that is 0.124' instead of",
        ),
        ({"stderr": "seconds 0.123"}, "cp printed 'seconds 0.123' instead of"),
        (
            {"stderr": "seconds 0.000, that is 0.000\n"},
            "which is not plausible",
        ),
        (
            {"stderr": "seconds 2.000, that is 2.000\n"},
            "took 2 s of a command that took 1 s",
        ),
    )
    @ddt.unpack
    def test_outcomes_that_are_not_a_measurement(self, fault, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.workload.parse_all(
                self.workload.complete({}),
                {
                    "copy": golden.outcome(
                        "copy",
                        **{
                            "stderr": "seconds 0.500, that is 0.500\n",
                            **fault,
                        },
                    )
                },
            )

    @ddt.data("", "sha256 xyz", "sha256 " + "A" * 64, "0" * 64)
    def test_checksum_of_another_form(self, text):
        with self.assertRaisesRegex(base.WorkloadError, "^tree.py printed"):
            self.workload.facts({}, {"generate": golden.outcome("", text)})


@ddt.ddt
class RealCopyTestCase(unittest.TestCase):
    """All commands as they are, with a small tree."""

    def test_the_copy_has_the_tree(self):
        """A replacement of cp records its arguments and its result."""
        workload = cp.Cp()
        arguments = workload.complete({})
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file in workload.files(arguments):
                (folder / file.name).write_bytes(files.read(file))
            (folder / "tree" / "0000").mkdir(parents=True)
            (folder / "tree" / "0000" / "00").write_bytes(b"content")
            (folder / "rm").write_text(
                "#!/bin/sh\n[ ! -d copy ] || mv copy kept\n"
            )
            (folder / "rm").chmod(0o755)
            (copy,) = workload.commands(arguments, base.Endpoints())
            _run(folder, [copy], PATH=f"{folder}:{os.environ['PATH']}")
            content = (folder / "kept" / "0000" / "00").read_bytes()
        self.assertEqual(b"content", content)

    @ddt.data(True, False)
    def test_each_copy_goes(self, flush):
        workload = cp.Cp()
        arguments = workload.complete(
            {"files": 120, "file_kib": 1, "flush": flush}
        )
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file in workload.files(arguments):
                (folder / file.name).write_bytes(files.read(file))
            prepared = _run(folder, workload.prepare(arguments))
            copy = workload.commands(arguments, base.Endpoints())
            for _ in range(2):
                (measured,) = workload.parse_all(arguments, _run(folder, copy))
                self.assertEqual(cp.TIME, measured.metric)
                self.assertEqual(
                    {"tree", "tree.py", "copy.bash"},
                    {path.name for path in folder.iterdir()},
                )
                # What was ended halfway does not matter.
                (folder / "copy").mkdir()
                (folder / "copy" / "rest").touch()
        (fact,) = workload.facts(arguments, prepared)
        self.assertEqual("tree_sha256", fact)


def _run(folder, commands, **environment):
    outcomes = {}
    for command in commands:
        ran = subprocess.run(
            command.argv,
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        outcomes[command.name] = golden.outcome(
            command.name, ran.stdout, stderr=ran.stderr
        )
    return outcomes
