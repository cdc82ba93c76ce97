# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that runs a task."""

import io
import os
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.cmd import plan
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import task_file
from rally_vmperf.cmd.start import task_run
from tests.unit import made
from tests.unit.report import rally_results

UUID = "11111111-2222"


@ddt.ddt
class RunTest(unittest.TestCase):
    """The plan, the verdicts, the page, and the exit code of Rally."""

    def setUp(self):
        """Have a task in Rally, and a directory for the page."""
        super().setUp()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        pathlib.Path("t.yaml").touch()
        self.planned = plan.TaskPlan(minutes=14)
        self.outcome = "passed"

    def run_command(self, limits, *options):
        """Run a task with these limits; return the code and the lines."""
        results = rally_results.results([(made.records(), limits)])
        app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        with (
            mock.patch.object(
                plan, "create_plan", autospec=True, return_value=self.planned
            ),
            mock.patch.object(
                task_file, "render", autospec=True, return_value={}
            ),
            mock.patch.object(
                rally_api,
                "run_task",
                autospec=True,
                side_effect=lambda *_: (UUID, self.outcome),
            ) as self.started,
            mock.patch.object(
                rally_api, "load_results", autospec=True, return_value=results
            ),
        ):
            command = task_run.Run(app, None)
            parser = command.get_parser("run")
            code = command.run(
                parser.parse_args(
                    ["t.yaml", "--config-file", os.devnull, *options]
                )
            )
        self.warnings = app.stderr.getvalue()
        return code, app.stdout.getvalue().splitlines()

    @ddt.data(("passed", 99, 0), ("failed", 0.01, 2))
    @ddt.unpack
    def test_verdict(self, verdict, limit, code):
        """It is the last line, after the table and the page."""
        self.outcome = verdict
        limits = {"max_percent": {"cpu.*": limit}}
        exit_code, lines = self.run_command(limits)
        self.assertEqual(code, exit_code)
        self.assertEqual(
            ["task: t.yaml", "duration: about 14 minutes"], lines[:2]
        )
        self.assertEqual(f"verdict: {verdict}", lines[-1])
        page = pathlib.Path(self.folder, "report.html").resolve()
        self.assertEqual(f"page: {page}", lines[-2])
        self.assertIn("<html", page.read_text())

    def test_quick(self):
        """The verdict is marked."""
        _, lines = self.run_command({}, "--quick")
        self.assertRegex(lines[-1], "^verdict: .* .quick: short measurements")

    def test_page_of_another_run(self):
        """It is not overwritten."""
        pathlib.Path("report.html").write_text("earlier")
        _, lines = self.run_command({})
        self.assertTrue(lines[-2].endswith(f"/report-{UUID}.html"))
        self.assertEqual("earlier", pathlib.Path("report.html").read_text())

    def test_rejected_plan(self):
        """Nothing is started."""
        self.planned.is_rejected = True
        self.planned.remarks.append("T: rejected: no quota")
        self.assertEqual((1, ["task: t.yaml"]), self.run_command({}))
        self.assertIn("rejected: no quota", self.warnings)
        self.started.assert_not_called()

    def test_task_that_did_not_run(self):
        """The exit code is not that of a verdict."""
        self.outcome = "error"
        code, lines = self.run_command({})
        self.assertEqual(1, code)
        self.assertIn(f"rally task detailed {UUID}", self.warnings)
        self.assertFalse(lines[-1].startswith("verdict"))
