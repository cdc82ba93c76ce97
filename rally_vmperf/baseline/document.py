"""The baseline document: bare-metal samples with their machine."""

import collections.abc
import datetime
import functools
import hashlib
import importlib.resources
import json
import typing as t

import jsonschema

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import sample

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
    if isinstance(document, dict) and document.get("version") == 1:
        raise BaselineError(
            f"{origin} is of version 1, which this version of rally_vmperf "
            "does not read; record it anew with: rally-vmperf baseline "
            f"record {document.get('name', 'NAME')} --task FILE --replace"
        )
    error = next(iter(_validator().iter_errors(document)), None)
    if error is not None:
        raise BaselineError(
            f"{origin} is not a baseline: at {error.json_path}: "
            f"{error.message[:200]}"
        )
    _check_time(document["recorded_at"], origin)
    for number, entry in enumerate(document["entries"]):
        _check_entry(entry, f"{origin}: at $.entries[{number}]")
    return t.cast(Json, document)


def _check_time(text: str, origin: str) -> None:
    try:
        aware = datetime.datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        raise BaselineError(
            f"{origin}: at $.recorded_at: {text!r} is no time with a zone, "
            "such as 2026-01-31T12:00:00+00:00"
        )


def _check_entry(entry: Json, where: str) -> None:
    metrics = {
        name: sample.Metric(name=name, **meaning)
        for name, meaning in entry["metrics"].items()
    }
    for index, samples in enumerate(entry["repetitions"]):
        place = f"{where}.repetitions[{index}]"
        for name, values in samples.items():
            if name not in metrics:
                raise BaselineError(
                    f"{place} has a value of {name!r}, which "
                    "$.metrics does not explain"
                )
            _check_row(metrics[name], values, entry, place)
    for found in entry["findings"]:
        if found["kind"] not in finding.KINDS:
            raise BaselineError(
                f"{where}.findings: {found['kind']!r} is no finding that this "
                "version knows; record the baseline again"
            )


def _check_row(
    metric: sample.Metric, values: list[t.Any], entry: Json, place: str
) -> None:
    """Refuse what cannot be measured, or comes from no copy."""
    if len(values) != entry["shape"]["copies"]:
        raise BaselineError(
            f"{place}: {metric.name} has {len(values)} values, but there "
            f"were {entry['shape']['copies']} copies"
        )
    for given in values:
        several = given if isinstance(given, list) else [given]
        for value in several if given is not None else ():
            try:
                sample.Sample(metric=metric, value=value)
            except (TypeError, ValueError) as error:
                raise BaselineError(f"{place}: {error}") from None


def digest(document: Json) -> str:
    """Return the SHA-256 of the document's canonical form, hexadecimal."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
