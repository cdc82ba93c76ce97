"""Formats of documents: dataclasses with a version and a JSON Schema."""

import collections.abc
import dataclasses
import functools
import importlib.resources
import inspect
import json
import re
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import fields
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import codec

T = t.TypeVar("T")

_SCALARS: dict[t.Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    types.NoneType: "null",
}
#: The key of a JSON object that stands for a number.
_NUMBER = {"pattern": r"^[1-9][0-9]{0,8}$(?!\n)"}


class FormatError(errors.VMPerfError):
    """A document is not valid; with the position of the error."""


class VersionError(FormatError):
    """A document has the format of another version; one line."""


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


#: Types -> their JSON Schema, if the codec has a form for them.
_FORMS = (
    (codec.Row, _build_table_schema(_CELLS)),
    (
        codec.Table,
        _build_table_schema({"type": "array", "items": _CELLS}),
    ),
    (codec.PercentileRows, _PERCENTILES),
    (histogram.Histogram, _HISTOGRAM),
    (sample.Metric, {"type": "string"}),
)


@functools.cache
def load_definitions() -> documents.Json:
    """Return the JSON Schemas of what machines report, by name."""
    path = importlib.resources.files(__package__) / "definitions.json"
    return t.cast(documents.Json, json.loads(path.read_text("utf-8")))


@dataclasses.dataclass(frozen=True)
class Format(t.Generic[T]):
    """The format of the documents of a dataclass.

    :param name: The noun for a document.
    :param version: The version; documents of others are rejected.
    :param remedy: The way to replace a document of an earlier version.
    """

    content: type[T]
    name: str
    version: int
    remedy: str

    @functools.cached_property
    def schema(self) -> documents.Schema:
        """The JSON Schema of a document."""
        whole = _build_schema(self.content)
        version = {
            "const": self.version,
            "description": "The version of this format.",
        }
        return {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "title": self.name,
            **whole,
            "required": ["version", *whole["required"]],
            "properties": {"version": version, **whole["properties"]},
            "definitions": load_definitions(),
        }

    def encode(self, instance: T) -> dict[str, t.Any]:
        """Return an instance as a document, with numbers of few digits."""
        return {"version": self.version, **codec.encode(instance)}

    def decode(self, document: documents.Json) -> T:
        """Return the instance in a document that ``check`` accepts.

        :raises FormatError: If its values contradict each other.
        """
        try:
            return codec.decode(document, self.content, {})
        except (codec.FieldError, *codec.INVALID) as error:
            raise FormatError(f"not a {self.name}: {error!s:.300}") from error

    def check(self, document: t.Any) -> collections.abc.Mapping[str, t.Any]:
        """Return a document unchanged; reject it if it is not valid.

        :raises VersionError: If it has the format of another version.
        :raises FormatError: If it is not valid; with position and reason.
        """
        self.check_version(document)
        error = documents.first_error(self.schema, document, exact=True)
        if error is not None:
            reason = error.message[:200]
            if error.validator == "format":
                reason = (
                    f"{error.instance!r:.80}: must be a time with a zone, "
                    "such as 2026-01-31T12:00:00+00:00"
                )
            raise FormatError(
                f"not a {self.name}: {error.json_path}: {reason}"
            )
        return t.cast(collections.abc.Mapping[str, t.Any], document)

    def check_version(self, document: t.Any) -> None:
        """Reject a document of another version.

        :raises VersionError: If it is one; with the solution, in one line.
        """
        is_mapping = isinstance(document, dict)
        version = document.get("version") if is_mapping else None
        if type(version) is not int or version == self.version:
            return
        if 0 < version < self.version:
            raise VersionError(
                f"a {self.name} has version {version}, which this release "
                f"does not read; {self.remedy}"
            )
        if version > self.version:
            raise VersionError(
                f"a {self.name} has version {version}, of a later release of "
                "rally_vmperf; use that release"
            )


def _build_schema(hint: t.Any) -> documents.Schema:
    """Return the JSON Schema of the documents of a type.

    The descriptions are those of the parameters in docstrings.
    """
    if t.get_origin(hint) is t.Annotated:
        base, *rules = t.get_args(hint)
        return {
            **_build_schema(base),
            **{
                keyword: list(rule) if isinstance(rule, tuple) else rule
                for keyword, rule in rules
                if keyword not in fields.OF_CODEC
            },
        }
    for formed, schema in _FORMS:
        if formed == hint:
            return schema
    if dataclasses.is_dataclass(hint):
        return _build_object(t.cast(type, hint))
    arguments = t.get_args(hint)
    origin = t.get_origin(hint)
    if origin is t.Literal:
        return {"enum": list(arguments)}
    if origin in codec.UNIONS:
        schemas = [*map(_build_schema, arguments)]
        # One type with several names gives better messages than anyOf.
        if all(isinstance(schema.get("type"), str) for schema in schemas):
            merged: documents.Schema = {}
            for schema in schemas:
                merged |= schema
            return {**merged, "type": [schema["type"] for schema in schemas]}
        return {"anyOf": schemas}
    if origin is tuple:
        return {"type": "array", "items": _build_schema(arguments[0])}
    if origin is collections.abc.Mapping:
        key_hint, value_hint = arguments
        names = {"propertyNames": _NUMBER} if key_hint is int else {}
        return {
            "type": "object",
            **names,
            "additionalProperties": _build_schema(value_hint),
        }
    return {} if hint is t.Any else {"type": _SCALARS[hint]}


def _build_object(content: type) -> documents.Schema:
    """Return the JSON Schema of the documents of a dataclass."""
    descriptions = _parse_descriptions(content)
    properties: dict[str, documents.Schema] = {}
    required: list[str] = []
    for name, field in codec.list_fields(content).items():
        if field.inline:
            inner = _build_object(codec.strip(field.hint))
            properties |= inner["properties"]
            required += inner["required"]
            continue
        if codec.defines_metrics(name, field):
            definition = _build_object(sample.Metric)
            schema: documents.Schema = {
                "type": "object",
                "additionalProperties": definition,
            }
        else:
            schema = _build_schema(field.hint)
        if name in descriptions:
            schema = {"description": descriptions[name], **schema}
        properties[name] = schema
        if field.default is dataclasses.MISSING:
            required.append(name)
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": properties,
    }


def _parse_descriptions(content: type) -> dict[str, str]:
    """Return the descriptions of parameters in a docstring, by name."""
    return {
        name: " ".join(text.split())
        for name, text in re.findall(
            r"^:param (\w+): (.*?)(?=^:|\Z)",
            inspect.getdoc(content) or "",
            re.MULTILINE | re.DOTALL,
        )
    }
