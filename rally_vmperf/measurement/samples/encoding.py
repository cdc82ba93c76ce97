# SPDX-License-Identifier: Apache-2.0
"""Samples and metrics as documents have them.

A document defines each metric once. Samples refer to it by name, and are
columns of values below the names of all machines.
"""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import formats
from rally_vmperf.measurement.samples import sample

#: Significant digits of a sample: more than the precision of any tool.
_DIGITS = 5
#: Significant digits of a percentile, which is exact to 1 %.
_PERCENTILE_DIGITS = 4

Metrics = collections.abc.Mapping[str, sample.Metric]
_Row = tuple[sample.Observation, ...]
_Table = tuple[_Row, ...]
_Percentiles = tuple[sample.Percentiles, ...]
#: The values of a machine: none, one, or several.
_Cells = list[
    t.Annotated[
        t.Any,
        formats.choice(
            (formats.Number, list[formats.Number], None),
            "must be a number, a list of numbers or null",
        ),
    ]
]


def _build_form(cells: t.Any) -> t.Any:
    """Return the type of the document of a table.

    :param cells: The type of the values of a metric.
    """
    types = {"machines": list[str], "values": dict[str, cells]}
    return t.Annotated[t.Any, formats.known_keys(types)]


def _encode_cell(values: list[float]) -> float | list[float] | None:
    """Return the values of a machine, with few digits."""
    short = [formats.round_number(value, _DIGITS) for value in values]
    if len(short) > 1:
        return short
    return short[0] if short else None


def _encode_table(rows: _Table) -> dict[str, t.Any]:
    """Return the machines, and by metric their values in this order."""
    machines = [*dict.fromkeys(one.source for row in rows for one in row)]
    table: dict[str, list[dict[str, list[float]]]] = {}
    for number, row in enumerate(rows):
        for one in row:
            name = one.sample.metric.name
            if name not in table:
                table[name] = [
                    {machine: [] for machine in machines} for _ in rows
                ]
            table[name][number][one.source].append(one.sample.value)
    return {
        "machines": machines,
        "values": {
            name: [[*map(_encode_cell, row.values())] for row in column]
            for name, column in table.items()
        },
    }


def _decode_table(table: t.Any, metrics: Metrics) -> _Table:
    """Return the observations of ``_encode_table``.

    :raises ValueError: If columns or rows differ in length.
    """
    columns = [
        [(sample.find_metric(name, metrics), row) for row in rows]
        for name, rows in table["values"].items()
    ]
    return tuple(
        tuple(
            sample.Observation(machine, sample.Sample(metric, value))
            for metric, cells in row
            for machine, cell in zip(table["machines"], cells, strict=True)
            for value in (
                cell if isinstance(cell, list) else [cell][: cell is not None]
            )
        )
        for row in zip(*columns, strict=True)
    )


def _encode_row(row: _Row) -> dict[str, t.Any]:
    """Return the machines, and by metric their values in this order."""
    table = _encode_table((row,))
    values = {name: cells for name, (cells,) in table["values"].items()}
    return {**table, "values": values}


def _decode_row(row: t.Any, metrics: Metrics) -> _Row:
    """Return the observations of ``_encode_row``."""
    values = {name: [cells] for name, cells in row["values"].items()}
    rows = _decode_table({**row, "values": values}, metrics)
    return rows[0] if rows else ()


def _encode_percentiles(
    rows: _Percentiles,
) -> dict[str, list[float | None]]:
    """Return the value of each repetition by metric."""
    metrics = dict.fromkeys(metric for row in rows for metric in row)
    return {
        metric.name: [
            formats.round_number(row[metric], _PERCENTILE_DIGITS)
            if metric in row
            else None
            for row in rows
        ]
        for metric in metrics
    }


def _decode_percentiles(percentiles: t.Any, metrics: Metrics) -> _Percentiles:
    """Return the percentiles of ``_encode_percentiles``.

    :raises ValueError: If the numbers of repetitions differ.
    """
    columns = [
        [(sample.find_metric(name, metrics), value) for value in values]
        for name, values in percentiles.items()
    ]
    return tuple(
        {
            metric: sample.Sample(metric, value).value
            for metric, value in row
            if value is not None
        }
        for row in zip(*columns, strict=True)
    )


#: The samples of one repetition.
Row = t.Annotated[
    _Row, formats.form(_build_form(_Cells), _decode_row, _encode_row)
]
#: The samples of several repetitions.
Table = t.Annotated[
    _Table,
    formats.form(_build_form(list[_Cells]), _decode_table, _encode_table),
]
#: The percentiles of several repetitions; null for too few values.
PercentileRows = t.Annotated[
    _Percentiles,
    formats.form(
        dict[str, list[formats.Number | None]],
        _decode_percentiles,
        _encode_percentiles,
    ),
]


def _define(
    definitions: dict[str, dict[str, t.Any]], known: dict[str, sample.Metric]
) -> tuple[sample.Metric, ...]:
    """Return the metrics of a document as a tuple.

    :param known: The metrics to which names refer; they are replaced.
    """
    known.clear()
    for name, definition in definitions.items():
        known[name] = sample.Metric(name, **definition)
    return tuple(known.values())


def _build_definitions(core: t.Any, _: t.Any, handler: t.Any) -> t.Any:
    """Return the schema of definitions, an object by name of the metric."""
    objects = core.dict_schema(
        core.str_schema(), formats.build_object(sample.Metric, core, handler)
    )
    return core.with_info_after_validator_function(
        lambda definitions, info: _define(definitions, info.context),
        objects,
        serialization=core.plain_serializer_function_ser_schema(
            lambda metrics: {
                metric.name: formats.list_values(metric) for metric in metrics
            },
            return_schema=objects,
        ),
    )


Definitions = t.Annotated[
    tuple[sample.Metric, ...], formats.Schema(_build_definitions)
]


class Defining(formats.Stored):
    """A dataclass whose field ``metrics`` defines the metrics of its fields.

    Metrics that it does not list are added to its document.
    """

    @classmethod
    def build_object(cls, core: t.Any, handler: t.Any) -> t.Any:
        """Return the schema of its document, which reads ``metrics`` first."""
        content = super().build_object(core, handler)
        keys = content["fields"]
        content["fields"] = {"metrics": keys["metrics"], **keys}
        return content

    def list_values(self) -> dict[str, t.Any]:
        """Return the values in its document, with all of its metrics."""
        metrics = {metric.name: metric for metric in _find_metrics(self)}
        return {**super().list_values(), "metrics": tuple(metrics.values())}


def _find_metrics(value: t.Any) -> collections.abc.Iterator[sample.Metric]:
    """Yield the metrics in a value, those in fields first."""
    if isinstance(value, sample.Metric):
        yield value
    elif isinstance(value, sample.Observation):
        # A document has tens of thousands.
        yield value.sample.metric
    elif dataclasses.is_dataclass(value):
        for field in formats.list_fields(t.cast(type, type(value))):
            yield from _find_metrics(getattr(value, field.name))
    elif isinstance(value, tuple):
        for element in value:
            yield from _find_metrics(element)
    elif isinstance(value, collections.abc.Mapping):
        for pair in value.items():
            yield from _find_metrics(pair)
