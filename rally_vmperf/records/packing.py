"""Samples of records as integers with few digits."""

import collections.abc
import copy
import decimal
import typing as t

from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import codec

Json = collections.abc.Mapping[str, t.Any]

#: Significant digits of a sample: more than the precision of any tool, and few
#: enough for small records of many guests.
DIGITS = 5
#: Significant digits of percentiles, which are exact to 1 %.
_PERCENTILE_DIGITS = 3


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
    lowest: dict[str, int] = {}
    for samples in sample_sets:
        for name, values in samples.items():
            for value in (
                v
                for machine_values in values
                for v in codec.decode_values(machine_values, {})
            ):
                short = _round(value, digits.get(name, DIGITS))
                exponent = int(short.as_tuple().exponent)
                lowest[name] = min(exponent, lowest.get(name, exponent))
    for samples in sample_sets:
        for name, values in samples.items():
            samples[name] = [
                codec.encode_values(
                    [
                        int(
                            _round(value, digits.get(name, DIGITS)).scaleb(
                                -lowest[name]
                            )
                        )
                        for value in codec.decode_values(machine_values, {})
                    ]
                )
                for machine_values in values
            ]
    for name, definition in record["metrics"].items():
        definition["decimals"] = -lowest.get(name, 0)
    return record


def with_reference(
    record: Json, reference: Json, metrics: Json, findings: list[Json]
) -> dict[str, t.Any]:
    """Return a copy of a record with another baseline and findings.

    :param metrics: The encoded metrics of the reference.
    """
    definitions = {
        name: {key: condition[key] for key in condition if key != "decimals"}
        for name, condition in record["metrics"].items()
    }
    return pack(
        {
            **record,
            "reference": reference,
            "metrics": {**metrics, **definitions},
            "findings": findings,
            "conditions": [
                {
                    **condition,
                    "samples": {
                        name: [
                            codec.encode_values(
                                codec.decode_values(
                                    machine_values, record["metrics"][name]
                                )
                            )
                            for machine_values in values
                        ]
                        for name, values in condition["samples"].items()
                    },
                }
                for condition in record["conditions"]
            ],
        }
    )


def _round(value: float, digits: int) -> decimal.Decimal:
    """Return a value as a decimal with few digits, without end zeros."""
    return decimal.Decimal(f"{value:.{digits}g}").normalize()
