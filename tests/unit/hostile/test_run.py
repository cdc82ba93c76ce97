# SPDX-License-Identifier: Apache-2.0
"""A run against a hostile guest ends with a record, a verdict and a page."""

import json
import tempfile
import unittest

from rally_vmperf.measurement import guest_metrics
from rally_vmperf.plugins import criteria
from rally_vmperf.plugins import scenarios
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.report import page
from tests.unit import made
from tests.unit.hostile import guest
from tests.unit.hostile import run
from tests.unit.hostile import terminal

#: Bytes that a record must stay below, whatever guests do.
MOST = 1 << 20


class RunTestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.lines = []
        with (
            tempfile.TemporaryDirectory() as home,
            guest.Guest(home) as hostile,
        ):
            cls.records, cls.journal = run.run(
                hostile, folder, cls.lines.append
            )

    def check(self, text):
        self.assertEqual([], terminal.obeyed(text))

    def test_records_are_valid_and_small(self):
        lines = self.journal.path.read_bytes().splitlines()
        self.assertEqual(3, len(lines))
        for record, line in zip(self.records, lines, strict=True):
            document = json.loads(line)
            model.FORMAT.decode(document)
            self.assertLess(len(line), MOST)
            self.assertEqual(document, model.FORMAT.encode(record))
        read = journal.Journal(self.journal.folder, "hostile").read()
        self.assertEqual(3, len(read))

    def test_what_is_missing_is_named_with_its_guest(self):
        for record in self.records:
            measured = record.repetition
            self.assertEqual("incomplete", measured.state)
            (only,) = measured.conditions
            missing = {gap.name for gap in only.missing}
            sampled = {
                metric.name
                for metric in only.by_metric
                if metric not in guest_metrics.METRICS
            }
            expected = {metric.name for metric in measured.expected_metrics}
            self.assertEqual(expected, missing | sampled)
            self.assertEqual(set(), missing & sampled)
            self.assertLessEqual(
                sampled,
                {"cpu.bzip2.compress_time", "cpu.bzip2.decompress_time"},
            )
            for gap in only.missing:
                self.assertEqual("g1", gap.machine)
                self.assertLessEqual(len(gap.reason), 500)
                self.check(gap.reason)

    def test_all_that_it_said_is_kept_beside_the_journal(self):
        raw = files.read(self.journal.folder, self.records[0].raw_file)
        output = "".join(raw_output["stdout"] for raw_output in raw["outputs"])
        self.assertIn("\x1b]0;PWNED\x07", output)

    def test_what_is_logged_is_harmless(self):
        self.assertTrue(self.lines)
        self.check("\n".join(self.lines))

    def test_what_rally_is_told(self):
        with self.assertRaises(scenarios.IncompleteRepetition) as caught:
            scenarios.raise_if_incomplete(self.records[0].repetition, ())
        message = str(caught.exception)
        self.check(message)
        self.assertIn("of g1", message)
        self.assertNotIn("\n", message)
        self.assertNotIn("<", message)

    def test_the_verdict(self):
        judge = criteria.SLAS["vmperf_overhead"](run.LIMITS)
        for record in self.records:
            encoded = model.encode_output(record)
            judge.add_iteration({"output": {"complete": [encoded]}})
        result = judge.result()
        self.assertFalse(judge.success)
        for text in (judge.details(), str(result)):
            self.check(text)
            self.assertNotIn("<", text)

    def test_the_page(self):
        shown = made.run_of(
            [*map(model.shorten, self.records)],
            {"vmperf_overhead": run.LIMITS},
            self.journal.folder,
        )
        source = page.standalone([shown])
        self.check(source)
        self.assertNotIn("<script", source)
        self.assertIn("&lt;script&gt;", source)
        self.assertLess(len(source), MOST)
