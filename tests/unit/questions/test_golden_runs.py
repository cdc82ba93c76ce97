# SPDX-License-Identifier: Apache-2.0
"""Tests of the verdicts on stored runs, and on stored runs with a fault."""

import collections.abc
import dataclasses
import io
import json
import math
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd import judge
from rally_vmperf.cmd import rally_api
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.questions import limits_file
from rally_vmperf.questions import source_judge
from rally_vmperf.records import files
from rally_vmperf.records import model
from rally_vmperf.records import sources
from tests.unit import made
from tests.unit.questions import golden_runs

#: A name or a path of the machine that recorded a run.
MACHINE = re.compile(r"/root|/home|/work/|\bpassword|PRIVATE KEY")
#: Bytes of all runs together at most.
LARGEST = 3_500_000

Change = collections.abc.Callable[[list[model.Record]], list[model.Record]]


@ddt.ddt
class TestGoldenRuns(unittest.TestCase):
    """Rules, figures and findings stay as they are expected."""

    maxDiff = None

    @ddt.data(*golden_runs.names())
    def test_verdict(self, name):
        self.check(golden_runs.expected(name), golden_runs.judge(name), name)

    @ddt.data(*golden_runs.names())
    def test_expected_file_is_as_written(self, name):
        """A person has not formatted it in another way."""
        path = golden_runs.FOLDER / name / "expected.json"
        text = golden_runs.text(golden_runs.expected(name))
        self.assertEqual(text, path.read_text())

    @ddt.data(*golden_runs.journals())
    def test_files_belong_to_the_journal(self, name):
        source = golden_runs.source(name)
        entries = [
            entry
            for record in source.records
            for entry in (record.raw_file, record.machines_file)
        ]
        for entry in entries:
            text = json.dumps(files.read(source.folder, entry))
            self.assertIsNone(MACHINE.search(text), entry.name)
        there = {path.name for path in source.folder.glob("*.gz")}
        self.assertEqual({named_file.name for named_file in entries}, there)
        text = golden_runs.journal(name).read_text()
        self.assertIsNone(MACHINE.search(text))

    def test_there_are_enough_and_they_are_small(self):
        self.assertLessEqual(10, len(golden_runs.journals()))
        every = golden_runs.FOLDER.rglob("*")
        size = sum(path.stat().st_size for path in every if path.is_file())
        self.assertLess(size, LARGEST)

    def test_late_commands_cost_their_own_samples_only(self):
        """Other metrics are judged from all repetitions."""
        verdict = golden_runs.judge("late-commands")["criteria"]["Degradation"]
        self.assertEqual([], verdict["left_out"])
        self.assertNotIn("void", {row["status"] for row in verdict["rows"]})
        late = verdict["findings"]["partial_overlap: left out"]
        self.assertIn("cpu.sysbench.rate (2)", late)
        self.assertIn("disk.fio.randread.iops (2)", late)
        for subject in late:
            self.assertRegex(subject, r"\.(sysbench|randread)\..* \(2\)$")
        # In emulated guests, few requests are as slow as this.
        self.assertEqual(
            {
                "disk.fio.randread.latency_p99_9",
                "disk.fio.randwrite.latency_p99_9",
            },
            {
                row["metric"]
                for row in verdict["rows"]
                if row["status"] != "passed"
            },
        )

    def check(self, expected, actual, where):
        """Compare two verdicts, floats to 1e-12 of their value."""
        if isinstance(expected, float) and isinstance(actual, float):
            same = math.isclose(expected, actual, rel_tol=1e-12, abs_tol=1e-12)
            self.assertTrue(same, f"{where}: {expected} != {actual}")
        elif isinstance(expected, dict) and isinstance(actual, dict):
            self.assertEqual([*expected], [*actual], where)
            for key, value in expected.items():
                self.check(value, actual[key], f"{where}, {key}")
        elif isinstance(expected, list) and isinstance(actual, list):
            self.assertEqual(len(expected), len(actual), f"{where}: {actual}")
            for number, value in enumerate(expected):
                self.check(value, actual[number], f"{where}, {number}")
        else:
            self.assertEqual(expected, actual, where)


def scale(metric: str, guest: str, factor: float, **axes: int) -> Change:
    """Return a change that multiplies the samples of a guest."""

    def change(condition: repetition.Condition) -> repetition.Condition:
        if not axes.items() <= condition.axes.items():
            return condition
        return made.multiply(condition, factor, metric, guest)

    return lambda records: made.with_conditions(records, change)


def find(kind: str, *numbers: int) -> Change:
    """Return a change that adds a finding about g1 to repetitions."""
    return lambda records: [
        made.with_finding(record, kind)
        if record.repetition.number in numbers
        else record
        for record in records
    ]


def miss(metric: str, reason: str, number: int) -> Change:
    """Return a change that takes a sample of g1 from a repetition."""

    def change(records: list[model.Record]) -> list[model.Record]:
        records[number - 1] = made.incomplete(
            records[number - 1], metric, reason
        )
        return records

    return change


def repeat_values(records: list[model.Record]) -> list[model.Record]:
    """Give all repetitions the samples of the first one."""
    first = records[0].repetition.conditions
    return made.with_fields(records, conditions=first)


def repeat_record(records: list[model.Record]) -> list[model.Record]:
    """Replace the first repetition by a copy of the last one."""
    return [records[-1], *records[1:]]


def lose_record(records: list[model.Record]) -> list[model.Record]:
    """Remove the last repetition."""
    return records[:-1]


def change_run(name: str, *changes: Change) -> sources.Source:
    """Return the records of a run after changes."""
    source = golden_runs.source(name)
    records = [*source.records]
    for change in changes:
        records = change(records)
    return dataclasses.replace(source, records=records)


@ddt.ddt
class TestPlantedFaults(unittest.TestCase):
    """One change of a passed run, after which it must not pass."""

    def judged(self, name: str, *changes: Change) -> str:
        """Return the status of a run after changes of its records."""
        return golden_runs.judge(name, change_run(name, *changes))["status"]

    @ddt.data(
        ("overhead-passed", [find("guest_rebooted", 2, 4)], "void"),
        ("overhead-passed", [find("clock_wrong", 2, 4)], "void"),
        (
            "overhead-passed",
            [
                miss(
                    "cpu.sysbench.rate",
                    "the clock of g1 was stepped by +0.3 s",
                    3,
                )
            ],
            "inconclusive",
        ),
        ("overhead-passed", [lose_record], "inconclusive"),
        ("overhead-passed", [repeat_record], "inconclusive"),
        (
            "overhead-passed",
            [scale("cpu.sysbench.rate", "g1", 0.01)],
            "inconclusive",
        ),
        (
            "overhead-passed",
            [scale("cpu.sysbench.rate", "g1", 0.001)],
            "failed",
        ),
        (
            "density-two-levels",
            [
                scale("memory.mbw.memcpy.bandwidth", "g1", 0.05, guests=1),
                scale("memory.mbw.memcpy.bandwidth", "g2", 0.05, guests=1),
            ],
            "void",
        ),
        (
            "density-four-guests",
            [scale("cpu.sysbench.rate", "g3", 0.1, guests=4)],
            "failed",
        ),
        ("density-two-levels", [lose_record], "inconclusive"),
        ("density-two-levels", [repeat_values], "void"),
    )
    @ddt.unpack
    def test_verdict(self, name, changes, status):
        self.assertEqual("passed", self.judged(name))
        self.assertEqual(status, self.judged(name, *changes))

    def test_one_bad_guest_of_two_in_overhead(self):
        """Neither the mean of both nor the worst guest passes.

        One guest does 0.3 % of its work and is beyond the limit by itself.
        """
        name = "overhead-two-guests"
        self.assertEqual("passed", self.judged(name))
        bad = scale("cpu.sysbench.rate", "g2", 0.003)
        self.assertEqual("inconclusive", self.judged(name, bad))
        limits = limits_file.read_limits(str(golden_runs.limits(name)))
        limits["vmperf_overhead"]["statistic"] = "worst"
        worst = source_judge.judge_source(change_run(name, bad), limits)
        self.assertEqual("inconclusive", worst.status)
        both = scale("cpu.sysbench.rate", "g1", 0.003)
        self.assertEqual("failed", self.judged(name, bad, both))

    def test_values_that_repeat_in_overhead(self):
        """The present rules pass this run wrongly.

        Five repetitions with exactly the same values of the guest are not
        five measurements.
        """
        self.assertEqual("passed", self.judged("overhead-passed"))
        status = self.judged("overhead-passed", repeat_values)
        self.assertEqual("passed", status)


@ddt.ddt
class TestOtherMachine(unittest.TestCase):
    """``judge --baseline`` compares machines and tools."""

    def judged(self, baseline):
        """Return exit code and text for a run, and a baseline."""
        name = "overhead-passed"
        folder = self.enterContext(tempfile.TemporaryDirectory())
        registry = store.Store(pathlib.Path(folder))
        registry.save(baseline)
        app = mock.Mock(stdout=io.StringIO())
        command = judge.Judge(app, None)
        arguments = [
            *("--limits", str(golden_runs.limits(name))),
            *("--baseline", baseline.name),
            str(golden_runs.journal(name)),
        ]
        with mock.patch.object(
            rally_api,
            "open_baseline_store",
            autospec=True,
            return_value=registry,
        ):
            code = command.run(
                command.get_parser("judge").parse_args(arguments)
            )
        return code, " ".join(app.stdout.getvalue().split())

    @ddt.data(
        ("cpu", "host_cpu_differs"),
        ("tool", "tool_version_differs"),
        ("", ""),
    )
    @ddt.unpack
    def test_void(self, fault, kind):
        path = golden_runs.FOLDER / "overhead-passed" / "baseline.json"
        baseline = document.decode(json.loads(path.read_text()), str(path))
        fingerprint = baseline.machine.fingerprint
        if fault == "cpu":
            flags = {*fingerprint["cpu_flags"]} - {"avx2", "fma"}
            fingerprint["cpu_flags"] = [*sorted(flags), "avx512f"]
            fingerprint["cpu_model"] = "Other CPU"
        if fault == "tool":
            tools = baseline.machine.tools
            tools["sysbench"]["version"] = "sysbench 1.0.11"
        code, text = self.judged(baseline)
        self.assertEqual(2 if fault else 0, code, text)
        if kind:
            self.assertIn(finding.KINDS[kind].title, text)
        self.assertIn("void:" if fault else "passed:", text)
