"""The baseline document: bare-metal samples with their machine."""

import collections.abc
import functools
import hashlib
import importlib.resources
import json
import typing as t

import jsonschema

from rally_vmperf.measurement import finding

Json = collections.abc.Mapping[str, t.Any]


class BaselineError(Exception):
    """A baseline is missing, damaged or of no use here; one line."""


@functools.cache
def _validator() -> jsonschema.Draft7Validator:
    text = (
        importlib.resources.files("rally_vmperf.baseline")
        .joinpath("schema.json")
        .read_text(encoding="utf-8")
    )
    return jsonschema.Draft7Validator(json.loads(text))


def check(document: t.Any, origin: str) -> Json:
    """Return the document unchanged if it is a baseline.

    :param origin: file name for messages
    :raises BaselineError: with the file, the place in it and the reason
    """
    error = next(iter(_validator().iter_errors(document)), None)
    if error is not None:
        raise BaselineError(
            f"{origin} is not a baseline: at {error.json_path}: "
            f"{error.message[:200]}"
        )
    for number, entry in enumerate(document["entries"]):
        _check_names(entry, f"{origin}: $.entries[{number}]")
    return t.cast(Json, document)


def _check_names(entry: Json, where: str) -> None:
    for index, rows in enumerate(entry["repetitions"]):
        for row in rows:
            if row["metric"] not in entry["metrics"]:
                raise BaselineError(
                    f"{where}.repetitions[{index}] has a value of "
                    f"{row['metric']!r}, which $.metrics does not explain"
                )
    for found in entry["findings"]:
        if found["kind"] not in finding.KINDS:
            raise BaselineError(
                f"{where}.findings: {found['kind']!r} is no finding that this "
                "version knows; record the baseline again"
            )


def digest(document: Json) -> str:
    """Return the SHA-256 of the document's canonical form, hexadecimal."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
