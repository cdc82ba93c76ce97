# SPDX-License-Identifier: Apache-2.0
"""The journal: records on disk, synced one by one, and their index.

Rally stores iterations in chunks, so a killed controller would lose them. Each
record is one line, appended and synced before the scenario returns. Data that
grow with the number of guests are in separate files.
"""

import collections.abc
import dataclasses
import itertools
import json
import os
import pathlib
import re
import typing as t

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.records import files
from rally_vmperf.records import model

#: A record has less than a million.
_MAX_LINE_BYTES = 16 << 20
_RECENT = re.compile(r"last(?::([1-9][0-9]{0,5}))?(?!\n)$")


class JournalError(errors.VMPerfError):
    """A journal cannot be written or read; one line."""


class Journal:
    """The records of one Rally workload.

    :param folder: The directory of journals, created when the first is
        written.
    :param workload: Rally's identifier of the workload, for the file name.
    """

    def __init__(self, folder: str | os.PathLike[str], workload: str) -> None:
        self.folder = pathlib.Path(folder)
        self.path = self.folder / f"{workload}.jsonl"
        self._workload = workload

    def append(self, record: model.Record) -> None:
        """Write a record to the file so that it survives a crash.

        A line that a crash has truncated is first moved to another file.

        :raises JournalError: If the journal cannot be written.
        """
        document = model.FORMAT.encode(record)
        line = json.dumps(document, separators=(",", ":")) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            size = self._move_incomplete_line()
            try:
                self._write(line.encode())
            except OSError:
                # Half a line would damage the records that follow it.
                os.truncate(self.path, size)
                raise
            atomic.sync_directory(self.folder)
        except OSError as error:
            raise JournalError(
                f"journal {self.path}: {error.strerror or error}; free space "
                "or set [vmperf] journal_dir to another directory"
            ) from error

    def raw_outputs(
        self, repetition: int, failed: files.Failed
    ) -> files.RawOutputs:
        """Return a new file for the outputs of tools in a repetition.

        :param repetition: The number of the repetition.
        :param failed: A function that is called once with one line if writing
            fails.
        """
        name = f"{self._workload}-{repetition}.json.gz"
        return files.RawOutputs(self.folder / name, failed)

    def machines(
        self,
        details: collections.abc.Mapping[str, documents.Facts],
        failed: files.Failed,
    ) -> model.FileReference | None:
        """Write the facts of machines; return name and checksum, or None.

        :param details: The facts by machine.
        :param failed: A function that is called with one line if writing
            fails.
        """
        return files.write_machines(self.folder, details, failed)

    def read(self) -> list[model.Record]:
        """Return the records as a list, without a truncated last line.

        :raises JournalError: If it does not exist, is damaged, or contains
            records of two runs.
        """
        records: list[model.Record] = []
        try:
            with documents.open_file(self.path) as stream:
                while line := stream.readline(_MAX_LINE_BYTES + 1):
                    if line == b"\n":
                        continue
                    number = len(records) + 1
                    try:
                        records.append(
                            model.decode(
                                documents.parse_json(
                                    line, "it", files.MAX_VALUES
                                )
                            )
                        )
                    except errors.VMPerfError as error:
                        if (
                            isinstance(error, documents.DocumentError)
                            and not line.endswith(b"\n")
                            and not stream.read(1)
                        ):
                            break
                        raise JournalError(
                            f"journal {self.path}, line {number}: {error}"
                        ) from error
                    first, last = (records[n].repetition.run for n in (0, -1))
                    if last != first:
                        raise JournalError(
                            f"journal {self.path}, line {number}: a record of "
                            f"run {sanitize.text(last)} among those of "
                            f"{sanitize.text(first)}; store each run in a "
                            "separate file"
                        )
        except OSError as error:
            raise JournalError(
                f"journal {self.path}: {error.strerror or error}"
            ) from error
        return records

    def _write(self, line: bytes) -> None:
        """Append a line to the file, and sync it to disk."""
        with open(self.path, "ab", buffering=0) as stream:
            content = memoryview(line)
            while content:
                content = content[stream.write(content) :]
            os.fsync(stream.fileno())

    def _move_incomplete_line(self) -> int:
        """Move an incomplete last line to a file; return the size left."""
        if not self.path.exists():
            return 0
        with open(self.path, "r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _MAX_LINE_BYTES))
            end = stream.read()
            incomplete = end[end.rfind(b"\n") + 1 :]
            if not incomplete:
                return size
            try:
                documents.parse_json(incomplete, "it", files.MAX_VALUES)
            except documents.DocumentError:
                atomic.write(self._unused_path(), incomplete)
                stream.truncate(size - len(incomplete))
                os.fsync(stream.fileno())
                return size - len(incomplete)
            # Only its end is missing.
            stream.write(b"\n")
            return size + 1

    def _unused_path(self) -> pathlib.Path:
        """Return an unused path for an incomplete line."""
        for number in itertools.count(1):
            path = self.path.with_suffix(f".torn-{number}")
            if not path.exists():
                return path
        raise AssertionError


@dataclasses.dataclass(frozen=True, kw_only=True)
class IndexedRun:
    """A run in a directory of journals.

    :param run: The identifier of the run, the name of its journal.
    :param task: The identifier of the task.
    :param question: The name of its question.
    :param started_at: The start of its first repetition in UTC, ISO 8601.
    :param hosts: The hosts of its guests, as far as the cloud reports them.
    """

    path: pathlib.Path
    run: str
    task: str
    question: str
    started_at: str
    hosts: tuple[str, ...]


def list_runs(
    folder: pathlib.Path, questions: collections.abc.Container[str]
) -> list[IndexedRun]:
    """Return the runs in a directory, the newest task first.

    The first record of a journal has all that identifies a run, so that a
    directory with thousands of journals is listed within seconds.
    The runs of a task follow each other in their order. Files that are not
    readable are omitted; ``judge`` reports what is wrong with one.

    :param questions: The names of the questions whose runs are listed, which
        excludes recordings of bare metal.
    """
    runs = [
        run
        for path in folder.glob("*.jsonl")
        if (run := _read_first(path)) is not None and run.question in questions
    ]
    starts: dict[str, str] = {}
    for run in runs:
        starts[run.task] = max(starts.get(run.task, ""), run.started_at)
    runs.sort(key=lambda run: run.started_at)
    runs.sort(key=lambda run: (starts[run.task], run.task), reverse=True)
    return runs


def group_by_task(
    runs: collections.abc.Iterable[IndexedRun],
) -> list[list[IndexedRun]]:
    """Return the runs of each task as a list of lists in their order."""
    tasks: dict[str, list[IndexedRun]] = {}
    for run in runs:
        tasks.setdefault(run.task, []).append(run)
    return list(tasks.values())


def find_runs(
    name: str,
    folder: pathlib.Path,
    questions: collections.abc.Container[str],
) -> list[IndexedRun]:
    """Return the runs that a name stands for.

    :param name: ``last`` for the newest task, ``last:2`` for the one before
        it and so on, the identifier of a task or of a run, or a host, for the
        runs of the newest task that has a guest on it.
    :returns: The runs; an empty list if there are none of this name.
    :raises VMPerfError: If there are fewer tasks.
    """
    tasks = group_by_task(list_runs(folder, questions))
    match = _RECENT.match(name)
    if match is None and name.startswith("last:"):
        raise errors.VMPerfError(
            f"{name}: must be last, or last:N with an integer N from 1 to "
            "999999"
        )
    if match is None:
        named = (
            [run for run in runs if name in (run.task, run.run, *run.hosts)]
            for runs in tasks
        )
        return next(filter(None, named), [])
    number = int(match[1] or 1)
    if number > len(tasks):
        raise errors.VMPerfError(
            f"{name}: the directory {folder} has runs of {len(tasks)} tasks; "
            "to list them: rally-vmperf runs, or select another directory "
            "with --journal-dir"
        )
    return tasks[number - 1]


def _read_first(path: pathlib.Path) -> IndexedRun | None:
    """Return the run in a journal from its first record, or None."""
    try:
        with documents.open_file(path) as stream:
            document: t.Any = json.loads(stream.readline(_MAX_LINE_BYTES))
        if not documents.is_time(document["started_at"]):
            return None
        return IndexedRun(
            path=path,
            run=str(document.get("run") or path.stem),
            task=str(document["task"]),
            question=str(document["question"]),
            started_at=str(document["started_at"]),
            hosts=tuple(
                dict.fromkeys(
                    str(machine["host"])
                    for machine in document["machines"]
                    if machine["role"] == "guest" and machine.get("host")
                )
            ),
        )
    except (
        AttributeError,
        OSError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ):
        return None
