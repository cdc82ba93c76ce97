# SPDX-License-Identifier: Apache-2.0
"""Tests of the journal: nothing that was written is lost."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import unittest

import ddt

from rally_vmperf import errors
from rally_vmperf.records import journal
from tests.unit import made
from tests.unit.records import full_disk
from tests.unit.records import raw

QUESTIONS = ("overhead",)


def record(number=2, **changes):
    """Return a record with this number."""
    return made.record(number=number, **changes)


@ddt.ddt
class TestJournal(unittest.TestCase):
    """A journal keeps every record that append returned for."""

    def setUp(self):
        """Make an empty folder."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "new", "journal")
        self.journal = journal.Journal(self.folder, "workload-1")

    def test_read_returns_appended_records(self):
        """Records come back equal and in order."""
        first, second = record(), record(3)
        self.journal.append(first)
        self.journal.append(second)
        self.assertEqual([first, second], self.journal.read())

    def test_line_cut_short_by_a_crash_is_left_out(self):
        """The records before it are still there."""
        self.journal.append(record())
        with open(self.journal.path, "ab") as stream:
            stream.write(b'{"version": 1, "kind"')
        self.assertEqual([record()], self.journal.read())

    def test_two_runs_are_refused(self):
        """In one line, with the file and both runs."""
        self.journal.append(record(run="one"))
        self.journal.append(record(run="two"))
        with self.assertRaisesRegex(
            journal.JournalError, "workload-1.jsonl, line 2: .* two .* one;"
        ):
            self.journal.read()

    def test_a_torn_line_is_cut_before_the_next_record(self):
        """Both records are read; each torn line is kept in a file."""
        first, second = record(), record(3)
        self.journal.append(first)
        for torn in (b'{"torn": ', b"\xff"):
            with open(self.journal.path, "ab") as stream:
                stream.write(torn)
            self.assertEqual([first], self.journal.read()[:1])
            self.journal.append(second)
        self.assertEqual([first, second, second], self.journal.read())
        torn_files = sorted(self.folder.glob("workload-1.torn-*"))
        self.assertEqual(
            [b'{"torn": ', b"\xff"], [file.read_bytes() for file in torn_files]
        )

    def test_a_record_without_an_end_of_line_is_kept(self):
        """Only the end was torn off."""
        first, second = record(), record(3)
        self.journal.append(first)
        content = self.journal.path.read_bytes()
        self.journal.path.write_bytes(content.rstrip(b"\n"))
        self.assertEqual([first], self.journal.read())
        self.journal.append(second)
        self.assertEqual([first, second], self.journal.read())

    def test_a_folder_in_its_place(self):
        """It is one line."""
        self.journal.path.mkdir(parents=True)
        for use in (self.journal.read, self._append):
            with self.assertRaisesRegex(
                journal.JournalError, "workload-1.jsonl: Is a directory"
            ):
                use()

    def _append(self):
        self.journal.append(record())

    def test_damage_in_the_middle_is_named(self):
        """The message has the line number."""
        self.journal.append(record())
        content = self.journal.path.read_bytes()
        self.journal.path.write_bytes(b"garbage\n" + content)
        with self.assertRaisesRegex(journal.JournalError, "line 1"):
            self.journal.read()

    @ddt.data(
        (b"garbage\n", 2, "not readable (it is damaged: line 1 column 1"),
        (b'{"version": 4', 3, "cut off"),
        (b"\0" * 4096, 3, "cut off"),
        (b"x" * (17 << 20) + b"\n", 2, "not readable"),
        (b"\n\n[1]\n", 4, "not readable"),
    )
    @ddt.unpack
    def test_readable_records(self, damaged, number, reason):
        """The other lines are read, and each damaged one has a reason."""
        first, second = record(), record(3)
        for each in (first, second):
            self.journal.append(each)
        lines = self.journal.path.read_bytes().splitlines(keepends=True)
        lines.insert(1 if damaged.endswith(b"\n") else 2, damaged)
        self.journal.path.write_bytes(b"".join(lines))
        records, (line,) = self.journal.read_readable()
        self.assertEqual([first, second], records)
        self.assertIn(
            f"line {number} of the journal is {reason}", line.describe()
        )

    def test_no_readable_record(self):
        """A file of other lines is rejected; a cut record is no damage."""
        self.folder.mkdir(parents=True)
        for content, damages in ((b"", 0), (b'{"a": ', 1)):
            self.journal.path.write_bytes(content)
            records, damaged_lines = self.journal.read_readable()
            self.assertEqual(([], damages), (records, len(damaged_lines)))
        self.journal.path.write_bytes(b"[1]\n[2]\n")
        with self.assertRaisesRegex(journal.JournalError, "line 1: "):
            self.journal.read_readable()
        self.journal.path.unlink()
        self.journal.append(record())
        with self.journal.path.open("ab") as stream:
            stream.write(b"[2]\n" * 101)
        with self.assertRaisesRegex(journal.JournalError, "line 2: "):
            self.journal.read_readable()

    def test_damage_does_not_hide_another_run(self):
        """Records of two runs or versions are rejected as a whole."""
        self.journal.append(record(run="one"))
        for line, message in (
            (None, "line 3: a record of run two"),
            (b'{"version": 5}\n', "line 3: .*version 5"),
        ):
            content = self.journal.path.read_bytes().splitlines(True)[0]
            self.journal.path.write_bytes(content + b"[]\n" + (line or b""))
            if line is None:
                self.journal.append(record(run="two"))
            with self.assertRaisesRegex(journal.JournalError, message):
                self.journal.read_readable()

    def test_no_journal(self):
        """The message names the file."""
        with self.assertRaisesRegex(journal.JournalError, "workload-1.jsonl"):
            self.journal.read()

    def test_an_earlier_version_is_refused(self):
        """The message has one line, with the command to record again."""
        self.folder.mkdir(parents=True)
        self.journal.path.write_text('{"version": 2, "kind": "overhead"}\n')
        with self.assertRaisesRegex(
            journal.JournalError, "line 1: .*version 2.*baseline record"
        ) as caught:
            self.journal.read()
        self.assertNotIn("\n", str(caught.exception))

    @ddt.data("\n", "")
    def test_a_later_version_is_reported(self, end):
        """Also in a last line without its end."""
        self.journal.append(record())
        with open(self.journal.path, "a") as stream:
            stream.write('{"version": 5}' + end)
        with self.assertRaisesRegex(
            journal.JournalError, "line 2: .*version 5, of a later release"
        ):
            self.journal.read()

    def test_pipe_or_link_in_its_place(self):
        """A pipe would make every reader wait."""
        self.folder.mkdir(parents=True)
        os.mkfifo(self.journal.path)
        with self.assertRaisesRegex(
            journal.JournalError, "workload-1.jsonl: is not a regular file"
        ):
            self.journal.read()
        self.journal.path.unlink()
        self.journal.path.symlink_to("/dev/zero")
        with self.assertRaisesRegex(
            journal.JournalError, "workload-1.jsonl: is a link; replace it"
        ):
            self.journal.read()

    def test_raw_outputs_are_kept_compressed(self):
        """They can be read from the named file next to the journal."""
        file = self.journal.raw_outputs(2, self.fail)
        file.add({"stdout": "x" * 10000})
        name = file.close().name
        self.assertEqual("workload-1-2.json.gz", name)
        path = self.folder / name
        self.assertEqual([{"stdout": "x" * 10000}], raw.outputs(path))
        self.assertLess(path.stat().st_size, 1000)

    def test_full_disk_is_one_line_with_the_way_out(self):
        """A partial line is removed."""
        full_disk.limit(self, 100)
        with self.assertRaisesRegex(journal.JournalError, "journal_dir"):
            self.journal.append(record())
        self.assertEqual([], self.journal.read())
        failed = []
        file = self.journal.raw_outputs(2, failed.append)
        file.add({"stdout": os.urandom(500).hex()})
        self.assertIsNone(file.close())
        self.assertRegex(failed[0], "journal_dir")
        self.assertEqual([self.journal.path.name], os.listdir(self.folder))

    def test_full_disk_spoils_no_other_record(self):
        """Records before and after it can be read."""
        self.journal.append(record())
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        full_disk.limit(self, self.journal.path.stat().st_size + 100)
        with self.assertRaises(journal.JournalError):
            self.journal.append(record(3))
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        self.journal.append(record(4))
        numbers = [record.repetition.number for record in self.journal.read()]
        self.assertEqual([2, 4], numbers)

    def test_record_survives_sigkill(self):
        """Each appended record is on disk when the process is killed."""
        script = (
            "import os, signal, sys\n"
            "from rally_vmperf.records import journal\n"
            "from tests.unit.records import test_journal\n"
            "journal.Journal(sys.argv[1], 'w').append(test_journal.record())\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        process = subprocess.run(
            [sys.executable, "-c", script, str(self.folder)],
            cwd=os.getcwd(),
            check=False,
        )
        self.assertEqual(-signal.SIGKILL, process.returncode)
        self.assertEqual([record()], journal.Journal(self.folder, "w").read())


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
        runs = journal.find_runs(name, self.directory, QUESTIONS)
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
        runs = journal.list_runs(self.directory / "none", QUESTIONS)
        self.assertEqual([], runs)

    def test_recordings_of_bare_metal(self):
        """They are not runs of a question."""
        self.write("bare", "t1", 1, question="bare_metal")
        self.assertEqual([], journal.list_runs(self.directory, QUESTIONS))

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
        (run,) = journal.list_runs(self.directory, QUESTIONS)
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
        (run,) = journal.list_runs(self.directory, QUESTIONS)
        self.assertEqual(("compute2", "compute1"), run.hosts)
