# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that compares runs."""

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
from rally_vmperf import sanitize
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import compare
from rally_vmperf.measurement import finding
from rally_vmperf.records import journal
from rally_vmperf.records import model
from tests.unit import made
from tests.unit.hostile import attacks
from tests.unit.hostile import records as hostile_records
from tests.unit.questions import golden_runs
from tests.unit.report import rally_results

RATE = "disk.fio.randread.iops"
COUNT = "network.iperf3.to_peer.retransmits"
PASS = ("--on-inconclusive", "pass")
#: The golden runs that lack measurements.
INCOMPLETE = ("event",)


def slow_records():
    """Return records with 80 % of a rate."""
    return made.with_factor(made.records(), 0.8, RATE)


class CompareTestCase(unittest.TestCase):
    """Journals in a folder, and what the command prints about them."""

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder)
        self.config = self.folder / "rally.conf"
        self.config.write_text(
            f"[vmperf]\nbaseline_dir = {self.folder}/baselines\n"
            f"journal_dir = {self.folder}\n"
        )

    def journal(self, name, records, **changes):
        """Write records to a journal; return its path.

        :param changes: Other fields of the records.
        """
        written = journal.Journal(self.folder, name)
        for record in records:
            written.append(made.with_fields(record, **changes))
        made.keep_files(self.folder)
        return written.path

    def copy_golden(self, name, change=lambda record: record):
        """Write a changed copy of a golden run; return both paths.

        :param change: A function that returns a changed record.
        """
        path = golden_runs.journal(name)
        for file in path.parent.glob("*.gz"):
            (self.folder / file.name).write_bytes(file.read_bytes())
        records = golden_runs.source(name).records
        return path, self.journal("other", map(change, records))

    def register(self):
        """Register the baseline of a golden run as ``old``."""
        path = golden_runs.FOLDER / "overhead-passed" / "baseline.json"
        content = {**json.loads(path.read_text()), "name": "old"}
        registry = store.Store(self.folder / "baselines")
        registry.save(document.decode(content, str(path)))

    def limits(self, text):
        """Return the path of a limits file."""
        path = self.folder / "limits.yaml"
        path.write_text(text)
        return path

    def printed(self, code, *arguments):
        """Return what the command prints that ends with a code."""
        app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        command = compare.Compare(app, None)
        command_arguments = [
            *map(str, arguments),
            "--config-file",
            str(self.config),
        ]
        parsed = command.get_parser("compare").parse_args(command_arguments)
        got = command.run(parsed)
        self.warnings = app.stderr.getvalue().splitlines()
        self.assertEqual(code, got, self.warnings)
        return app.stdout.getvalue()

    def results(self, code, *arguments):
        """Return the rows of the command as JSON."""
        return json.loads(self.printed(code, *arguments, "-f", "json"))


@ddt.ddt
class TestTwoRuns(CompareTestCase):
    """The second compared with the first."""

    def test_a_lost_guest(self):
        """The others of its host had more of it: equal rates prove nothing."""

        def remove(condition):
            return dataclasses.replace(
                made.vary(
                    condition,
                    lambda name, value, guest: (
                        None if guest == "g3" else value
                    ),
                ),
                machines=("g1", "g2"),
            )

        records = made.guest_records(guests=3)
        lost = [*records[:4], *made.with_conditions(records[4:], remove)]
        alone = made.with_conditions(records, remove)
        paths = [
            self.journal(name, run_records)
            for name, run_records in (
                ("all", records),
                ("lost", lost),
                ("alone", alone),
            )
        ]
        sentence = "some or all repetitions measured 2 of 3 guests"
        for index in (1, 2):
            self.results(2, paths[0], paths[index], *PASS)
            self.assertIn(f"{paths[index].stem}: {sentence}", self.warnings)
            self.results(2, paths[index], paths[0], *PASS)
            self.assertIn(f"{paths[index].stem}: {sentence}", self.warnings)
        self.results(0, paths[2], paths[2], *PASS)
        self.assertNotIn(sentence, "\n".join(self.warnings))

    def test_a_void_repetition(self):
        """It is omitted, and named."""
        records = made.guest_records()
        void = [
            made.with_finding(record, "clock_wrong", "g1", "10 s behind")
            if record.repetition.number == 3
            else record
            for record in records
        ]
        path = self.journal("void", void)
        self.results(0, self.journal("first", records), path, *PASS)
        self.assertIn(
            "void: 1 repetition of 5 is void and omitted (3): The machine's "
            "clock differs from the controller's (g1: 10 s behind)",
            self.warnings,
        )

    def test_a_void_level(self):
        """A condition whose repetition is omitted is named with it."""
        void = finding.Finding("swap_or_oom", "g1", "1 page")
        records = [
            made.with_fields(
                record,
                question="tuning",
                conditions=tuple(
                    dataclasses.replace(
                        record.repetition.conditions[0],
                        axes={"variant": name},
                        findings=(void,)
                        if name == "b" and record.repetition.number == 3
                        else (),
                    )
                    for name in ("a", "b")
                ),
            )
            for record in made.guest_records()
        ]
        path = self.journal("void", records)
        self.results(0, path, path, *PASS)
        self.assertIn(
            "void: variant b: 1 repetition of 5 is void and omitted (3): The "
            "machine swapped, or the kernel killed a process (g1: 1 page)",
            self.warnings,
        )

    def test_runs_without_bare_metal(self):
        """Guests are compared with guests, in each metric."""
        first = self.journal("first", made.guest_records())
        slow = made.with_factor(made.guest_records(), 0.8, RATE)
        second = self.journal("second", slow)
        rows = self.results(2, first, second)
        self.assertEqual({*made.METRICS}, {row["Metric"] for row in rows})
        self.assertEqual(
            {RATE: "worse"},
            {
                row["Metric"]: row["Result"]
                for row in rows
                if row["Result"] == "worse"
            },
        )

    @ddt.data(*golden_runs.journals())
    def test_a_run_and_itself(self, name):
        """Nothing is worse or better, whatever the margin."""
        path = golden_runs.journal(name)
        code = 2 * (name in INCOMPLETE)
        for margin in ("0", "5"):
            try:
                rows = self.results(
                    code, path, path, "--margin", margin, *PASS
                )
            except errors.VMPerfError as error:
                # All repetitions of all metrics are void.
                self.assertIn("no counted repetition", str(error))
                continue
            results = {row["Result"] for row in rows}
            # A count within its absolute limit is not worse.
            self.assertLessEqual(results, {"equal", "undecided", "not worse"})
            for row in rows:
                if row["Loss (%)"] is not None:
                    self.assertAlmostEqual(0, row["Loss (%)"])

    @ddt.data(*golden_runs.journals())
    def test_a_run_and_itself_by_its_limits(self, name):
        """Nothing is worse; undecided metrics decide the exit code."""
        path = golden_runs.journal(name)
        arguments = [path, path, "--limits", golden_runs.limits(name)]
        try:
            self.results(2 * (name in INCOMPLETE), *arguments, *PASS)
        except errors.VMPerfError as error:
            self.assertIn("no counted repetition", str(error))
        else:
            self.assertIn("worse in 0", "".join(self.warnings))

    @ddt.data(
        ("vmperf_overhead", made.LIMITS),
        # It limits no metric, and says what the run may have.
        ("vmperf_valid", {}),
    )
    @ddt.unpack
    def test_tolerated_findings(self, name, options):
        """A run that passes can be compared, each by its own SLAs."""
        records = made.with_finding(made.records(), "clock_wrong")
        tolerant = {name: {**options, "tolerate": ["clock_wrong"]}}
        path = self.journal("run", records, criteria=tolerant)
        self.results(0, path, path, *PASS)
        strict = self.journal("strict", records, criteria={name: options})
        with self.assertRaisesRegex(errors.VMPerfError, "void: "):
            self.results(0, path, strict, *PASS)
        limits = self.folder / "limits.yaml"
        limits.write_text(json.dumps(tolerant))
        if name == "vmperf_overhead":
            self.results(0, path, strict, "--limits", limits, *PASS)

    def test_lost_repetitions(self):
        """A run that lost half of its repetitions is named."""
        first = self.journal("first", made.records(count=6))
        other = self.journal("other", made.records(count=6)[:4])
        self.results(2, first, other, *PASS)
        self.assertIn(
            "other: repetitions not started: 3 (3 of 6 are complete)",
            self.warnings,
        )

    def test_loss_after_a_migration(self):
        """It has a limit for the phase after; the others decide nothing."""
        metric = "disk.fio.randwrite.latency_p50"
        paths = self.copy_golden("event")
        limits = self.limits(
            "vmperf_disruption: {max_loss_after_percent: 2}\n"
        )
        rows = self.results(2, *paths, "--limits", limits, *PASS)
        self.assertEqual(
            {"phase before": 5, "phase during": 5, "phase after": 2},
            {
                row["Condition"]: row["Margin (%)"]
                for row in rows
                if row["Metric"] == metric
            },
        )
        self.assertEqual(
            {"phase after"},
            {row["Condition"] for row in rows if row["Decides"]},
        )

    def test_migrations(self):
        """The largest downtime is compared, with the limit of the first."""
        name = "guest.event.downtime"

        paths = self.copy_golden(
            "event", lambda record: made.with_factor(record, 100, name)
        )
        limits = golden_runs.limits("event")
        rows = self.results(2, *paths, "--limits", limits)
        self.assertEqual(
            {name},
            {row["Metric"] for row in rows if row["Result"] == "worse"},
        )

    def test_errors_of_migrations(self):
        """The last dip has a larger error than the first, which decides."""
        path = golden_runs.journal("event")
        limits = self.limits("vmperf_disruption: {max_dip_percent: 80}\n")
        (row,) = (
            row
            for row in self.results(2, path, path, "--limits", limits)
            if row["Decides"]
        )
        self.assertEqual("undecided", row["Result"])
        self.assertEqual(
            "the largest value (41.2 to 96.1 %); the limit is 80 %",
            row["Remark"],
        )

    def test_limits_that_select_conditions(self):
        """They apply in compare to the conditions that a verdict judges."""
        path = golden_runs.journal("overhead-neighbours")
        limits = self.limits('vmperf_overhead: {max_percent: {"*": 99}}\n')
        for more, expected in (
            ("", {"neighbours 0": (5, True), "neighbours 1": (5, False)}),
            (
                'vmperf_neighbours: {max_percent: {"*": 2}}\n',
                {"neighbours 0": (5, True), "neighbours 1": (2, True)},
            ),
        ):
            limits.write_text(limits.read_text() + more)
            rows = self.results(0, path, path, "--limits", limits, *PASS)
            with self.subTest(limits=limits.read_text()):
                self.assertEqual(
                    expected,
                    {
                        row["Condition"]: (row["Margin (%)"], row["Decides"])
                        for row in rows
                        if row["Loss (%)"] is not None
                    },
                )

    def test_limits_that_select_numbers_of_guests(self):
        """Those that have no limit do not decide."""
        path = self.journal("run", made.density_records((1, 2, 4)))
        for options, deciding in (
            ("levels: 4", {"guests 4"}),
            ("levels: 4.0", {"guests 4"}),
            ("levels: [2, 4]", {"guests 2", "guests 4"}),
            # The solo guest loses nothing against itself.
            ("levels: all", {"guests 2", "guests 4"}),
            (
                "levels: all, compare_to: bare_metal",
                {"guests 1", "guests 2", "guests 4"},
            ),
        ):
            limits = self.limits(
                'vmperf_degradation: {max_percent: {"cpu.*": 50}, '
                f"{options}}}\n"
            )
            rows = self.results(0, path, path, "--limits", limits, *PASS)
            with self.subTest(options=options):
                self.assertEqual(
                    deciding,
                    {row["Condition"] for row in rows if row["Decides"]},
                )
        self.limits(limits.read_text().replace("levels: all", "levels: 3"))
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "sla vmperf_degradation max_percent: applies to no condition "
            r"\(there are: guests 1, guests 2, guests 4\); correct it, or ",
        ):
            self.results(1, path, path, "--limits", limits)

    @ddt.data(("mean", 2), ("worst", 2))
    @ddt.unpack
    def test_limits_of_the_worst_guest(self, statistic, code):
        """A starved guest fails the gate, as it fails the SLA."""
        metric = "cpu.sysbench.rate"
        records = made.density_records((1, 4))
        first = self.journal("before", records)
        starved = made.with_factor(records, 0.6, metric, [1], "g4")
        other = self.journal("after", starved)
        limits = self.limits(
            f"vmperf_degradation: {{max_percent: {{{metric}: 25}}, "
            f"levels: 4, statistic: {statistic}}}\n"
        )
        rows = self.results(code, first, other, "--limits", limits)
        (row,) = (row for row in rows if row["Decides"])
        self.assertEqual(code == 2, row["Result"] == "worse")
        self.assertEqual(
            statistic == "worst",
            row["Remark"].startswith("worst of 4 guests (g4)"),
        )

    @ddt.data((0.8, "worse", 2), (1.25, "better", 0))
    @ddt.unpack
    def test_one_metric_of_a_golden_run(self, factor, expected, code):
        """It is reported, and nothing else is."""
        metric = "cpu.sysbench.rate"
        paths = self.copy_golden(
            "density-four-guests",
            lambda record: made.with_factor(record, factor, metric, [0]),
        )
        rows = self.results(code, *paths, *PASS)
        decided = [
            (row["Metric"], row["Condition"], row["Result"])
            for row in rows
            if row["Result"] not in ("equal", "undecided")
        ]
        self.assertEqual([(metric, "guests 1", expected)], decided)

    def test_lost_metrics(self):
        """They are worse, with and without limits; a line counts them."""
        first, second = self.copy_golden("overhead-passed", drop_disk)
        for options in (
            (),
            ("--margin", "disk.*=99"),
            ("--limits", golden_runs.limits("overhead-passed")),
        ):
            with self.subTest(words=options):
                rows = self.results(2, first, second, *options, *PASS)
                lost = [row for row in rows if row["Result"] == "worse"]
                self.assertEqual(
                    {"disk"}, {row["Metric"].split(".")[0] for row in lost}
                )
                self.assertTrue(any(row["Decides"] for row in lost))
                for row in lost:
                    self.assertTrue(row["Reference"])
                    self.assertFalse(row["Value"])
                *_, summary, missing = self.warnings
                self.assertTrue(
                    summary.endswith(f"other has no samples of {len(lost)}"),
                    self.warnings,
                )
                self.assertIn("other: repetitions incomplete: 1, 2", missing)
        rows = self.results(2, second, first)
        new = {
            row["Result"] for row in rows if row["Metric"].startswith("disk.")
        }
        self.assertEqual({"undecided"}, new)

    def test_counts(self):
        """A count above its limit is worse; without one, it is shown."""
        first, second = self.copy_golden(
            "late-commands",
            lambda record: made.with_conditions(record, set_count),
        )
        limits = self.limits(
            'vmperf_degradation: {max: {"network.*.retransmits": 1000}}'
        )
        rows = self.results(2, first, second, "--limits", limits)
        (row,) = (
            row
            for row in rows
            if (row["Metric"], row["Condition"]) == (COUNT, "guests 2")
        )
        self.assertEqual("worse", row["Result"])
        self.assertEqual((90_000, 1000), (row["Value"], row["Limit"]))
        self.assertIsNone(row["Margin (%)"])
        others = {row["Metric"] for row in rows if row["Decides"]}
        self.assertEqual({COUNT, COUNT.replace("to_", "from_")}, others)
        rows = self.results(0, first, second, *PASS)
        (row,) = (
            row
            for row in rows
            if (row["Metric"], row["Condition"]) == (COUNT, "guests 2")
        )
        self.assertEqual(("undecided", False), (row["Result"], row["Decides"]))
        self.assertEqual(90_000, row["Value"])

    def test_limits_of_a_task(self):
        """They are the default margins, and decide the exit code."""
        made.keep_files(self.folder)
        paths = []
        for name, factor in (("before", 1), ("after", 0.98)):
            sla = {"vmperf_overhead": made.LIMITS, "failure_rate": {"max": 0}}
            records = made.with_factor(made.records(), factor, RATE)
            task = rally_results.results([(records, {})])
            (subtask,) = task["tasks"][0]["subtasks"]
            (workload,) = subtask["workloads"]
            workload["sla"] = sla
            paths.append(self.folder / f"{name}.json")
            paths[-1].write_text(json.dumps(task))
        rows = {row["Metric"]: row for row in self.results(0, *paths)}
        # The limit of 20 % against bare metal is no margin between runs.
        self.assertEqual(5, rows[RATE]["Margin (%)"])
        self.assertEqual("equal", rows[RATE]["Result"])
        self.assertEqual(100, rows[COUNT]["Limit"])
        self.assertEqual("not worse", rows[COUNT]["Result"])
        self.results(2, *paths, "--margin", f"{RATE}=1")
        limits = self.limits("vmperf_overhead: {max_percent: {'cpu.*': 5}}")
        rows = self.results(0, *paths, "--limits", limits)
        decides = {row["Metric"].partition(".")[0]: row for row in rows}
        self.assertTrue(decides["cpu"]["Decides"])
        self.assertFalse(decides["disk"]["Decides"])
        table = self.printed(0, *paths, "--limits", limits)
        self.assertRegex(table, r"\| Decides \|")

    def test_undecided(self):
        """The exit code is 2, with the ways out, or as requested."""
        path = golden_runs.journal("late-commands")
        for options, code in (((), 2), (PASS, 0)):
            page = self.folder / "page.html"
            self.results(code, path, path, "--html", page, *options)
            self.assertIn("Undecided: 76 of 76 deciding", page.read_text())
            self.assertEqual(
                bool(code), "use --on-inconclusive" in self.warnings[-1]
            )

    def test_one_metric(self):
        """One metric is worse; each other one is equal."""
        # A journal keeps five digits, which are enough for these rates.
        records = made.with_conditions(
            made.records(),
            lambda condition: made.vary(
                condition,
                lambda name, value, _: (
                    round(value, -1) if name == RATE else value
                ),
            ),
        )
        first = self.journal("before", records)
        second = self.journal("after", made.with_factor(records, 0.8, RATE))
        rows = self.results(2, first, second)
        results = {row["Metric"]: row["Result"] for row in rows}
        self.assertEqual("worse", results.pop(RATE))
        self.assertTrue(results)
        self.assertNotIn("better", results.values())
        self.assertNotIn("worse", results.values())
        (row,) = (row for row in rows if row["Metric"] == RATE)
        self.assertAlmostEqual(20, row["Loss (%)"])
        self.assertGreater(row["Low (%)"], row["Margin (%)"])
        self.assertEqual((5, "after"), (row["Margin (%)"], row["Run"]))
        self.assertIn(
            "after compared with before: worse in 1", self.warnings[-1]
        )

    def test_margins(self):
        """A margin by glob applies to its metrics."""
        first = self.journal("before", made.records())
        second = self.journal("after", slow_records())
        for margin, expected, code in (
            ("disk.*=30", "equal", 0),
            ("1", "worse", 2),
        ):
            rows = self.results(code, first, second, "--margin", margin)
            (row,) = (row for row in rows if row["Metric"] == RATE)
            self.assertEqual(expected, row["Result"])

    def test_table(self):
        """The runs head their columns, and empty columns are left out."""
        first = self.journal("x", made.records())
        second = self.journal("y", slow_records())
        table = self.printed(2, f"before={first}", f"after={second}")
        _, heads, _, row, *_ = table.splitlines()
        heads = [head.strip() for head in heads.split("|")[1:-1]]
        self.assertEqual(
            ["Result", "Metric", "before", "after", "Loss", "Interval"],
            heads[:6],
        )
        self.assertNotIn("Condition", heads)
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        self.assertEqual(["worse", RATE], cells[:2])
        self.assertEqual("20.0 %", cells[4])
        self.assertRegex(cells[5], r"^1.\.. to 2.\.. %$")

    def test_csv(self):
        """It has the same rows as JSON."""
        path = self.journal("before", made.records())
        text = self.printed(0, path, path, "-f", "csv")
        rows = [*csv.DictReader(io.StringIO(text))]
        self.assertEqual(self.results(0, path, path)[0].keys(), rows[0].keys())
        self.assertEqual({"before (2)"}, {row["Run"] for row in rows})

    def test_workloads_of_a_task(self):
        """They are compared in their order, with one correction."""
        made.keep_files(self.folder)
        paths = []
        for name, factor in (("before", 1), ("after", 0.8)):
            content = rally_results.results(
                [
                    (made.records(), {}),
                    (made.with_factor(made.records(), factor, RATE), {}),
                ]
            )
            path = self.folder / f"{name}.json"
            path.write_text(json.dumps(content))
            paths.append(path)
        rows = self.results(2, *paths)
        worse = [row["Condition"] for row in rows if row["Result"] == "worse"]
        self.assertEqual(["workload 2"], worse)
        single = self.journal("single", made.records())
        with self.assertRaisesRegex(
            errors.VMPerfError, "before has 2 workloads, and single has 1"
        ):
            self.results(1, paths[0], single)


def drop_disk(record):
    """Return a record without the samples of the disk."""
    (condition,) = record.repetition.conditions
    distributions = tuple(
        distribution
        for distribution in condition.distributions
        if not distribution.metric.name.startswith("disk.")
    )
    observations = made.vary(
        condition,
        lambda name, value, _: None if name.startswith("disk.") else value,
    ).observations
    return made.with_condition(
        record, distributions=distributions, observations=observations
    )


def set_count(condition):
    """Return a condition with another count."""
    return made.vary(
        condition, lambda name, value, _: 90_000 if name == COUNT else value
    )


@ddt.ddt
class TestNotComparable(CompareTestCase):
    """Every rejection names the difference and a way out."""

    def test_other_settings(self):
        """A flavor with a flavor requires an option."""
        paths = [
            golden_runs.journal(f"two-flavors-{name}")
            for name in ("small", "tiny")
        ]
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "memory_mib: 1024 in .*, 512 in .*; use --allow shape",
        ):
            self.results(1, *paths)
        rows = self.results(0, *paths, "--allow", "shape", *PASS)
        self.assertEqual(4, len(rows))
        self.assertTrue(any("memory_mib" in line for line in self.warnings))

    def test_missing_machine_files(self):
        """They are named."""
        records = made.records()
        path = self.journal("a", records)
        missing = self.folder / records[0].machines_file.name
        missing.unlink()
        with self.assertRaisesRegex(
            errors.VMPerfError,
            f"machines of a are unknown: .*{missing.name}.*--allow machines",
        ):
            self.results(1, path, path)
        self.results(0, path, path, "--allow", "machines")

    def test_one_run(self):
        """It is not enough."""
        path = self.journal("a", made.records())
        with self.assertRaisesRegex(errors.VMPerfError, "RUN is missing"):
            self.results(1, path)

    def test_nothing_to_compare(self):
        """A run without counted repetitions is not equal to another."""
        path = self.journal("a", made.records())
        void = made.with_finding(made.records(), "guest_rebooted")
        with self.assertRaisesRegex(
            errors.VMPerfError, "no metric can be compared: b: void: .*g1"
        ):
            self.results(1, path, self.journal("b", void))

    @ddt.data(
        ("nope.*=1", "^--margin: .nope... matches no metric .*iops"),
        ("*.retransmits=1", "^--margin: .* counts only: .* no percentage$"),
        ("disk.*=1 *.randread.*=2", "both match disk.fio.randread"),
    )
    @ddt.unpack
    def test_margins(self, margins, message):
        """That apply to nothing, or contradict each other."""
        path = self.journal("a", made.records())
        options = [
            word for margin in margins.split() for word in ("--margin", margin)
        ]
        with self.assertRaisesRegex(errors.VMPerfError, message):
            self.results(1, path, path, *options)

    def test_limits(self):
        """That apply to nothing, or to baselines only."""
        path = self.journal("a", made.records())
        limits = self.limits("vmperf_overhead: {max_percent: {'nope.*': 5}}")
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "sla vmperf_overhead max_percent: 'nope.*' matches no metric",
        ):
            self.results(1, path, path, "--limits", limits)
        self.register()
        with self.assertRaisesRegex(
            errors.VMPerfError, "--limits=.*: baselines have no SLAs"
        ):
            self.results(1, "old", "old", "--limits", limits)
        self.limits(
            "vmperf_overhead: {max_percent: {'cpu.*': 5}}\n"
            "vmperf_fairness: {min_index: {'*': 0.5}}"
        )
        self.results(0, path, path, "--limits", limits)
        self.assertIn("vmperf_fairness is skipped", self.warnings[0])

    @ddt.data(("10", "*"), ("10%", "*"), ("disk.*=10%", "disk.*"))
    @ddt.unpack
    def test_texts_of_margins(self, text, pattern):
        """The sign of percent may be added, as in --limit."""
        self.assertEqual((pattern, 10.0), compare.parse_margin(text))

    @ddt.data("x", "-1", "100", "a=nan", "a=", "a=%")
    def test_texts_that_are_no_margins(self, text):
        """They are rejected with the rule."""
        with (
            mock.patch("sys.stderr", io.StringIO()) as stderr,
            self.assertRaises(SystemExit),
        ):
            self.printed(2, "a", "b", f"--margin={text}")
        self.assertIn("must be [METRIC=]PERCENT", stderr.getvalue())

    def test_page_that_cannot_be_written(self):
        """The message names the path and the option."""
        path = self.journal("a", made.records())
        with self.assertRaisesRegex(errors.VMPerfError, "page .*gone.*--html"):
            self.results(
                0, path, path, "--html", self.folder / "gone/page.html"
            )


class TestBaselines(CompareTestCase):
    """Registered baselines among the runs."""

    def setUp(self):
        super().setUp()
        self.register()

    def test_with_a_run(self):
        """The entries for the run are compared with its guests."""
        path = golden_runs.journal("overhead-passed")
        rows = self.results(2, "old", f"kvm={path}")
        results = {row["Metric"]: row["Result"] for row in rows}
        self.assertEqual("worse", results["cpu.sysbench.rate"])
        self.assertTrue(any("kernel" in line for line in self.warnings))

    def test_with_each_other(self):
        """As baseline compare does."""
        rows = self.results(0, "old", "again=old", *PASS)
        self.assertEqual({"again"}, {row["Run"] for row in rows})
        self.assertNotIn("worse", {row["Result"] for row in rows})


class TestMoreRuns(CompareTestCase):
    """A ranking, and the runs that differ from the first."""

    def test_ranking(self):
        """The run that differs is worse, and it is the last."""
        path = self.journal("x", made.records())
        slow = self.journal("slow", slow_records())
        paths = [f"h1={path}", f"h2={slow}", f"h3={path}", f"h4={path}"]
        rows = [
            row for row in self.results(2, *paths) if row["Metric"] == RATE
        ]
        self.assertEqual([1, 2, 3], [row["Rank"] for row in rows])
        self.assertEqual(("h2", "worse"), (rows[2]["Run"], rows[2]["Result"]))
        self.assertNotIn("worse", {row["Result"] for row in rows[:2]})
        warnings = "\n".join(self.warnings)
        self.assertIn("h2 compared with h1: worse in 1", warnings)
        self.assertIn("includes that between their boots", warnings)
        table = self.printed(2, *paths)
        self.assertRegex(table, r"\| Rank \| Run \| Result +\| h1 ")


class TestPage(CompareTestCase):
    """A page for people, without a script."""

    def test_page(self):
        """It has the chart, the table and the differences."""
        first = self.journal("before", made.records())
        second = self.journal("after", slow_records())
        page = self.folder / "page.html"
        self.printed(2, first, second, "--html", page)
        html = page.read_text()
        self.assertIn("<title>Comparison of before and after</title>", html)
        self.assertRegex(html, "Worse: 1 of . deciding metrics")
        self.assertIn("after compared with before: worse in 1", html)
        self.assertIn('id="changes-0-interval"', html)
        self.assertIn("No difference", html)
        self.assertNotIn("<script", html)

    def test_hostile_names(self):
        """They are escaped on the page and in the terminal."""
        records = [
            model.decode({**document, "findings": []})
            for document in hostile_records.of_overhead()
        ]
        path = self.journal("a", records)
        name = f"{attacks.WORDS['script']}\x1b[31m"
        second = made.records(guests=2, emulated=True)
        page = self.folder / "page.html"
        table = self.printed(
            2,
            f"{name}={path}",
            self.journal("b", second),
            "--html",
            page,
            "--allow",
            "arguments",
        )
        for text in (table, *self.warnings, page.read_text()):
            self.assertNotIn("\x1b", text)
        html = page.read_text()
        self.assertNotIn("<script", html.lower())
        self.assertIn(sanitize.HIDDEN, table)
