"""Every sample of a run, or of one repetition, as a table."""

import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import codec
from rally_vmperf.report import text

Json = collections.abc.Mapping[str, t.Any]
Records = collections.abc.Sequence[Json]
#: Metric, condition and machine.
Key = tuple[str, int | str, str]
Cells = dict[Key, dict[int, str]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """One side's samples.

    :param axis: what the conditions differ in, empty where there is one
    :param heads: a title per repetition
    :param lines: metric, condition, machine, and one text per repetition
    """

    axis: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, int | str, str, tuple[str, ...]], ...]


def of_guests(records: Records) -> Table:
    """Return the guests' samples, warm-up ones included."""
    cells: Cells = {}
    heads = {}
    for record in records:
        number = record["repetition"]
        warm = "" if record["counted"] else " (warm-up)"
        heads[number] = f"{number}{warm}"
        for one in record["conditions"]:
            values = list(one["axes"].values())
            where = (
                values[0] if len(values) == 1 else ", ".join(map(str, values))
            )
            samples, names = one["samples"], one["machines"]
            _put(cells, number, where, samples, names, record)
    return _table(_axis(records), cells, heads)


def of_bare_metal(records: Records) -> Table:
    """Return the samples of the baseline, by number of copies."""
    cells: Cells = {}
    heads = {}
    last = records[-1]
    for one in (last["reference"] or {}).get("copies", ()):
        names = codec.copies(one["copies"])
        for number, samples in enumerate(one["repetitions"], 1):
            heads[number] = str(number)
            _put(cells, number, one["copies"], samples, names, last)
    return _table(_axis(records) and "copies", cells, heads)


def _axis(records: Records) -> str:
    axes = (one["axes"] for each in records for one in each["conditions"])
    return ", ".join(next(axes, {}))


def _put(
    cells: Cells,
    number: int,
    where: int | str,
    samples: Json,
    names: list[str],
    record: Json,
) -> None:
    for metric, values in samples.items():
        meaning = record["metrics"][metric]
        for name, given in zip(names, values, strict=True):
            found = codec.decode_values(given, meaning)
            shown = [units.show(value, meaning["unit"]) for value in found]
            if shown:
                row = cells.setdefault((metric, where, name), {})
                row[number] = ", ".join(shown)


def _table(axis: str, cells: Cells, heads: dict[int, str]) -> Table:
    metrics = list(dict.fromkeys(metric for metric, _, _ in cells))
    positions = {metric: index for index, metric in enumerate(metrics)}

    def order(key: Key) -> tuple[int, int]:
        where = key[1] if isinstance(key[1], int) else 0
        return positions[key[0]], where

    return Table(
        axis=axis,
        heads=tuple(heads.values()),
        lines=tuple(
            (*key, tuple(cells[key].get(number, "") for number in heads))
            for key in sorted(cells, key=order)
        ),
    )


def of_repetition(record: t.Any) -> list[list[str]]:
    """Return rows for Rally's table: guest, metric, value and state.

    One that cannot be read is a row that says so.

    Rally puts texts into a script of its page without escaping them for
    HTML, so none of them may hold a ``<``.
    """
    try:
        found = [*_samples(record), *_missing(record)]
    except (AttributeError, KeyError, TypeError, ValueError):
        found = [["-", "-", "-", "the record cannot be read"]]
    return [[sanitize.text(cell) for cell in row] for row in found]


def _samples(record: Json) -> collections.abc.Iterator[list[str]]:
    warm = "" if record["counted"] else "warm-up, not counted"
    for one in record["conditions"]:
        label = _label(one["axes"])
        if one["skip_reason"]:
            yield ["-", "-", "-", f"{label}skipped, {one['skip_reason']}"]
        state = f"{label}{warm or one['state']}"
        for metric, values in one["samples"].items():
            meaning = record["metrics"][metric]
            for name, given in zip(one["machines"], values, strict=True):
                for value in codec.decode_values(given, meaning):
                    shown = _shown(value, meaning["unit"])
                    yield [name, metric, shown, state]


def _label(axes: Json) -> str:
    """Return the label of a condition, with a colon behind it."""
    label = ", ".join(
        f"{units.number_of('guest', value)} at once"
        if axis == "guests"
        else f"{axis} {value}"
        for axis, value in axes.items()
    )
    return f"{label}: " if label else ""


def _shown(value: float, unit: str) -> str:
    return units.show(value, unit) if math.isfinite(value) else str(value)


def _missing(record: Json) -> collections.abc.Iterator[list[str]]:
    for part in (*record["conditions"], record):
        for gap in part["missing"]:
            reason = text.flat(gap["reason"])
            yield [gap["machine"], gap["name"], "missing", reason]
