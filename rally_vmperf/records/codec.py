"""Encode and decode records, which are plain JSON documents."""

import collections
import collections.abc
import copy
import dataclasses
import decimal
import typing as t

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import merged
from rally_vmperf.records import model
from rally_vmperf.records import parts
from rally_vmperf.records import schema

Json = collections.abc.Mapping[str, t.Any]
#: The bare-metal samples by number of copies.
References = collections.abc.Mapping[int, repetition.Reference]

#: The errors that a document raises that is not a valid record.
INVALID = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
#: Significant digits of a sample: more than the precision of any tool, and few
#: enough for small records of many guests.
DIGITS = 5
#: Significant digits of percentiles, which are exact to 1 %.
_PERCENTILE_DIGITS = 3

#: The fields with the same names and values in a document, by type.
_RECORD = ("task", "started_at", "finished_at", "software", "options")
_CONDITION = ("axes", "position", "state", "skip_reason", "reference_copies")
_IDENTITY = ("name", "machine", "recorded_at")
_BARE_METAL = (*_IDENTITY, "digest", "session", "fingerprint", "tools")


def encode_record(record: model.Record) -> dict[str, t.Any]:
    """Return a record as a JSON document, with samples of few digits."""
    measured = record.repetition
    conditions = measured.conditions
    metrics = [
        *record.metrics,
        *(
            metric
            for condition in conditions
            for metric in _list_metrics(condition)
        ),
    ]
    document = {
        "version": schema.VERSION,
        "question": measured.question,
        **_encode_fields(record, _RECORD),
        "rally_workload": measured.run,
        "repetition": measured.number,
        "planned_repetitions": measured.planned_repetitions,
        "counted": measured.counted,
        "state": measured.state,
        "shape": parts.encode_without_defaults(record.shape),
        "machines": parts.encode_all(record.machines),
        "workloads": [*map(parts.encode_without_defaults, record.workloads)],
        "metrics": parts.encode_metrics(metrics),
        "expected_metrics": [
            metric.name for metric in measured.expected_metrics
        ],
        "reference": _encode_bare_metal(record.bare_metal),
        "order": dataclasses.asdict(record.order),
        "conditions": [*map(_encode_condition, conditions)],
        "missing": parts.encode_all(measured.missing),
        "findings": parts.encode_findings(measured.findings),
        **parts.encode_any("rate_limits", measured.rate_limits),
        **parts.encode_any("hosts", record.hosts),
        "files": {"raw": record.raw_file, "machines": record.machines_file},
    }
    return pack(document)


def decode_or_none(document: t.Any) -> model.Record | None:
    """Return the record in a document; None if it is not valid."""
    try:
        return decode_record(document)
    except INVALID:
        return None


def decode_record(document: Json) -> model.Record:
    """Return the decoded record in a valid document.

    :raises ValueError: If a value is not valid.
    """
    metrics = parts.decode_metrics(document["metrics"])
    decimals = {
        name: definition.get("decimals")
        for name, definition in document["metrics"].items()
    }
    bare_metal = _decode_bare_metal(document["reference"], metrics, decimals)
    references = bare_metal.references if bare_metal else {}
    expected = tuple(metrics[name] for name in document["expected_metrics"])
    machines = parts.decode_all(model.Machine, document["machines"])
    hosts = parts.decode_all(model.HostCapacity, document.get("hosts", ()))
    shape = model.Shape(**document["shape"])
    common: dict[str, t.Any] = {
        "number": document["repetition"],
        "planned_repetitions": document["planned_repetitions"],
        "counted": document["counted"],
    }
    return model.Record(
        repetition=repetition.Repetition(
            **common,
            run=document["rally_workload"],
            question=document["question"],
            state=document["state"],
            expected_metrics=expected,
            conditions=tuple(
                _decode_condition(
                    condition,
                    metrics,
                    decimals,
                    references,
                    **common,
                    # A skipped condition expects no metrics.
                    expected_metrics=()
                    if condition["skip_reason"]
                    else expected,
                )
                for condition in document["conditions"]
            ),
            hosts={
                machine.name: machine.host
                for machine in machines
                if machine.role == "guest" and machine.host
            },
            missing=_decode_missing(document),
            findings=parts.decode_findings(document),
            rate_limits=parts.decode_all(
                rate_caps.Cap, document.get("rate_limits", ())
            ),
            rebooted="boot" in document["options"]
            or document["options"].get("reboot", "never") != "never",
        ),
        **{key: document[key] for key in _RECORD},
        shape=shape,
        machines=machines,
        workloads=parts.decode_all(model.Workload, document["workloads"]),
        metrics=tuple(metrics.values()),
        order=model.Order(**document["order"]),
        bare_metal=bare_metal,
        hosts=hosts,
        raw_file=document["files"]["raw"],
        machines_file=document["files"]["machines"],
    )


def decode(document: Json) -> repetition.Repetition:
    """Return the repetition in a valid record.

    :raises ValueError: If a value is not valid.
    """
    return decode_record(document).repetition


def _list_metrics(
    condition: repetition.Condition,
) -> collections.abc.Iterator[sample.Metric]:
    """Yield the metric of each result of a condition."""
    for observation in condition.observations:
        yield observation.sample.metric
    for distribution in condition.distributions:
        yield distribution.metric
    for series in condition.time_series:
        yield series.metric


def _encode_condition(condition: repetition.Condition) -> dict[str, t.Any]:
    """Return a condition with its results as a JSON document."""
    sources = [observation.source for observation in condition.observations]
    machines = list(dict.fromkeys((*condition.machines, *sources)))
    return {
        **_encode_fields(condition, _CONDITION),
        "machines": machines,
        **({"batches": condition.batches} if condition.batches > 1 else {}),
        **parts.encode_any("flows", condition.flows),
        "samples": parts.encode_samples(condition.observations, machines),
        "missing": parts.encode_all(condition.missing),
        "findings": parts.encode_findings(condition.findings),
        "synchronisation": parts.encode_all(condition.synchronisation),
        "command_usage": parts.encode_commands(condition.command_usage),
        "distributions": merged.encode_distributions(condition.distributions),
        "time_series": merged.encode_time_series(condition.time_series),
    }


def _decode_condition(
    document: Json,
    metrics: merged.Metrics,
    decimals: parts.Decimals,
    references: References,
    **common: t.Any,
) -> repetition.Condition:
    """Return a condition of a repetition from its document.

    :param common: The fields that the repetition knows.
    """
    return repetition.Condition(
        **common,
        **{key: document[key] for key in _CONDITION},
        machines=tuple(document["machines"]),
        batches=document.get("batches", 1),
        flows=parts.decode_flows(document),
        observations=parts.decode_samples(
            document["samples"], document["machines"], metrics, decimals
        ),
        reference=references.get(
            document["reference_copies"] or 0, repetition.NO_REFERENCE
        ),
        missing=_decode_missing(document),
        findings=parts.decode_findings(document),
        synchronisation=parts.decode_all(
            repetition.Synchronisation, document["synchronisation"]
        ),
        command_usage=parts.decode_commands(document.get("command_usage", {})),
        distributions=merged.decode_distributions(document, metrics),
        time_series=merged.decode_time_series(document, metrics),
    )


def _encode_bare_metal(
    bare_metal: model.BareMetal | None,
) -> dict[str, t.Any] | None:
    """Return the baseline of a record as a JSON document, or None."""
    if bare_metal is None:
        return None
    return {
        **_encode_fields(bare_metal, _BARE_METAL),
        "copies": [
            parts.encode_reference(reference, copies)
            for copies, reference in bare_metal.references.items()
        ],
    }


def _decode_bare_metal(
    document: Json | None, metrics: merged.Metrics, decimals: parts.Decimals
) -> model.BareMetal | None:
    """Return the baseline in a record; None without one."""
    if document is None:
        return None
    identity = {key: document[key] for key in _IDENTITY}
    return model.BareMetal(
        **{key: document[key] for key in _BARE_METAL},
        references={
            copies["copies"]: parts.decode_reference(
                copies, copies["copies"], metrics, decimals, **identity
            )
            for copies in document["copies"]
        },
    )


def _decode_missing(document: Json) -> tuple[repetition.Missing, ...]:
    """Return the missing measurements in a document, as a tuple."""
    return parts.decode_all(repetition.Missing, document["missing"])


def _encode_fields(
    instance: t.Any, names: collections.abc.Iterable[str]
) -> dict[str, t.Any]:
    """Return some fields of an instance, unchanged, as a JSON document."""
    return {name: getattr(instance, name) for name in names}


def pack(record: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return a copy of a record with samples as integers of few digits.

    A record of many guests contains ten thousands of samples. The definition
    of the metric has the number of decimals.
    """
    record = copy.deepcopy(record)
    sample_sets = [condition["samples"] for condition in record["conditions"]]
    for condition in (record["reference"] or {}).get("copies", ()):
        sample_sets += condition["repetitions"]
    digits = {
        sample.percentile_name(name, percent): _PERCENTILE_DIGITS
        for condition in record["conditions"]
        for name in condition.get("distributions", {})
        for percent in sample.PERCENTILES
    }
    exponents = collections.defaultdict[str, set[int]](set)
    for samples in sample_sets:
        for name, values in samples.items():
            samples[name] = [
                [
                    _round(value, digits.get(name, DIGITS))
                    for value in parts.decode_values(machine_values)
                ]
                for machine_values in values
            ]
            exponents[name] |= {
                int(value.as_tuple().exponent)
                for machine_values in samples[name]
                for value in machine_values
            }
    decimals = {name: -min(exponents[name], default=0) for name in exponents}
    for samples in sample_sets:
        for name, values in samples.items():
            samples[name] = [
                parts.encode_values(
                    [
                        int(value.scaleb(decimals[name]))
                        for value in machine_values
                    ]
                )
                for machine_values in values
            ]
    for name, definition in record["metrics"].items():
        definition["decimals"] = decimals.get(name, 0)
    return record


def _round(value: float, digits: int) -> decimal.Decimal:
    """Return a value as a decimal with few digits, without end zeros."""
    return decimal.Decimal(f"{value:.{digits}g}").normalize()
