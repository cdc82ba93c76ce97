"""From a record, a plain JSON document, to what judges and reports read."""

import collections.abc
import copy
import dataclasses
import decimal
import typing as t

from rally_vmperf.measurement import cpu_seconds
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample

Json = collections.abc.Mapping[str, t.Any]
#: Of each machine one value, several, or none.
Values = list[float | list[float] | None]
#: What a command took: the fields of a ``Usage`` without its workload.
Row = list[t.Any]

#: Version of the form of records.
VERSION = 2
#: Significant digits of a sample: more than any tool is exact to, and few
#: enough for a record of many guests.
DIGITS = 5
#: Likewise, of seconds that commands took.
_CPU_DIGITS = 4


def encode_metrics(
    metrics: collections.abc.Iterable[sample.Metric],
) -> dict[str, dict[str, t.Any]]:
    """Return metrics by name, so that samples need only name them."""
    return {
        metric.name: {
            "unit": metric.unit,
            "better": metric.better,
            "scale": metric.scale,
            "adds_up": metric.adds_up,
        }
        for metric in metrics
    }


def decode_metrics(metrics: Json) -> dict[str, sample.Metric]:
    """Return the metrics that ``encode_metrics`` wrote."""
    return {
        name: sample.Metric(
            name=name,
            unit=meaning["unit"],
            better=meaning["better"],
            scale=meaning["scale"],
            adds_up=meaning.get("adds_up"),
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
            "seen": one.seen,
            **({"metrics": list(one.metrics)} if one.metrics else {}),
        }
        for one in dict.fromkeys(findings)
    ]


def encode_samples(
    observations: collections.abc.Iterable[sample.Observation],
    sources: collections.abc.Sequence[str],
) -> dict[str, Values]:
    """Return metric -> what each of these machines reported, in their order.

    :raises KeyError: for an observation of another machine
    """
    found: dict[str, dict[str, list[float]]] = {}
    for one in observations:
        name = one.sample.metric.name
        if name not in found:
            found[name] = {source: [] for source in sources}
        found[name][one.source].append(one.sample.value)
    return {
        name: [of_one(values) for values in by_source.values()]
        for name, by_source in found.items()
    }


def encode_commands(
    usages: collections.abc.Iterable[cpu_seconds.Usage],
) -> dict[str, list[Row]]:
    """Return workload -> what each of its commands took, added up, a row each.

    Rows are short: a record of many numbers of guests holds hundreds of them.
    What each run took stands in the file of the raw outputs.
    """
    found: dict[str, list[Row]] = {}
    for one in cpu_seconds.total(usages):
        workload, *row = dataclasses.astuple(one)
        found.setdefault(workload, []).append([_rounded(x) for x in row])
    return found


def _rounded(value: t.Any) -> t.Any:
    """Return a number with few digits, and anything else as it is."""
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


def of_one(values: list[float]) -> float | list[float] | None:
    """Return what one machine reported as records hold it."""
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
        sample.Observation(
            source=source,
            sample=sample.Sample(metric=known[name], value=value),
        )
        for name, values in samples.items()
        for source, given in zip(sources, values, strict=True)
        for value in several(given, metrics[name])
    )


def several(given: float | list[float] | None, meaning: Json) -> list[float]:
    """Return what one machine reported, in the metric's base unit.

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

    A record of many guests holds ten thousands of them. How many decimals
    they have stands in the metric's meaning.
    """
    record = copy.deepcopy(record)
    parts = [one["samples"] for one in record["conditions"]]
    for one in (record["reference"] or {}).get("copies", ()):
        parts += one["repetitions"]
    lowest: dict[str, int] = {}
    for samples in parts:
        for name, values in samples.items():
            for value in (v for given in values for v in several(given, {})):
                exponent = int(_short(value).as_tuple().exponent)
                lowest[name] = min(exponent, lowest.get(name, exponent))
    for samples in parts:
        for name, values in samples.items():
            samples[name] = [
                of_one(
                    [
                        int(_short(value).scaleb(-lowest[name]))
                        for value in several(given, {})
                    ]
                )
                for given in values
            ]
    for name, meaning in record["metrics"].items():
        meaning["decimals"] = -lowest.get(name, 0)
    return record


def _short(value: float) -> decimal.Decimal:
    """Return a value with ``DIGITS`` digits, without zeros at its end."""
    return decimal.Decimal(f"{value:.{DIGITS}g}").normalize()


def copies(number: int) -> list[str]:
    """Return the names of bare-metal copies."""
    return [f"copy-{place}" for place in range(1, number + 1)]


def readable(record: Json | None) -> repetition.Repetition | None:
    """Return what a record holds, None where there is none or no sense."""
    if record is None:
        return None
    try:
        return decode(record)
    except (KeyError, TypeError, ValueError):
        return None


def decode(record: Json) -> repetition.Repetition:
    """Return the repetition that a valid record holds.

    :raises ValueError: for values that no measurement can give
    """
    metrics = decode_metrics(record["metrics"])
    expected = tuple(metrics[name] for name in record["expected"])
    references = _references(record["reference"], record["metrics"])
    return repetition.Repetition(
        number=record["repetition"],
        planned=record["planned"],
        counted=record["counted"],
        state=record["state"],
        expected=expected,
        conditions=tuple(
            _condition(record, one, expected, references)
            for one in record["conditions"]
        ),
        hosts={
            one["name"]: one["host"]
            for one in record["machines"]
            if one["role"] == "guest" and one["host"]
        },
        missing=_missing(record),
        findings=_findings(record),
    )


def _condition(
    record: Json,
    one: Json,
    expected: tuple[sample.Metric, ...],
    references: collections.abc.Mapping[int | None, repetition.Reference],
) -> repetition.Condition:
    return repetition.Condition(
        axes=one["axes"],
        number=record["repetition"],
        planned=record["planned"],
        counted=record["counted"],
        position=one["position"],
        state=one["state"],
        skipped=one["skipped"],
        machines=tuple(one["machines"]),
        # What is skipped lacks nothing that was to be measured.
        expected=() if one["skipped"] else expected,
        observations=decode_samples(
            one["samples"], one["machines"], record["metrics"]
        ),
        missing=_missing(one),
        findings=_findings(one),
        starts=tuple(repetition.Start(**start) for start in one["starts"]),
        reference=references.get(one["copies"], repetition.NO_REFERENCE),
        commands=decode_commands(one.get("commands", {})),
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
    return {
        one["copies"]: repetition.Reference(
            name=reference["name"],
            machine=reference["machine"],
            recorded_at=reference["recorded_at"],
            repetitions=tuple(
                decode_samples(samples, copies(one["copies"]), metrics)
                for samples in one["repetitions"]
            ),
            commands=decode_commands(one.get("commands", {})),
        )
        for one in reference["copies"]
    }
