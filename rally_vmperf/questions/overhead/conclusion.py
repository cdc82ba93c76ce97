"""One sentence for each class of figures, for the end of a study."""

import collections.abc

from rally_vmperf.measurement import overhead_judge
from rally_vmperf.measurement import rows as rows_
from rally_vmperf.measurement.samples import units

#: Class -> the beginnings of its metrics' names, the first that fits.
CLASSES = {
    "Disk": ("disk.", "application.unixbench.fs"),
    "CPU": ("cpu.", "application.unixbench."),
    "Memory": ("memory.",),
    "Network": ("network.",),
    "Application": ("application.",),
}
_ORDER = ("CPU", "Memory", "Disk", "Network", "Application")
#: Findings with which a figure is no loss and no gain.
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
    """Return a sentence for each class that has a figure."""
    found = []
    for name in _ORDER:
        rows = [
            row
            for row in judgement.compared
            if row.comparison and class_of(row.metric.name) == name
        ]
        if rows:
            found.append(f"{name}: {_sentence(rows)}.")
    return found


def _sentence(rows: Rows) -> str:
    doubtful = [row for row in rows if _doubt(row)]
    losses = sorted(
        (row for row in rows if row not in doubtful), key=_overhead
    )
    parts = []
    if losses:
        least, worst = losses[0], losses[-1]
        words = f"the guest loses {_percent(worst)} % ({worst.metric.name})"
        if least is not worst:
            words += f" at most and {_percent(least)} % at least"
        parts.append(f"{words}, in {len(losses)} of {len(rows)} figures")
    above = [row for row in doubtful if _doubt(row) == _DOUBTS[0]]
    faster = [row for row in doubtful if row not in above]
    if faster:
        best = min(faster, key=_overhead)
        parts.append(
            f"better than bare metal {_of(faster, rows)}, by up to "
            f"{units.show_percent(-_overhead(best))} % ({best.metric.name}): "
            "there the two sides are not comparable"
        )
    if above:
        parts.append(f"above what the machine can do {_of(above, rows)}")
    if not any(row.estimated for row in rows):
        parts.append(
            "inconclusive: fewer than three repetitions on a side have no "
            "interval"
        )
    return "; ".join(parts)


def _of(some: Rows, rows: Rows) -> str:
    verb = "is" if len(some) == 1 else "are"
    return f"{verb} {len(some)} of {units.number_of('figure', len(rows))}"


def _doubt(row: rows_.Row) -> str:
    kinds = {one.finding.kind for one in row.findings}
    return next((kind for kind in _DOUBTS if kind in kinds), "")


def _overhead(row: rows_.Row) -> float:
    return row.comparison.overhead_percent if row.comparison else 0.0


def _percent(row: rows_.Row) -> str:
    return units.show_percent(_overhead(row))
