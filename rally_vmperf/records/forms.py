"""Types whose documents do not have the names of their fields.

Samples are columns: the values of all machines under the name of the metric.
"""

import collections.abc
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample

Metrics = collections.abc.Mapping[str, sample.Metric]
#: The samples of one repetition.
Row = tuple[sample.Observation, ...]
#: The samples of several repetitions.
Table = tuple[Row, ...]

#: Significant digits of a sample: more than the precision of any tool.
_DIGITS = 5
#: Significant digits of a percentile, which is exact to 1 %.
_PERCENTILE_DIGITS = 4
#: The buckets of a histogram that are combined: it is for charts only.
_COMBINED_BUCKETS = 5
#: The values of a machine: none, one, or several.
_CELL = {"type": ["number", "array", "null"], "items": {"type": "number"}}
_CELLS = {"type": "array", "items": _CELL}
_PERCENTILES: documents.Schema = {
    "type": "object",
    "description": "Percentile -> its value in each repetition; null for too "
    "few values.",
    "additionalProperties": {
        "type": "array",
        "items": {"type": ["number", "null"]},
    },
}
_HISTOGRAM: documents.Schema = {
    "type": "object",
    "additionalProperties": False,
    "required": ["bucket_width", "first_bucket", "counts"],
    "properties": {
        "bucket_width": {
            "type": "integer",
            "minimum": 1,
            "maximum": 9,
            "description": "Number of 2 % buckets that are combined.",
        },
        "first_bucket": {"type": "integer"},
        "counts": {
            "type": "array",
            "minItems": 1,
            "maxItems": histogram.BUCKETS + 8,
            "items": {"type": "integer"},
            "description": "Number of values in this and each following "
            "bucket; a negative number stands for that many empty ones.",
        },
    },
}


def round_number(value: float, digits: int = _DIGITS) -> float:
    """Return a value with few digits, as an integer if possible."""
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() else short


def _find_metric(name: str, metrics: Metrics) -> sample.Metric:
    """Return a metric by its name.

    :raises ValueError: If the document does not define it.
    """
    if name not in metrics:
        raise ValueError(f"{name!r:.80} is not among the metrics")
    return metrics[name]


def _encode_cell(values: list[float]) -> float | list[float] | None:
    """Return the values of a machine, with few digits."""
    short = [round_number(value) for value in values]
    if len(short) > 1:
        return short
    return short[0] if short else None


def _encode_table(rows: Table) -> dict[str, t.Any]:
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


def _decode_table(document: documents.Json, metrics: Metrics) -> Table:
    """Return the observations of ``_encode_table``.

    :raises ValueError: If columns or rows differ in length.
    """
    columns = [
        [(_find_metric(name, metrics), row) for row in rows]
        for name, rows in document["values"].items()
    ]
    return tuple(
        tuple(
            sample.Observation(machine, sample.Sample(metric, value))
            for metric, cells in row
            for machine, cell in zip(document["machines"], cells, strict=True)
            for value in (
                cell if isinstance(cell, list) else [cell][: cell is not None]
            )
        )
        for row in zip(*columns, strict=True)
    )


def _encode_row(row: Row) -> dict[str, t.Any]:
    """Return the machines, and by metric their values in this order."""
    table = _encode_table((row,))
    values = {name: cells for name, (cells,) in table["values"].items()}
    return {**table, "values": values}


def _decode_row(document: documents.Json, metrics: Metrics) -> Row:
    """Return the observations of ``_encode_row``."""
    values = {name: [cells] for name, cells in document["values"].items()}
    rows = _decode_table({**document, "values": values}, metrics)
    return rows[0] if rows else ()


def _build_table_schema(row: documents.Schema) -> documents.Schema:
    """Return the JSON Schema of a table of values.

    :param row: The JSON Schema of the values of a metric.
    """
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["machines", "values"],
        "properties": {
            "machines": {"type": "array", "items": {"type": "string"}},
            "values": {
                "type": "object",
                "description": "Metric -> the values of each machine.",
                "additionalProperties": row,
            },
        },
    }


def _encode_percentiles(
    rows: tuple[sample.Percentiles, ...],
) -> dict[str, list[float | None]]:
    """Return the value of each repetition by metric."""
    metrics = dict.fromkeys(metric for row in rows for metric in row)
    return {
        metric.name: [
            round_number(row[metric], _PERCENTILE_DIGITS)
            if metric in row
            else None
            for row in rows
        ]
        for metric in metrics
    }


def _decode_percentiles(
    document: documents.Json, metrics: Metrics
) -> tuple[sample.Percentiles, ...]:
    """Return the percentiles of ``_encode_percentiles``.

    :raises ValueError: If the numbers of repetitions differ.
    """
    columns = [
        [(_find_metric(name, metrics), value) for value in values]
        for name, values in document.items()
    ]
    return tuple(
        {
            metric: sample.Sample(metric, value).value
            for metric, value in row
            if value is not None
        }
        for row in zip(*columns, strict=True)
    )


class Form(t.NamedTuple):
    """A type with functions for its documents.

    :param hint: The type.
    """

    hint: t.Any
    encode: t.Callable[[t.Any], t.Any]
    decode: t.Callable[[t.Any, Metrics], t.Any]
    schema: documents.Schema


FORMS = (
    Form(Row, _encode_row, _decode_row, _build_table_schema(_CELLS)),
    Form(
        Table,
        _encode_table,
        _decode_table,
        _build_table_schema({"type": "array", "items": _CELLS}),
    ),
    Form(
        tuple[sample.Percentiles, ...],
        _encode_percentiles,
        _decode_percentiles,
        _PERCENTILES,
    ),
    Form(
        histogram.Histogram,
        lambda counted: counted.plain(_COMBINED_BUCKETS),
        lambda plain, _: histogram.Histogram.from_plain(plain),
        _HISTOGRAM,
    ),
    Form(
        sample.Metric,
        lambda metric: metric.name,
        _find_metric,
        {"type": "string"},
    ),
)


def find(hint: t.Any) -> Form | None:
    """Return the form of a type; None for a type without one of its own."""
    return next((form for form in FORMS if form.hint == hint), None)
