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
from rally_vmperf.workloads import files
from rally_vmperf.workloads import registry
from tests.unit.workloads import golden

#: Leaves a report as the suite does, and says with what it was called.
SUITE = """#!{python}
import json, os, sys
words = sys.argv[1:]
if not os.path.exists("bmkrun.yml"):
    sys.exit("no configuration")
folder = words[words.index("-d") + 1]
os.mkdir(folder + "/run_2026-09-07_1324")
report = {{"host": {{"hostname": "secret"}}, "profiles": {{"words": words}}}}
with open(folder + "/run_2026-09-07_1324/bmkrun_report.json", "w") as stream:
    json.dump(report, stream)
print("a log")
"""


@ddt.ddt
class BenchmarkTestCase(unittest.TestCase):
    def parse(self, run, change=lambda content: None, **arguments):
        workload = golden.workload(run)
        ((command, file),) = golden.RUNS[run].files.items()
        content = json.loads(golden.text(file))
        change(content)
        outcome = golden.outcome(command, json.dumps(content))
        run_arguments = {**golden.RUNS[run].arguments, **arguments}
        samples = workload.parse_all(
            workload.complete(run_arguments), {command: outcome}
        )
        return {sample.metric.name: sample.value for sample in samples}

    def test_hepscore(self):
        scores = self.parse("hepscore")
        self.assertEqual(702.5525, scores["application.hepscore.score"])
        relative = scores["application.hepscore.cms-reco-run3-ma-bmk.score"]
        self.assertAlmostEqual(1.9412, relative, 4)

    @ddt.data(("hepscore", 32), ("hepspec06", 4))
    @ddt.unpack
    def test_cores(self, run, cores):
        """An output of another number of cores is not that of the task."""
        self.assertTrue(self.parse(run, cores=cores))
        with self.assertRaisesRegex(
            base.WorkloadError, f"ran on {cores} cores instead of 16"
        ):
            self.parse(run, cores=16)
        with self.assertRaisesRegex(base.WorkloadError, "cores must be"):
            self.parse(run, lambda content: content.pop("cores"))

    def test_hepspec06(self):
        self.assertEqual(
            {"application.hepspec06.score": 66.1}, self.parse("hepspec06")
        )

    @ddt.data(
        ("hepscore", ("hepscore", "status"), "failed", "did not succeed"),
        (
            "hepscore",
            ("hepscore", "wl-scores"),
            {},
            "did not run ",
        ),
        ("hepspec06", ("hs06_64", "copies"), 8, "8 copies on 4 cores"),
        (
            "hepscore",
            ("hepscore", "wl-scores", "cms-reco-run3-ma-bmk"),
            {"reco": 1.0, "reco_ref": 0},
            "did not run cms-reco-run3-ma-bmk",
        ),
        ("hepspec06", ("hs06_64", "score"), 0, "score is 0"),
        ("hepspec06", ("hs06_32",), {}, "2 results instead of one"),
    )
    @ddt.unpack
    def test_refused_results(self, run, path, value, message):
        def change(content):
            node = content["profiles"]
            for step in path[:-1]:
                node = node[step]
            node[path[-1]] = value

        with self.assertRaisesRegex(base.WorkloadError, message):
            self.parse(run, change)

    def test_a_benchmark_that_did_not_run(self):
        with self.assertRaisesRegex(base.WorkloadError, "not run belle2-x"):
            self.parse("hepscore", benchmarks=["belle2-x"])

    @ddt.data("hepscore", "hepspec06")
    def test_the_configuration_is_the_operators(self, name):
        workload = registry.get_workload(name)
        arguments = workload.complete({"configuration": "/srv/own.yml"})
        configuration, _ = workload.files(arguments)
        self.assertEqual("/srv/own.yml", configuration.path)
        self.assertEqual("", configuration.package)

    def run_suite(self, suite, cores):
        """Run the program that runs the suite, with a suite of the test."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        workload = registry.get_workload("hepspec06")
        arguments = workload.complete({"cores": cores})
        _, script = workload.files(arguments)
        (top / script.name).write_bytes(files.read(script))
        (top / "bmkrun.yml").touch()
        (top / "bmkrun").write_text(suite.format(python=sys.executable))
        (top / "bmkrun").chmod(0o755)
        (command,) = workload.commands(arguments, base.Endpoints())
        self.assertEqual("python3", command.argv[0])
        process = subprocess.run(
            [sys.executable, *command.argv[1:]],
            cwd=top,
            env={"PATH": f"{top}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        return top, process

    @ddt.data((3, 3), (0, len(os.sched_getaffinity(0))))
    @ddt.unpack
    def test_the_suite_gets_its_cores(self, cores, expected):
        top, process = self.run_suite(SUITE, cores)
        content = json.loads(process.stdout)
        self.assertEqual(expected, content["cores"], process.stderr)
        self.assertEqual(["cores", "profiles"], list(content))
        command_line = " ".join(content["profiles"]["words"])
        self.assertRegex(
            command_line, f"^-c bmkrun.yml -b hs06 -d /.* -n {expected}$"
        )
        self.assertFalse((top / "suite").exists())

    def test_a_suite_that_fails(self):
        suite = "#!{python}\nprint('no licence')\nraise SystemExit(6)\n"
        _, process = self.run_suite(suite, 0)
        self.assertEqual((6, ""), (process.returncode, process.stdout))
        self.assertIn("no licence", process.stderr)
