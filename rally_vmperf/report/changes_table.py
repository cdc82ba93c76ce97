# SPDX-License-Identifier: Apache-2.0
"""The table of the changes between runs."""

import collections.abc
import math
import typing as t

from rally_vmperf.judging.results import changes
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.samples import units

Row = tuple[t.Any, ...]
#: The changes of each metric and condition, the best run first.
Ranked = collections.abc.Sequence[collections.abc.Sequence[result.Result]]

_NUMBERS = (
    *("Result", "Metric", "Condition", "Run", "Rank", "Reference", "Value"),
    *("Unit", "Loss (%)", "Low (%)", "High (%)", "Confidence (%)"),
    *("Margin (%)", "Limit", "Decides", "Remark"),
)
_TEXTS = (
    *("Metric", "Condition", "Rank", "Run", "Result", "Reference", "Value"),
    *("Loss", "Interval", "Confidence", "Decides", "Remark"),
)


def list_numbers(ranked: Ranked) -> Row:
    """Return columns and rows for other programs, with numbers."""
    return _NUMBERS, [
        _numbers(change, rank if len(group) > 1 else None)
        for group in ranked
        for rank, change in enumerate(group, start=1)
    ]


def _numbers(change: result.Result, rank: int | None) -> Row:
    """Return a row with numbers in base units and in percent."""
    comparison = change.decisive
    losses: Row = (None,) * 4
    if comparison is not None:
        losses = (
            comparison.overhead_percent,
            _finite(comparison.low),
            _finite(comparison.high),
            None if comparison.low is None else 100 * comparison.confidence,
        )
    run_figures = changes.list_figures(change)
    is_count = change.metric.scale == "count"
    return (
        changes.classify(change),
        change.metric.name,
        change.condition,
        change.variant,
        rank,
        *run_figures,
        None if run_figures == (None, None) else change.metric.unit,
        *losses,
        None if is_count else change.limit,
        change.limit if is_count else None,
        change.decides,
        changes.describe_remark(change),
    )


def _finite(end: float | None) -> float | None:
    """Return the end of an interval, None without one."""
    return end if end is not None and math.isfinite(end) else None


def list_texts(
    runs: collections.abc.Sequence[changes.RunSamples],
    ranked: Ranked,
) -> Row:
    """Return columns and rows for a terminal, without empty columns."""
    rows = [
        _texts(change, rank)
        for group in ranked
        for rank, change in enumerate(group, start=1)
    ]
    columns = dict(zip(_TEXTS, _TEXTS, strict=True))
    columns["Reference"] = runs[0].name
    if len(runs) == 2:
        del columns["Rank"], columns["Run"]
        columns["Value"] = runs[1].name
        columns = {"Result": "Result", **columns}
    for name in ("Condition", "Decides", "Remark"):
        if not any(row[name] for row in rows):
            del columns[name]
    return tuple(columns.values()), [
        tuple(row[name] for name in columns) for row in rows
    ]


def _texts(change: result.Result, rank: int) -> dict[str, str]:
    """Return a row as texts for a terminal, by column."""
    run_figures = [
        "-" if figure is None else units.show(figure, change.metric.unit)
        for figure in changes.list_figures(change)
    ]
    losses = ("-",) * 3
    comparison = change.decisive
    if comparison is not None:
        interval = change.show_interval()
        losses = (
            change.show(comparison.overhead_percent),
            interval or "-",
            f"{100 * comparison.confidence:.2f} %" if interval else "-",
        )
    return dict(
        zip(
            _TEXTS,
            (
                change.metric.name,
                change.condition,
                str(rank),
                change.variant,
                changes.classify(change),
                *run_figures,
                *losses,
                "" if change.decides else "no",
                changes.describe_remark(change),
            ),
            strict=True,
        )
    )
