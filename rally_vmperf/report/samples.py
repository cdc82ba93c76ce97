"""Every sample of a run, by metric, machine and repetition."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import units
from rally_vmperf.report import run as runs

Json = collections.abc.Mapping[str, t.Any]
Cells = dict[tuple[str, str], dict[int, list[str]]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Table:
    """One side's samples.

    :param heads: a title per repetition
    :param lines: metric, machine, and one text per repetition
    """

    heads: tuple[str, ...]
    lines: tuple[tuple[str, str, tuple[str, ...]], ...]


def of_guests(run: runs.Run) -> Table:
    """Return the guests' samples, warm-up ones included."""
    cells: Cells = {}
    for record in run.records:
        number = record["repetition"]
        _put(cells, number, record["samples"], record["metrics"])
    heads = {
        record["repetition"]: str(record["repetition"])
        if record["counted"]
        else f"{record['repetition']} (warm-up)"
        for record in run.records
    }
    return _table(cells, heads)


def of_bare_metal(run: runs.Run) -> Table:
    """Return the samples of the baseline."""
    cells: Cells = {}
    repetitions = run.last["reference"]["repetitions"] if run.records else []
    for number, rows in enumerate(repetitions, 1):
        _put(cells, number, rows, run.last["metrics"])
    heads = {n: str(n) for n in range(1, len(repetitions) + 1)}
    return _table(cells, heads)


def _put(
    cells: Cells,
    number: int,
    rows: collections.abc.Iterable[Json],
    metrics: Json,
) -> None:
    for row in rows:
        place = cells.setdefault((row["metric"], row["source"]), {})
        unit = metrics[row["metric"]]["unit"]
        place.setdefault(number, []).append(units.show(row["value"], unit))


def _table(cells: Cells, heads: dict[int, str]) -> Table:
    return Table(
        heads=tuple(heads.values()),
        lines=tuple(
            (
                metric,
                source,
                tuple(", ".join(here.get(number, ())) for number in heads),
            )
            for (metric, source), here in cells.items()
        ),
    )
