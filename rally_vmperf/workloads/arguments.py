"""Schemas of arguments, with each range in words and in JSON Schema.

A workload's ``ARGUMENTS`` is ``schema`` of its arguments, by their names::

    ARGUMENTS = arguments.schema(
        time=arguments.integer("Seconds of a run", 1, 3600, default=10),
        direct=arguments.flag("Bypass the page cache", default=True),
    )

The description is what a user reads when a value is refused.
"""

import collections.abc
import typing as t

from rally_vmperf import documents

Rule = dict[str, t.Any]

_NUMBERS: dict[str, t.Callable[[t.Any], float]] = {
    "integer": int,
    "number": float,
}

#: What ``size`` takes; every tool that is asked for sizes knows these.
_SIZE = r"^([1-9][0-9]{0,3}k|(1|2|4|8|16)M)$(?!\n)"

#: Largest number that generators begin from.
_LARGEST_SEED = (1 << 31) - 1

#: What ``path`` takes: nothing that would break a line.
_PATH = r"^/[^\x00-\x1f\x7f]{1,1000}$(?!\n)"


def schema(**rules: Rule) -> Rule:
    """Return the JSON Schema of arguments; it takes no others."""
    return {
        "type": "object",
        "properties": rules,
        "additionalProperties": False,
    }


def complete(
    schema: Rule, given: collections.abc.Mapping[str, t.Any]
) -> dict[str, t.Any]:
    """Return arguments with every default filled in.

    :raises ValueError: naming the key, the value and what is allowed
    """
    properties = schema["properties"]
    error = documents.first_error(schema, dict(given))
    if error is not None:
        where = ".".join(str(part) for part in error.absolute_path)
        raise ValueError(
            f"{where or 'arguments'}: {error.message}; "
            f"{_allowed(properties, where.split('.')[0])}"
        )
    defaults = {key: rule["default"] for key, rule in properties.items()}
    # To JSON Schema 10.0 and 10 are one number, to a command line not.
    complete = {**defaults, **given}
    for key, rule in properties.items():
        if rule.get("type") in _NUMBERS:
            complete[key] = _NUMBERS[rule["type"]](complete[key])
    return complete


def integer(
    what: str, smallest: int, largest: int, *, default: int, note: str = ""
) -> Rule:
    """Return the rule of a whole number.

    :param what: the beginning of a sentence, which the range ends
    :param note: a remark after the range
    """
    return _range("integer", what, smallest, largest, default, note)


def seed(what: str, verb: str = "are") -> Rule:
    """Return the rule of the number that something is generated from.

    :param what: that, in the words of a sentence: "data"
    :param verb: what follows it there
    """
    return integer(
        f"Number from which the {what} {verb} generated",
        0,
        _LARGEST_SEED,
        default=1,
        note=f"the same seed gives the same {what}",
    )


def number(
    what: str,
    smallest: float,
    largest: float,
    *,
    default: float,
    note: str = "",
) -> Rule:
    """Return the rule of a number that may have decimals.

    :param what: the beginning of a sentence, which the range ends
    :param note: a remark after the range
    """
    return _range("number", what, smallest, largest, default, note)


def flag(what: str, *, default: bool) -> Rule:
    """Return the rule of a switch, true or false."""
    return {
        "type": "boolean",
        "description": f"{what}, true or false.",
        "default": default,
    }


def path(what: str, *, default: str) -> Rule:
    """Return the rule of a file on the machine that runs this program."""
    return _text(f"{what}: an absolute path.", _PATH, default)


def size(what: str, *, default: str) -> Rule:
    """Return the rule of the size of a request or a block."""
    sizes = "1k to 9999k, or 1M, 2M, 4M, 8M, 16M"
    return _text(f"{what}: {sizes}.", _SIZE, default)


def size_bytes(size: str) -> int:
    """Return a size such as 4k in bytes: 4096."""
    return int(size[:-1]) * {"k": 1 << 10, "M": 1 << 20}[size[-1]]


def choice(
    description: str,
    options: collections.abc.Iterable[str],
    *,
    default: str,
) -> Rule:
    """Return the rule of one of several words.

    :param description: a sentence that names them
    """
    return {
        "type": "string",
        "description": description,
        "enum": list(options),
        "default": default,
    }


def choices(
    description: str,
    options: collections.abc.Iterable[str],
    *,
    default: collections.abc.Iterable[str] | None = None,
) -> Rule:
    """Return the rule of a list of words, each at most once.

    :param description: a sentence that names them
    :param default: all of them, unless said
    """
    allowed = list(options)
    return {
        "type": "array",
        "description": description,
        "items": {"enum": allowed},
        "minItems": 1,
        "uniqueItems": True,
        "default": allowed if default is None else list(default),
    }


def _text(description: str, pattern: str, default: str) -> Rule:
    return {
        "type": "string",
        "description": description,
        "pattern": pattern,
        "default": default,
    }


def _allowed(properties: Rule, key: str) -> str:
    if key not in properties:
        return f"allowed keys: {', '.join(sorted(properties))}"
    return f"{key}: {properties[key]['description']}"


def _range(
    kind: str,
    what: str,
    smallest: float,
    largest: float,
    default: float,
    note: str,
) -> Rule:
    remark = f"; {note}" if note else ""
    return {
        "type": kind,
        "description": f"{what}, {smallest} to {largest}{remark}.",
        "minimum": smallest,
        "maximum": largest,
        "default": default,
    }
