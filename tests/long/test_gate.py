# SPDX-License-Identifier: Apache-2.0
"""The job of GitLab CI that runs Rally, as ``etc/`` has it."""

import json
import pathlib
import shutil
import tempfile
import xml.etree.ElementTree as ET

import yaml

from rally_vmperf.records import journal
from tests.functional import gate
from tests.functional import laboratory
from tests.functional import test_main_job
from tests.long import long
from tests.unit.doc import gitlab

TASK = laboratory.TOP / "tasks" / "kvm-overhead.yaml"
WIDE = {
    key: value
    for key, value in test_main_job.OVERHEAD["max_percent"].items()
    if not key.startswith("network.")
}


def create_limits(**percent):
    """Return limits that the guests keep, with others in percent."""
    sla = {
        "max_percent": {**WIDE, **percent},
        "tolerate": test_main_job.OVERHEAD["tolerate"],
    }
    return {"vmperf_overhead": sla}


#: The main job without a peer.
ARGUMENTS = {
    **test_main_job.SMALL,
    "baseline": "gate",
    "limits": create_limits(),
    "guest_options": {"ssh_timeout": 600},
}


@long.LONG
class TestGate(laboratory.Case):
    """The script runs in a checkout with a baseline and arguments."""

    def setUp(self):
        """Record the baseline into the checkout."""
        super().setUp()
        lab = self.laboratory
        lab.use("member")
        lab.record_baseline(
            "gate",
            *("--task", str(TASK), "--task-args", json.dumps(ARGUMENTS)),
        )
        self.job = gitlab.read_job("gate.gitlab-ci.yaml")
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir=lab.folder))
        )
        baselines = self.folder / "baselines"
        baselines.mkdir()
        shutil.copy(lab.folder / "baselines" / "gate.json", baselines)

    def run_job(self, **arguments):
        """Run the job with arguments; return how its script ended."""
        install, *commands = self.job["script"]
        self.assertIn("pip install", install)
        content = yaml.safe_dump({"task": str(TASK), **ARGUMENTS, **arguments})
        (self.folder / "vmperf.yaml").write_text(content)
        # Each job has a machine of its own.
        home = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory(dir=self.folder))
        )
        variables = {
            **laboratory.environment(home),
            **{
                name: path.replace("$CI_PROJECT_DIR", str(self.folder))
                for name, path in self.job["variables"].items()
            },
            "OS_CLIENT_CONFIG_FILE": f"{laboratory.CLOUD}/clouds.yaml",
            "OS_CLOUD": "vmperf-member",
        }
        process = gate.shell(commands, self.folder, **variables)
        gate.shell(self.job["after_script"], self.folder, **variables)
        clouds = yaml.safe_load(
            pathlib.Path(variables["OS_CLIENT_CONFIG_FILE"]).read_text()
        )
        password = clouds["clouds"]["vmperf-member"]["auth"]["password"]
        self.assertNotIn(password, process.stdout + process.stderr)
        return process

    def count_verdicts(self):
        """Return tests and failures of the JUnit file, which is removed."""
        page, _ = self.job["artifacts"]["paths"]
        junit = self.folder / self.job["artifacts"]["reports"]["junit"]
        cases = list(ET.parse(junit).iter("testcase"))
        failed = [case for case in cases if case.find("failure") is not None]
        self.assertIn("<html", (self.folder / page).read_text())
        for file in (junit, self.folder / page):
            file.unlink()
        return len(cases), len(failed)

    def test_passed(self):
        """Exit code 0, and each record is complete."""
        process = self.run_job()
        self.assertEqual(
            0, process.returncode, laboratory.problem_lines(process)
        )
        total, failed = self.count_verdicts()
        self.assertLess(0, total)
        self.assertEqual(0, failed)
        (path,) = (self.folder / "journal").glob("*.jsonl")
        records = journal.Journal(path.parent, path.stem).read()
        self.assertEqual(
            ["complete"] * 3, [record.repetition.state for record in records]
        )

    def test_not_passed(self):
        """Exit code 2, and the page and the JUnit file exist."""
        limits = create_limits(**{"memory.*": -100000})
        process = self.run_job(limits=limits)
        self.assertEqual(
            2, process.returncode, laboratory.problem_lines(process)
        )
        _, failed = self.count_verdicts()
        self.assertLess(0, failed)

    def test_not_run(self):
        """Another exit code with one line, and nothing was booted."""
        process = self.run_job(flavors=["absent"])
        self.assertEqual(
            1, process.returncode, laboratory.problem_lines(process)
        )
        self.assertIn("absent", process.stderr)
        self.assertNotIn("duration: about", process.stdout)
        self.assertEqual([], list(self.folder.glob("journal/*.jsonl")))
