"""Encode and decode records, which are plain JSON documents."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import flows
from rally_vmperf.records import merged
from rally_vmperf.records import model

Json = collections.abc.Mapping[str, t.Any]
#: For each machine one value, a list of values, or None.
Values = list[float | list[float] | None]
#: The bare-metal samples by number of copies.
References = collections.abc.Mapping[int, repetition.Reference]
#: The usage of a command: the fields of ``Usage`` without the workload.
Row = list[t.Any]

#: The fields of a metric in records and baselines, except the name.
_DEFINITION_FIELDS = (
    "unit",
    "better",
    "scale",
    "additive",
    "resolution",
    "step",
)
#: The errors that a document raises that is not a valid record.
INVALID = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
#: Version of the format of records.
VERSION = 3
#: Significant digits of the duration of commands.
_CPU_DIGITS = 4


def encode_metrics(
    metrics: collections.abc.Iterable[sample.Metric],
) -> dict[str, dict[str, t.Any]]:
    """Return the definitions of metrics as a JSON document by name."""
    return {
        metric.name: {
            key: definition
            for key in _DEFINITION_FIELDS
            if (definition := getattr(metric, key)) is not None
        }
        for metric in metrics
    }


def decode_metrics(metrics: Json) -> dict[str, sample.Metric]:
    """Return the metrics in an ``encode_metrics`` document, by name."""
    return {
        name: sample.Metric(
            name,
            **{
                key: definition[key]
                for key in _DEFINITION_FIELDS
                if key in definition
            },
        )
        for name, definition in metrics.items()
    }


def encode_findings(
    findings: collections.abc.Iterable[finding.Finding],
) -> list[dict[str, t.Any]]:
    """Return findings as a list of JSON documents, each once."""
    return [
        {
            "kind": finding.kind,
            "subject": finding.subject,
            "detail": finding.detail,
            **({"metrics": list(finding.metrics)} if finding.metrics else {}),
        }
        for finding in dict.fromkeys(findings)
    ]


def encode_samples(
    observations: collections.abc.Iterable[sample.Observation],
    sources: collections.abc.Sequence[str],
) -> dict[str, Values]:
    """Return lists of values by metric name, in the machines' order.

    :raises KeyError: If an observation is from another machine.
    """
    values_by_machine: dict[str, dict[str, list[float]]] = {}
    for observation in observations:
        name = observation.sample.metric.name
        if name not in values_by_machine:
            values_by_machine[name] = {source: [] for source in sources}
        values_by_machine[name][observation.source].append(
            observation.sample.value
        )
    return {
        name: [encode_values(values) for values in by_source.values()]
        for name, by_source in values_by_machine.items()
    }


def encode_commands(
    usages: collections.abc.Iterable[cpu_seconds.Usage],
) -> dict[str, list[Row]]:
    """Return rows with each command's total CPU usage, by workload.

    Rows are short: a record with many levels contains hundreds of them.
    The file with the raw outputs contains the usage of each run.
    """
    rows: dict[str, list[Row]] = {}
    for usage in cpu_seconds.total(usages):
        workload, *row = dataclasses.astuple(usage)
        rows.setdefault(workload, []).append([_round(field) for field in row])
    return rows


def _round(number: t.Any) -> t.Any:
    """Return a float with few digits; any other object unchanged."""
    if not isinstance(number, float):
        return number
    short = float(f"{number:.{_CPU_DIGITS}g}")
    return int(short) if short.is_integer() else short


def decode_commands(
    commands: collections.abc.Mapping[str, list[Row]],
) -> tuple[cpu_seconds.Usage, ...]:
    """Return the usages in an ``encode_commands`` document, a tuple.

    :raises TypeError: If a row has another length.
    """
    return tuple(
        cpu_seconds.Usage(workload, *row)
        for workload, rows in commands.items()
        for row in rows
    )


def encode_values(values: list[float]) -> float | list[float] | None:
    """Return a machine's values for a record: one, a list, or None."""
    if len(values) > 1:
        return values
    return values[0] if values else None


def decode_samples(
    samples: Json, sources: collections.abc.Sequence[str], metrics: Json
) -> tuple[sample.Observation, ...]:
    """Return observations in an ``encode_samples`` document, a tuple.

    :param metrics: The encoded definitions of the metrics.
    :raises ValueError: If a value is not valid, or the numbers of values and
        machines differ.
    """
    decoded = decode_metrics({name: metrics[name] for name in samples})
    return tuple(
        sample.Observation(source, sample.Sample(decoded[name], value))
        for name, values in samples.items()
        for source, machine_values in zip(sources, values, strict=True)
        for value in decode_values(machine_values, metrics[name])
    )


def decode_values(
    machine_values: float | list[float] | None, definition: Json
) -> list[float]:
    """Return a machine's values in the metric's base unit, a list.

    :param definition: The encoded definition of the metric.
    """
    if machine_values is None:
        return []
    values = (
        machine_values
        if isinstance(machine_values, list)
        else [machine_values]
    )
    decimals = definition.get("decimals")
    if decimals is None:
        return values
    return [float(f"{value}e{-decimals}") for value in values]


def copy_names(number: int) -> list[str]:
    """Return the names of as many bare-metal copies, as a list."""
    return [f"copy-{index}" for index in range(1, number + 1)]


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
    reference, bare_metal = document["reference"], None
    references = _decode_references(reference, document["metrics"])
    if reference is not None:
        bare_metal = model.BareMetal(
            name=reference["name"],
            machine=reference["machine"],
            recorded_at=reference["recorded_at"],
            digest=reference["digest"],
            fingerprint=reference["fingerprint"],
            tools=reference["tools"],
            references=references,
        )
    return model.Record(
        repetition=_decode_repetition(document, references),
        question=document["question"],
        task=document["task"],
        started_at=document["started_at"],
        finished_at=document["finished_at"],
        software=document["software"],
        shape=model.Shape(**document["shape"]),
        machines=tuple(
            model.Machine(**machine) for machine in document["machines"]
        ),
        workloads=tuple(
            model.Workload(**workload) for workload in document["workloads"]
        ),
        order=model.Order(**document["order"]),
        options=document["options"],
        bare_metal=bare_metal,
        flows=tuple(
            dict.fromkeys(
                flow
                for condition in document["conditions"]
                for flow in flows.decode(condition)
            )
        ),
        machines_file=document["files"]["machines"],
    )


def decode(record: Json) -> repetition.Repetition:
    """Return the repetition in a valid record.

    :raises ValueError: If a value is not valid.
    """
    references = _decode_references(record["reference"], record["metrics"])
    return _decode_repetition(record, references)


def _decode_repetition(
    record: Json, references: References
) -> repetition.Repetition:
    """Return the repetition in a record, with decoded references."""
    metrics = decode_metrics(record["metrics"])
    expected = tuple(metrics[name] for name in record["expected_metrics"])
    return repetition.Repetition(
        run=record["rally_workload"],
        question=record["question"],
        number=record["repetition"],
        planned_repetitions=record["planned_repetitions"],
        counted=record["counted"],
        state=record["state"],
        expected_metrics=expected,
        conditions=tuple(
            _decode_condition(record, condition, metrics, expected, references)
            for condition in record["conditions"]
        ),
        hosts={
            condition["name"]: condition["host"]
            for condition in record["machines"]
            if condition["role"] == "guest" and condition["host"]
        },
        missing=_decode_missing(record),
        findings=_decode_findings(record),
        rate_limits=tuple(
            rate_caps.Cap(**condition)
            for condition in record.get("rate_limits", ())
        ),
        host_limits=tuple(_host_limits(record)),
    )


def _host_limits(
    record: Json,
) -> collections.abc.Iterator[repetition.HostLimit]:
    """Yield the maximum number of guests of each host, if it is known.

    The capacity is from Nova, or from the machine of the baseline.
    """
    hosts, reference = record.get("hosts", []), record["reference"]
    if reference is not None and not hosts:
        facts = reference["fingerprint"]
        size = {
            "name": reference["machine"],
            "vcpus": facts.get("threads"),
            "memory_mib": (facts.get("memory_bytes") or 0) >> 20,
        }
        hosts = [size]
    shape = record["shape"]
    for host in hosts:
        if vcpus := host["vcpus"]:
            yield repetition.HostLimit(
                guests=vcpus // shape["vcpus"],
                resource=f"the {vcpus} processors of {host['name']}",
            )
        if memory := host["memory_mib"]:
            yield repetition.HostLimit(
                guests=memory // shape["memory_mib"],
                resource=f"the {memory / 1024:.3g} GiB of memory of "
                f"{host['name']}",
            )


def _decode_condition(
    record: Json,
    document: Json,
    metrics: merged.Metrics,
    expected: tuple[sample.Metric, ...],
    references: References,
) -> repetition.Condition:
    """Return a condition of a repetition from its document."""
    return repetition.Condition(
        axes=document["axes"],
        number=record["repetition"],
        planned_repetitions=record["planned_repetitions"],
        counted=record["counted"],
        position=document["position"],
        state=document["state"],
        skip_reason=document["skip_reason"],
        machines=tuple(document["machines"]),
        batches=document.get("batches", 1),
        # A skipped condition expects no metrics.
        expected_metrics=() if document["skip_reason"] else expected,
        observations=decode_samples(
            document["samples"], document["machines"], record["metrics"]
        ),
        missing=_decode_missing(document),
        findings=_decode_findings(document),
        synchronisation=tuple(
            repetition.Synchronisation(**start)
            for start in document["synchronisation"]
        ),
        reference=references.get(
            document["reference_copies"] or 0, repetition.NO_REFERENCE
        ),
        command_usage=decode_commands(document.get("command_usage", {})),
        distributions=merged.decode_distributions(document, metrics),
        time_series=merged.decode_time_series(document, metrics),
    )


def _decode_missing(document: Json) -> tuple[repetition.Missing, ...]:
    """Return the missing measurements in a document, as a tuple."""
    return tuple(repetition.Missing(**gap) for gap in document["missing"])


def _decode_findings(document: Json) -> tuple[finding.Finding, ...]:
    """Return the findings in a document, as a tuple."""
    return tuple(
        finding.Finding(**finding_document)
        for finding_document in document["findings"]
    )


def _decode_references(reference: Json | None, metrics: Json) -> References:
    """Return the bare-metal samples as a dict by number of copies."""
    if reference is None:
        return {}
    decoded = decode_metrics(metrics)
    return {
        copies_document["copies"]: repetition.Reference(
            name=reference["name"],
            machine=reference["machine"],
            recorded_at=reference["recorded_at"],
            repetitions=tuple(
                decode_samples(
                    samples, copy_names(copies_document["copies"]), metrics
                )
                for samples in copies_document["repetitions"]
            ),
            command_usage=decode_commands(
                copies_document.get("command_usage", {})
            ),
            percentiles=merged.decode_percentiles(copies_document, decoded),
            distributions=merged.decode_distributions(
                copies_document, decoded
            ),
            time_series=merged.decode_time_series(copies_document, decoded),
        )
        for copies_document in reference["copies"]
    }
