"""Tables with all samples of a run or of a repetition."""

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
    """The samples of the guests or of bare metal.

    :param axis: The axis of the conditions; empty if there is only one.
    :param heads: The title of each repetition.
    :param lines: The metric, the condition, the machine and the text of each
        repetition.
    """

    axis: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, int | str, str, tuple[str, ...]], ...]


def of_guests(records: Records) -> Table:
    """Return the samples of guests, warm-up included."""
    cells: Cells = {}
    heads = {}
    for record in records:
        number = record["repetition"]
        warm = "" if record["counted"] else " (warm-up)"
        heads[number] = f"{number}{warm}"
        for condition in record["conditions"]:
            positions = list(condition["axes"].values())
            label = (
                positions[0]
                if len(positions) == 1
                else ", ".join(map(str, positions))
            )
            samples, names = condition["samples"], condition["machines"]
            _add_cells(cells, number, label, samples, names, record)
    return _build_table(_axis(records), cells, heads)


def of_bare_metal(records: Records) -> Table:
    """Return the samples of the baseline by number of copies."""
    cells: Cells = {}
    heads = {}
    last = records[-1]
    for copies in (last["reference"] or {}).get("copies", ()):
        names = codec.copy_names(copies["copies"])
        for number, samples in enumerate(copies["repetitions"], 1):
            heads[number] = str(number)
            _add_cells(cells, number, copies["copies"], samples, names, last)
    return _build_table(_axis(records) and "copies", cells, heads)


def _axis(records: Records) -> str:
    axes = (
        condition["axes"]
        for record in records
        for condition in record["conditions"]
    )
    return ", ".join(next(axes, {}))


def _add_cells(
    cells: Cells,
    number: int,
    label: int | str,
    samples: Json,
    names: list[str],
    record: Json,
) -> None:
    for metric, values in samples.items():
        definition = record["metrics"][metric]
        for name, stored in zip(names, values, strict=True):
            numbers = codec.decode_values(stored, definition)
            shown = [
                units.show(value, definition["unit"]) for value in numbers
            ]
            if shown:
                row = cells.setdefault((metric, label, name), {})
                row[number] = ", ".join(shown)


def _build_table(axis: str, cells: Cells, heads: dict[int, str]) -> Table:
    metrics = list(dict.fromkeys(metric for metric, _, _ in cells))
    positions = {metric: index for index, metric in enumerate(metrics)}

    def order(key: Key) -> tuple[int, int]:
        label = key[1] if isinstance(key[1], int) else 0
        return positions[key[0]], label

    return Table(
        axis=axis,
        heads=tuple(heads.values()),
        rows=tuple(
            (*key, tuple(cells[key].get(number, "") for number in heads))
            for key in sorted(cells, key=order)
        ),
    )


def of_repetition(record: t.Any) -> list[list[str]]:
    """Return rows for Rally's table: guest, metric, value and state.

    An unreadable record is a row with that state. Rally writes texts into a
    script of its page without escaping, so the rows contain no ``<``.
    """
    try:
        rows = [*_samples(record), *_missing(record)]
    except (AttributeError, KeyError, TypeError, ValueError):
        rows = [["-", "-", "-", "the record cannot be read"]]
    return [[sanitize.text(cell) for cell in row] for row in rows]


def _samples(record: Json) -> collections.abc.Iterator[list[str]]:
    warm = "" if record["counted"] else "warm-up, not counted"
    for condition in record["conditions"]:
        label = _label(condition["axes"])
        if condition["skip_reason"]:
            yield [
                "-",
                "-",
                "-",
                f"{label}skipped, {condition['skip_reason']}",
            ]
        state = f"{label}{warm or condition['state']}"
        for metric, values in condition["samples"].items():
            definition = record["metrics"][metric]
            for name, stored in zip(
                condition["machines"], values, strict=True
            ):
                for value in codec.decode_values(stored, definition):
                    shown = _shown(value, definition["unit"])
                    yield [name, metric, shown, state]


def _label(axes: Json) -> str:
    """Return the label of a condition with a colon, or an empty string."""
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
    for scope in (*record["conditions"], record):
        for gap in scope["missing"]:
            reason = text.flatten(gap["reason"])
            yield [gap["machine"], gap["name"], "missing", reason]
