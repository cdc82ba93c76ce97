"""The form of a record, as JSON Schema."""

import collections.abc
import functools
import importlib.resources
import json
import typing as t

import jsonschema


class RecordError(ValueError):
    """A document is not a record, with the place where it differs."""


class OldRecordError(RecordError):
    """A record has the form of an earlier version; one line."""


@functools.cache
def _validator() -> jsonschema.Draft7Validator:
    text = (
        importlib.resources.files("rally_vmperf.records")
        .joinpath("schema.json")
        .read_text(encoding="utf-8")
    )
    return jsonschema.Draft7Validator(json.loads(text))


def check(record: t.Any) -> collections.abc.Mapping[str, t.Any]:
    """Return the record unchanged if it has the form of one.

    :raises OldRecordError: for one of an earlier version
    :raises RecordError: with the place and the reason, in one line
    """
    refuse_old(record)
    error = next(iter(_validator().iter_errors(record)), None)
    if error is not None:
        raise RecordError(
            f"not a record: {error.json_path}: {error.message[:200]}"
        )
    return t.cast(collections.abc.Mapping[str, t.Any], record)


def refuse_old(record: t.Any) -> None:
    """Refuse a record of an earlier version.

    :raises OldRecordError: in one line that says how to record anew
    """
    version = record.get("version") if isinstance(record, dict) else None
    if version == 1:
        raise OldRecordError(
            f"a record of version {version}, which this version of "
            "rally_vmperf does not read; run the task again, after: "
            "rally-vmperf baseline record NAME --task FILE --replace"
        )
