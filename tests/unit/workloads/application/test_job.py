# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ddt

from rally_vmperf.workloads import base
from rally_vmperf.workloads.application import job
from tests.unit.workloads import golden

SCRIPT = pathlib.Path(job.__file__).parents[1] / "scripts" / "job.py"
RATE = {"name": "rate", "unit": "B/s", "better": "higher"}
PATTERN = {**RATE, "pattern": "rate: (.*) MB"}


def copies_outcome(*outputs, **changes):
    """Return the outcome of copies that printed these outputs."""
    copy = {"seconds": 0.5, "user": 0.25, "system": 0.0, **changes}
    copies = [{**copy, "stdout": text} for text in outputs]
    return {"job": golden.outcome("job", json.dumps({"copies": copies}))}


@ddt.ddt
class JobTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.workload = job.JobWorkload()

    def parse(self, outcomes, **arguments):
        complete = self.workload.complete(arguments)
        return [
            (measured.metric.name.rpartition(".")[2], measured.value)
            for measured in self.workload.parse_all(complete, outcomes)
        ]

    def test_command_line(self):
        (command,) = self.workload.commands(
            self.workload.complete(
                {
                    "command": ["./run", "-x", "a b"],
                    "copies": 3,
                    "expected_seconds": 9,
                }
            ),
            base.Endpoints(),
        )
        self.assertEqual(
            ("python3", "job.py", "--copies=3", "--", "./run", "-x", "a b"),
            command.argv,
        )
        self.assertEqual((9, 690), (command.seconds, command.timeout))

    def test_files_of_the_operator_are_brought(self):
        script, data = self.workload.files(
            self.workload.complete({"files": ["/srv/input/events.dat"]})
        )
        self.assertEqual("job.py", script.name)
        self.assertEqual(
            ("events.dat", "/srv/input/events.dat", ""),
            (data.name, data.path, data.package),
        )

    def test_each_copy_has_its_samples(self):
        outcomes = copies_outcome("rate: 2 MB\n", "rate: 1 MB\nrate: 4 MB\n")
        self.assertEqual(
            [
                *[("wall_time", 0.5)] * 2,
                *[("cpu_time", 0.25)] * 2,
                *[("user_time", 0.25)] * 2,
                *[("system_time", 0.0)] * 2,
                *[("rate", 2.0), ("rate", 4.0)],
            ],
            self.parse(outcomes, copies=2, metrics=[PATTERN]),
        )

    def test_json_path(self):
        outcomes = copies_outcome('starting\n{"jobs": [{"rate": 12.5}]}\n')
        measured = self.parse(
            outcomes, metrics=[{**RATE, "path": "jobs.0.rate"}]
        )
        self.assertEqual(("rate", 12.5), measured[-1])

    def test_declared_metrics(self):
        arguments = self.workload.complete(
            {
                "metrics": [
                    {**PATTERN, "additive": False},
                    {**PATTERN, "name": "errors", "scale": "count"},
                ]
            }
        )
        *_, rate, errors = self.workload.metrics(arguments)
        self.assertEqual(("B/s", False), (rate.unit, rate.additive))
        self.assertEqual("count", errors.scale)

    @ddt.data(
        ({"command": []}, r"command: \[\] "),
        ({"command": "ls -l"}, "command: 'ls -l' is not of type 'array'"),
        ({"command": ["a\nb"]}, "command.0: 'a.nb' does not match"),
        ({"copies": 0}, "copies: 0 is less .*1 to 64"),
        ({"files": ["events.dat"]}, "files.0: 'events.dat' does not match"),
        (
            {"files": ["/a/x", "/b/x"]},
            "files: the name 'x' must be unique; rename",
        ),
        ({"files": ["/a/job.py"]}, "files: the name 'job.py' must be unique"),
        ({"metrics": [RATE]}, "metrics: rate: either pattern or path"),
        (
            {"metrics": [{**PATTERN, "path": "a"}]},
            "metrics: rate: either pattern or path is required",
        ),
        (
            {"metrics": [PATTERN, PATTERN]},
            "metrics: the name 'rate' must be unique",
        ),
        (
            {"metrics": [{**PATTERN, "name": "wall_time"}]},
            "metrics: the name 'wall_time' must be unique",
        ),
        (
            {"metrics": [{**RATE, "pattern": "("}]},
            "metrics: rate: pattern '.' is not a valid regular .*: missing",
        ),
        (
            {"metrics": [{**RATE, "pattern": "(a)(b)"}]},
            "metrics: rate: pattern '.a..b.' has 2 groups",
        ),
        ({"metrics": [{"name": "x"}]}, "metrics.0: 'unit' is a required"),
    )
    @ddt.unpack
    def test_bad_arguments(self, arguments, message):
        with self.assertRaisesRegex(
            base.WorkloadError, f"^workload job: {message}"
        ):
            self.workload.complete(arguments)

    @ddt.data(
        (copies_outcome("no\n"), "rate: no line matches .* ends with 'no'"),
        (
            copies_outcome("rate: fast MB\n"),
            "rate is 'fast', not a finite number",
        ),
        (copies_outcome("rate: 0 MB\n"), "rate is 0.0 B/s, but must be"),
        (
            copies_outcome("rate: 1 MB\n", seconds=2.0),
            "took 2 s of a command that took",
        ),
        (
            copies_outcome("rate: 1 MB\n", user=-1),
            "user_time is -1 s, which no|cpu_time",
        ),
        (copies_outcome(None), "job.py did not report an output"),
        (
            copies_outcome("rate: 1 MB\n", "rate: 1 MB\n"),
            "did not report 1 copies",
        ),
        (
            {"job": golden.outcome("job", "")},
            "job.py printed .* instead of valid JSON",
        ),
        (
            {
                "job": golden.outcome(
                    "job", exit_status=1, stderr="copy 2: exit status 3: no"
                )
            },
            "printed 'copy 2: exit status 3: no'",
        ),
    )
    @ddt.unpack
    def test_refused_outputs(self, outcomes, message):
        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(outcomes, metrics=[PATTERN])


class ScriptTestCase(unittest.TestCase):
    """The program that runs the copies, for real."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_script(self, *argv, copies=1):
        process = subprocess.run(
            [sys.executable, SCRIPT, f"--copies={copies}", "--", *argv],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        return process, json.loads(process.stdout)["copies"]

    def test_copies_have_folders_with_the_files(self):
        (self.folder / "input").write_text("7 events\n")
        process, copies = self.run_script(
            "sh", "-c", "cat input; pwd; touch made", copies=3
        )
        self.assertEqual(0, process.returncode, process.stderr)
        places = [copy["stdout"].split("\n")[1] for copy in copies]
        self.assertEqual(
            [f"copy-{number}" for number in (1, 2, 3)],
            [os.path.basename(place) for place in places],
        )
        for copy in copies:
            self.assertTrue(copy["stdout"].startswith("7 events\n"))
        self.assertEqual(["input"], os.listdir(self.folder))

    def test_copies_run_at_once(self):
        """Each waits for the file of the other copy."""
        script = (
            "import pathlib, time, sys\n"
            "me = pathlib.Path.cwd()\n"
            "(me.parent / ('is-' + me.name)).touch()\n"
            "while len(list(me.parent.glob('is-*'))) < 2: time.sleep(0.01)\n"
        )
        process, _ = self.run_script(sys.executable, "-c", script, copies=2)
        self.assertEqual(0, process.returncode, process.stderr)

    def test_cpu_time_is_that_of_the_command(self):
        _, (copy,) = self.run_script(
            "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
        )
        self.assertGreater(copy["user"], 0)
        self.assertGreaterEqual(copy["seconds"], copy["user"])

    def test_failures_are_reported(self):
        for argv, message in (
            (("sh", "-c", "echo no >&2; exit 3"), "copy 1: exit status 3: no"),
            (("sh", "-c", "kill -9 $$"), "copy 1: signal 9:"),
            (("/no/such",), "copy 1: /no/such: No such file"),
        ):
            process, _ = self.run_script(*argv)
            self.assertEqual(1, process.returncode)
            self.assertTrue(process.stderr.startswith(message), process.stderr)

    def test_the_end_of_a_long_output_is_reported(self):
        _, copies = self.run_script("seq", "100000", copies=2)
        for copy in copies:
            self.assertLessEqual(len(copy["stdout"]), 65536)
            self.assertTrue(copy["stdout"].endswith("\n99999\n100000\n"))
            first = copy["stdout"].split("\n")[0]
            self.assertEqual(5, len(first))

    def test_its_output_is_read(self):
        workload = job.JobWorkload()
        arguments = workload.complete(
            {"command": ["echo", "rate: 5 MB"], "metrics": [PATTERN]}
        )
        process, _ = self.run_script(*arguments["command"])
        samples = workload.parse_all(
            arguments, {"job": golden.outcome("job", process.stdout)}
        )
        self.assertEqual(5, samples[-1].value)
