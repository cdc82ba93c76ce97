# SPDX-License-Identifier: Apache-2.0
"""Documents changed, or made, in whatever way their schema lets through."""

import collections.abc
import copy
import math
import typing as t

from hypothesis import strategies as st

#: What may stand in the place of a number.
NUMBERS = (
    *(0, 1, -1, 7, 10**18, 10**400, 0.5, 1e-300, 5e-324, 1e308, -1e308),
    *(math.inf, -math.inf, math.nan),
)
TEXTS = ("", "x", "<script>", "\x1b[2J", "disk.fio.randread.iops", "g1")
#: Texts that readers may take for numbers, versions, networks or a choice.
_READ = ("1500", "\u00b2", "9" * 5000, "1.2.3", "10.0.0.0/8", "[a] b", "[[")


def values(rule):
    """Return a strategy for values of a schema, each key there or not."""
    if "anyOf" in rule:
        return st.one_of(*map(values, rule["anyOf"]))
    if rule["type"] == "object":
        properties = {
            key: values(schema)
            for key, schema in rule.get("properties", {}).items()
        }
        other = rule.get("additionalProperties")
        if other is True:
            return st.fixed_dictionaries({}, optional=properties)
        keys = st.sampled_from(("name", "speed", "mtu", "scheduler", "mds"))
        return st.dictionaries(keys, values(other), max_size=4)
    if rule["type"] == "array":
        return st.lists(values(rule["items"]), max_size=3)
    return {
        "string": st.text(max_size=9) | st.sampled_from(_READ),
        "integer": st.integers(rule.get("minimum"), 10**39),
        "boolean": st.booleans(),
        "null": st.none(),
    }[rule["type"]]


def mutated(document, schema, rng, times):
    """Return a document with values changed to others of its schema."""
    changed = copy.deepcopy(document)
    for _ in range(times):
        places = list(_places(changed, schema, schema))
        holder, key, rule = rng.choice(places)
        others = list(_others(holder[key], rule))
        if others:
            holder[key] = rng.choice(others)
    return changed


def _places(
    node: t.Any, rule: t.Any, root: t.Any
) -> collections.abc.Iterator[tuple[t.Any, t.Any, t.Any]]:
    """Yield the container, the key and the schema of each value."""
    rule = _alternative_of(node, rule, root)
    if isinstance(node, dict):
        properties = rule.get("properties", {})
        for key in node:
            schema = properties.get(key, rule.get("additionalProperties", {}))
            yield from _of(node, key, schema, root)
    elif isinstance(node, list):
        items = rule.get("items", {})
        for at in range(len(node)):
            schema = (
                rule["prefixItems"][at] if "prefixItems" in rule else items
            )
            yield from _of(node, at, schema, root)


def _of(holder, key, rule, root):
    rule = _resolved(rule if isinstance(rule, dict) else {}, root)
    yield holder, key, rule
    yield from _places(holder[key], rule, root)


def _resolved(rule, root):
    while "$ref" in rule:
        rule = root["$defs"][rule["$ref"].rpartition("/")[2]]
    return rule


def _alternative_of(node, rule, root):
    """Return the alternative of a schema that an object or a list has."""
    kind = {dict: "object", list: "array"}.get(type(node))
    for alternative in rule.get("anyOf", ()):
        resolved = _resolved(alternative, root)
        if resolved.get("type") == kind:
            return resolved
    return rule


def _others(value, rule):
    """Yield values that may replace another one."""
    for alternative in rule.get("anyOf", ()):
        yield from _others(value, alternative)
    if "enum" in rule or "const" in rule:
        yield from rule.get("enum", ())
        return
    kinds = {rule.get("type")}
    if "null" in kinds:
        yield None
    if "boolean" in kinds:
        yield not value
    if "string" in kinds and "pattern" not in rule:
        most = rule.get("maxLength", 100)
        yield from (text for text in TEXTS if len(text) <= most)
    if kinds & {"number", "integer"}:
        for number in NUMBERS:
            whole = isinstance(number, int)
            low, above = rule.get("minimum"), rule.get("exclusiveMinimum")
            high, below = rule.get("maximum"), rule.get("exclusiveMaximum")
            if (
                ("number" in kinds or whole)
                # As in JSON Schema, which lets through what is no number.
                and not (low is not None and number < low)
                and not (above is not None and number <= above)
                and not (high is not None and number > high)
                and not (below is not None and number >= below)
            ):
                yield number
    if isinstance(value, list):
        least, most = rule.get("minItems", 0), rule.get("maxItems", 10**6)
        fixed = "prefixItems" in rule
        for changed in ([], value[:1], value[::-1], value * 2):
            if least <= len(changed) <= most and not fixed:
                yield copy.deepcopy(changed)
    if isinstance(value, dict):
        required = set(rule.get("required", ()))
        for key in value:
            if key not in required:
                yield {k: v for k, v in value.items() if k != key}
