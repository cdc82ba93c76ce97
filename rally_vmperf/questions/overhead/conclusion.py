"""The conclusion of a comparison: one sentence for each class."""

import collections.abc

from rally_vmperf.measurement import overhead_judge
from rally_vmperf.measurement import rows as rows_
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
_DOUBTS = ("above_physical_limit", "guest_faster", "guest_slightly_faster")

Rows = collections.abc.Sequence[rows_.Row]


def class_of(metric: str) -> str:
    """Return the class of a metric."""
    return next(
        (
            name
            for name, starts in CLASSES.items()
            if metric.startswith(starts)
        ),
        "Application",
    )


def sentences(judgement: overhead_judge.Judgement) -> list[str]:
    """Return a sentence for each class with a figure."""
    sentences_ = []
    for name in _ORDER:
        rows = [
            row
            for row in judgement.compared
            if row.comparison and class_of(row.metric.name) == name
        ]
        if rows:
            sentences_.append(f"{name}: {_sentence(rows)}.")
    return sentences_


def _sentence(rows: Rows) -> str:
    doubtful = [row for row in rows if _doubt(row)]
    losses = sorted(
        (row for row in rows if row not in doubtful), key=_overhead
    )
    parts = []
    if losses:
        smallest, worst = losses[0], losses[-1]
        text = f"the guest loses {_percent(worst)} % ({worst.metric.name})"
        if smallest is not worst:
            text += f" at most and {_percent(smallest)} % at least"
        parts.append(f"{text}, in {len(losses)} of {len(rows)} figures")
    above = [row for row in doubtful if _doubt(row) == _DOUBTS[0]]
    faster = [row for row in doubtful if row not in above]
    if faster:
        best = min(faster, key=_overhead)
        parts.append(
            f"better than bare metal {_of(faster, rows)}, by up to "
            f"{units.show_percent(-_overhead(best))} % ({best.metric.name}): "
            "in these figures the two sides are not comparable"
        )
    if above:
        parts.append(f"above the physical limit {_of(above, rows)}")
    if not any(row.estimated for row in rows):
        parts.append(
            "inconclusive: fewer than three repetitions on a side give no "
            "interval"
        )
    return "; ".join(parts)


def _of(selected: Rows, rows: Rows) -> str:
    verb = "is" if len(selected) == 1 else "are"
    return f"{verb} {len(selected)} of {units.number_of('figure', len(rows))}"


def _doubt(row: rows_.Row) -> str:
    kinds = {run_finding.finding.kind for run_finding in row.findings}
    return next((kind for kind in _DOUBTS if kind in kinds), "")


def _overhead(row: rows_.Row) -> float:
    return row.comparison.overhead_percent if row.comparison else 0.0


def _percent(row: rows_.Row) -> str:
    return units.show_percent(_overhead(row))
