# SPDX-License-Identifier: Apache-2.0
"""The ledger of runs with resources in a cloud, written before they exist.

A run that is killed does not clean up. Its entry identifies the resources
for the next run and for ``rally-vmperf cleanup``.
"""

import collections.abc
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
import re
import typing as t

from rally_vmperf import atomic
from rally_vmperf import documents
from rally_vmperf import json_schema
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.machines import controller


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """The entry of a run that has, or had, guests.

    :param owner: The identifier of the workload in Rally, a part of the names.
    :param task: The identifier of the task in Rally.
    :param prefix: The prefix of the names of its resources.
    :param auth_url: The URL of the cloud.
    :param project: The name of the project in the cloud.
    :param started_at: The start time in ISO 8601.
    """

    owner: str
    task: str
    prefix: str
    auth_url: str
    project: str
    started_at: str
    process: controller.Process

    @property
    def age(self) -> float:
        """The time since the start of the run in seconds."""
        started = datetime.datetime.fromisoformat(self.started_at)
        if started.tzinfo is None:
            started = started.replace(tzinfo=datetime.UTC)
        now = datetime.datetime.now(datetime.UTC)
        return (now - started).total_seconds()

    @classmethod
    def of_this_process(
        cls,
        owner: str,
        task: str,
        prefix: str,
        credential: credentials.Credential,
    ) -> t.Self:
        """Return a new ledger entry for a run of the calling process.

        :param credential: The credential that boots the guests.
        """
        now = datetime.datetime.now(datetime.UTC)
        return cls(
            owner=owner,
            task=task,
            prefix=prefix,
            auth_url=credential["auth_url"],
            project=credential.get("tenant_name") or "",
            started_at=now.isoformat(timespec="seconds"),
            process=controller.get_current_process(),
        )


#: Rally's identifiers, which are names of files.
_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TEXT = json_schema.text(maxLength=1000)
_COUNT = json_schema.integer(minimum=-1)


def _create_schema(
    dataclass: type[Entry | controller.Process], **fields: documents.Schema
) -> documents.Schema:
    """Return the JSON Schema of a dataclass of texts and other fields."""
    names = {
        field.name: field.default is dataclasses.MISSING
        for field in dataclasses.fields(dataclass)
    }
    return json_schema.closed_mapping(
        {**dict.fromkeys(names, _TEXT), **fields},
        *(name for name, is_required in names.items() if is_required),
    )


_SCHEMA = _create_schema(
    Entry,
    process=_create_schema(
        controller.Process, pid=_COUNT, started=_COUNT, namespace=_COUNT
    ),
    # A shorter prefix would match resources of other users.
    prefix=json_schema.text(minLength=4, maxLength=255),
)


class Ledger:
    """The entries of all runs, one file each.

    :param journal_dir: The directory of the journals, which contains the
        directory of the entries.
    """

    def __init__(self, journal_dir: str | os.PathLike[str]) -> None:
        self.directory = pathlib.Path(journal_dir, "owners")

    def write(self, ledger_entry: Entry) -> None:
        """Store an entry so that it survives a crash of this machine.

        :raises GuestError: If the file cannot be written.
        """
        text = json.dumps(dataclasses.asdict(ledger_entry), indent=1) + "\n"
        try:
            atomic.write(self._get_path(ledger_entry.owner), text)
        except OSError as error:
            raise errors.GuestError(
                f"ledger {self.directory}: {error.strerror or error}; free "
                "space or set [vmperf] journal_dir to another directory"
            ) from error

    def drop(self, owner: str) -> None:
        """Delete the entry of a run without resources, if there is one.

        :raises GuestError: If the owner is not a valid file name.
        """
        self._get_path(owner).unlink(missing_ok=True)

    def entries(self) -> collections.abc.Iterator[Entry]:
        """Yield the entries that can be read."""
        for path in sorted(self.directory.glob("*.json")):
            with contextlib.suppress(documents.DocumentError):
                yield _read_entry(path)

    def list_damaged(self) -> collections.abc.Iterator[str]:
        """Yield a line of text for every entry that cannot be read."""
        for path in sorted(self.directory.glob("*.json")):
            try:
                _read_entry(path)
            except documents.DocumentError as error:
                yield (
                    f"ledger: {error}; check whether its run left resources "
                    "in the cloud, then delete the file"
                )

    def _get_path(self, owner: str) -> pathlib.Path:
        """Return the path of a run's entry; reject an invalid identifier."""
        if not _OWNER.fullmatch(owner):
            raise errors.GuestError(
                f"ledger {self.directory}: {owner!r} is not a valid "
                "identifier of a run"
            )
        return self.directory / f"{owner}.json"


def _read_entry(path: pathlib.Path) -> Entry:
    """Return the entry in a file.

    :raises DocumentError: If the file is not a valid entry.
    """
    document = documents.read_json(path)
    documents.check(_SCHEMA, document, str(path))
    ledger_entry = Entry(
        **{**document, "process": controller.Process(**document["process"])}
    )
    try:
        datetime.datetime.fromisoformat(ledger_entry.started_at)
    except ValueError as error:
        raise documents.DocumentError(
            f"{path} is damaged: $.started_at: {error}"
        ) from None
    if ledger_entry.owner != path.stem:
        raise documents.DocumentError(
            f"{path} is damaged: $.owner is {ledger_entry.owner!r}"
        )
    return ledger_entry
