"""Dataclasses as JSON documents, by the types of their fields.

Fields with their defaults are omitted. A metric is written by its name; the
field ``metrics`` of a dataclass defines the metrics of all its fields.
"""

import collections.abc
import dataclasses
import functools
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import fields
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import forms

T = t.TypeVar("T")

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


class _Field(t.NamedTuple):
    """A field that a document has."""

    hint: t.Any
    default: t.Any
    inline: bool


@functools.cache
def list_fields(type_: t.Any) -> dict[str, _Field]:
    """Return the fields of a dataclass that its document has, by name."""
    hints = t.get_type_hints(type_, include_extras=True)
    return {
        field.name: _Field(
            hint,
            field.default
            if field.default_factory is dataclasses.MISSING
            else field.default_factory(),
            fields.INLINE in getattr(hint, "__metadata__", ()),
        )
        for field in dataclasses.fields(type_)
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
    if form := forms.find(hint):
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
    return forms.round_number(value, digits) if digits else value


def decode(
    document: documents.Json, type_: type[T], metrics: forms.Metrics
) -> T:
    """Return the instance of a dataclass in a document of ``encode``.

    :param metrics: The metrics by name, unless the dataclass defines them.
    :raises FieldError: If a value is not valid.
    """
    stored = list_fields(t.cast(t.Hashable, type_))
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
    return type_(**values)


def _decode_value(value: t.Any, hint: t.Any, metrics: forms.Metrics) -> t.Any:
    """Return the value of a type in a JSON value."""
    hint = strip(hint)
    if value is None:
        return None
    if form := forms.find(hint):
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
