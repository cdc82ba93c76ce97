# SPDX-License-Identifier: Apache-2.0
"""Schemas of arguments, with ranges in JSON Schema and in descriptions.

The ``ARGUMENTS`` of a workload are the ``schema`` of its arguments::

    ARGUMENTS = schemas.schema(
        time=schemas.integer("Seconds of a run", 1, 3600, default=10),
        direct=schemas.flag("Bypass the page cache", default=True),
    )

The description is part of the message if a value is rejected.
"""

import collections.abc
import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf import json_schema

Rule = dict[str, t.Any]

#: The word for the number of vCPUs of a guest.
VCPUS = "vcpus"

_NUMBERS: dict[str, t.Callable[[t.Any], float]] = {
    "integer": int,
    "number": float,
}

_VCPUS_PATTERN = f"^{VCPUS}$(?!\\n)"

#: The pattern of ``size``; all tools with sizes accept these.
_SIZE = r"^([1-9][0-9]{0,3}k|(1|2|4|8|16)M)$(?!\n)"

#: The maximum seed of generators.
_LARGEST_SEED = (1 << 31) - 1

#: The pattern of ``path``: no control characters.
_PATH = r"^/[^\x00-\x1f\x7f]{1,1000}$(?!\n)"


def schema(**rules: Rule) -> Rule:
    """Return the closed JSON Schema of arguments as a dict."""
    return json_schema.closed_mapping(rules)


def short(**numbers: int) -> dict[str, int]:
    """Return the arguments of a short measurement as a dict."""
    return numbers


def complete(
    schema: Rule, arguments: collections.abc.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    """Validate arguments; return them with all defaults as a dict.

    :raises ValueError: If an argument is not valid.
    """
    properties = schema["properties"]
    error = documents.first_error(schema, dict(arguments))
    if error is not None:
        path = ".".join(str(step) for step in error.absolute_path)
        raise ValueError(
            f"{path or 'arguments'}: {error.message}; "
            f"{_describe_allowed(properties, path.split('.')[0])}"
        )
    defaults = {key: rule["default"] for key, rule in properties.items()}
    # 10.0 and 10 are equal in JSON Schema, but not in a command line.
    completed = {**defaults, **arguments}
    for key, rule in properties.items():
        if accepts_vcpus(rule) and completed[key] != VCPUS:
            completed[key] = int(completed[key])
        elif rule.get("type") in ("integer", "number"):
            completed[key] = _NUMBERS[rule["type"]](completed[key])
        elif rule.get("type") == ["integer", "object"]:
            completed[key] = _convert_numbers(completed[key])
    return completed


def _convert_numbers(argument: t.Any) -> t.Any:
    """Return a number, or each number of a mapping, as an integer."""
    if isinstance(argument, collections.abc.Mapping):
        return {name: int(argument[name]) for name in sorted(argument)}
    return int(argument)


def resolve_vcpus(
    schema: Rule, arguments: collections.abc.Mapping[str, t.Any], vcpus: int
) -> dict[str, t.Any]:
    """Return complete arguments with a number for the word, as a dict.

    :raises ValueError: If an argument does not permit the number.
    """
    numbers = {
        key: vcpus
        for key, rule in schema["properties"].items()
        if accepts_vcpus(rule) and arguments[key] == VCPUS
    }
    if not numbers:
        return {**arguments}
    return complete(schema, {**arguments, **numbers})


def accepts_vcpus(rule: Rule) -> bool:
    """Return whether an argument may be the number of vCPUs of a guest."""
    return rule.get("pattern") == _VCPUS_PATTERN


def number(
    title: str,
    smallest: float,
    largest: float,
    *,
    default: float,
    note: str = "",
    build: t.Callable[..., Rule] = json_schema.number,
) -> Rule:
    """Return the JSON Schema of an argument that may have decimals.

    :param title: The beginning of the description, before the range.
    :param note: A remark after the range.
    :param build: The builder of the JSON Schema.
    """
    remark = f"; {note}" if note else ""
    return build(
        f"{title}, {smallest} to {largest}{remark}.",
        minimum=smallest,
        maximum=largest,
        default=default,
    )


#: The function ``number`` for an argument without decimals.
integer = functools.partial(number, build=json_schema.integer)


def duration(title: str, *, smallest: int = 1, default: int = 10) -> Rule:
    """Return the JSON Schema of a duration of at most an hour in seconds.

    :param title: The beginning of the description, before the unit.
    """
    return integer(f"{title}, s", smallest, 3600, default=default)


def concurrency(noun: str, largest: int = 1024, note: str = "") -> Rule:
    """Return the JSON Schema of a number of concurrent objects.

    :param noun: The noun of the objects in the description.
    :param note: A remark after the range.
    """
    title = f"Number of concurrent {noun}"
    return integer(title, 1, largest, default=1, note=note)


def optional(title: str, largest: int, zero: str) -> Rule:
    """Return the JSON Schema of an integer argument that is 0 by default.

    :param title: The beginning of the description, before the range.
    :param zero: The meaning of 0 in the description.
    """
    return integer(title, 0, largest, default=0, note=f"0 for {zero}")


def by_name(
    rule: Rule, names: collections.abc.Iterable[str], noun: str
) -> Rule:
    """Return the JSON Schema of an integer for all names, or one per name.

    :param rule: The JSON Schema of the integer.
    :param names: The names, such as those of patterns.
    :param noun: The noun for a name in the description.
    """
    number = json_schema.integer(
        minimum=max(1, rule["minimum"]), maximum=rule["maximum"]
    )
    mapping = json_schema.values(
        number,
        propertyNames=json_schema.choice(list(names)),
        minProperties=1,
    )
    description = rule["description"].removesuffix(".")
    return {
        **mapping,
        **rule,
        "type": ["integer", "object"],
        "description": f"{description}; or a number for each {noun}.",
    }


def number_for(argument: t.Any, name: str) -> int:
    """Return the integer of an argument ``by_name``; 0 without one."""
    if isinstance(argument, collections.abc.Mapping):
        return int(argument.get(name, 0))
    return int(argument)


def check_names(
    key: str,
    argument: t.Any,
    names_key: str,
    names: collections.abc.Sequence[str],
) -> None:
    """Reject an argument ``by_name`` with other names.

    :param key: The name of the argument.
    :param names_key: The name of the argument that lists the names.
    :param names: The names that it lists.
    :raises ValueError: If there is another name.
    """
    if isinstance(argument, collections.abc.Mapping):
        unknown = argument.keys() - {*names}
        if unknown:
            raise ValueError(
                f"{key}: {', '.join(sorted(unknown))}: must be one of "
                f"{names_key}: {', '.join(names)}"
            )


def per_vcpu(title: str, largest: int, *, note: str = "") -> Rule:
    """Return the JSON Schema of a number, or the word for that of vCPUs.

    :param title: The beginning of the description, before the range.
    :param note: A remark after the range.
    """
    word = f"{VCPUS} is the number of vCPUs of the guest"
    remark = f"{note}; {word}" if note else word
    rule = integer(title, 1, largest, default=1, note=remark)
    return {**rule, "type": ["integer", "string"], "pattern": _VCPUS_PATTERN}


def seed(subject: str, verb: str = "are") -> Rule:
    """Return the JSON Schema of a seed argument.

    :param subject: The noun for the generated data in the description.
    :param verb: The auxiliary verb after the noun.
    """
    return integer(
        f"Number from which the {subject} {verb} generated",
        0,
        _LARGEST_SEED,
        default=1,
        note=f"the same seed gives the same {subject}",
    )


def flag(title: str, *, default: bool) -> Rule:
    """Return the JSON Schema of a Boolean argument."""
    return json_schema.flag(f"{title}, true or false.", default=default)


def path(title: str, *, default: str) -> Rule:
    """Return the JSON Schema of a path on the machine that runs Rally."""
    return json_schema.text(
        f"{title}: an absolute path.", pattern=_PATH, default=default
    )


def size(title: str, *, default: str) -> Rule:
    """Return the JSON Schema of the size of a request or a block."""
    sizes = "1k to 9999k, or 1M, 2M, 4M, 8M, 16M"
    return json_schema.text(
        f"{title}: {sizes}.", pattern=_SIZE, default=default
    )


def size_bytes(size: str) -> int:
    """Convert a size, such as ``4k``, into bytes."""
    return int(size[:-1]) * {"k": 1 << 10, "M": 1 << 20}[size[-1]]


def choice(
    description: str, options: collections.abc.Iterable[str], *, default: str
) -> Rule:
    """Return the JSON Schema of an argument with one of the options.

    :param description: A sentence that names the options.
    """
    return json_schema.choice(
        options, description, type="string", default=default
    )


def choices(
    description: str,
    options: collections.abc.Iterable[str],
    *,
    default: collections.abc.Iterable[str] | None = None,
) -> Rule:
    """Return the JSON Schema of a list of distinct options.

    :param description: A sentence that names the options.
    :param default: The default list; None means all options.
    """
    allowed = list(options)
    return json_schema.array(
        json_schema.choice(allowed),
        description,
        minItems=1,
        uniqueItems=True,
        default=allowed if default is None else list(default),
    )


def sequence(
    options: collections.abc.Iterable[str],
    *,
    default: collections.abc.Iterable[str] | None = None,
    note: str = "",
) -> Rule:
    """Return the JSON Schema of options that are measured in sequence.

    :param default: The default list; None means all options.
    :param note: A remark after the options.
    """
    names = list(options)
    description = f"Measured one after the other: {', '.join(names)}{note}."
    return choices(description, names, default=default)


def texts(
    description: str,
    pattern: str,
    largest: int = 32,
    *,
    distinct: bool = True,
    default: collections.abc.Sequence[str] = (),
) -> Rule:
    """Return the JSON Schema of a list of texts.

    :param pattern: The pattern of each text.
    :param largest: The maximum number of texts.
    :param default: The default list; if it has texts, no list may be empty.
    """
    return json_schema.array(
        json_schema.text(pattern=pattern),
        description,
        **({"minItems": 1} if default else {}),
        maxItems=largest,
        **({"uniqueItems": True} if distinct else {}),
        default=list(default),
    )


def _describe_allowed(properties: Rule, key: str) -> str:
    """Describe an argument, or the allowed keys if unknown, as text."""
    if key not in properties:
        return f"allowed keys: {', '.join(sorted(properties))}"
    return f"{key}: {properties[key]['description']}"
