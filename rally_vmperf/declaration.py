# SPDX-License-Identifier: Apache-2.0
"""Options that a dataclass declares once: type, default and description.

A field is an option. Its type with rules gives the JSON Schema, its default
makes it optional, and the ``:param`` of a docstring describes it::

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Arguments:
        \"\"\"The arguments of a scenario.

        :param cooldown: The idle time in seconds before each command.
        \"\"\"

        cooldown: t.Annotated[float, {"minimum": 0}] = 0

A rule is a dict with keywords of JSON Schema; it replaces those of the type.
"""

import collections.abc
import dataclasses
import inspect
import re
import textwrap
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema

_TYPES: dict[t.Any, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    collections.abc.Sequence: "array",
    dict: "object",
    collections.abc.Mapping: "object",
}
_PARAMETER = re.compile(r"^:param (\w+): (.*?)(?=^:|\Z)", re.M | re.S)


def list_fields(content: type) -> list[dataclasses.Field[t.Any]]:
    """Return the fields of a dataclass, in the order for readers.

    Required options are first; the others of a class precede those of its
    bases.
    """

    def sort_key(field: dataclasses.Field[t.Any]) -> tuple[bool, int]:
        """Return whether a field is optional, and the place of its class."""
        place = next(
            number
            for number, base in enumerate(content.__mro__)
            if field.name in inspect.get_annotations(base)
        )
        return (False, -place) if is_required(field) else (True, place)

    fields = dataclasses.fields(t.cast(t.Any, content))
    return sorted(fields, key=sort_key)


def is_required(field: dataclasses.Field[t.Any]) -> bool:
    """Return whether an option has no default."""
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def get_default(field: dataclasses.Field[t.Any]) -> t.Any:
    """Return the default of an option that is not required."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def parse_descriptions(content: type) -> dict[str, str]:
    """Return the descriptions of the options in docstrings, by name."""
    descriptions: dict[str, str] = {}
    for base in reversed(content.__mro__):
        for name, text in _PARAMETER.findall(
            inspect.cleandoc(base.__doc__ or "")
        ):
            descriptions[name] = " ".join(text.split())
    return descriptions


def build_schema(content: type) -> documents.Schema:
    """Return the closed JSON Schema of the options of a dataclass."""
    hints = t.get_type_hints(content, include_extras=True)
    descriptions = parse_descriptions(content)
    properties: documents.Schema = {}
    for field in list_fields(content):
        schema = _build_schema(hints[field.name])
        if text := descriptions.get(field.name):
            schema = {**schema, "description": text}
        if not is_required(field) and get_default(field) not in (None, {}, ()):
            schema = {**schema, "default": get_default(field)}
        properties[field.name] = schema
    required = [
        field.name for field in list_fields(content) if is_required(field)
    ]
    return json_schema.closed_mapping(properties, *required)


def _build_schema(hint: t.Any) -> documents.Schema:
    """Return the JSON Schema of a type.

    :raises KeyError: If the type has none.
    """
    origin, arguments = t.get_origin(hint), t.get_args(hint)
    if hint is t.Any:
        return {}
    if origin is t.Annotated:
        base, *rules = arguments
        schema = _build_schema(base)
        for rule in rules:
            schema = {**schema, **rule}
        return schema
    if origin is t.Literal:
        return {"enum": [*arguments]}
    if origin in (t.Union, types.UnionType):
        # An option without a value is not given.
        schemas = [
            _build_schema(argument)
            for argument in arguments
            if argument is not types.NoneType
        ]
        merged: documents.Schema = {}
        for schema in schemas:
            merged |= schema
        if len(schemas) > 1:
            merged["type"] = [schema["type"] for schema in schemas]
        return merged
    return {"type": _TYPES[origin or hint]}


def _accept_empty(hint: t.Any) -> t.Any:
    """Return a type whose choices include an empty text."""
    origin, arguments = t.get_origin(hint), t.get_args(hint)
    if origin is t.Literal:
        return t.Literal[(*arguments, "")]
    if origin in (t.Union, types.UnionType):
        return t.Union[tuple(map(_accept_empty, arguments))]  # noqa: UP007
    return hint


def build_signature(content: type) -> inspect.Signature:
    """Return the signature of a method that takes the options as keywords.

    An option with a default can be empty, which is not given.
    """
    hints = t.get_type_hints(content)
    return inspect.Signature(
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
            *(
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=inspect.Parameter.empty
                    if is_required(field)
                    else get_default(field),
                    annotation=hints[field.name]
                    if is_required(field)
                    else _accept_empty(hints[field.name]),
                )
                for field in list_fields(content)
            ),
        ]
    )


def imitate(function: t.Any, content: type, title: str) -> None:
    """Give a function the signature and the documentation of the options.

    :param title: The first line of the documentation.
    """
    signature = build_signature(content)
    function.__signature__ = signature
    function.__annotations__ = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if parameter.annotation is not parameter.empty
    }
    lines = [
        textwrap.fill(f":param {name}: {text}", 72, subsequent_indent=" " * 4)
        for name, text in parse_descriptions(content).items()
        if name in signature.parameters
    ]
    function.__doc__ = "\n".join([title, "", *lines])
