# SPDX-License-Identifier: Apache-2.0
"""Builders of JSON Schemas.

An empty description is omitted. Rules are keywords of JSON Schema, such as
``minimum`` or ``default``, and replace those of the builder.
"""

import collections.abc
import functools
import typing as t

from rally_vmperf import documents


def _build(
    json_type: str, description: str = "", **rules: t.Any
) -> documents.Schema:
    """Return the schema of a value of one type."""
    described = {"description": description} if description else {}
    return {"type": json_type, **described, **rules}


#: Builds the schema of a text.
text = functools.partial(_build, "string")
#: Builds the schema of a text that is not empty.
name = functools.partial(text, minLength=1)
#: Builds the schema of an integer.
integer = functools.partial(_build, "integer")
#: Builds the schema of a number.
number = functools.partial(_build, "number")
#: Builds the schema of a Boolean.
flag = functools.partial(_build, "boolean")


def choice(
    options: collections.abc.Iterable[object],
    description: str = "",
    **rules: t.Any,
) -> documents.Schema:
    """Return the schema of one of several values."""
    described = {"description": description} if description else {}
    return {"enum": list(options), **described, **rules}


def array(
    element: documents.Schema, description: str = "", **rules: t.Any
) -> documents.Schema:
    """Return the schema of a list.

    :param element: The schema of each element.
    """
    return _build("array", description, items=element, **rules)


def mapping(
    properties: documents.Schema, *required: str, **rules: t.Any
) -> documents.Schema:
    """Return the schema of a mapping, which may have other keys.

    :param properties: The schemas of the keys.
    :param required: The keys that must be present.
    """
    keys = {"required": list(required), "properties": properties}
    present = {key: content for key, content in keys.items() if content}
    return _build("object", **{**rules, **present})


def closed_mapping(
    properties: documents.Schema, *required: str, **rules: t.Any
) -> documents.Schema:
    """Return the schema of a mapping that has no other keys."""
    return mapping(properties, *required, additionalProperties=False, **rules)


def values(
    schema: documents.Schema, description: str = "", **rules: t.Any
) -> documents.Schema:
    """Return the schema of a mapping from any name to values.

    :param schema: The schema of each value.
    """
    return _build("object", description, additionalProperties=schema, **rules)


#: The values that mean that an option is not given.
EMPTY: tuple[t.Any, ...] = (None, "", {}, [])


def optional(schema: documents.Schema) -> documents.Schema:
    """Return the schema of a value that can be empty, which is not given."""
    description = schema.get("description", "")
    described = {"description": description} if description else {}
    return {**described, "if": {"enum": [*EMPTY]}, "else": schema}
