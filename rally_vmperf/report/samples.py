# SPDX-License-Identifier: Apache-2.0
"""Tables with all samples of a run or of a repetition."""

import collections.abc
import dataclasses

from rally_vmperf import sanitize
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.report import text

Records = collections.abc.Sequence[model.Record]
#: Metric, condition and machine.
Key = tuple[str, int | str, str]
Cells = dict[Key, dict[int, str]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SampleTable:
    """The samples of the guests or of bare metal.

    :param axis: The axis of the conditions; empty if there is only one.
    :param heads: The title of each repetition.
    :param lines: The metric, the condition, the machine and the text of each
        repetition.
    """

    axis: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, int | str, str, tuple[str, ...]], ...]


def of_guests(records: Records) -> SampleTable:
    """Return a table of the guests' samples, warm-up included."""
    cells: Cells = {}
    heads = {}
    for record in records:
        number = record.repetition.number
        warm = "" if record.repetition.counted else " (warm-up)"
        heads[number] = f"{number}{warm}"
        for condition in record.repetition.conditions:
            positions = list(condition.axes.values())
            label = (
                positions[0]
                if len(positions) == 1
                else ", ".join(map(str, positions))
            )
            _add_cells(cells, number, label, condition.observations)
    return _build_table(_join_axes(records), cells, heads)


def of_bare_metal(records: Records) -> SampleTable:
    """Return a table of the baseline's samples by number of copies."""
    cells: Cells = {}
    heads = {}
    bare_metal = records[-1].bare_metal
    references = bare_metal.references if bare_metal else {}
    for copies, reference in references.items():
        for number, observations in enumerate(reference.repetitions, 1):
            heads[number] = str(number)
            _add_cells(cells, number, copies, observations)
    return _build_table(_join_axes(records) and "copies", cells, heads)


def _join_axes(records: Records) -> str:
    """Return the names of the parameters of the conditions as text, or ""."""
    conditions = repetition.list_conditions(
        record.repetition for record in records
    )
    return ", ".join(conditions[0].axes) if conditions else ""


def _add_cells(
    cells: Cells,
    number: int,
    label: int | str,
    observations: collections.abc.Iterable[sample.Observation],
) -> None:
    """Add the values of a repetition to the cells of a table, as text."""
    texts: dict[Key, list[str]] = {}
    for observation in observations:
        metric = observation.sample.metric
        texts.setdefault((metric.name, label, observation.source), []).append(
            units.show(observation.sample.value, metric.unit)
        )
    for key, shown in texts.items():
        cells.setdefault(key, {})[number] = ", ".join(shown)


def _build_table(
    axis: str, cells: Cells, heads: dict[int, str]
) -> SampleTable:
    """Return a table of samples: a row per machine, a column per number."""
    metrics = dict.fromkeys(metric for metric, _, _ in cells)
    positions = {metric: index for index, metric in enumerate(metrics)}

    def sort_key(key: Key) -> tuple[int, int]:
        """Return the sort key of a row: metric, then number of guests."""
        label = key[1] if isinstance(key[1], int) else 0
        return positions[key[0]], label

    return SampleTable(
        axis=axis,
        heads=tuple(heads.values()),
        rows=tuple(
            (*key, tuple(cells[key].get(number, "") for number in heads))
            for key in sorted(cells, key=sort_key)
        ),
    )


def of_repetition(record: model.Record | None) -> list[list[str]]:
    """Return rows of texts for Rally: guest, metric, value, state.

    A record that cannot be read is a row with that state. Rally writes texts
    into a script of its page without escaping, so the rows contain no ``<``.
    """
    rows = (
        [*_list_samples(record.repetition), *_list_missing(record.repetition)]
        if record
        else [["-", "-", "-", "the record cannot be read"]]
    )
    return [[sanitize.text(cell) for cell in row] for row in rows]


def _list_samples(
    measured: repetition.Repetition,
) -> collections.abc.Iterator[list[str]]:
    """Yield a row of texts for each sample and skipped condition."""
    warm = "" if measured.counted else "warm-up, not counted"
    for condition in measured.conditions:
        label = _label(condition.axes)
        if condition.skip_reason:
            yield ["-", "-", "-", f"{label}skipped, {condition.skip_reason}"]
        state = f"{label}{warm or condition.state}"
        for observation in condition.observations:
            metric = observation.sample.metric
            shown = units.show(observation.sample.value, metric.unit)
            yield [observation.source, metric.name, shown, state]


def _label(axes: repetition.Axes) -> str:
    """Return the parameters of a condition with a colon as text, or ""."""
    label = ", ".join(
        f"{units.number_of('guest', int(value))} at once"
        if axis == "guests"
        else f"{axis} {value}"
        for axis, value in axes.items()
    )
    return f"{label}: " if label else ""


def _list_missing(
    measured: repetition.Repetition,
) -> collections.abc.Iterator[list[str]]:
    """Yield a row of texts for each missing measurement."""
    for gap in measured.all_missing:
        yield [gap.machine, gap.name, "missing", text.flatten(gap.reason)]
