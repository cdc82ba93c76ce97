"""The journal: records on disk, synced one by one.

Rally stores iterations in chunks, so a killed controller would lose them.
Each record is one line, appended and synced before the scenario returns; what
grows with the guests goes to files beside it.
"""

import collections.abc
import json
import os
import pathlib
import typing as t

from rally_vmperf.records import files
from rally_vmperf.records import schema

Json = collections.abc.Mapping[str, t.Any]


class JournalError(Exception):
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

        :raises JournalError: when the disk does not take it
        """
        checked = schema.check(record)
        line = json.dumps(checked, separators=(",", ":")) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            size = self.path.stat().st_size if self.path.exists() else 0
            try:
                self._write(line.encode(), torn=not self._is_whole(size))
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
        """Return the file for what tools print in a repetition, empty.

        :param failed: called once, with one line, when the disk takes no more
        """
        name = f"{self._workload}-{repetition}.json.gz"
        return files.RawOutputs(self.folder / name, failed)

    def machines(
        self, details: Json, failed: files.Failed
    ) -> dict[str, str] | None:
        """Write what is known of the machines; return the record's entry.

        :param failed: called with one line when the disk does not take it
        """
        return files.write_machines(self.folder, details, failed)

    def read(self) -> list[Json]:
        """Return the records; a last line cut short by a crash is left out.

        :raises JournalError: when there is none, or it is damaged elsewhere
        """
        try:
            lines = self.path.read_bytes().split(b"\n")
        except OSError as error:
            raise JournalError(
                f"journal {self.path}: {error.strerror or error}"
            ) from error
        records = []
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                records.append(schema.check(json.loads(line)))
            except ValueError as error:
                if number == len(lines):
                    break
                raise JournalError(
                    f"journal {self.path}, line {number}: {error}"
                ) from error
        return records

    def _write(self, line: bytes, torn: bool) -> None:
        with open(self.path, "ab", buffering=0) as stream:
            content = memoryview(b"\n" + line if torn else line)
            while content:
                content = content[stream.write(content) :]
            os.fsync(stream.fileno())

    def _is_whole(self, size: int) -> bool:
        if not size:
            return True
        with open(self.path, "rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) == b"\n"


def _sync_folder(folder: pathlib.Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
