"""The JSON Schema of a record."""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors

#: Version of the format of records; those of other versions are rejected.
VERSION = 3


class RecordError(errors.VMPerfError):
    """A document is not a valid record; with the position of the error."""


class VersionError(RecordError):
    """A record has the format of another version; one line."""


def check(record: t.Any) -> collections.abc.Mapping[str, t.Any]:
    """Return a record unchanged; reject it if it is not valid.

    :raises VersionError: If it has the format of another version.
    :raises RecordError: If it is not valid; with the position and the reason.
    """
    check_version(record)
    error = documents.first_error(
        documents.load_schema(__package__), record, exact=True
    )
    if error is not None:
        raise RecordError(
            f"not a record: {error.json_path}: {error.message[:200]}"
        )
    return t.cast(collections.abc.Mapping[str, t.Any], record)


def check_version(record: t.Any) -> None:
    """Reject a record of another version.

    :raises VersionError: If it is one; with the solution, in one line.
    """
    version = record.get("version") if isinstance(record, dict) else None
    if type(version) is not int or version == VERSION:
        return
    if 0 < version < VERSION:
        raise VersionError(
            f"a record has version {version}, which this release does not "
            "read; run the task again, after: rally-vmperf baseline record "
            "NAME --task FILE --replace"
        )
    if version > VERSION:
        raise VersionError(
            f"a record has version {version}, of a later release of "
            "rally_vmperf; use that release"
        )
