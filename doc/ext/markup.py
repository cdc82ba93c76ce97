# SPDX-License-Identifier: Apache-2.0
"""reStructuredText of JSON Schemas and of signatures."""

import collections.abc
import json
import re
import textwrap
import typing as t

Schema = collections.abc.Mapping[str, t.Any]
Lines = list[str]

#: Code in a description: mappings, options, paths, URLs, globs, and names.
_CODE = re.compile(
    r"(?<![^\s(\[<:/\"'-])(?P<code>"
    r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}"
    r"|--[a-z][a-z-]*"
    r"|~?(?:/[\w.-]*[\w-])+"
    r"|http://[A-Z:]+"
    r"|[a-z]\w*(?:\.\w+)*\.\*(?:=[\w.]+)?"
    r"|[a-z0-9-]+(?:_[a-z0-9-]+)+"
    r")(?=[\s.,;:!?)\]>/\"'-]|\Z)"
)
_TYPES = {
    "array": "list",
    "boolean": "true or false",
    "integer": "integer",
    "number": "number",
    "object": "mapping",
    "string": "text",
}
_BOUNDS = {
    "minimum": ">=",
    "exclusiveMinimum": ">",
    "maximum": "<=",
    "exclusiveMaximum": "<",
}


def literal(value: t.Any) -> str:
    """Return a value as a literal, a text without quotation marks."""
    plain = value if isinstance(value, str) else json.dumps(value)
    return f"``{plain}``"


def prose(text: str) -> str:
    """Return a plain description with its code as literals."""
    line = " ".join(text.split())
    parts = []
    end = 0
    for match in _CODE.finditer(line):
        parts += [escape(line[end : match.start()]), literal(match["code"])]
        end = match.end()
    return "".join([*parts, escape(line[end:])])


def escape(text: str) -> str:
    """Return a text without markup."""
    return re.sub(r"([\\*`|]|_(?=\W|$))", r"\\\1", text)


#: Keys of mappings that have a section of their own, with the title "keys".
SHARED = ("jump", "neighbours", "peer", "workloads")


def describe_schema(
    schema: Schema, defaults: Schema | None = None, *, ranges: bool = True
) -> Lines:
    """Return a definition list of the keys of a mapping.

    :param defaults: The defaults by key, if the schema has none.
    :param ranges: Whether the list has bounds and choices; False if the
        descriptions have them.
    """
    lines: Lines = []
    mapping = _find_mapping(schema) or {}
    required = mapping.get("required", [])
    for key, rule in mapping.get("properties", {}).items():
        facts = [*_list_facts(rule, ranges=ranges)]
        if key in required:
            facts.append("required")
        elif key in (defaults or {}):
            facts.append(f"default {literal((defaults or {})[key])}")
        elif "default" in rule:
            facts.append(_default(rule))
        lines += _define(key, facts, rule.get("description", ""))
        if key not in (*SHARED, "control") and not _is_reference(rule):
            lines += indent(describe_schema(rule, ranges=ranges))
    return lines


def title(text: str, rule: str) -> Lines:
    """Return a title with a rule below it."""
    return [text, rule * len(text), ""]


def fill(text: str, margin: str = "    ") -> Lines:
    """Return the lines of a paragraph."""
    return textwrap.wrap(
        text,
        78,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def indent(lines: Lines) -> Lines:
    """Return lines that are part of a definition."""
    return [f"    {line}" if line else "" for line in lines]


def _define(name: str, facts: Lines, text: str) -> Lines:
    """Return a term with its facts and its definition."""
    if not text:
        raise ValueError(f"{name} has no description")
    term = literal(name)
    if facts:
        term += f" : {', '.join(facts)}"
    link = f" See its :ref:`keys <keys-{name}>`." if name in SHARED else ""
    return [term, *indent([prose(text) + link, ""])]


def _find_mapping(rule: Schema) -> Schema | None:
    """Return the schema with properties in a schema; None without one."""
    if "properties" in rule:
        return rule
    nested = [rule.get("items"), *rule.get("oneOf", [])]
    for schema in nested:
        if schema and (mapping := _find_mapping(schema)):
            return mapping
    return None


def _is_reference(rule: Schema) -> bool:
    """Return whether a mapping refers to a resource by name or by id."""
    return set(rule.get("properties", ())) == {"name", "id"}


def _list_facts(
    rule: Schema, *, ranges: bool
) -> collections.abc.Iterator[str]:
    """Yield the type, the choices and the bounds of a value."""
    if "enum" in rule:
        if not ranges:
            return
        yield " or ".join(map(literal, rule["enum"]))
        return
    if _is_reference(rule):
        yield "``{name: ...}`` or ``{id: ...}``"
        return
    types = rule.get("type", [])
    names = [types] if isinstance(types, str) else types
    if names:
        yield " or ".join(_TYPES[name] for name in names if name != "null")
    if not ranges:
        return
    if {"minimum", "maximum"} <= rule.keys():
        yield f"{rule['minimum']} to {rule['maximum']}"
        return
    for keyword, sign in _BOUNDS.items():
        if keyword in rule:
            yield f"{sign} {rule[keyword]}"


def _default(rule: Schema) -> str:
    """Return the default of a value in words."""
    default = rule["default"]
    if default in ([], ""):
        return "default: none"
    if default == rule.get("items", {}).get("enum"):
        return "default: all"
    if isinstance(default, list):
        return f"default {', '.join(map(literal, default))}"
    return f"default {literal(default)}"
