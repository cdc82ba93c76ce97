# SPDX-License-Identifier: Apache-2.0
"""Samples as documents have them: columns of values.

A document names each metric once, above the values of all machines.
"""

import collections.abc
import typing as t

from rally_vmperf import fields
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
        fields.choice(
            (fields.Number, list[fields.Number], None),
            "must be a number, a list of numbers or null",
        ),
    ]
]


def _build_form(cells: t.Any) -> t.Any:
    """Return the type of the document of a table.

    :param cells: The type of the values of a metric.
    """
    types = {"machines": list[str], "values": dict[str, cells]}
    return t.Annotated[t.Any, fields.known_keys(types)]


def _encode_cell(values: list[float]) -> float | list[float] | None:
    """Return the values of a machine, with few digits."""
    short = [fields.round_number(value, _DIGITS) for value in values]
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
            fields.round_number(row[metric], _PERCENTILE_DIGITS)
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
    _Row, fields.form(_build_form(_Cells), _decode_row, _encode_row)
]
#: The samples of several repetitions.
Table = t.Annotated[
    _Table,
    fields.form(_build_form(list[_Cells]), _decode_table, _encode_table),
]
#: The percentiles of several repetitions; null for too few values.
PercentileRows = t.Annotated[
    _Percentiles,
    fields.form(
        dict[str, list[fields.Number | None]],
        _decode_percentiles,
        _encode_percentiles,
    ),
]
