"""The baseline document: bare-metal samples with their machine."""

import collections.abc
import datetime
import hashlib
import json
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series

Json = collections.abc.Mapping[str, t.Any]
#: Versions of the document before this one, which are rejected.
OLD_VERSIONS = (1, 2)


class BaselineError(errors.VMPerfError):
    """A baseline is missing, damaged or does not match the task; one line."""


def check(document: t.Any, origin: str) -> Json:
    """Return the document unchanged if it is a baseline.

    :param origin: file name for messages
    :raises BaselineError: with the file, the place in it and the reason
    """
    version = document.get("version") if isinstance(document, dict) else None
    if version in OLD_VERSIONS:
        raise BaselineError(
            f"{origin} has version {version}, which this release does not "
            "read; record it again: rally-vmperf baseline record "
            f"{document.get('name', 'NAME')} --task FILE --replace"
        )
    error = documents.first_error(
        documents.own_schema(__package__), document, exact=True
    )
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
            f"{origin}: at $.recorded_at: {text!r} is not a time with a "
            "zone, such as 2026-01-31T12:00:00+00:00"
        )


def recorded_at(document: Json) -> datetime.datetime:
    """Return when the recording began."""
    return datetime.datetime.fromisoformat(document["recorded_at"])


def _check_entry(entry: Json, where: str) -> None:
    metrics = {
        name: sample.Metric(name=name, **meaning)
        for name, meaning in entry["metrics"].items()
    }
    for index, samples in enumerate(entry["repetitions"]):
        path = f"{where}.repetitions[{index}]"
        for name, values in samples.items():
            if name not in metrics:
                raise BaselineError(
                    f"{path} has a value of {name!r}, which "
                    "$.metrics does not explain"
                )
            _check_row(metrics[name], values, entry, path)
    kinds = ("percentiles", "distributions", "time_series")
    for name in (name for kind in kinds for name in entry.get(kind, {})):
        if name not in metrics:
            raise BaselineError(
                f"{where} has {name!r}, which $.metrics does not explain"
            )
    try:
        for one in entry.get("distributions", {}).values():
            histogram.Histogram.from_plain(one)
        for one in entry.get("time_series", {}).values():
            series.Line.from_plain(one)
    except ValueError as error:
        raise BaselineError(f"{where}: {error}") from None
    for found in entry["findings"]:
        if found["kind"] not in finding.KINDS:
            raise BaselineError(
                f"{where}.findings: {found['kind']!r} is a finding that this "
                "version does not know; record the baseline again"
            )


def _check_row(
    metric: sample.Metric, values: list[t.Any], entry: Json, path: str
) -> None:
    """Refuse values that cannot be measured, or more of them than copies."""
    if len(values) != entry["shape"]["copies"]:
        raise BaselineError(
            f"{path}: {metric.name} has {len(values)} values, but there "
            f"were {entry['shape']['copies']} copies"
        )
    for given in values:
        several = given if isinstance(given, list) else [given]
        for value in several if given is not None else ():
            try:
                sample.Sample(metric=metric, value=value)
            except (TypeError, ValueError) as error:
                raise BaselineError(f"{path}: {error}") from None


def digest(document: Json) -> str:
    """Return the SHA-256 of the document's canonical form, hexadecimal."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
