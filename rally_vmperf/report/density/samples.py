"""Every sample of a density run, by metric, number of guests and guest."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import units
from rally_vmperf.report.density import run as runs

Json = collections.abc.Mapping[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """One side's samples.

    :param heads: a title per repetition
    :param lines: metric, number of guests, machine, a text per repetition
    """

    heads: tuple[str, ...]
    lines: tuple[tuple[str, int, str, tuple[str, ...]], ...]


Cells = dict[tuple[str, int, str], dict[int, list[str]]]


def of_guests(run: runs.Run) -> Table:
    """Return the guests' samples, warm-up ones included."""
    cells: Cells = {}
    heads = {}
    for record in run.records:
        number = record["repetition"]
        warm = "" if record["counted"] else " (warm-up)"
        heads[number] = f"{number}{warm}"
        for level in record["levels"]:
            _put(cells, number, level["guests"], level["samples"], record)
    return _table(cells, heads)


def of_bare_metal(run: runs.Run) -> Table:
    """Return the samples of the baseline, by number of copies."""
    cells: Cells = {}
    heads = {}
    for level in run.last["levels"] if run.records else ():
        reference = level["reference"] or {"repetitions": ()}
        for number, rows in enumerate(reference["repetitions"], 1):
            heads[number] = str(number)
            _put(cells, number, level["guests"], rows, run.last)
    return _table(cells, heads)


def _put(
    cells: Cells, number: int, guests: int, rows: list[Json], of: Json
) -> None:
    for row in rows:
        place = cells.setdefault((row["metric"], guests, row["source"]), {})
        unit = of["metrics"][row["metric"]]["unit"]
        place.setdefault(number, []).append(units.show(row["value"], unit))


def _table(cells: Cells, heads: dict[int, str]) -> Table:
    order = {metric: None for metric, _, _ in cells}
    places = {metric: place for place, metric in enumerate(order)}
    lines = sorted(cells, key=lambda key: (places[key[0]], key[1]))
    return Table(
        heads=tuple(heads.values()),
        lines=tuple(
            (
                *key,
                tuple(", ".join(cells[key].get(n, ())) for n in heads),
            )
            for key in lines
        ),
    )
