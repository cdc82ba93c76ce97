# SPDX-License-Identifier: Apache-2.0
"""The conclusion of a comparison: one sentence for each class."""

import collections.abc

from rally_vmperf.judging import summary
from rally_vmperf.judging.results import result
from rally_vmperf.measurement.samples import units

#: Class -> the prefixes of its metrics; the first match applies.
CLASSES = {
    "Disk": ("disk.", "application.unixbench.fs"),
    "CPU": ("cpu.", "application.unixbench."),
    "Memory": ("memory.",),
    "Network": ("network.",),
    "Application": ("application.",),
}
_ORDER = ("CPU", "Memory", "Disk", "Network", "Application")
#: The findings that make a loss or gain invalid.
_INVALID = (
    "above_physical_limit",
    "guest_faster",
    "guest_slightly_faster",
)

Rows = collections.abc.Sequence[result.Result]


def get_class(metric: str) -> str:
    """Return the class of a metric as text: the part that it measures."""
    return next(
        (
            name
            for name, starts in CLASSES.items()
            if metric.startswith(starts)
        ),
        "Application",
    )


def conclude(
    judgement: summary.Judgement,
) -> list[str]:
    """Return one sentence for each class of metrics with a figure."""
    class_sentences = []
    for name in _ORDER:
        rows = [
            row
            for row in judgement.compared
            if row.decisive and get_class(row.metric.name) == name
        ]
        if rows:
            class_sentences.append(f"{name}: {_describe_class(rows)}.")
    return class_sentences


def _describe_class(rows: Rows) -> str:
    """Return a sentence on the overheads of one class of metrics."""
    doubtful = [row for row in rows if _describe_doubt(row)]
    losses = sorted(
        (row for row in rows if row not in doubtful), key=_get_overhead
    )
    parts = []
    if losses:
        figures = units.number_of("figure", len(rows))
        parts.append(
            f"the guest {_describe_range(losses)}, in {len(losses)} of "
            f"{figures}"
        )
    above = [row for row in doubtful if _describe_doubt(row) == _INVALID[0]]
    faster = [row for row in doubtful if row not in above]
    if faster:
        best = min(faster, key=_get_overhead)
        parts.append(
            f"better than bare metal {_describe_selection(faster, rows)}, by "
            f"up to {units.show_percent(-_get_overhead(best))} % "
            f"({best.metric.name}): "
            "in these figures the two sides are not comparable"
        )
    if above:
        parts.append(
            f"above the physical limit {_describe_selection(above, rows)}"
        )
    if not any(row.decisive and row.decisive.low is not None for row in rows):
        parts.append(
            "inconclusive: fewer than three repetitions on a side give no "
            "interval"
        )
    return "; ".join(parts)


def _describe_range(rows: Rows) -> str:
    """Return the largest loss and the smallest one, or the gains, as text.

    :param rows: The rows, the one with the largest gain first.
    """
    best, worst = rows[0], rows[-1]
    if best is worst:
        return _describe_change(worst)
    if _is_gain(worst):
        least = units.show_percent(-_get_overhead(worst))
        return f"{_describe_change(best)} at most and {least} % at least"
    if _is_gain(best):
        return (
            f"{_describe_change(worst)} at most and {_describe_change(best)} "
            "at most"
        )
    least = units.show_percent(_get_overhead(best))
    return f"{_describe_change(worst)} at most and {least} % at least"


def _is_gain(row: result.Result) -> bool:
    """Return whether the guest is better, to one decimal."""
    return round(_get_overhead(row), 1) < 0


def _describe_change(row: result.Result) -> str:
    """Return the loss or the gain of a row with its metric, as text."""
    overhead = _get_overhead(row)
    verb = "gains" if _is_gain(row) else "loses"
    percent = units.show_percent(abs(overhead))
    return f"{verb} {percent} % ({row.metric.name})"


def _describe_selection(selected: Rows, rows: Rows) -> str:
    """Return how many of the rows are selected as text: "is 1 of 4"."""
    verb = "is" if len(selected) == 1 else "are"
    return f"{verb} {len(selected)} of {units.number_of('figure', len(rows))}"


def _describe_doubt(row: result.Result) -> str:
    """Return the kind of finding that makes a row doubtful, or ""."""
    kinds = {run_finding.finding.kind for run_finding in row.findings}
    return next((kind for kind in _INVALID if kind in kinds), "")


def _get_overhead(row: result.Result) -> float:
    """Return the overhead of a row in percent; 0 without a comparison."""
    return row.decisive.overhead_percent if row.decisive else 0.0
