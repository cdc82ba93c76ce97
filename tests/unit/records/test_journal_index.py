# SPDX-License-Identifier: Apache-2.0
"""Tests of the list of runs in a directory of journals."""

import json
import pathlib
import tempfile
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.records import journal
from rally_vmperf.records import journal_index
from tests.unit import made

QUESTIONS = ("overhead",)


@ddt.ddt
class TestJournalIndex(unittest.TestCase):
    """Runs by name, without a look at their samples."""

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def write(self, run, task, day, host="compute1", **changes):
        """Write a journal of two repetitions."""
        for number in (1, 2):
            record = made.record(
                run=run,
                number=number,
                task=task,
                started_at=f"2026-03-{day:02d}T00:00:00+00:00",
                machines=(made.machine("g1", host=host),),
                **changes,
            )
            journal.Journal(self.directory, run).append(record)

    def find(self, name):
        """Return the names of the runs that match a name."""
        runs = journal_index.find_runs(name, self.directory, QUESTIONS)
        return [run.run for run in runs]

    def write_three_tasks(self):
        """Write a task of two runs between two tasks of one run."""
        self.write("old", "t1", 1)
        self.write("late", "t2", 3, "compute2")
        self.write("early", "t2", 2)
        self.write("new", "t3", 4)

    @ddt.data(
        ("last", ["new"]),
        ("last:1", ["new"]),
        ("last:2", ["early", "late"]),
        ("last:3", ["old"]),
        ("compute1", ["new"]),
        ("compute2", ["late"]),
        ("compute3", []),
        ("t2", ["early", "late"]),
        ("late", ["late"]),
    )
    @ddt.unpack
    def test_names(self, name, expected):
        """A task by its age or identifier, a run, or a host."""
        self.write_three_tasks()
        self.assertEqual(expected, self.find(name))

    def test_too_few_tasks(self):
        """The message has their number, and the way out."""
        self.write("old", "t1", 1)
        with self.assertRaisesRegex(
            errors.VMPerfError,
            "last:2: .* has runs of 1 tasks; .*rally-vmperf runs",
        ):
            self.find("last:2")

    def test_other_numbers(self):
        """They are no names of hosts."""
        for name in (
            "last:0",
            "last:-1",
            "last:x",
            "last:2\n",
            "last:1000000",
        ):
            with self.assertRaisesRegex(
                errors.VMPerfError, f"^{name}: must be last"
            ):
                self.find(name)

    def test_no_directory(self):
        """It has no runs."""
        runs = journal_index.list_runs(self.directory / "none", QUESTIONS)
        self.assertEqual([], runs)

    def test_recordings_of_bare_metal(self):
        """They are not runs of a question."""
        self.write("bare", "t1", 1, question="bare_metal")
        self.assertEqual(
            [], journal_index.list_runs(self.directory, QUESTIONS)
        )

    @ddt.data("", "{", "[]", "null", "deep", '{"run": "x"}', "1e999")
    def test_damaged_journals(self, text):
        """They are omitted."""
        text = "[" * 200_000 if text == "deep" else text
        self.write("new", "t3", 4)
        (self.directory / "bad.jsonl").write_text(text)
        self.assertEqual(["new"], self.find("last"))

    def test_first_record_only(self):
        """A line that is damaged later does not hide the run."""
        self.write("new", "t3", 4)
        with (self.directory / "new.jsonl").open("a") as stream:
            stream.write("{")
        (run,) = journal_index.list_runs(self.directory, QUESTIONS)
        self.assertEqual(("compute1",), run.hosts)
        self.assertEqual("t3", run.task)

    def test_hosts(self):
        """They are those of guests, each once."""
        record = made.record(
            machines=(
                made.machine("g1", host="compute2"),
                made.machine("g2", host="compute1"),
                made.machine("g3", host="compute2"),
                made.machine("g4"),
                made.machine("peer", "peer", "compute9"),
            )
        )
        path = self.directory / "one.jsonl"
        path.write_text(json.dumps(made.document(record)))
        (run,) = journal_index.list_runs(self.directory, QUESTIONS)
        self.assertEqual(("compute2", "compute1"), run.hosts)
