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
from rally_vmperf import formats
from rally_vmperf import sanitize
from rally_vmperf.records import files
from rally_vmperf.records import model

#: A record has less than a million.
_MAX_LINE_BYTES = 16 << 20
#: The number of damaged lines from which a file is no journal.
_MOST_DAMAGED = 100
_RECENT = re.compile(r"last(?::([1-9][0-9]{0,5}))?(?!\n)$")


class JournalError(errors.VMPerfError):
    """A journal cannot be written or read; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DamagedLine:
    """A line of a journal that is not a readable record.

    :param path: The path of the journal.
    :param is_cut_off: Whether its end is missing, as of one that a killed
        process was writing.
    """

    path: pathlib.Path
    number: int
    reason: str
    is_cut_off: bool

    def create_error(self) -> JournalError:
        """Return the error of a reader that requires each line."""
        return JournalError(
            f"journal {self.path}, line {self.number}: {self.reason}"
        )

    def describe(self) -> str:
        """Return why it is not readable, with the solution, as a sentence."""
        if self.is_cut_off:
            return (
                f"line {self.number} of the journal is cut off, because the "
                "process was killed or the disk was full"
            )
        return (
            f"line {self.number} of the journal is not readable ("
            f"{self.reason}); restore the file, or repeat the run"
        )


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
        for line in self._read_lines():
            if not isinstance(line, DamagedLine):
                records.append(line)
            elif not line.is_cut_off:
                raise line.create_error()
        return records

    def read_readable(self) -> tuple[list[model.Record], list[DamagedLine]]:
        """Return the records that are readable, and the other lines.

        Each damaged line stands for a repetition. If all are damaged, or
        very many, the file is another one.

        :raises JournalError: If it does not exist, has damaged lines only, or
            contains records of two runs or of another version.
        """
        records: list[model.Record] = []
        damaged: list[DamagedLine] = []
        for line in self._read_lines():
            if not isinstance(line, DamagedLine):
                records.append(line)
                continue
            damaged.append(line)
            if len(damaged) > _MOST_DAMAGED:
                raise damaged[0].create_error()
        if damaged and not records and not damaged[0].is_cut_off:
            raise damaged[0].create_error()
        return records, damaged

    def _read_lines(
        self,
    ) -> collections.abc.Iterator[model.Record | DamagedLine]:
        """Yield the record of each line that is not empty, or its damage.

        :raises JournalError: If it does not exist, or contains records of two
            runs or of another version.
        """
        run: str | None = None
        try:
            with documents.open_file(self.path) as stream:
                for number in itertools.count(1):
                    line = stream.readline(_MAX_LINE_BYTES + 1)
                    if not line:
                        return
                    if line == b"\n":
                        continue
                    decoded = self._decode_line(number, line)
                    if not isinstance(decoded, DamagedLine):
                        name = decoded.repetition.run
                        run = name if run is None else run
                        if name != run:
                            raise JournalError(
                                f"journal {self.path}, line {number}: a "
                                f"record of run {sanitize.text(name)} among "
                                f"those of {sanitize.text(run)}; store each "
                                "run in a separate file"
                            )
                    yield decoded
                    while line and not line.endswith(b"\n"):
                        line = stream.readline(_MAX_LINE_BYTES)
        except OSError as error:
            raise JournalError(
                f"journal {self.path}: {error.strerror or error}"
            ) from error

    def _decode_line(
        self, number: int, line: bytes
    ) -> model.Record | DamagedLine:
        """Return the record of a line, or its damage.

        :raises JournalError: If it is a record of another version.
        """
        try:
            document = documents.parse_json(line, "it", files.MAX_VALUES)
            return model.decode(document)
        except formats.VersionError as error:
            raise JournalError(
                f"journal {self.path}, line {number}: {error}"
            ) from error
        except errors.VMPerfError as error:
            return DamagedLine(
                path=self.path,
                number=number,
                reason=str(error),
                is_cut_off=isinstance(error, documents.DocumentError)
                and not line.endswith(b"\n")
                and len(line) <= _MAX_LINE_BYTES,
            )

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
