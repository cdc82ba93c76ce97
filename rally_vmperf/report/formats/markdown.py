# SPDX-License-Identifier: Apache-2.0
"""Verdicts as Markdown, for a merge request or a wiki.

The text has the verdicts, a table of the figures with limits, failures
first, and the numbers of samples by metric. Names and sentences are code
spans, in which addresses, mentions and references have no effect.
"""

import collections
import collections.abc
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.records import table

_FIGURES = (
    *("Verdict", "Metric", "Figure", "Subject"),
    *("Value", "Interval", "Limit"),
)
_NUMBER = "-?[0-9][0-9., ]*(?: (?:%|[A-Za-z/]{1,20}))?"
#: Texts without a meaning: words, numbers with a unit, and intervals.
_PLAIN = re.compile(rf"[A-Za-z]+(?:_[A-Za-z]+)*|{_NUMBER}(?: to {_NUMBER})?")


def render(
    rows: collections.abc.Callable[[], table.Rows],
) -> collections.abc.Iterator[str]:
    """Yield a section per run."""
    runs: dict[tuple[str, str], list[table.Row]] = {}
    counts: dict[tuple[str, str], dict[str, collections.Counter[str]]] = {}
    for row in rows():
        key = (row.title, row.run)
        judged = runs.setdefault(key, [])
        numbers = counts.setdefault(key, {})
        if row.row == "sample":
            metric = row.metric or ""
            numbers.setdefault(metric, collections.Counter()).update(
                table.count_names(row)
            )
        elif row.status is not None:
            judged.append(row)
    for (title, run), judged in runs.items():
        yield f"## {_quote(title)}\n\n"
        yield from _format_verdicts(judged)
        yield from _format_counts(counts[title, run])


def _format_verdicts(
    judged: list[table.Row],
) -> collections.abc.Iterator[str]:
    """Yield the verdicts of a run, and its figures with limits."""
    for row in judged:
        if row.row == "verdict":
            yield f"- **{_quote(row.criterion)}**: {_quote(row.reason)}\n"
    if not judged:
        yield "No limits.\n"
    limited = [row for row in judged if row.row == "figure"]
    if limited:
        limited.sort(key=lambda row: verdict.BY_SEVERITY.index(row.status))
        yield "\n"
        yield from _format_table(_FIGURES, map(_list_cells, limited))


def _list_cells(row: table.Row) -> tuple[t.Any, ...]:
    """Return the cells of a figure with a limit."""
    value, interval = row.show_figure()
    figure = " ".join(filter(None, (row.figure, row.condition)))
    subject = " ".join(filter(None, (row.subject, row.guest)))
    limit = row.show_limit()
    return row.status, row.metric, figure, subject, value, interval, limit


def _format_counts(
    counts: dict[str, collections.Counter[str]],
) -> collections.abc.Iterator[str]:
    """Yield a table of the numbers of samples by metric."""
    names = [*table.COUNTS]
    yield "\n"
    yield from _format_table(
        ("Samples", *names),
        (
            (metric or "(whole condition)", *map(numbers.__getitem__, names))
            for metric, numbers in counts.items()
        ),
    )
    yield "\n"


def _format_table(
    heads: tuple[str, ...],
    body: collections.abc.Iterable[tuple[t.Any, ...]],
) -> collections.abc.Iterator[str]:
    """Yield the lines of a table."""
    yield f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}\n"
    for cells in body:
        quoted = " | ".join(_quote(cell).replace("|", r"\|") for cell in cells)
        yield f"| {quoted} |\n"


def _quote(content: t.Any) -> str:
    """Return a text as one line: as it is, or as a code span."""
    text = sanitize.printable(" ".join(str(content).split()))
    if not text or _PLAIN.fullmatch(text):
        return text
    ticks = max(map(len, re.findall("`+", text)), default=0)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    fence = "`" * (ticks + 1)
    return f"{fence}{space}{text}{space}{fence}"
