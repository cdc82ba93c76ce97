"""From a record, a plain JSON document, to what judges and reports read."""

import collections.abc
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample

Json = collections.abc.Mapping[str, t.Any]


def encode_metrics(
    metrics: collections.abc.Iterable[sample.Metric],
) -> dict[str, dict[str, str]]:
    """Return metrics by name, so that samples need only name them."""
    return {
        metric.name: {
            "unit": metric.unit,
            "better": metric.better,
            "scale": metric.scale,
        }
        for metric in metrics
    }


def decode_metrics(metrics: Json) -> dict[str, sample.Metric]:
    """Return the metrics that ``encode_metrics`` wrote."""
    return {
        name: sample.Metric(name=name, **meaning)
        for name, meaning in metrics.items()
    }


def encode_observations(
    observations: collections.abc.Iterable[sample.Observation],
) -> list[dict[str, t.Any]]:
    """Return observations as plain documents, in their order."""
    return [
        {
            "source": one.source,
            "metric": one.sample.metric.name,
            "value": one.sample.value,
        }
        for one in observations
    ]


def decode_observations(
    rows: collections.abc.Iterable[Json],
    metrics: collections.abc.Mapping[str, sample.Metric],
) -> tuple[sample.Observation, ...]:
    """Return the observations that ``encode_observations`` wrote.

    :raises ValueError: for a value that no measurement can give
    """
    return tuple(
        sample.Observation(
            source=row["source"],
            sample=sample.Sample(
                metric=metrics[row["metric"]], value=row["value"]
            ),
        )
        for row in rows
    )


def readable(record: Json | None) -> repetition.Repetition | None:
    """Return what a record holds, None where there is none or no sense."""
    if record is None:
        return None
    try:
        return decode(record)
    except (KeyError, TypeError, ValueError):
        return None


def decode(record: Json) -> repetition.Repetition:
    """Return the repetition that a valid record of an overhead holds.

    :raises ValueError: for a record of another kind
    """
    if record["kind"] != "overhead":
        raise ValueError(f"a record of kind {record['kind']}, not overhead")
    metrics = decode_metrics(record["metrics"])
    return repetition.Repetition(
        number=record["repetition"],
        planned=record["planned"],
        counted=record["counted"],
        state=record["state"],
        expected=tuple(metrics[name] for name in record["expected"]),
        observations=decode_observations(record["samples"], metrics),
        missing=decode_missing(record),
        findings=decode_findings(record),
        reference=decode_reference(record["reference"], metrics),
    )


def decode_missing(part: Json) -> tuple[repetition.Missing, ...]:
    """Return the gaps in a record, or in a level of one."""
    return tuple(repetition.Missing(**one) for one in part["missing"])


def decode_findings(part: Json) -> tuple[finding.Finding, ...]:
    """Return the findings in a record, or in a level of one."""
    return tuple(finding.Finding(**one) for one in part["findings"])


def decode_reference(
    reference: Json, metrics: collections.abc.Mapping[str, sample.Metric]
) -> repetition.Reference:
    """Return the bare-metal samples in a record, or in a level of one."""
    return repetition.Reference(
        name=reference["name"],
        machine=reference["machine"],
        recorded_at=reference["recorded_at"],
        repetitions=tuple(
            decode_observations(rows, metrics)
            for rows in reference["repetitions"]
        ),
    )
