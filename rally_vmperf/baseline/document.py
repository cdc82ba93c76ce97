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
    """Return the document unchanged; reject one that is no baseline.

    :param document: The document.
    :param origin: The file name for messages.
    :raises BaselineError: If it is not valid; with the file, position and
        reason.
    """
    version = document.get("version") if isinstance(document, dict) else None
    if version in OLD_VERSIONS:
        raise BaselineError(
            f"{origin} has version {version}, which this release does not "
            "read; record it again: rally-vmperf baseline record "
            f"{document.get('name', 'NAME')} --task FILE --replace"
        )
    error = documents.first_error(
        documents.load_schema(__package__), document, exact=True
    )
    if error is not None:
        raise BaselineError(
            f"{origin} is not a baseline: at {error.json_path}: "
            f"{error.message[:200]}"
        )
    _check_time(document["recorded_at"], origin)
    for number, baseline_entry in enumerate(document["entries"]):
        _check_entry(baseline_entry, f"{origin}: at $.entries[{number}]")
    return t.cast(Json, document)


def _check_time(text: str, origin: str) -> None:
    """Reject a text that is not a time with a zone."""
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
    """Return the start of the recording as a datetime."""
    return datetime.datetime.fromisoformat(document["recorded_at"])


def _check_entry(baseline_entry: Json, json_path: str) -> None:
    """Reject an entry whose values, metrics and series do not agree."""
    metrics = {
        name: sample.Metric(name=name, **definition)
        for name, definition in baseline_entry["metrics"].items()
    }
    for index, samples in enumerate(baseline_entry["repetitions"]):
        path = f"{json_path}.repetitions[{index}]"
        for name, values in samples.items():
            if name not in metrics:
                raise BaselineError(
                    f"{path} has a value of {name!r}, which "
                    "is not in $.metrics"
                )
            _check_row(metrics[name], values, baseline_entry, path)
    for kind in ("percentiles", "distributions", "time_series"):
        for name in baseline_entry.get(kind, {}):
            if name not in metrics:
                raise BaselineError(
                    f"{json_path} has {name!r}, which is not in $.metrics"
                )
    try:
        for encoded in baseline_entry.get("distributions", {}).values():
            histogram.Histogram.from_plain(encoded)
        for encoded in baseline_entry.get("time_series", {}).values():
            series.MeanSeries.from_plain(encoded)
    except ValueError as error:
        raise BaselineError(f"{json_path}: {error}") from None
    for finding_document in baseline_entry["findings"]:
        if finding_document["kind"] not in finding.KINDS:
            raise BaselineError(
                f"{json_path}.findings: {finding_document['kind']!r} is not "
                "a kind of finding of this release; record the baseline again"
            )


def _check_row(
    metric: sample.Metric, values: list[t.Any], baseline_entry: Json, path: str
) -> None:
    """Reject values that are not valid, or more values than copies."""
    copies = baseline_entry["shape"]["copies"]
    if len(values) != copies:
        raise BaselineError(
            f"{path}: {metric.name} has {len(values)} values, but there "
            f"were {copies} copies"
        )
    try:
        for machine_values in values:
            if machine_values is None:
                continue
            is_list = isinstance(machine_values, list)
            for value in machine_values if is_list else [machine_values]:
                sample.Sample(metric=metric, value=value)
    except (TypeError, ValueError) as error:
        raise BaselineError(f"{path}: {error}") from None


def digest(document: Json) -> str:
    """Return the SHA-256 of the document's canonical form, hexadecimal."""
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
