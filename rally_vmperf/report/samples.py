"""Every sample of a run, by metric, condition, machine and repetition."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import units
from rally_vmperf.records import codec

Json = collections.abc.Mapping[str, t.Any]
Records = collections.abc.Sequence[Json]
#: Metric, condition and machine.
Place = tuple[str, int | str, str]
Cells = dict[Place, dict[int, str]]


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
            found = codec.several(given, meaning)
            shown = [units.show(value, meaning["unit"]) for value in found]
            if shown:
                place = cells.setdefault((metric, where, name), {})
                place[number] = ", ".join(shown)


def _table(axis: str, cells: Cells, heads: dict[int, str]) -> Table:
    metrics = list(dict.fromkeys(metric for metric, _, _ in cells))
    places = {metric: place for place, metric in enumerate(metrics)}

    def order(key: Place) -> tuple[int, int]:
        where = key[1] if isinstance(key[1], int) else 0
        return places[key[0]], where

    return Table(
        axis=axis,
        heads=tuple(heads.values()),
        lines=tuple(
            (*key, tuple(cells[key].get(number, "") for number in heads))
            for key in sorted(cells, key=order)
        ),
    )
