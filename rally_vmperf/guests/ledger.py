"""Who owns what in the cloud, written down before it is made.

A run that is killed cleans nothing up. Its entry tells the next run, and
``rally-vmperf cleanup``, whose resources those are and that nobody needs them.
"""

import collections.abc
import dataclasses
import json
import os
import pathlib
import tempfile

from rally_vmperf.guests import errors
from rally_vmperf.guests import process


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """A run that has, or had, guests.

    :param owner: Rally's identifier of the workload, part of the names
    :param task: Rally's identifier of the task
    :param prefix: what the names of its resources begin with
    :param auth_url: the cloud it uses
    :param project: the project it uses there
    :param started_at: ISO 8601
    """

    owner: str
    task: str
    prefix: str
    auth_url: str
    project: str
    started_at: str
    process: process.Process


class Ledger:
    """The entries of all runs, one file each.

    :param journal_folder: the folder of the journals; entries lie below it
    """

    def __init__(self, journal_folder: str | os.PathLike[str]) -> None:
        self.folder = pathlib.Path(journal_folder, "owners")

    def write(self, entry: Entry) -> None:
        """Store an entry so that it survives a crash of this machine.

        :raises GuestError: when the disk does not take it
        """
        text = json.dumps(dataclasses.asdict(entry), indent=1) + "\n"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=self.folder, prefix=".", delete=False
            ) as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(stream.name, self._path(entry.owner))
            folder = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise errors.GuestError(
                f"ledger {self.folder}: {error.strerror or error}; make room "
                "or set [vmperf] journal_dir to another folder"
            ) from error

    def drop(self, owner: str) -> None:
        """Forget a run that left nothing; harmless when unknown."""
        self._path(owner).unlink(missing_ok=True)

    def entries(self) -> collections.abc.Iterator[Entry]:
        """Yield the entries; what is damaged is left out."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                fields = json.loads(path.read_text())
                fields["process"] = process.Process(**fields["process"])
                yield Entry(**fields)
            except (OSError, ValueError, TypeError, KeyError):
                continue

    def _path(self, owner: str) -> pathlib.Path:
        return self.folder / f"{owner}.json"
