"""Numbers of guests on a host."""

import collections.abc
import itertools
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.execution import estimate

Given = collections.abc.Sequence[int] | collections.abc.Mapping[str, t.Any]

_NUMBER: dict[str, t.Any] = {"type": "integer", "minimum": 1, "maximum": 32}

#: JSON Schema of the levels of a task.
SCHEMA: dict[str, t.Any] = {
    "description": "Numbers of guests: [1, 2, 3], {from: 1, to: 8} or "
    "{doubling_to: 8}.",
    "oneOf": [
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": _NUMBER,
        },
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["to"],
            "properties": {"from": _NUMBER, "to": _NUMBER},
        },
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["doubling_to"],
            "properties": {"doubling_to": _NUMBER},
        },
    ],
}


class LevelError(ValueError):
    """Levels are not what a task may ask for; one line."""


def expand(given: t.Any) -> tuple[int, ...]:
    """Return the numbers of guests that a task asks for, in its order.

    :raises LevelError: for what is none of the forms
    """
    import jsonschema

    if not jsonschema.Draft7Validator(SCHEMA).is_valid(given):
        raise LevelError(
            f"levels {given!r:.80}: must be a list of different whole numbers "
            "from 1 to 32, or {from: 1, to: 8}, or {doubling_to: 8}"
        )
    if isinstance(given, collections.abc.Mapping):
        return _range(given)
    return tuple(int(one) for one in given)


def _range(given: collections.abc.Mapping[str, int]) -> tuple[int, ...]:
    if "doubling_to" in given:
        most = int(given["doubling_to"])
        return tuple(1 << power for power in range(most.bit_length()))
    first, last = int(given.get("from", 1)), int(given["to"])
    if first > last:
        raise LevelError(
            f"levels: from {first} is beyond to {last}; exchange them"
        )
    return tuple(range(first, last + 1))


def minutes(
    assignments: collections.abc.Iterable[assignment.Assignment],
    repetitions: int,
    levels: collections.abc.Sequence[int],
    *,
    stops: bool,
) -> int:
    """Return about how many minutes a run through the levels takes.

    :param stops: guests are stopped while they take no part
    """
    boots = rises(levels, repetitions) if stops else 0
    return estimate.minutes(assignments, repetitions, len(levels), boots)


def rises(levels: collections.abc.Sequence[int], repetitions: int) -> int:
    """Return how often a level has more guests than the one before.

    Each repetition goes on from the last level of the one before.
    """
    return sum(a < b for a, b in itertools.pairwise([*levels] * repetitions))


def ascending(levels: collections.abc.Sequence[int]) -> bool:
    """Tell whether each level has more guests than the one before."""
    return all(a < b for a, b in itertools.pairwise(levels))
