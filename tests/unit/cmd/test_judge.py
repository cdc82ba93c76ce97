# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that judges runs again."""

import contextlib
import csv
import dataclasses
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import judge
from rally_vmperf.cmd import rally_api
from rally_vmperf.cmd import raw_outputs
from rally_vmperf.cmd.baselines import baseline_import
from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.questions.overhead import run as overhead
from rally_vmperf.records import journal
from rally_vmperf.records import sources
from tests.unit import made
from tests.unit.report import rally_results
from tests.unit.runs import golden
from tests.unit.runs import whole
from tests.unit.workloads import golden as outputs

LOOSE = {"max_percent": {"*": 99}}
STRICT = {"max_percent": {"*": 0.01, "cpu.*": 99}}


@ddt.ddt
class TestJudge(unittest.TestCase):
    """One table and an exit code."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def judged(self, *arguments):
        """Return the exit code and the lines that were printed."""
        app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        command = judge.Judge(app, None)
        parser = command.get_parser("judge")
        code = command.run(parser.parse_args([*map(str, arguments)]))
        self.warnings = app.stderr.getvalue().splitlines()
        return code, app.stdout.getvalue().splitlines()

    def results(self, limits):
        return rally_results.results([(made.records(), limits)])

    def written(self, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content))
        return path

    def journal(self, **changes):
        written = journal.Journal(self.folder, "one")
        for record in made.records():
            written.append(made.with_fields(record, **changes))
        return written.path

    def density(self):
        """Return the journal of a run with one and with two guests."""
        written = journal.Journal(self.folder, "density")
        for record in made.density_records(levels=(1, 2)):
            written.append(record)
        return written.path

    def test_loss_of_the_solo_guest(self):
        """A file is checked as a task is: this limit could not fail."""
        limits = self.written(
            "limits.yaml",
            {"vmperf_degradation": {"max_percent": {"*": 5}, "levels": 1}},
        )
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "sla vmperf_degradation levels: a single guest shares its host",
        ):
            self.judged(self.density(), "--limits", limits)

    def test_values_of_the_solo_guest(self):
        limits = self.written(
            "limits.yaml",
            {"vmperf_degradation": {"min": {"cpu.*.rate": 1}, "levels": 1}},
        )
        code, lines = self.judged(self.density(), "--limits", limits)
        self.assertEqual(0, code, lines)
        self.assertIn("passed: cpu.", "\n".join(lines))

    @ddt.data((LOOSE, 0, "passed"), (STRICT, 2, "failed"))
    @ddt.unpack
    def test_results(self, limits, code, first):
        """By the limits of the task; what failed stands first."""
        path = self.written("results.json", self.results(limits))
        got, lines = self.judged(path)
        self.assertEqual(code, got)
        head = next(n for n, x in enumerate(lines) if x.startswith("VERDICT"))
        self.assertEqual(first, lines[head + 1].split()[0])
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertTrue(any("cpu.events.rate" in line for line in lines))

    def test_criteria_of_rally(self):
        """They count too; the package's own criteria are judged anew."""
        content = rally_results.results([([*made.records(), None], LOOSE)])
        path = self.written("results.json", content)
        limits = {"vmperf_overhead": {**LOOSE, "on_inconclusive": "pass"}}
        limits = self.written("limits.yaml", limits)
        code, lines = self.judged(path, "--limits", limits)
        self.assertEqual(2, code)
        self.assertIn("failure_rate of Rally: failed: 1 failed", lines)
        self.assertNotIn("an old sentence", "\n".join(lines))
        self.assertEqual(summary.RULES, lines[-1])

    def test_another_baseline(self):
        """Guests are compared with it; what was said of the other is gone."""
        fast = of_machine(self.measured_run(2), governor="ondemand")
        path = self.folder / "w.jsonl"
        _, lines = self.judged(path, *self.options)
        self.assertIn("void", lines[0])
        code, shown = self.judged_with(fast, path)
        self.assertEqual(2, code)
        self.assertIn("failed: ", shown)
        self.assertIn("governor_not_performance", shown)

    def test_a_baseline_that_is_added(self):
        """A run without bare metal is compared with one that came later."""
        recorded = self.measured_run(2, has_baseline=False)
        path = self.folder / "w.jsonl"
        code, lines = self.judged(path, *self.options)
        self.assertEqual(2, code)
        self.assertTrue(any(x.startswith("Not compared: ") for x in lines))
        code, shown = self.judged_with(recorded, path)
        self.assertEqual(2, code)
        self.assertIn("failed: ", shown)
        self.assertIn("overhead 50", shown)

    def measured_run(self, factor=1, has_baseline=True):
        """Measure a guest; return a baseline of another machine.

        :param factor: The factor of the baseline's rates to the guest's.
        :param has_baseline: Whether the run has a baseline.
        """
        rates = (8958.0, 8960.0, 8962.0)
        baseline = whole.baseline(self.folder, rates=rates)
        baseline = of_machine(baseline, virtualisation="kvm")
        outputs = [golden.sysbench(rate) for rate in rates]
        machine = golden.Machine("g1", outputs)
        case = whole.build_request(
            self.folder, baseline if has_baseline else None, machine
        )
        run = overhead.create_run(case)
        for number in (1, 2, 3):
            run.repeat(number)
        case.run_cache.close("w")
        config = self.folder / "rally.conf"
        config.write_text(
            f"[vmperf]\nbaseline_dir = {self.folder}/baselines\n"
            f"journal_dir = {self.folder}\n"
        )
        limits = {"vmperf_overhead": {"max_percent": {"*rate": 5}}}
        limits = self.written("limits.yaml", limits)
        self.options = ("--limits", limits, "--config-file", config)
        other = whole.baseline(
            self.folder / "other", rates=[factor * rate for rate in rates]
        )
        return dataclasses.replace(other, name="other")

    def judged_with(self, baseline, path):
        """Return the exit code and the text of a judgement by a baseline."""
        store.Store(self.folder / "baselines").save(baseline, replace=True)
        code, lines = self.judged(path, "--baseline", "other", *self.options)
        return code, " ".join(lines)

    def exported_run(self):
        """Return the run's results in the form of Rally's JSON."""
        records = journal.Journal(self.folder, "w").read()
        content = rally_results.results([(records, LOOSE)])
        for task in content["tasks"]:
            for workload in task["subtasks"][0]["workloads"]:
                workload["sla_results"] = {}
        return self.written("results.json", content)

    def test_machines_of_rallys_results(self):
        """They are compared with another baseline, as those of a journal."""
        other = self.measured_run()
        path = self.exported_run()
        code, shown = self.judged_with(other, path)
        self.assertEqual(0, code, shown)
        self.assertIn("Overhead of tiny, 1 guest", shown)
        changed = of_machine(other, {"sysbench": {"version": "0.4.12"}})
        code, shown = self.judged_with(changed, path)
        self.assertEqual(2, code)
        title = finding.KINDS["tool_version_differs"].title
        self.assertIn(title, shown)
        changed = of_machine(other, governor="ondemand")
        _, shown = self.judged_with(changed, path)
        self.assertIn("governor_not_performance", shown)

    def test_a_damaged_line_of_a_journal(self):
        """The other repetitions are judged, and the run does not pass."""
        for damage in ("[1]\n", '{"version"'):
            path = self.folder / "damaged.jsonl"
            path.unlink(missing_ok=True)
            written = journal.Journal(self.folder, "damaged")
            for record in made.records():
                written.append(record)
            made.keep_files(self.folder)
            limits = self.written(
                "limits.yaml", {"vmperf_overhead": LOOSE, "vmperf_valid": {}}
            )
            code, _ = self.judged(path, "--limits", limits)
            self.assertEqual(0, code)
            *lines, last = path.read_text().splitlines(keepends=True)
            if damage.endswith("\n"):
                lines[2:3], damage = [damage], last
            path.write_text("".join((*lines, damage)))
            code, printed = self.judged(path, "--limits", limits)
            self.assertEqual(2, code)
            text = " ".join(printed)
            self.assertIn("inconclusive", text)
            self.assertIn("without a readable record: 1 (", text)
            self.assertRegex(text, "line [0-9]+ of the journal is ")

    def test_damaged_records_with_another_baseline(self):
        """Records of a task are void, and a single one is rejected."""
        other = self.measured_run()
        content = json.loads(self.exported_run().read_text())
        (workload,) = content["tasks"][0]["subtasks"][0]["workloads"]
        for iteration in workload["data"]:
            (chart,) = iteration["output"]["complete"]
            del chart["data"]["shape"]
        path = self.written("damaged.json", content)
        code, shown = self.judged_with(other, path)
        self.assertEqual(2, code, shown)
        self.assertIn("void", shown)
        path = self.written("damaged.json", chart["data"])
        with self.assertRaisesRegex(
            sources.SourceError, r"damaged.json: not a record: \$\.shape: is"
        ):
            self.judged_with(other, path)

    @ddt.data("w.jsonl", "results.json")
    def test_unknown_machines(self, name):
        """They are void with a baseline other than that of the run."""
        other = self.measured_run()
        self.exported_run()
        path = self.folder / name
        record, *_ = journal.Journal(self.folder, "w").read()
        lost = self.folder / record.machines_file.name
        lost.unlink()
        code, shown = self.judged_with(other, path)
        self.assertEqual(2, code)
        self.assertIn("void: ", shown)
        self.assertIn("the fingerprint of g1 is unknown", shown)
        self.assertIn(lost.name, shown)
        _, lines = self.judged(path, *self.options)
        self.assertIn("Overhead of 1 CPU, 1 guest", lines[0])
        self.assertNotIn("is unknown", " ".join(lines))

    def test_unknown_tool(self):
        """One that another baseline lacks is void for its metrics."""
        other = of_machine(self.measured_run(), {})
        code, shown = self.judged_with(other, self.folder / "w.jsonl")
        self.assertEqual(2, code)
        self.assertIn("the version of sysbench on baseline is unknown", shown)

    def test_imported_baseline(self):
        """It has a warning of its own, and no unknown machines."""
        other = self.measured_run()
        imported = finding.Finding(
            kind="baseline_imported",
            subject="baseline",
            detail="3 repetitions",
        )
        (entry,) = other.entries
        entry = dataclasses.replace(entry, shape=None, findings=(imported,))
        other = dataclasses.replace(
            other,
            entries=(entry,),
            machine=document.BaselineMachine(name="m", fingerprint={}),
        )
        code, shown = self.judged_with(other, self.folder / "w.jsonl")
        self.assertEqual(0, code, shown)
        self.assertIn("baseline_imported", shown)

    @ddt.data(
        ({"max_percent": {"disk.*": 100}}, r"'disk\.\*' is 100, but disk\."),
        ({"max_percent": {"cpu.*": 5, "*.latency.*": 9}}, "both match cpu.l"),
        ({"min": {"disk.*": 0}}, r"'disk\.\*' is 0, but disk\..*always"),
    )
    @ddt.unpack
    def test_limits_that_cannot_fail(self, limits, pattern):
        """They are refused as in a task, in one line."""
        path = self.written("results.json", self.results(LOOSE))
        limits = self.written("limits.yaml", {"vmperf_overhead": limits})
        refused = f"^limits {limits}: sla vmperf_overhead .*{pattern}"
        with self.assertRaisesRegex(errors.VMPerfError, refused):
            self.judged(path, "--limits", limits)

    def test_patterns_that_are_no_text(self):
        """They are rejected in one line, like limits that cannot fail."""
        path = self.written("results.json", self.results(LOOSE))
        file = self.folder / "limits.yaml"
        file.write_text("vmperf_overhead: {max_percent: {5: 5}}")
        with self.assertRaisesRegex(
            errors.VMPerfError,
            f"^limits {file}: vmperf_overhead.max_percent: 5 is not of type",
        ):
            self.judged(path, "--limits", str(file))

    @ddt.data("csv", "json")
    def test_formats(self, name):
        """Figures and verdicts, without samples; the exit code is the same."""
        path = self.written("results.json", self.results(STRICT))
        code, lines = self.judged(path, path, "-f", name)
        self.assertEqual(2, code)
        text = "\n".join(lines)
        if name == "json":
            rows = json.loads(text)["rows"]
        else:
            rows = [*csv.DictReader(lines)]
        verdicts = [row for row in rows if row["row"] == "verdict"]
        figures = [row for row in rows if row["row"] == "figure"]
        self.assertEqual(len(rows), len(verdicts) + len(figures))
        overhead = [v for v in verdicts if v["criterion"] == "overhead"]
        self.assertEqual(["failed"] * 2, [row["status"] for row in overhead])

    def test_limits_of_a_file(self):
        """Replace those of the task."""
        path = self.written("results.json", self.results(STRICT))
        limits = self.written("limits.yaml", {"vmperf_overhead": LOOSE})
        self.assertEqual(0, self.judged(path, "--limits", limits)[0])

    def test_slas_that_do_not_apply(self):
        """They are skipped with one line each, and change no verdict."""
        others = {
            "vmperf_degradation": {"max_percent": {"*": 1}},
            "vmperf_neighbours": {"max_percent": {"*": 1}},
        }
        limits = {"vmperf_overhead": LOOSE, "vmperf_valid": {}, **others}
        limits = self.written("limits.yaml", limits)
        code, lines = self.judged(self.journal(), "--limits", limits)
        self.assertEqual(0, code, lines)
        self.assertEqual(
            [
                f"limits {limits}: vmperf_degradation is skipped: it applies "
                "to VMPerf.density",
                f"limits {limits}: vmperf_neighbours is skipped: it applies "
                "to VMPerf.overhead and VMPerf.density with neighbours",
            ],
            self.warnings,
        )

    def test_journal(self):
        """Without limits it is judged by those of a file."""
        path = self.journal()
        with self.assertRaisesRegex(errors.VMPerfError, "with --limits"):
            self.judged(path)
        limits = self.written("limits.yaml", {"vmperf_overhead": STRICT})
        self.assertEqual(2, self.judged(path, "--limits", limits)[0])

    def test_limits_of_another_question(self):
        """The message names the scenario of the run and of the limits."""
        path = self.journal()
        limits = {"vmperf_degradation": {"max_percent": {"*": 10}}}
        file = self.written("limits.yaml", limits)
        with self.assertRaisesRegex(
            errors.VMPerfError,
            f"^{path} is a run of VMPerf.overhead; limits {file}: "
            "vmperf_degradation is skipped: it applies to VMPerf.density$",
        ):
            self.judged(path, "--limits", file)

    def test_recording_of_bare_metal(self):
        """Its journal has no verdict, and the baseline has its figures."""
        record = made.document(made.run_record(), question="recording")
        path = self.written("recording.json", record)
        with self.assertRaisesRegex(
            sources.SourceError, "recording of bare metal.* baseline show NAME"
        ):
            self.judged(path)

    @ddt.data((LOOSE, 0), (STRICT, 2))
    @ddt.unpack
    def test_limits_of_a_journal(self, limits, code):
        """A journal has those of its task, which a file replaces."""
        path = self.journal(criteria={"vmperf_overhead": limits})
        self.assertEqual(code, self.judged(path)[0])
        limits = self.written("limits.yaml", {"vmperf_overhead": LOOSE})
        self.assertEqual(0, self.judged(path, "--limits", limits)[0])

    def test_one_record(self):
        """It is too little to be passed."""
        path = self.written("one.json", made.document(made.records()[-1]))
        limits = self.written("limits.yaml", {"vmperf_overhead": LOOSE})
        code, lines = self.judged(path, "--limits", limits)
        self.assertEqual(2, code)
        self.assertIn("inconclusive", lines[0])

    def test_a_record_counts_once(self):
        """Three times the same line is one repetition, and a line says so."""
        path = self.journal()
        line = path.read_text().splitlines()[-1]
        path.write_text(f"{line}\n" * 3)
        limits = self.written("limits.yaml", {"vmperf_overhead": LOOSE})
        code, lines = self.judged(path, "--limits", limits)
        self.assertEqual(2, code)
        self.assertIn("inconclusive", lines[0])
        self.assertIn("repetition_duplicated", " ".join(lines))

    @ddt.data(([], None), (["some-uuid"], "some-uuid"))
    @ddt.unpack
    def test_task(self, arguments, task):
        """Rally loads a task that is not a file."""
        with mock.patch.object(
            rally_api,
            "load_results",
            autospec=True,
            return_value=self.results(LOOSE),
        ) as results:
            self.assertEqual(0, self.judged(*arguments)[0])
        results.assert_called_once_with(None, task)

    def test_task_that_only_the_journals_have(self):
        """On another machine, Rally does not know it."""
        limits = {"vmperf_overhead": LOOSE}
        task = "11111111-2222-3333-4444-555555555555"
        self.journal(criteria=limits, task=task)
        with mock.patch.object(
            rally_api,
            "load_results",
            autospec=True,
            side_effect=ValueError("no such task"),
        ):
            options = ("--journal-dir", self.folder)
            self.assertEqual(0, self.judged(task, *options)[0])
            with self.assertRaisesRegex(errors.VMPerfError, "no such task"):
                self.judged(task.replace("5", "6"), *options)

    def test_no_such_task(self):
        """In one line."""
        error = ValueError(
            "file nowhere does not exist, no journal has a run, a task or a "
            "host of this name, and Rally reports: no"
        )
        with (
            mock.patch.object(
                rally_api, "load_results", autospec=True, side_effect=error
            ),
            self.assertRaisesRegex(errors.VMPerfError, "nowhere"),
        ):
            self.judged("nowhere")

    def test_no_such_file(self):
        """In one line."""
        with self.assertRaisesRegex(sources.SourceError, "No such file"):
            self.judged(self.folder / "gone.json")


@ddt.ddt
class TestJudgeRaw(unittest.TestCase):
    """Outputs of a guest's tools against a baseline, without a cloud."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )
        registry = store.Store(self.folder / "baselines")
        self.enterContext(
            mock.patch.object(
                rally_api,
                "open_baseline_store",
                autospec=True,
                return_value=registry,
            )
        )
        self.run_command(baseline_import.Import, "metal", data("all-none"))

    def run_command(self, kind, *arguments):
        """Return the exit code and the lines that were printed."""
        app = mock.Mock(stdout=io.StringIO())
        command = kind(app, None)
        parsed = command.get_parser("x").parse_args(arguments)
        return command.run(parsed), app.stdout.getvalue().splitlines()

    def judged(self, *arguments):
        """Return the exit code and the lines of a judgement of outputs."""
        options = ("--baseline", "metal", "--raw", *arguments)
        return self.run_command(judge.Judge, *options)

    def test_within_a_limit(self):
        """A row for each metric, the verdict, and a sentence for the disk."""
        limits = self.folder / "limits.yaml"
        limits.write_text("vmperf_overhead: {max_percent: {'disk.*': 40}}\n")
        code, lines = self.judged(
            *("--guest", data("all-directsync"), "--limits", str(limits)),
            *("--physical-limit", "disk.*=330e6"),
        )
        head, row, *sentences = lines
        self.assertEqual(0, code)
        self.assertTrue(head.startswith("METRIC  "))
        self.assertRegex(row, r"^disk.dd.write.bandwidth +.* %  .* passed")
        self.assertTrue(
            any(x.startswith("Disk: the guest") for x in sentences)
        )

    def test_nothing_held_to_a_limit_is_no_pass(self):
        """There are figures, and exit code 2."""
        code, lines = self.judged("--guest", data("all-unsafe"))
        self.assertEqual(2, code)
        self.assertRegex(lines[1], "no limit")
        self.assertRegex(lines[2], "^void: ")

    def test_limits_without_a_file(self):
        """A number applies to all metrics, and a pattern to some."""
        for limits, code, status in (
            (["40%"], 0, "passed"),
            (["-20"], 2, "failed"),
            (["-20", "disk.dd.*=40"], 0, "passed"),
            (["-20", "cpu.*=40"], 2, "failed"),
            (["cpu.*=5"], 2, "no limit"),
        ):
            options = [part for limit in limits for part in ("--limit", limit)]
            with contextlib.redirect_stderr(io.StringIO()) as stream:
                got, lines = self.judged(
                    "--guest", data("all-directsync"), *options
                )
            self.assertEqual(code, got, limits)
            self.assertRegex(lines[1], status)
            unmatched = limits[-1].startswith("cpu")
            self.assertIs(unmatched, "limits of --limit" in stream.getvalue())

    def test_limit_of_all_metrics_next_to_another(self):
        """It applies to metrics that only bare metal has, too."""
        sysbench = str(outputs.DATA / "sysbench-1.0.20-cpu.txt")
        code, lines = self.run_command(
            judge.Judge,
            *("--raw", "--bare-metal", data("all-none"), sysbench),
            *("--guest", data("all-directsync")),
            *("--limit", "40", "--limit", "disk.dd.*=40"),
        )
        self.assertEqual(2, code)
        self.assertRegex(
            "\n".join(lines), r"(?m)^cpu\.sysbench\.rate .*not compared$"
        )

    def test_no_limit(self):
        """A limit is a number, or a metric and a number."""
        for limit in ("disk.*", "=3", "disk.*=fast", "nan", "x=inf"):
            with (
                self.assertRaises(SystemExit),
                contextlib.redirect_stderr(io.StringIO()) as stream,
            ):
                self.judged("--limit", limit)
            self.assertIn(
                "must be PERCENT or METRIC=PERCENT", stream.getvalue()
            )

    def test_what_bare_metal_lacks_has_a_row(self):
        """It says so."""
        guest = outputs.DATA / "iperf-r730xd-2019-guest.txt"
        _, lines = self.judged("--guest", str(guest))
        self.assertRegex(lines[1], "^network.iperf2.to_peer.throughput  -")
        self.assertLess(len(lines[0]), 100)
        self.assertRegex(lines[1], "not compared$")
        self.assertIn("disk.dd.*", lines[-1])

    def test_two_files(self):
        """Bare metal needs no name."""
        options = ("--raw", "--bare-metal", data("all-none"), "--guest")
        code, lines = self.run_command(
            judge.Judge, *options, data("all-directsync")
        )
        self.assertEqual(2, code)
        self.assertRegex(lines[1], "^disk.dd.write.bandwidth +.* no limit")
        self.assertEqual(
            "inconclusive: no limit was given; add --limit 10 for an overhead "
            "of at most 10 %",
            lines[2],
        )

    def test_the_same_output_on_both_sides(self):
        """A glob was mistaken."""
        path = data("all-none")
        with self.assertRaisesRegex(
            errors.VMPerfError, "all-none.txt: was given twice"
        ):
            self.run_command(
                judge.Judge, "--raw", "--bare-metal", path, "--guest", path
            )

    def test_one_output_of_each_side(self):
        """The user reads how many outputs decide."""
        options = []
        for option, name in (("bare-metal", "baremetal"), ("guest", "guest")):
            path = outputs.DATA / f"iperf-r730xd-2019-{name}.txt"
            options += [f"--{option}", str(path)]
        _, lines = self.run_command(judge.Judge, "--raw", *options)
        self.assertEqual(
            "An interval requires 3 outputs of each side at least. If they "
            "vary by 2 %, it is then the overhead +/- 4.5 %; with 5 outputs "
            "+/- 2.9 %.",
            lines[-1],
        )

    def test_usual_precision(self):
        for confidence, widths in raw_outputs._USUAL_PRECISION.items():
            for width, count in zip(widths, (3, 5), strict=True):
                self.assertAlmostEqual(
                    100
                    * statistics.half_width(
                        0.02**2, count, 0.02**2, count, confidence
                    ),
                    width,
                    places=3,
                )

    def test_first_example(self):
        """The page has what the command prints."""
        options = []
        for option, name in (("bare-metal", "baremetal"), ("guest", "guest")):
            paths = outputs.DATA.glob(f"sysbench-emulated-{name}-*.txt")
            options += [f"--{option}", *map(str, sorted(paths))]
        code, lines = self.run_command(
            judge.Judge, "--raw", *options, "--limit", "10"
        )
        self.assertEqual(2, code)
        page = pathlib.Path("doc/source/raw-outputs.rst").read_text()
        _, _, example = page.partition(".. code-block:: text\n\n")
        self.assertEqual(
            example[: example.index("\n\n")],
            "\n".join(f"    {line}" for line in lines),
        )
        self.assertIn("205 events/s in place of 3 260", self.readme())

    @staticmethod
    def readme():
        """Return the README with single blanks."""
        return " ".join(pathlib.Path("README.rst").read_text().split())

    def test_names_with_equals_signs(self):
        """Files and patterns can have them."""
        path = self.folder / "a=b.txt"
        path.write_text("rate: 5 a=7\n")
        argument = f"job:pattern=rate: 5 a=([0-9]):name=rate={path}"
        (raw_output,) = raw_outputs.read_outputs([argument])
        self.assertEqual(7, raw_output.repetitions[0][0].value)

    def test_limits_that_match_nothing(self):
        """They are named."""
        limits = self.folder / "limits.yaml"
        limits.write_text(
            "vmperf_overhead: {max_percent: {'cpu.*': 40}}\n"
            "vmperf_degradation: {max_percent: {'cpu.*': 40}}\n"
        )
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            code, _ = self.judged(
                *("--guest", data("all-directsync"), "--limits", str(limits))
            )
        self.assertEqual(2, code)
        self.assertIn("'cpu.*' matches no metric", stderr.getvalue())
        self.assertIn("vmperf_degradation is not judged", stderr.getvalue())

    def test_physical_limit_in_the_file(self):
        """As in a task."""
        limits = self.folder / "limits.yaml"
        limits.write_text(
            "vmperf_overhead: {max_percent: {'disk.*': 40}}\n"
            "vmperf_valid: {physical_limit: {'disk.*': 330.0e+6}}\n"
        )
        code, lines = self.judged(
            *("--guest", data("all-unsafe"), "--limits", str(limits))
        )
        self.assertEqual(2, code)
        self.assertTrue(any("above_physical_limit" in x for x in lines))

    @ddt.data(
        (
            "vmperf_valid: {physical_limit: {'cpu.*': 1, 'disk.*': 9.0e+9}}",
            "limits {path}: physical_limit: 'cpu.*' matches no metric (there "
            "are: disk.dd.write.bandwidth)",
            2,
            "inconclusive: ",
        ),
        (
            "vmperf_valid: {refuse: [interval_one_session]}",
            "limits {path}: refuse of vmperf_valid is not judged: --raw "
            "judges physical_limit only",
            0,
            "passed",
        ),
        (
            "vmperf_valid: {physical_limit: {'disk.*': 9.0e+9}}",
            "",
            0,
            "passed",
        ),
    )
    @ddt.unpack
    def test_unused_limits_of_findings(self, limits, message, code, status):
        """They are named, and one that matches no metric is not met."""
        path = self.folder / "limits.yaml"
        path.write_text(
            f"vmperf_overhead: {{max_percent: {{'disk.*': 40}}}}\n{limits}\n"
        )
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            found, lines = self.judged(
                *("--guest", data("all-directsync"), "--limits", str(path))
            )
        self.assertEqual(code, found)
        self.assertRegex(lines[2], f"^{status}")
        self.assertEqual(
            message.format(path=path), stderr.getvalue().strip("\n")
        )

    def test_version_of_a_measured_program(self):
        """The verdict names both versions, unless the file tolerates it."""
        text = (outputs.DATA / "sysbench-1.0.20-cpu.txt").read_text()
        sides = {"--bare-metal": [], "--guest": []}
        for number in range(3):
            for side, version in zip(sides, ("1.0.20", "1.0.18"), strict=True):
                path = self.folder / f"{version}-{number}.txt"
                changed = text.replace("1.0.20", version)
                path.write_text(f"{changed}# {number}\n")
                sides[side].append(str(path))
        options = ["--raw"]
        for side, paths in sides.items():
            options += [side, *paths]
        limits = self.folder / "limits.yaml"
        for tolerate, code, status in (
            ("", 2, "void"),
            (", tolerate: [tool_version_differs]", 0, "passed"),
        ):
            limits.write_text(
                "vmperf_overhead: {max_percent: {'cpu.*': 40}"
                f"{tolerate}}}\n"
            )
            with contextlib.redirect_stderr(io.StringIO()):
                found, lines = self.run_command(
                    judge.Judge, *options, "--limits", str(limits)
                )
            self.assertEqual(code, found, lines)
            self.assertTrue(
                any(line.startswith(f"{status}: ") for line in lines)
            )
            self.assertIs(
                status == "void",
                "The tool has another version on each side (guest: sysbench: "
                "bare metal sysbench 1.0.20, guest sysbench 1.0.18)." in lines,
            )

    def test_physical_limit_that_matches_nothing(self):
        """It is named as one of a file is."""
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            code, lines = self.judged(
                *("--guest", data("all-directsync"), "--limit", "40"),
                *("--physical-limit", "cpu.*=1"),
            )
        self.assertEqual(2, code)
        self.assertRegex(lines[2], "^inconclusive: ")
        self.assertEqual(
            "--physical-limit: 'cpu.*' matches no metric (there are: "
            "disk.dd.write.bandwidth)",
            stderr.getvalue().strip(),
        )

    def test_outputs_of_other_command_lines(self):
        """They are compared where the user allows it."""
        other = self.folder / "other.txt"
        other.write_text(
            pathlib.Path(data("all-none"))
            .read_text()
            .replace("fdatasync", "fsync")
        )
        with self.assertRaisesRegex(
            errors.VMPerfError, "'fsync' in the guest; .* --allow argum"
        ):
            self.judged("--guest", str(other))
        code, lines = self.judged(
            "--guest", str(other), "--allow", "arguments"
        )
        self.assertEqual(2, code)
        self.assertRegex(lines[1], "no limit")

    def test_no_bound(self):
        """A bound is a metric and a number."""
        for limit in ("disk.*", "=3", "disk.*=fast", "disk.*=-1", "x=inf"):
            with (
                self.assertRaises(SystemExit),
                contextlib.redirect_stderr(io.StringIO()) as stream,
            ):
                self.judged("--physical-limit", limit)
            self.assertIn("must be METRIC=VALUE", stream.getvalue())

    def test_options_that_do_not_go_together(self):
        """One line each."""
        for options, message in (
            (("--raw",), "requires outputs of a guest: --guest FILE"),
            (("--raw", "--guest", "x"), "either --bare-metal FILE... or"),
            (("--raw", "run.json"), "not run.json; remove one of them"),
            (("--guest", "x"), "require --raw; add --raw"),
            (("--physical-limit", "x=1"), "require --raw; add --raw"),
            (("--limit", "9"), "give the limits of runs with --limits"),
            (
                ("--raw", "--limit", "9", "--limits", "x", "--guest", "x"),
                "--limit and --limits both have limits; remove one",
            ),
            (
                (
                    *("--raw", "--guest", "x", "--limit", "9"),
                    *("--limit", "disk.*=3", "--limit", "20"),
                ),
                r"--limit: two limits for '\*', 9 and 20; remove one",
            ),
            (
                (
                    *("--raw", "--guest", "x", "--physical-limit", "x=1"),
                    *("--physical-limit", "x=2"),
                ),
                "--physical-limit: two limits for 'x', 1 and 2; remove one",
            ),
        ):
            with self.assertRaisesRegex(errors.VMPerfError, message):
                self.run_command(judge.Judge, *options)


def of_machine(baseline, tools=None, **facts):
    """Return a baseline whose machine has other facts or tools."""
    machine = baseline.machine
    machine = dataclasses.replace(
        machine,
        fingerprint={**machine.fingerprint, **facts},
        tools=machine.tools if tools is None else tools,
    )
    return dataclasses.replace(baseline, machine=machine)


def data(name):
    """Return the path of an output of dd."""
    return str(outputs.DATA / f"dd-2019-{name}.txt")
