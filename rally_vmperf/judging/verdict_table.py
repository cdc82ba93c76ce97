# SPDX-License-Identifier: Apache-2.0
"""The verdicts of a run as plain text: the table, and the closest limit."""

import collections.abc
import math
import textwrap

from rally_vmperf.judging import judged_run
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

#: The maximum length of a line in characters.
WIDTH = 80

#: The maximum number of lines above the table, if there are four criteria.
MOST_HEADLINES = 5

_GAP = "  "
_HEADS = ("VERDICT", "METRIC", "FIGURE", "INTERVAL", "LIMIT")


def lines(run: judged_run.JudgedRun) -> list[str]:
    """Return the verdict, figures and reasons of criteria as text lines.

    The lines can contain untrusted text, which the caller must sanitize.
    """
    headlines = []
    rows: list[result.Curve] = []
    not_judged: list[str] = []
    reasons: list[str] = []
    conclusions: list[str] = []
    for heading, status, judgement in run.verdicts:
        sentences = [
            f"{heading} of {run.title}: {judgement.status_sentence()}"
        ]
        sentences += filter(None, [describe_closest_limit(judgement)])
        if status == "none":
            sentences = [f"{heading} of {run.title}: figures without limits"]
        headlines.append(" ".join(f"{sentence}." for sentence in sentences))
        rows += judgement.limited_groups
        not_judged += judgement.list_not_judged()
        reasons += [
            f"{sentence}."
            for sentence in judgement.reasons()
            if sentence not in not_judged
        ]
        reasons += [
            f"{row.describe_absence().capitalize()}: {row.reason}."
            for row in judgement.limited
            if row.reason and not row.cells().figure
        ]
        conclusions += [f"{text}." for text in judgement.conclusions]
    reasons = [*dict.fromkeys(reasons)]
    if rest := len(reasons[summary.MAX_DETAILS :]):
        reasons[summary.MAX_DETAILS :] = [f"{rest} more in the report."]
    table_lines = [line for text in headlines for line in _wrap(text)]
    if len(table_lines) > MOST_HEADLINES:
        table_lines = [
            textwrap.shorten(text, WIDTH, placeholder=" ...")
            for text in headlines
        ]
    table_lines += _format_table(rows)
    for sentence in dict.fromkeys(not_judged):
        table_lines += _wrap(sentence)
    conclusions += [f"{text}." for text in run.remarks]
    table_lines += [line for text in conclusions for line in _wrap(text)]
    if warnings := finding.describe_warnings(run.findings):
        reasons.append(f"{warnings.removeprefix('with ')}.")
    if tolerated := finding.describe_tolerated(run.findings):
        reasons.append(f"{tolerated.capitalize()}.")
    table_lines += [line for reason in reasons for line in _wrap(reason)]
    for sla_result in run.sla_results:
        table_lines += _wrap(f"{sla_result.sentence()}")
    table_lines.append(summary.RULES)
    return table_lines


def _wrap(sentence: str) -> list[str]:
    """Return the lines of a wrapped sentence, none longer than WIDTH."""
    return textwrap.wrap(sentence, WIDTH, break_on_hyphens=False)


def _format_table(
    rows: collections.abc.Sequence[result.Curve],
) -> list[str]:
    """Return a line of text per limit; long names have their own line.

    Rows with the same verdict keep their order.
    """
    if not rows:
        return []
    body: list[tuple[str, ...]] = [_HEADS]
    for status in verdict.BY_SEVERITY:
        for row in rows:
            if row.status == status:
                cells = row.cells()
                limit = cells.limit.removeprefix("limit ")
                figure = (
                    cells.figure
                    or f"{row.describe_absence()}{row.level_suffix}"
                )
                title = row.metric_title
                body.append((status, title, figure, cells.interval, limit))
    widths = [max(map(len, column)) for column in zip(*body, strict=True)]
    other_columns = sum(widths) - widths[1] + len(_GAP) * (len(widths) - 1)
    widths[1] = min(widths[1], max(len(_HEADS[1]), WIDTH - other_columns))
    table_lines = []
    for line in body:
        if len(line[1]) > widths[1]:
            table_lines.append(_GAP.join((line[0].ljust(widths[0]), line[1])))
            line = ("", "", *line[2:])
        table_lines.append(aligned(line, widths))
    return table_lines


def aligned(
    cells: collections.abc.Iterable[str],
    widths: collections.abc.Iterable[int],
) -> str:
    """Return one line of text with each cell padded to its column."""
    padded = (
        cell.ljust(width) for cell, width in zip(cells, widths, strict=True)
    )
    return _GAP.join(padded).rstrip()


def describe_closest_limit(judgement: summary.Judgement) -> str:
    """Return the closest figure and its limit as a sentence, or "".

    It is that of the results with the status of the run, by the share of the
    limit that the figure takes.
    """
    candidates = [
        (_compute_share(value), result, value)
        for result in judgement.limited
        for value in [result.to_value()]
        if value.status == judgement.status != "void"
    ]
    measured = [each for each in candidates if math.isfinite(each[0])]
    if not measured:
        return ""
    _, result, value = max(measured, key=lambda candidate: candidate[0])
    is_beyond = judgement.status == "failed" or _compute_share(value) > 1
    word = "Furthest beyond" if is_beyond else "Closest"
    return f"{word}: {result.metric_title}, {format_figure(value)}"


def format_figure(value: verdict.FigureValue) -> str:
    """Return a figure as text: ``81.1 % at 4 guests (limit 5 %)``."""
    estimate = value.estimate
    if estimate is None or value.limit is None:
        return value.reason or "not measured"
    shown, _ = units.show_estimate(estimate, value.unit, value.limit)
    if value.guests is not None:
        shown = f"{shown} at {units.number_of('guest', value.guests)}"
    least = "least " if value.is_minimum else ""
    limit = units.show_limit(value.limit, value.unit)
    return f"{shown} ({least}limit {limit})"


def _compute_share(value: verdict.FigureValue) -> float:
    """Return the share of its limit that a figure takes; above 1 is beyond.

    A limit of zero or less has no shares: the distance counts instead. Of
    two negative gains, the share is that of the losses.
    """
    if value.value is None or value.limit is None:
        return math.nan
    figure, limit = value.value, value.limit
    if value.is_minimum:
        if max(figure, limit) < 0:
            return figure / limit
        figure, limit = limit, figure
    if limit <= 0:
        return 1 + (figure - limit) / 100
    return figure / limit
