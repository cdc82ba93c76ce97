"""The samples of one repetition as rows of plain text, for Rally's table."""

import collections.abc
import math
import typing as t

from rally_vmperf.measurement import units
from rally_vmperf.report import text

Json = collections.abc.Mapping[str, t.Any]


def rows(record: t.Any) -> list[list[str]]:
    """Return guest, metric, value and state; a row says it if unreadable.

    Rally puts texts into a script of its page without escaping them for
    HTML, so none of them may hold a ``<``.
    """
    try:
        found = [*_samples(record), *_missing(record)]
    except (AttributeError, KeyError, TypeError, ValueError):
        found = [["-", "-", "-", "the record cannot be read"]]
    return [[_harmless(cell) for cell in row] for row in found]


def _samples(record: Json) -> collections.abc.Iterator[list[str]]:
    warm = "" if record["counted"] else "warm-up, not counted"
    yield from _rows(record, record["samples"], warm or record["state"])
    for level in record.get("levels", ()):
        number = level["guests"]
        words = f"{number} {'guest' if number == 1 else 'guests'} at once"
        if level["skipped"]:
            yield ["-", "-", "-", f"{words}: skipped, {level['skipped']}"]
        state = f"{words}: {warm or level['state']}"
        yield from _rows(record, level["samples"], state)


def _rows(
    record: Json, samples: collections.abc.Iterable[Json], state: str
) -> collections.abc.Iterator[list[str]]:
    for row in samples:
        value = row["value"]
        shown = (
            units.show(value, record["metrics"][row["metric"]]["unit"])
            if math.isfinite(value)
            else str(value)
        )
        yield [row["source"], row["metric"], shown, state]


def _missing(record: Json) -> collections.abc.Iterator[list[str]]:
    for gap in record["missing"]:
        yield [
            gap["source"],
            gap["what"],
            "missing",
            text.flat(gap["reason"]),
        ]


def _harmless(cell: str) -> str:
    return text.untagged(text.printable(cell))
