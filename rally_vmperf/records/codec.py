"""Encode and decode records, which are plain JSON documents."""

import collections.abc
import copy
import dataclasses
import decimal
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import caps
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import merged

Json = collections.abc.Mapping[str, t.Any]
#: For each machine one value, several, or none.
Values = list[float | list[float] | None]
#: The usage of a command: the fields of ``Usage`` without its workload.
Row = list[t.Any]

#: What records and baselines keep of a metric, beside its name.
_MEANING = ("unit", "better", "scale", "additive", "resolution", "step")
#: Version of the form of records.
VERSION = 3
#: Significant digits of a sample: more than any tool is exact to, and few
#: enough to keep a record of many guests small.
DIGITS = 5
#: Likewise, of seconds that commands took.
_CPU_DIGITS = 4
#: Likewise, of each machine's percentiles, which are exact to 1 %.
_PERCENTILE_DIGITS = 3


def encode_metrics(
    metrics: collections.abc.Iterable[sample.Metric],
) -> dict[str, dict[str, t.Any]]:
    """Return metrics by name; samples refer to them by name only."""
    return {
        metric.name: {
            key: value
            for key in _MEANING
            if (value := getattr(metric, key)) is not None
        }
        for metric in metrics
    }


def decode_metrics(metrics: Json) -> dict[str, sample.Metric]:
    """Return the metrics that ``encode_metrics`` wrote."""
    return {
        name: sample.Metric(
            name, **{key: meaning[key] for key in _MEANING if key in meaning}
        )
        for name, meaning in metrics.items()
    }


def encode_findings(
    findings: collections.abc.Iterable[finding.Finding],
) -> list[dict[str, t.Any]]:
    """Return findings as plain documents, each once."""
    return [
        {
            "kind": one.kind,
            "subject": one.subject,
            "detail": one.detail,
            **({"metrics": list(one.metrics)} if one.metrics else {}),
        }
        for one in dict.fromkeys(findings)
    ]


def encode_samples(
    observations: collections.abc.Iterable[sample.Observation],
    sources: collections.abc.Sequence[str],
) -> dict[str, Values]:
    """Return metric -> value of each machine, in the order of the machines.

    :raises KeyError: for an observation of another machine
    """
    found: dict[str, dict[str, list[float]]] = {}
    for one in observations:
        name = one.sample.metric.name
        if name not in found:
            found[name] = {source: [] for source in sources}
        found[name][one.source].append(one.sample.value)
    return {
        name: [encode_values(values) for values in by_source.values()]
        for name, by_source in found.items()
    }


def encode_commands(
    usages: collections.abc.Iterable[cpu_seconds.Usage],
) -> dict[str, list[Row]]:
    """Return workload -> a row for each command with the sum of its usage.

    Rows are short: a record of many numbers of guests holds hundreds of them.
    The file of the raw outputs has the usage of each run.
    """
    found: dict[str, list[Row]] = {}
    for one in cpu_seconds.total(usages):
        workload, *row = dataclasses.astuple(one)
        found.setdefault(workload, []).append([_rounded(x) for x in row])
    return found


def _rounded(value: t.Any) -> t.Any:
    """Return a number rounded to few digits; other values unchanged."""
    if not isinstance(value, float):
        return value
    short = float(f"{value:.{_CPU_DIGITS}g}")
    return int(short) if short.is_integer() else short


def decode_commands(
    commands: collections.abc.Mapping[str, list[Row]],
) -> tuple[cpu_seconds.Usage, ...]:
    """Return what ``encode_commands`` wrote.

    :raises TypeError: for a row of another length
    """
    return tuple(
        cpu_seconds.Usage(workload, *row)
        for workload, rows in commands.items()
        for row in rows
    )


def encode_values(values: list[float]) -> float | list[float] | None:
    """Return the values of one machine, as records hold them."""
    if len(values) > 1:
        return values
    return values[0] if values else None


def decode_samples(
    samples: Json, sources: collections.abc.Sequence[str], metrics: Json
) -> tuple[sample.Observation, ...]:
    """Return the observations that ``encode_samples`` wrote.

    :param metrics: their meaning, encoded
    :raises ValueError: for a value that no measurement can give, or another
        number of values than of machines
    """
    known = decode_metrics({name: metrics[name] for name in samples})
    return tuple(
        sample.Observation(source, sample.Sample(known[name], value))
        for name, values in samples.items()
        for source, given in zip(sources, values, strict=True)
        for value in decode_values(given, metrics[name])
    )


def decode_values(
    given: float | list[float] | None, meaning: Json
) -> list[float]:
    """Return the values of one machine, in the metric's base unit.

    :param meaning: of the metric, encoded
    """
    if given is None:
        return []
    values = given if isinstance(given, list) else [given]
    decimals = meaning.get("decimals")
    if decimals is None:
        return values
    return [float(f"{value}e{-decimals}") for value in values]


def pack(record: dict[str, t.Any]) -> dict[str, t.Any]:
    """Return a record whose samples are whole numbers of few digits.

    A record of many guests holds ten thousands of them. The metric's
    meaning has the number of decimals.
    """
    record = copy.deepcopy(record)
    parts = [one["samples"] for one in record["conditions"]]
    for one in (record["reference"] or {}).get("copies", ()):
        parts += one["repetitions"]
    digits = {
        sample.percentile_name(name, percent): _PERCENTILE_DIGITS
        for one in record["conditions"]
        for name in one.get("distributions", {})
        for percent in sample.PERCENTILES
    }
    lowest: dict[str, int] = {}
    for samples in parts:
        for name, values in samples.items():
            for value in (
                v for given in values for v in decode_values(given, {})
            ):
                short = _short(value, digits.get(name, DIGITS))
                exponent = int(short.as_tuple().exponent)
                lowest[name] = min(exponent, lowest.get(name, exponent))
    for samples in parts:
        for name, values in samples.items():
            samples[name] = [
                encode_values(
                    [
                        int(
                            _short(value, digits.get(name, DIGITS)).scaleb(
                                -lowest[name]
                            )
                        )
                        for value in decode_values(given, {})
                    ]
                )
                for given in values
            ]
    for name, meaning in record["metrics"].items():
        meaning["decimals"] = -lowest.get(name, 0)
    return record


def with_reference(
    record: Json, reference: Json, metrics: Json, findings: list[Json]
) -> dict[str, t.Any]:
    """Return a record with another reference, and other findings.

    :param metrics: of the reference, encoded
    """
    meanings = {
        name: {key: one[key] for key in one if key != "decimals"}
        for name, one in record["metrics"].items()
    }
    return pack(
        {
            **record,
            "reference": reference,
            "metrics": {**metrics, **meanings},
            "findings": findings,
            "conditions": [
                {
                    **one,
                    "samples": {
                        name: [
                            encode_values(
                                decode_values(given, record["metrics"][name])
                            )
                            for given in values
                        ]
                        for name, values in one["samples"].items()
                    },
                }
                for one in record["conditions"]
            ],
        }
    )


def _short(value: float, digits: int) -> decimal.Decimal:
    """Return a value with so many digits, without trailing zeros."""
    return decimal.Decimal(f"{value:.{digits}g}").normalize()


def copies(number: int) -> list[str]:
    """Return the names of bare-metal copies."""
    return [f"copy-{place}" for place in range(1, number + 1)]


def readable(record: Json | None) -> repetition.Repetition | None:
    """Return the repetition in a record; None where it cannot be read."""
    if record is None:
        return None
    try:
        return decode(record)
    except (ArithmeticError, KeyError, TypeError, ValueError):
        return None


def decode(record: Json) -> repetition.Repetition:
    """Return the repetition that a valid record holds.

    :raises ValueError: for values that no measurement can give
    """
    metrics = decode_metrics(record["metrics"])
    expected = tuple(metrics[name] for name in record["expected_metrics"])
    references = _references(record["reference"], record["metrics"])
    return repetition.Repetition(
        run=record["rally_workload"],
        number=record["repetition"],
        planned_repetitions=record["planned_repetitions"],
        counted=record["counted"],
        state=record["state"],
        expected_metrics=expected,
        conditions=tuple(
            _condition(record, one, metrics, expected, references)
            for one in record["conditions"]
        ),
        hosts={
            one["name"]: one["host"]
            for one in record["machines"]
            if one["role"] == "guest" and one["host"]
        },
        missing=_missing(record),
        findings=_findings(record),
        rate_limits=tuple(
            caps.Cap(**one) for one in record.get("rate_limits", ())
        ),
        rooms=tuple(_rooms(record)),
    )


def _rooms(record: Json) -> collections.abc.Iterator[repetition.Room]:
    """Return how many guests each host holds, as far as its size is known.

    By what Nova tells an administrator, or by the baseline's machine.
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
    for one in hosts:
        if vcpus := one["vcpus"]:
            yield repetition.Room(
                guests=vcpus // shape["vcpus"],
                what=f"the {vcpus} processors of {one['name']}",
            )
        if memory := one["memory_mib"]:
            yield repetition.Room(
                guests=memory // shape["memory_mib"],
                what=f"the {memory / 1024:.3g} GiB of memory of {one['name']}",
            )


def _condition(
    record: Json,
    one: Json,
    metrics: merged.Metrics,
    expected: tuple[sample.Metric, ...],
    references: collections.abc.Mapping[int | None, repetition.Reference],
) -> repetition.Condition:
    return repetition.Condition(
        axes=one["axes"],
        number=record["repetition"],
        planned_repetitions=record["planned_repetitions"],
        counted=record["counted"],
        position=one["position"],
        state=one["state"],
        skip_reason=one["skip_reason"],
        machines=tuple(one["machines"]),
        batches=one.get("batches", 1),
        # A skipped condition expects no metrics.
        expected_metrics=() if one["skip_reason"] else expected,
        observations=decode_samples(
            one["samples"], one["machines"], record["metrics"]
        ),
        missing=_missing(one),
        findings=_findings(one),
        synchronisation=tuple(
            repetition.Synchronisation(**start)
            for start in one["synchronisation"]
        ),
        reference=references.get(
            one["reference_copies"], repetition.NO_REFERENCE
        ),
        command_usage=decode_commands(one.get("command_usage", {})),
        distributions=merged.distributions(one, metrics),
        time_series=merged.time_series(one, metrics),
    )


def _missing(part: Json) -> tuple[repetition.Missing, ...]:
    return tuple(repetition.Missing(**one) for one in part["missing"])


def _findings(part: Json) -> tuple[finding.Finding, ...]:
    return tuple(finding.Finding(**one) for one in part["findings"])


def _references(
    reference: Json | None, metrics: Json
) -> dict[int | None, repetition.Reference]:
    """Return bare metal by the number of its copies."""
    if reference is None:
        return {}
    known = decode_metrics(metrics)
    return {
        one["copies"]: repetition.Reference(
            name=reference["name"],
            machine=reference["machine"],
            recorded_at=reference["recorded_at"],
            repetitions=tuple(
                decode_samples(samples, copies(one["copies"]), metrics)
                for samples in one["repetitions"]
            ),
            command_usage=decode_commands(one.get("command_usage", {})),
            percentiles=merged.percentiles(one, known),
            distributions=merged.distributions(one, known),
            time_series=merged.time_series(one, known),
        )
        for one in reference["copies"]
    }
