"""Dataclasses as JSON documents, by the types of their fields.

Fields with their defaults are omitted. A metric is written by its name; the
field ``metrics`` of a dataclass defines the metrics of all its fields. Samples
are columns: the values of all machines under the name of the metric.
"""

import collections.abc
import dataclasses
import functools
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import fields
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample

T = t.TypeVar("T")
Metrics = collections.abc.Mapping[str, sample.Metric]
#: The samples of one repetition.
Row = tuple[sample.Observation, ...]
#: The samples of several repetitions.
Table = tuple[Row, ...]
PercentileRows = tuple[sample.Percentiles, ...]

#: Significant digits of a sample: more than the precision of any tool.
_DIGITS = 5
#: Significant digits of a percentile, which is exact to 1 %.
_PERCENTILE_DIGITS = 4
#: The buckets of a histogram that are combined: it is for charts only.
_COMBINED_BUCKETS = 5
#: The field that defines the metrics of a dataclass, and its type.
_DEFINITIONS = ("metrics", tuple[sample.Metric, ...])

UNIONS = (t.Union, types.UnionType)
#: The errors of the values of a document.
INVALID = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class FieldError(errors.VMPerfError):
    """A field whose value is not valid; one line.

    :param path: The names of the fields that lead to it.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"$.{path}: {reason}")
        self.path, self.reason = path, reason


def _round(value: float, digits: int = _DIGITS) -> float:
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
    short = [_round(value) for value in values]
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


def _encode_percentiles(
    rows: PercentileRows,
) -> dict[str, list[float | None]]:
    """Return the value of each repetition by metric."""
    metrics = dict.fromkeys(metric for row in rows for metric in row)
    return {
        metric.name: [
            _round(row[metric], _PERCENTILE_DIGITS) if metric in row else None
            for row in rows
        ]
        for metric in metrics
    }


def _decode_percentiles(
    document: documents.Json, metrics: Metrics
) -> PercentileRows:
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


class _Form(t.NamedTuple):
    """A type whose documents do not have the names of its fields."""

    hint: t.Any
    encode: t.Callable[[t.Any], t.Any]
    decode: t.Callable[[t.Any, Metrics], t.Any]


_FORMS = (
    _Form(Row, _encode_row, _decode_row),
    _Form(Table, _encode_table, _decode_table),
    _Form(PercentileRows, _encode_percentiles, _decode_percentiles),
    _Form(
        histogram.Histogram,
        lambda counted: counted.plain(_COMBINED_BUCKETS),
        lambda plain, _: histogram.Histogram.from_plain(plain),
    ),
    _Form(sample.Metric, lambda metric: metric.name, _find_metric),
)


def _find_form(hint: t.Any) -> _Form | None:
    """Return the form of a type; None for a type without one of its own."""
    return next((form for form in _FORMS if form.hint == hint), None)


class _Field(t.NamedTuple):
    """A field that a document has."""

    hint: t.Any
    default: t.Any
    inline: bool


@functools.cache
def list_fields(content: t.Any) -> dict[str, _Field]:
    """Return the fields of a dataclass that its document has, by name."""
    hints = t.get_type_hints(content, include_extras=True)
    return {
        field.name: _Field(
            hint,
            field.default
            if field.default_factory is dataclasses.MISSING
            else field.default_factory(),
            fields.INLINE in getattr(hint, "__metadata__", ()),
        )
        for field in dataclasses.fields(content)
        for hint in [hints[field.name]]
        if "derived" not in field.metadata
    }


def defines_metrics(name: str, field: _Field) -> bool:
    """Return whether a field defines the metrics of its dataclass."""
    return (name, field.hint) == _DEFINITIONS


def _find_metrics(value: t.Any) -> collections.abc.Iterator[sample.Metric]:
    """Yield the metrics in a value, those in fields first."""
    if isinstance(value, sample.Metric):
        yield value
    elif dataclasses.is_dataclass(value):
        for name in list_fields(t.cast(type, type(value))):
            yield from _find_metrics(getattr(value, name))
    elif isinstance(value, tuple):
        for element in value:
            yield from _find_metrics(element)
    elif isinstance(value, collections.abc.Mapping):
        for pair in value.items():
            yield from _find_metrics(pair)


def encode(instance: t.Any) -> dict[str, t.Any]:
    """Return a dataclass instance as a JSON document."""
    document: dict[str, t.Any] = {}
    content: t.Any = type(instance)
    for name, field in list_fields(content).items():
        value = getattr(instance, name)
        if value == field.default:
            continue
        if field.inline:
            document |= encode(value)
        elif defines_metrics(name, field):
            document[name] = {
                metric.name: encode(metric)
                for metric in _find_metrics(instance)
            }
        else:
            document[name] = _encode_value(value, field.hint)
    return document


def strip(hint: t.Any) -> t.Any:
    """Return a type without its rules and without None."""
    if t.get_origin(hint) is t.Annotated:
        return strip(t.get_args(hint)[0])
    if t.get_origin(hint) in UNIONS:
        first, *others = t.get_args(hint)
        return strip(first) if others == [types.NoneType] else hint
    return hint


def _find_digits(hint: t.Any) -> int:
    """Return the significant digits of a number; 0 for all."""
    if t.get_origin(hint) in UNIONS:
        hint = t.get_args(hint)[0]
    return dict(getattr(hint, "__metadata__", ())).get("digits", 0)


def _encode_value(value: t.Any, hint: t.Any) -> t.Any:
    """Return a value of a type as a JSON value."""
    digits = _find_digits(hint)
    hint = strip(hint)
    if value is None:
        return None
    if form := _find_form(hint):
        return form.encode(value)
    if dataclasses.is_dataclass(hint):
        return encode(value)
    arguments = t.get_args(hint)
    if t.get_origin(hint) is tuple:
        return [_encode_value(element, arguments[0]) for element in value]
    if t.get_origin(hint) is collections.abc.Mapping:
        key_hint, value_hint = arguments
        return {
            str(_encode_value(key, key_hint)): _encode_value(one, value_hint)
            for key, one in value.items()
        }
    return _round(value, digits) if digits else value


def decode(document: documents.Json, content: type[T], metrics: Metrics) -> T:
    """Return the instance of a dataclass in a document of ``encode``.

    :param metrics: The metrics by name, unless the dataclass defines them.
    :raises FieldError: If a value is not valid.
    """
    stored = list_fields(t.cast(t.Hashable, content))
    for name, field in stored.items():
        if defines_metrics(name, field):
            metrics = {
                metric: sample.Metric(metric, **definition)
                for metric, definition in document[name].items()
            }
    values = {}
    for name, field in stored.items():
        if field.inline:
            values[name] = decode(document, strip(field.hint), metrics)
        elif defines_metrics(name, field):
            values[name] = tuple(metrics.values())
        elif name in document:
            try:
                values[name] = _decode_value(
                    document[name], field.hint, metrics
                )
            except FieldError as error:
                path = f"{name}.{error.path}"
                raise FieldError(path, error.reason) from error
            except INVALID as error:
                raise FieldError(name, str(error)) from error
    return content(**values)


def _decode_value(value: t.Any, hint: t.Any, metrics: Metrics) -> t.Any:
    """Return the value of a type in a JSON value."""
    hint = strip(hint)
    if value is None:
        return None
    if form := _find_form(hint):
        return form.decode(value, metrics)
    if dataclasses.is_dataclass(hint):
        return decode(value, t.cast(type, hint), metrics)
    arguments = t.get_args(hint)
    if t.get_origin(hint) is tuple:
        return tuple(
            _decode_value(element, arguments[0], metrics) for element in value
        )
    if t.get_origin(hint) is collections.abc.Mapping:
        key_hint, value_hint = arguments
        if key_hint is int:
            # The keys of a JSON object are texts.
            value = {int(key): one for key, one in value.items()}
        return {
            _decode_value(key, key_hint, metrics): _decode_value(
                one, value_hint, metrics
            )
            for key, one in value.items()
        }
    return value
