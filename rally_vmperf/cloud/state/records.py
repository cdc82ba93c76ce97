"""Records on disk of the services that were started."""

import dataclasses
import json
import time

from rally_vmperf import atomic
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs


@dataclasses.dataclass(frozen=True)
class Record:
    """A started service."""

    name: str
    identity: procfs.Identity
    since: float
    digest: str


class Records:
    """The records below one state root.

    :param folders: its folders
    """

    def __init__(self, folders: layout.Layout) -> None:
        self._folder = folders.run

    def write(
        self, name: str, identity: procfs.Identity, digest: str
    ) -> Record:
        """Write the record of a service that was just started.

        :param name: the service
        :param identity: its process
        :param digest: what it was started with
        """
        record = Record(name, identity, time.time(), digest)
        atomic.write(
            self._folder / f"{name}.json",
            json.dumps(dataclasses.asdict(record)) + "\n",
        )
        return record

    def read(self, name: str) -> Record | None:
        """Return the record of a service, whether or not it still runs."""
        known = documents.read(self._folder / f"{name}.json") or {}
        try:
            known = {**known, "identity": procfs.Identity(**known["identity"])}
            return Record(**known)
        except (KeyError, TypeError):
            return None

    def note_ready(self, record: Record) -> None:
        """Record that the current run of a service has answered.

        :param record: of that run
        """
        text = str(record.identity)
        path = self._folder / f"{record.name}.ready"
        if not path.exists() or path.read_text() != text:
            atomic.write(path, text)

    def was_ready(self, record: Record) -> bool:
        """Return whether the current run of a service has ever answered.

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
