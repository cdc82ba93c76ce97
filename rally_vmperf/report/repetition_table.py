"""The samples of one repetition as rows of plain text, for Rally's table."""

import collections.abc
import math
import typing as t

from rally_vmperf.measurement import units
from rally_vmperf.records import codec
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
    for one in record["conditions"]:
        words = _words(one["axes"])
        if one["skipped"]:
            yield ["-", "-", "-", f"{words}skipped, {one['skipped']}"]
        state = f"{words}{warm or one['state']}"
        for metric, values in one["samples"].items():
            meaning = record["metrics"][metric]
            for name, given in zip(one["machines"], values, strict=True):
                for value in codec.several(given, meaning):
                    shown = _shown(value, meaning["unit"])
                    yield [name, metric, shown, state]


def _words(axes: Json) -> str:
    """Return a condition in words, with what divides it from others."""
    words = ", ".join(
        f"{value} {'guest' if value == 1 else 'guests'} at once"
        if axis == "guests"
        else f"{axis} {value}"
        for axis, value in axes.items()
    )
    return f"{words}: " if words else ""


def _shown(value: float, unit: str) -> str:
    return units.show(value, unit) if math.isfinite(value) else str(value)


def _missing(record: Json) -> collections.abc.Iterator[list[str]]:
    for part in (*record["conditions"], record):
        for gap in part["missing"]:
            reason = text.flat(gap["reason"])
            yield [gap["source"], gap["what"], "missing", reason]


def _harmless(cell: str) -> str:
    return text.untagged(text.printable(cell))
