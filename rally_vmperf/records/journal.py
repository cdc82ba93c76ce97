"""The journal: records on disk, synced one by one.

Rally stores iterations in chunks, so a killed controller would lose them.
Each record is one line, appended and synced before the scenario returns; what
grows with the guests goes to files beside it.
"""

import collections.abc
import itertools
import json
import os
import pathlib
import typing as t

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import sanitize
from rally_vmperf.records import files
from rally_vmperf.records import schema

#: Bytes of a line; a record has less than a million.
_LONGEST = 16 << 20

Json = collections.abc.Mapping[str, t.Any]


class JournalError(errors.VMPerfError):
    """A journal cannot be written or read; one line."""


class Journal:
    """The records of one Rally workload.

    :param folder: where journals lie, created when the first is written
    :param workload: Rally's identifier of the workload, names the file
    """

    def __init__(self, folder: str | os.PathLike[str], workload: str) -> None:
        self.folder = pathlib.Path(folder)
        self.path = self.folder / f"{workload}.jsonl"
        self._workload = workload

    def append(self, record: Json) -> None:
        """Write a record so that it survives a crash of this machine.

        A line that a crash cut short is first moved to a file beside it.

        :raises JournalError: when it cannot be written
        """
        checked = schema.check(record)
        line = json.dumps(checked, separators=(",", ":")) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            size = self._cut()
            try:
                self._write(line.encode())
            except OSError:
                # Half a line would spoil the records that follow it.
                os.truncate(self.path, size)
                raise
            _sync_folder(self.folder)
        except OSError as error:
            raise JournalError(
                f"journal {self.path}: {error.strerror or error}; make room "
                "or set [vmperf] journal_dir to another folder"
            ) from error

    def raw_outputs(
        self, repetition: int, failed: files.Failed
    ) -> files.RawOutputs:
        """Return an empty file for the outputs of tools in a repetition.

        :param failed: called once, with one line, when writing fails
        """
        name = f"{self._workload}-{repetition}.json.gz"
        return files.RawOutputs(self.folder / name, failed)

    def machines(
        self, details: Json, failed: files.Failed
    ) -> dict[str, str] | None:
        """Write the facts of the machines; return the record's entry.

        :param failed: called with one line when writing fails
        """
        return files.write_machines(self.folder, details, failed)

    def read(self) -> list[Json]:
        """Return the records; a last line cut short by a crash is left out.

        :raises JournalError: when there is none, it is damaged elsewhere, or
            it holds records of two runs
        """
        records: list[Json] = []
        try:
            with open(self.path, "rb") as stream:
                while line := stream.readline(_LONGEST + 1):
                    if line == b"\n":
                        continue
                    number = len(records) + 1
                    try:
                        records.append(_record(line, "it"))
                    except errors.VMPerfError as error:
                        if not line.endswith(b"\n") and not stream.read(1):
                            break
                        raise JournalError(
                            f"journal {self.path}, line {number}: {error}"
                        ) from error
                    first, last = (
                        records[n]["rally_workload"] for n in (0, -1)
                    )
                    if last != first:
                        raise JournalError(
                            f"journal {self.path}, line {number}: a record of "
                            f"run {sanitize.text(last)} among those of "
                            f"{sanitize.text(first)}; put each run into a "
                            "file of its own"
                        )
        except OSError as error:
            raise JournalError(
                f"journal {self.path}: {error.strerror or error}"
            ) from error
        return records

    def _write(self, line: bytes) -> None:
        with open(self.path, "ab", buffering=0) as stream:
            content = memoryview(line)
            while content:
                content = content[stream.write(content) :]
            os.fsync(stream.fileno())

    def _cut(self) -> int:
        """Move an incomplete last line to a file; return the size."""
        if not self.path.exists():
            return 0
        with open(self.path, "r+b") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _LONGEST))
            end = stream.read()
            torn = end[end.rfind(b"\n") + 1 :]
            if not torn:
                return size
            try:
                _record(torn, "it")
            except errors.VMPerfError:
                atomic.write(self._beside(), torn)
                stream.truncate(size - len(torn))
                os.fsync(stream.fileno())
                return size - len(torn)
            # Only its end is missing.
            stream.write(b"\n")
            return size + 1

    def _beside(self) -> pathlib.Path:
        """Return an unused path for an incomplete line."""
        for number in itertools.count(1):
            path = self.path.with_suffix(f".torn-{number}")
            if not path.exists():
                return path
        raise AssertionError


def _record(line: bytes, origin: str) -> Json:
    return schema.check(documents.parse_json(line, origin))


def _sync_folder(folder: pathlib.Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
