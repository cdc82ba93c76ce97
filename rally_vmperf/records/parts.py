"""Encode and decode the parts that records and baselines share."""

import collections.abc
import dataclasses
import importlib.metadata
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import flow
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import merged

T = t.TypeVar("T")
Json = collections.abc.Mapping[str, t.Any]
#: The definition of a metric: its fields except the name.
Definition = dict[str, str | bool | float]
#: For each machine one value, a list of values, or None.
Values = collections.abc.Sequence[float | list[float] | None]
#: The values by the name of the metric.
Samples = collections.abc.Mapping[str, Values]
#: The usage of a command: the fields of ``Usage`` without the workload.
Row = list[t.Any]
#: The number of decimals of the values of each metric; none if unknown.
Decimals = collections.abc.Mapping[str, int | None]

#: The packages whose versions are in every record and baseline.
SOFTWARE = ("rally-vmperf", "rally", "rally-openstack", "openstacksdk")

#: The fields of a metric in records and baselines, except the name.
_DEFINITION_FIELDS = (
    "unit",
    "better",
    "scale",
    "additive",
    "resolution",
    "step",
)
#: Significant digits of the duration of commands.
_CPU_DIGITS = 4


def software() -> dict[str, str]:
    """Return the versions of the measuring packages, a dict by name."""
    return {name: importlib.metadata.version(name) for name in SOFTWARE}


def encode_metrics(
    metrics: collections.abc.Iterable[sample.Metric],
) -> dict[str, Definition]:
    """Return the definitions of metrics as a JSON document by name."""
    return {
        metric.name: {
            key: definition
            for key in _DEFINITION_FIELDS
            if (definition := getattr(metric, key)) is not None
        }
        for metric in metrics
    }


def decode_metrics(
    metrics: collections.abc.Mapping[str, t.Any],
) -> dict[str, sample.Metric]:
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
    return [*map(encode_without_defaults, dict.fromkeys(findings))]


def decode_findings(document: Json) -> tuple[finding.Finding, ...]:
    """Return the findings in a record, a condition or a baseline's entry."""
    return decode_all(finding.Finding, document["findings"])


def encode_all(
    instances: collections.abc.Iterable[t.Any],
) -> list[dict[str, t.Any]]:
    """Return dataclass instances as a list of JSON documents."""
    return [
        {
            key: list(field) if isinstance(field, tuple) else field
            for key, field in dataclasses.asdict(instance).items()
        }
        for instance in instances
    ]


def encode_any(
    key: str, instances: collections.abc.Sequence[t.Any]
) -> dict[str, t.Any]:
    """Return instances as a document with one key; empty without any."""
    return {key: encode_all(instances)} if instances else {}


def encode_without_defaults(instance: t.Any) -> dict[str, t.Any]:
    """Return the fields of an instance that are not their defaults."""
    (encoded,) = encode_all([instance])
    return {
        field.name: encoded[field.name]
        for field in dataclasses.fields(instance)
        if getattr(instance, field.name) != field.default
    }


def decode_all(
    type_: t.Callable[..., T], documents_: collections.abc.Iterable[Json]
) -> tuple[T, ...]:
    """Return the instances of a dataclass in a list of JSON documents."""
    return tuple(type_(**fields) for fields in documents_)


def decode_flows(document: Json) -> tuple[flow.Flow, ...]:
    """Return the network flows in a document with or without any."""
    return decode_all(flow.Flow, document.get("flows", ()))


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
    samples: Samples,
    sources: collections.abc.Sequence[str],
    metrics: merged.Metrics,
    decimals: Decimals | None = None,
) -> tuple[sample.Observation, ...]:
    """Return observations in an ``encode_samples`` document, a tuple.

    :param metrics: The metrics by their names in the document.
    :raises ValueError: If a value is not valid, or the numbers of values and
        machines differ.
    """
    return tuple(
        sample.Observation(source, sample.Sample(metrics[name], value))
        for name, values in samples.items()
        for source, machine_values in zip(sources, values, strict=True)
        for value in decode_values(machine_values, (decimals or {}).get(name))
    )


def decode_values(
    machine_values: float | list[float] | None, decimals: int | None = None
) -> list[float]:
    """Return a machine's values in the metric's base unit, a list.

    :param decimals: The number of decimals of values that are integers.
    """
    if machine_values is None:
        return []
    values = (
        machine_values
        if isinstance(machine_values, list)
        else [machine_values]
    )
    if decimals is None:
        return values
    return [float(f"{value}e{-decimals}") for value in values]


def copy_names(number: int) -> list[str]:
    """Return the names of as many bare-metal copies, as a list."""
    return [f"copy-{index}" for index in range(1, number + 1)]


def encode_reference(
    reference: repetition.Reference, copies: int
) -> dict[str, t.Any]:
    """Return the samples of as many bare-metal copies as a document."""
    return {
        "copies": copies,
        "repetitions": [
            encode_samples(observations, copy_names(copies))
            for observations in reference.repetitions
        ],
        "command_usage": encode_commands(reference.command_usage),
        "percentiles": merged.encode_percentiles(reference),
        "distributions": merged.encode_distributions(reference.distributions),
        "time_series": merged.encode_time_series(reference.time_series),
    }


def decode_reference(
    document: Json,
    copies: int,
    metrics: merged.Metrics,
    decimals: Decimals | None = None,
    **identity: t.Any,
) -> repetition.Reference:
    """Return the bare-metal samples in a record or a baseline's entry.

    :param metrics: The metrics by their names in the document.
    :param identity: The fields ``name``, ``machine`` and ``recorded_at``.
    :raises ValueError: If a value is not valid.
    """
    return repetition.Reference(
        **identity,
        repetitions=tuple(
            decode_samples(samples, copy_names(copies), metrics, decimals)
            for samples in document["repetitions"]
        ),
        command_usage=decode_commands(document.get("command_usage", {})),
        percentiles=merged.decode_percentiles(document, metrics),
        distributions=merged.decode_distributions(document, metrics),
        time_series=merged.decode_time_series(document, metrics),
    )
