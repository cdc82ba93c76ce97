# SPDX-License-Identifier: Apache-2.0
"""Tests of the command that lists runs, and of the names of runs."""

import contextlib
import csv
import io
import pathlib
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf import errors
from rally_vmperf.cmd import compare
from rally_vmperf.cmd import judge
from rally_vmperf.cmd import runs
from rally_vmperf.records import journal
from tests.unit import made

LIMITS = {"vmperf_overhead": {"max_percent": {"*": 99}}}


@ddt.ddt
class TestRuns(unittest.TestCase):
    """A row per run, with the name that other commands accept."""

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.write("old", "t1", 1)
        self.write("new-1", "t2", 2)
        self.write("new-2", "t2", 3, "compute-2")
        made.keep_files(self.directory)

    def write(self, run, task, day, host="compute-1", criteria=LIMITS):
        """Write the journal of a run."""
        for record in made.records():
            changed = made.with_fields(
                record,
                run=run,
                task=task,
                criteria=criteria,
                started_at=f"2026-03-{day:02d}T05:00:00+00:00",
                machines=(made.machine("g1", host=host),),
            )
            journal.Journal(self.directory, run).append(changed)

    def run_command(self, command_class, *arguments):
        """Return the exit code and what a command printed."""
        app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
        command = command_class(app, None)
        options = ["--journal-dir", str(self.directory)]
        parser = command.get_parser("it")
        code = command.run(parser.parse_args([*arguments, *options]))
        return code, app.stdout.getvalue()

    def list_rows(self, *arguments):
        """Return the rows of the command as dicts."""
        code, text = self.run_command(runs.Runs, "-f", "csv", *arguments)
        self.assertEqual(0, code)
        return [*csv.DictReader(io.StringIO(text))]

    def test_rows(self):
        """The newest task is first; the verdict is that of judge."""
        rows = self.list_rows()
        names = [(row["Name"], row["Task"], row["UUID"]) for row in rows]
        self.assertEqual(
            [
                ("last", "t2", "new-1"),
                ("last", "t2", "new-2"),
                ("last:2", "t1", "old"),
            ],
            names,
        )
        first = rows[0]
        self.assertEqual("passed", first["Verdict"])
        self.assertEqual("compute-1", first["Hosts"])
        self.assertEqual("m1.small", first["Flavors"])
        self.assertEqual("overhead", first["Question"])
        self.assertRegex(first["Date"], "^2026-03-0[123] [0-9]{2}:00$")

    def test_no_run(self):
        """The directory is named."""
        with tempfile.TemporaryDirectory() as directory:
            app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
            command = runs.Runs(app, None)
            parsed = command.get_parser("runs").parse_args(
                ["--journal-dir", directory]
            )
            self.assertEqual(0, command.run(parsed))
        self.assertEqual(
            f"no run in {directory}; another directory: --journal-dir "
            "DIRECTORY\n",
            app.stderr.getvalue(),
        )

    def test_limit(self):
        """It counts tasks; 0 lists all."""
        self.assertEqual(2, len(self.list_rows("--limit", "1")))
        self.assertEqual(3, len(self.list_rows("--limit", "0")))

    @ddt.data("-1", "x", "1.5", "9" * 20, "²")
    def test_invalid_limits(self, text):
        """They are rejected."""
        with (
            contextlib.redirect_stderr(io.StringIO()),
            self.assertRaises(SystemExit),
        ):
            self.list_rows(f"--limit={text}")

    def test_times_that_no_cloud_has(self):
        """Their journals are omitted, and the others are listed."""
        rows = self.list_rows()
        text = (self.directory / "old.jsonl").read_text()
        for number, time in enumerate(
            ("0001-01-01T00:00:00+00:00", "yesterday", "2026-03-01T05:00:00")
        ):
            (self.directory / f"bad-{number}.jsonl").write_text(
                text.replace("2026-03-01T05:00:00+00:00", time)
            )
        self.assertEqual(rows, self.list_rows())

    def test_host(self):
        """Only the runs of a host keep their names."""
        rows = self.list_rows("--host", "compute-1")
        self.assertEqual(
            [("last", "new-1"), ("last:2", "old")],
            [(row["Name"], row["UUID"]) for row in rows],
        )

    def test_unknown_host(self):
        """The message names the hosts, or the limit that hides its runs."""
        self.write("other", "t3", 4, "compute-3")
        for arguments, message in (
            (
                ("--host", "compute-9"),
                "--host=compute-9: no run has a guest on it (hosts: "
                "compute-1, compute-2, compute-3)",
            ),
            (
                ("--host", "compute-1", "--limit", "1"),
                "--host=compute-1: no run of the newest 1 of 3 tasks has a "
                "guest on it; to search all: --limit 0",
            ),
            (("--host", "compute-3"), ""),
            ((), ""),
        ):
            app = mock.Mock(stdout=io.StringIO(), stderr=io.StringIO())
            command = runs.Runs(app, None)
            parsed = command.get_parser("runs").parse_args(
                ["--journal-dir", str(self.directory), *arguments]
            )
            self.assertEqual(0, command.run(parsed))
            self.assertEqual(message, app.stderr.getvalue().strip())

    def test_host_of_a_member(self):
        """The first digits of a hostId are shown, and found."""
        record = made.with_fields(
            made.run_record(),
            machines=(made.machine("g1", host="2091634b" * 7),),
            started_at="2026-04-01T00:00:00+00:00",
        )
        journal.Journal(self.directory, "new-id").append(record)
        self.assertEqual("2091634b", self.list_rows()[0]["Hosts"])
        (row,) = self.list_rows("--host", "2091634b")
        self.assertEqual(("last", "2091634b"), (row["Name"], row["Hosts"]))

    def test_damaged_journal(self):
        """The row has the reason in place of the verdict."""
        with (self.directory / "old.jsonl").open("a") as stream:
            stream.write("{}\n")
        self.assertEqual("inconclusive", self.list_rows()[-1]["Verdict"])

    def test_run_without_limits(self):
        """It has no verdict."""
        self.write("free", "t3", 4, criteria={})
        self.assertEqual("none", self.list_rows()[0]["Verdict"])

    def test_many_hosts(self):
        """Four are named, the others are counted."""
        record = made.with_fields(
            made.run_record(),
            machines=tuple(
                made.machine(f"g{number}", host=f"compute-{number}")
                for number in range(1, 7)
            ),
            started_at="2026-04-01T00:00:00+00:00",
        )
        journal.Journal(self.directory, "many").append(record)
        self.assertEqual(
            "compute-1, compute-2, compute-3, compute-4, 2 more",
            self.list_rows()[0]["Hosts"],
        )

    @ddt.data(("last", 2), ("last:2", 1), ("compute-2", 1), ("compute-1", 1))
    @ddt.unpack
    def test_judge(self, name, number):
        """Judges all runs that a name stands for."""
        code, text = self.run_command(judge.Judge, name)
        self.assertEqual(0, code)
        self.assertEqual(number, text.count("Judged by the rules"))

    def test_compare(self):
        """Compares the newest runs of two hosts."""
        code, text = self.run_command(
            compare.Compare, "compute-1", "compute-2", "-f", "csv"
        )
        self.assertEqual(0, code)
        rows = [*csv.DictReader(io.StringIO(text))]
        self.assertEqual(len(made.METRICS), len(rows))

    def test_unknown_age(self):
        """It is reported before Rally is asked."""
        with self.assertRaisesRegex(errors.VMPerfError, "last:9"):
            self.run_command(judge.Judge, "last:9")
