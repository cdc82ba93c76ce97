# SPDX-License-Identifier: Apache-2.0
import csv
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

from rally_vmperf import errors
from rally_vmperf.baseline import store
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import report
from rally_vmperf.cmd.baselines import baseline_import
from rally_vmperf.records import journal
from rally_vmperf.report import export
from tests.unit import made
from tests.unit.report import rally_results
from tests.unit.workloads import golden


class ReportTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "page.html"

    def write(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return str(path)

    def journal(self, name="one", **arguments):
        written = journal.Journal(self.folder, name)
        for record in made.records(**arguments):
            written.append(record)
        made.keep_files(self.folder)
        return str(written.path)

    def run_command(self, *arguments):
        app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        command = report.Report(app, None)
        parser = command.get_parser("report")
        command.run(parser.parse_args(["-o", str(self.page), *arguments]))
        self.warnings = app.stderr.getvalue()
        return app.stdout.getvalue()

    def test_journal_without_limits(self):
        output = self.run_command(self.journal())
        self.assertIn("m1.small, 1 guest: figures without limits", output)
        self.assertIn(str(self.page), output)
        self.assertIn("No verdict", self.page.read_text())

    def test_journal_of_a_killed_run(self):
        path = pathlib.Path(self.journal())
        content = path.read_text()
        path.write_text(content[: len(content) * 3 // 4])
        limits = self.write(
            "limits.yaml", json.dumps({"vmperf_overhead": made.LIMITS})
        )
        self.run_command(str(path), "--limits", limits)
        text = self.page.read_text()
        self.assertIn("without a readable record: 1, not started: 1", text)
        self.assertIn("of the journal is cut off", text)

    def test_limits_of_the_file(self):
        limits = self.write(
            "limits.yaml", "vmperf_overhead: {max_percent: {'*': 99}}\n"
        )
        output = self.run_command(self.journal(), "--limits", limits)
        self.assertIn("passed", output)

    def test_limits_of_the_task(self):
        path = self.write(
            "task.json",
            json.dumps(
                rally_results.results(
                    [(made.records(), {"max_percent": {"*": 0.01}})]
                )
            ),
        )
        self.assertIn("failed", self.run_command(path))
        limits = self.write(
            "limits.yaml", "vmperf_overhead: {max_percent: {'*': 99}}\n"
        )
        self.assertIn("passed", self.run_command(path, "--limits", limits))

    def test_several_runs(self):
        output = self.run_command(
            self.journal(), self.journal("two", guests=2)
        )
        self.assertIn("m1.small, 2 guests", output)
        self.assertIn("Metric by flavor", self.page.read_text())

    def density(self):
        written = journal.Journal(self.folder, "curves")
        for record in made.few(made.density_records()):
            written.append(record)
        made.keep_files(self.folder)
        return str(written.path)

    def test_density_run_is_judged_by_its_slas(self):
        path = self.density()
        output = self.run_command(path)
        self.assertIn("1 to 3 guests: figures without limits", output)
        for limits, sentence in (
            (
                {"vmperf_degradation": {"max_percent": {"*": 95}}},
                "passed: 1 of 1",
            ),
            ({"vmperf_degradation": {"max_percent": {"*": 1}}}, "failed: "),
            (
                {"vmperf_fairness": {"min_index": {"*": 0.9}}},
                "figures without limits.\nFairness of ",
            ),
        ):
            limits = self.write("limits.yaml", json.dumps(limits))
            self.assertIn(sentence, self.run_command(path, "--limits", limits))

    def test_limits_by_sla_serve_runs_of_both_kinds(self):
        limits = {"vmperf_overhead": made.LIMITS, **made.DENSITY_LIMITS}
        path = self.write("limits.yaml", json.dumps(limits))
        output = self.run_command(
            self.journal(), self.density(), "--limits", path
        )
        self.assertEqual(0, output.count("without limits"))
        self.assertEqual("", self.warnings)
        self.run_command(self.journal("two"), "--limits", path)
        self.assertRegex(
            self.warnings,
            "^limits .*: vmperf_degradation is skipped: it applies to "
            "VMPerf.density\n",
        )

    def test_wrong_limits_are_refused_in_one_line(self):
        path = self.journal()
        for content, pattern in (
            ("max_percent: {'*': 5}", "is not an SLA of rally_vmperf"),
            ("vmperf_overhead: {max_percent: 5}", "max_percent"),
            (
                "vmperf_overhead: {max_percents: {'*': 5}}",
                "'max_percents' was unexpected",
            ),
            (
                "vmperf_spread: {over: intervals, max_cv_percent: {'*': 5}}",
                r"'over' was unexpected\); allowed keys: max_range_percent, "
                "max_cv_percent",
            ),
            (
                "vmperf_spread: {max_gsd_ratio: {'*': 5}}",
                r"'max_gsd_ratio' was unexpected\); allowed keys: max_range",
            ),
            ("a: b: c", "not valid YAML"),
            ("", "is empty; add an SLA"),
            (
                "vmperf_overhead: {max_percent: {a: 1}}\nfailure_rate: {}",
                "failure_rate: is not an SLA of rally_vmperf",
            ),
        ):
            limits = self.write("limits.yaml", content)
            refused = self.assertRaisesRegex(errors.VMPerfError, pattern)
            with refused as caught:
                self.run_command(path, "--limits", limits)
            self.assertNotIn("\n", str(caught.exception))

    def raw(self, *arguments):
        """Return the printed lines and the page about a guest's outputs."""
        registry = store.Store(self.folder / "registry")
        with mock.patch.object(
            rally_api,
            "open_baseline_store",
            autospec=True,
            return_value=registry,
        ):
            command = baseline_import.Import(mock.Mock(), None)
            parser = command.get_parser("baseline import")
            command.run(
                parser.parse_args(["metal", "--replace", output("all-none")])
            )
            printed = self.run_command("--raw", *arguments)
        return printed, self.page.read_text()

    def test_raw_outputs_against_a_limit(self):
        limits = self.write(
            "limits.yaml", "vmperf_overhead: {max_percent: {'disk.*': 40}}\n"
        )
        arguments = ("--baseline", "metal", "--limits", limits)
        for name, options, headline in (
            ("all-directsync", (), "passed: 1 of 1 metric"),
            ("all-unsafe", ("--physical-limit", "disk.*=330e6"), "void: "),
        ):
            printed, page = self.raw(
                *arguments, *options, "--guest", output(name)
            )
            self.assertIn(f"Guest compared with metal: {headline}", printed)
            self.assertIn(headline[1:], page)
            self.assertIn("disk.dd.write.bandwidth</span>", page)
            self.assertIn(f"outputs: {output(name)}", page)
            self.assertIn("<p>Disk: ", page)
            self.assertIn("Judged by the rules", page)
            self.assertIn("baseline metal, machine metal", page)

    def test_raw_outputs_without_limits(self):
        printed, page = self.raw(
            *("--baseline", "metal", "--guest", output("all-directsync"))
        )
        self.assertIn("figures without limits", printed)
        self.assertIn("No verdict", page)

    def test_options_of_raw_outputs_that_contradict(self):
        for options, message in (
            (("--raw",), "requires outputs of a guest: --guest FILE"),
            (("--raw", "run.json"), "not run.json; remove one of them"),
            (("run.json", "--guest", "x"), "--raw; add --raw"),
        ):
            with self.assertRaisesRegex(errors.VMPerfError, message):
                self.run_command(*options)

    def test_current_task(self):
        results = rally_results.results([(made.records(), made.LIMITS)])
        with mock.patch.object(
            rally_api,
            "load_results",
            autospec=True,
            return_value=results,
        ) as load_results:
            self.assertIn("1 of 7 metrics", self.run_command())
        load_results.assert_called_once_with(None, None)

    def test_formats(self):
        path = self.journal()
        limits = self.write(
            "limits.yaml", json.dumps({"vmperf_overhead": made.LIMITS})
        )
        for name in export.NAMES:
            options = ("--limits", limits, "--format", name)
            output = self.run_command(path, *options)
            self.assertIn(f"written to {self.page}", output)
            printed = self.run_command(path, *options, "-o", "-")
            self.assertEqual(self.page.read_text(), printed)
            self.assertIn("disk.fio.randread.iops", printed)
            self.assertEqual("", self.warnings)

    def test_format_of_raw_outputs(self):
        self.raw("--baseline", "metal", "--guest", output("all-directsync"))
        with mock.patch.object(
            rally_api,
            "open_baseline_store",
            autospec=True,
            return_value=store.Store(self.folder / "registry"),
        ):
            printed = self.run_command(
                *("--raw", "--baseline", "metal", "--format", "csv"),
                *("--guest", output("all-directsync"), "-o", "-"),
            )
        lines = [*csv.DictReader(io.StringIO(printed))]
        sides = {line["side"] for line in lines if line["row"] == "sample"}
        self.assertEqual({"guest", "bare_metal"}, sides)
        (figure,) = (line for line in lines if line["row"] == "figure")
        self.assertEqual("Guest compared with metal", figure["run"])

    def test_page_that_cannot_be_written(self):
        path = self.journal()
        self.page.mkdir()
        with self.assertRaisesRegex(errors.VMPerfError, "--output"):
            self.run_command(path)


def output(name):
    """Return the path of an output of dd."""
    return str(golden.DATA / f"dd-2019-{name}.txt")
