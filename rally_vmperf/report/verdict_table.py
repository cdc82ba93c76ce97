"""The verdicts of a run as one table of plain text, what failed first."""

import collections.abc
import textwrap

from rally_vmperf.measurement import summary
from rally_vmperf.report import run as runs

#: Characters of a line at most.
WIDTH = 80

_GAP = "  "
_ORDER = ("failed", "void", "inconclusive", "passed")
_HEADS = ("VERDICT", "METRIC", "FIGURE", "INTERVAL", "LIMIT")


def lines(run: runs.RunReport) -> list[str]:
    """Return the verdicts of each criterion, its figures, and what voids.

    The lines may contain foreign text: the caller sanitizes what it prints.
    """
    found = []
    for what, status, one in run.verdicts:
        headline = one.headline()
        if status == "none":
            headline = "figures without limits"
        found += _wrapped(f"{what} of {run.title}: {headline}.")
        found += _table(one.limited)
        found += [
            line
            for sentence in one.reasons()
            for line in _wrapped(f"{sentence}.")
        ]
    for other in run.others:
        found += _wrapped(f"{other.sentence()}")
    found.append(summary.RULES)
    return found


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, WIDTH, break_on_hyphens=False)


def _table(rows: collections.abc.Sequence[summary.Row]) -> list[str]:
    """Return a row for each limit; long names have a line of their own.

    A stable order: the criterion's own within a verdict.
    """
    if not rows:
        return []
    body: list[tuple[str, ...]] = [_HEADS]
    for status in _ORDER:
        for row in rows:
            if row.status == status:
                cells = row.cells()
                limit = cells.limit.removeprefix("limit ")
                figure = cells.figure or "not measured"
                body.append(
                    (status, row.metric.name, figure, cells.interval, limit)
                )
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    others = sum(widths) - widths[1] + len(_GAP) * (len(widths) - 1)
    widths[1] = min(widths[1], max(len(_HEADS[1]), WIDTH - others))
    found = []
    for line in body:
        if len(line[1]) > widths[1]:
            found.append(_GAP.join((line[0].ljust(widths[0]), line[1])))
            line = ("", "", *line[2:])
        found.append(aligned(line, widths))
    return found


def aligned(
    cells: collections.abc.Iterable[str],
    widths: collections.abc.Iterable[int],
) -> str:
    """Return a line of a table, each cell padded to its column's width."""
    padded = (x.ljust(width) for x, width in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip()
