# SPDX-License-Identifier: Apache-2.0
"""Tests of the commands over registered baselines."""

import argparse
import csv
import dataclasses
import io
import json
import pathlib
import tempfile
import unittest
from unittest import mock

from rally_vmperf import errors
from rally_vmperf.baseline import document
from rally_vmperf.baseline import store
from rally_vmperf.cmd.baselines import baseline
from rally_vmperf.cmd.baselines import baseline_import
from rally_vmperf.measurement import finding
from tests.unit.runs import whole

METRIC = "cpu.sysbench.rate"


class TestFormats(unittest.TestCase):
    """Tables are for people, other formats have numbers."""

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder)
        self.registry = store.Store(self.folder / "baselines")
        self.config = self.folder / "rally.conf"
        self.config.write_text(
            f"[vmperf]\nbaseline_dir = {self.registry.folder}\n"
        )
        self.register("metal", (1000.0, 2000.0, 4000.0))

    def register(self, name, rates):
        """Register a baseline of sysbench; return it."""
        content = whole.baseline(self.folder / name, rates=rates)
        content = dataclasses.replace(content, name=name)
        self.registry.save(content, replace=True)
        return content

    def printed(self, command, *arguments, code=0):
        """Return what a command prints that ends with a code."""
        self.app = app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        shown = command(app, None)
        parser = shown.get_parser("x")
        arguments = [*arguments, "--config-file", str(self.config)]
        self.assertEqual(code, shown.run(parser.parse_args(arguments)))
        return app.stdout.getvalue()

    def test_list(self):
        """Shape, repetitions, and the parts that other processes used."""
        content = self.register("other", (1.0, 2.0, 3.0))
        two = with_repetitions(content, *repetitions(content)[:2])
        (entry,) = two.entries
        busy = [
            finding.Finding("bare_metal_busy", subject, "fio")
            for subject in ("baseline", "disks")
        ]
        other = dataclasses.replace(
            entry,
            shape=document.Shape(4, 2048, 2),
            findings=(finding.Finding("interval_one_session", "", ""), *busy),
        )
        (metal,) = self.registry.load("metal").entries
        content = dataclasses.replace(content, entries=(metal, other))
        self.registry.save(content, replace=True)
        (self.registry.folder / "damaged.json").write_text("{}")
        rows = {
            row["Name"]: row
            for row in json.loads(self.printed(baseline.List, "-f", "json"))
        }
        columns = ("Workloads", "Shape", "Repetitions", "Busy")
        for name, cells in (
            ("metal", ("sysbench", str(metal.shape), "3", "-")),
            (
                "other",
                (
                    "sysbench",
                    f"{metal.shape}; {other.shape}",
                    "2 to 3",
                    "disks, whole machine",
                ),
            ),
        ):
            self.assertEqual(cells, tuple(rows[name][key] for key in columns))
        self.assertIn("damaged.json", rows["damaged"]["Workloads"])
        self.assertEqual("-", rows["damaged"]["Busy"])

    def test_show(self):
        """A number and its unit, or both in one cell of a table."""
        text = self.printed(baseline.Show, "metal", "-f", "json")
        row = row_of(METRIC, json.loads(text))
        self.assertAlmostEqual(2000.0, row["Bare metal"])
        self.assertEqual("events/s", row["Unit"])
        self.assertEqual(3, row["Repetitions"])
        text = self.printed(baseline.Show, "metal", "-f", "csv")
        row = row_of(METRIC, csv.DictReader(io.StringIO(text)))
        self.assertAlmostEqual(2000.0, float(row["Bare metal"]))
        self.assertEqual("events/s", row["Unit"])
        table = self.printed(baseline.Show, "metal")
        self.assertRegex(table, r"\| 2.000 events/s ")
        self.assertNotIn("Unit", table)

    def test_irregular(self):
        """Repetitions that form two groups have a warning with a remedy."""
        self.printed(baseline.Show, "metal")
        self.assertNotIn("baseline_irregular", self.app.stderr.getvalue())
        content = self.register("groups", (100.0, 100.02, 99.99))
        more = self.register("more", (100.01, 90.0, 100.0))
        content = with_repetitions(
            content, *repetitions(content), *repetitions(more)[:2]
        )
        self.registry.save(content, replace=True)
        self.printed(baseline.Show, "groups")
        registered = baseline_import.Import(self.app, None)
        registered.register(
            self.registry,
            content,
            argparse.Namespace(name="groups", replace=True),
        )
        for stream in (self.app.stderr, self.app.stdout):
            self.assertRegex(
                stream.getvalue(),
                rf"baseline_irregular: {METRIC} of .*: bimodal, 1 and 4, "
                "11.1 % apart; record the baseline again with 5 more "
                "repetitions\n",
            )

    def test_warming_up(self):
        """Repetitions of which each is faster than the one before."""
        content = self.register("warm", (100.0, 101.0, 102.0))
        more = self.register("later", (103.01, 104.0, 105.0))
        content = with_repetitions(
            content, *repetitions(content), *repetitions(more)
        )
        self.registry.save(content, replace=True)
        self.printed(baseline.Show, "warm")
        self.assertRegex(
            self.app.stderr.getvalue(),
            rf"drifting: {METRIC} of .*: 1.0 % from repetition to "
            "repetition; record the baseline again with more warm-up "
            "repetitions\n",
        )

    def test_compare(self):
        """Figures and loss are numbers, and what is worse is a result."""
        self.register("steady", (1000.0, 1001.0, 1002.0))
        self.register("half", (500.0, 501.0, 502.0))
        names = ("steady", "half")
        text = self.printed(baseline.Compare, *names, "-f", "json", code=2)
        row = row_of(METRIC, json.loads(text))
        self.assertEqual("worse", row["Result"])
        self.assertAlmostEqual(1001.0, row["Reference"], 1)
        self.assertAlmostEqual(501.0, row["Value"], 1)
        self.assertEqual("events/s", row["Unit"])
        self.assertAlmostEqual(50.0, row["Loss (%)"], 0)
        self.assertLess(row["Low (%)"], row["Loss (%)"])
        self.assertGreater(row["High (%)"], row["Loss (%)"])
        self.assertEqual("1 x 1 vCPU with 512 MiB", row["Condition"])
        table = self.printed(baseline.Compare, *names, code=2)
        self.assertRegex(table, r"\| 1.000 events/s \| 501 events/s .*50.0 % ")

    def test_compare_with_itself(self):
        """Nothing differs."""
        names = ("metal", "metal")
        text = self.printed(baseline.Compare, *names, "-f", "json", code=2)
        results = {row["Result"] for row in json.loads(text)}
        self.assertLessEqual(results, {"undecided", "equal"})

    def test_compare_machines(self):
        """Differences between machines and classes are printed."""
        content = self.register("other", (1000.0, 2000.0, 4000.0))
        fingerprint = {**content.machine.fingerprint, "kernel": "9.9.9"}
        machine = dataclasses.replace(content.machine, fingerprint=fingerprint)
        content = dataclasses.replace(
            content, machine=machine, machine_class="gen9"
        )
        self.registry.save(content, replace=True)
        self.printed(
            baseline.Compare, "metal", "other", "--on-inconclusive", "pass"
        )
        lines = self.app.stderr.getvalue()
        self.assertRegex(lines, "kernel_differs: .* of other: 9.9.9\n")
        self.assertIn("class: none in metal, gen9 in other\n", lines)

    def test_compare_without_interval(self):
        """The remark has the reason, and missing numbers are null."""
        content = self.register("short", (1000.0,))
        content = with_repetitions(content, repetitions(content)[0])
        self.registry.save(content, replace=True)
        remark = "requires 3 repetitions of each run"
        names = ("metal", "short", "--on-inconclusive", "pass")
        text = self.printed(baseline.Compare, *names, "-f", "json")
        row = row_of(METRIC, json.loads(text))
        self.assertEqual(("undecided", remark), (row["Result"], row["Remark"]))
        self.assertEqual(50, round(row["Loss (%)"]))
        self.assertIsNone(row["Low (%)"])
        self.assertIn(remark, self.printed(baseline.Compare, *names))
        (entry,) = content.entries
        entry = dataclasses.replace(entry, workload="mbw")
        self.registry.save(
            dataclasses.replace(content, entries=(entry,)), replace=True
        )
        with self.assertRaisesRegex(
            errors.VMPerfError, "no metric .* baseline 'short' has no"
        ):
            self.printed(baseline.Compare, "metal", "short")


def repetitions(content):
    """Return the repetitions of the only entry of a baseline."""
    (entry,) = content.entries
    return entry.reference.repetitions


def with_repetitions(content, *rows):
    """Return a baseline whose only entry has these repetitions."""
    (entry,) = content.entries
    reference = dataclasses.replace(entry.reference, repetitions=rows)
    entry = dataclasses.replace(entry, reference=reference)
    return dataclasses.replace(content, entries=(entry,))


def row_of(metric, rows):
    """Return the row of a metric."""
    (row,) = (row for row in rows if row["Metric"] == metric)
    return row
