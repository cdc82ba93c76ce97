"""What was started, on disk, for the next command to find."""

import dataclasses
import json
import time

from rally_vmperf.cloud import credentials
from rally_vmperf.cloud import documents
from rally_vmperf.cloud import layout
from rally_vmperf.cloud import procfs


@dataclasses.dataclass(frozen=True)
class Record:
    """A started service."""

    name: str
    identity: procfs.Identity
    since: float
    digest: str


class Records:
    """The records below one state root.

    :param place: its folders
    """

    def __init__(self, place: layout.Layout) -> None:
        self._folder = place.run

    def write(
        self, name: str, identity: procfs.Identity, digest: str
    ) -> Record:
        """Remember a service that was just started.

        :param name: the service
        :param identity: its process
        :param digest: what it was started with
        """
        record = Record(name, identity, time.time(), digest)
        credentials.write_private(
            self._folder / f"{name}.json",
            json.dumps(dataclasses.asdict(record)) + "\n",
        )
        return record

    def read(self, name: str) -> Record | None:
        """Return a record, whether or not its process still lives."""
        known = documents.read(self._folder / f"{name}.json") or {}
        try:
            known = {**known, "identity": procfs.Identity(**known["identity"])}
            return Record(**known)
        except (KeyError, TypeError):
            return None

    def note_ready(self, record: Record) -> None:
        """Remember that a service's present run has answered.

        :param record: of that run
        """
        text = str(record.identity)
        path = self._folder / f"{record.name}.ready"
        if not path.exists() or path.read_text() != text:
            credentials.write_private(path, text)

    def was_ready(self, record: Record) -> bool:
        """Tell whether a service's present run has ever answered.

        :param record: of that run
        """
        path = self._folder / f"{record.name}.ready"
        return path.exists() and path.read_text() == str(record.identity)

    def all(self) -> list[Record]:
        """Return every record."""
        names = (path.stem for path in sorted(self._folder.glob("*.json")))
        found = (self.read(name) for name in names)
        return [record for record in found if record]

    def forget(self, name: str) -> None:
        """Drop a record."""
        for suffix in ("json", "ready"):
            (self._folder / f"{name}.{suffix}").unlink(missing_ok=True)
