"""The findings of a density run: of its parts, and in its figures."""

import collections
import collections.abc

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import level
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rows as rows_
from rally_vmperf.measurement.samples import units

Rows = collections.abc.Sequence[rows_.Row]


def everything(entries: judge.Repetitions, rows: Rows) -> finding.Occurrences:
    """Return findings with the number of the repetition that shows them.

    Findings in the figures of all repetitions have no number. Levels of a
    warm-up are left out.
    """
    for one in entries:
        for found in one.findings:
            yield found, one.number
    yield from level.findings(entries)
    if any(row.compare_to == "bare_metal" for row in rows):
        yield from _of_baseline(entries)
    for row in rows:
        for found in (*_of_row(row), *_of_model(row)):
            yield found, None
    yield from _too_few_levels(rows)


def _of_baseline(entries: judge.Repetitions) -> finding.Occurrences:
    """Return findings on the session of the baseline, and on its change."""
    for number in levels.numbers(entries):
        there = levels.counted(entries, number)
        executed = [x for x in there if not x.skip_reason]
        if executed and executed[0].reference.repetitions:
            yield plausibility.one_session(executed[0].reference), None
        yield from plausibility.baseline_changed(executed)


def _of_row(row: rows_.Row) -> collections.abc.Iterator[finding.Finding]:
    """Return findings on the figures of a metric."""
    name = row.metric.name
    few: dict[int, set[int]] = collections.defaultdict(set)
    for point in row.points:
        if 0 < len(point.gathered) < statistics.FEWEST:
            few[len(point.gathered)].add(point.guests)
        spread = statistics.spread_percent(point.rates)
        if spread is not None and spread > plausibility.UNSTABLE_PERCENT:
            detail = (
                f"with {units.number_of('guest', point.guests)} they vary by "
                f"{units.show_percent(spread)} %"
            )
            yield _finding("unstable", name, detail)
        if row.figure == "loss" and row.compare_to == "bare_metal":
            yield from _too_fast(row, point)
    for count, guests in sorted(few.items()):
        yield _finding(
            "too_few_repetitions",
            name,
            f"{count} of {units.number_of('guest', *guests)}",
        )
    if row.figure == "loss":
        yield from _capped(row)
    coarse = False
    for point in row.points if row.figure == "loss" else ():
        compared = point.compared(row.statistic, row.compare_to)
        if compared is None:
            continue
        where = f"with {units.number_of('guest', point.guests)}: "
        for side, kind, detail in compared.departures:
            yield _finding(kind, name, f"{where}{side}: {detail}")
        if compared.coarse and not coarse:
            coarse = True
            yield _finding("values_quantised", name, where + compared.coarse)


def _capped(row: rows_.Row) -> collections.abc.Iterator[finding.Finding]:
    """Say once what else limits the rate, at which numbers of guests."""
    held = {
        point.guests: seen
        for point in row.points
        if (seen := point.capped(row.compare_to))
    }
    if held:
        words = f"with {units.number_of('guest', *held)}: {held[max(held)]}"
        yield _finding("bottleneck_outside_guest", row.metric.name, words)


def _too_fast(
    row: rows_.Row, point: points.Point
) -> collections.abc.Iterator[finding.Finding]:
    found = point.compared(row.statistic, row.compare_to)
    for one in plausibility.faster(found) if found else ():
        detail = f"with {units.number_of('guest', point.guests)}: {one.detail}"
        yield _finding(one.kind, one.subject, detail)


def _of_model(row: rows_.Row) -> collections.abc.Iterator[finding.Finding]:
    """Return findings on the lone guest and the largest number."""
    name = row.metric.name
    if row.lone_slow:
        yield _finding("solo_guest_slow", name, row.lone_slow)
    if row.fits is not None and row.fits.extrapolated and row.law is not None:
        detail = (
            f"{row.fits.predicted} predicted, "
            f"{row.law.largest} measured at most"
        )
        yield _finding("extrapolated", name, detail)


def _too_few_levels(rows: Rows) -> finding.Occurrences:
    """Return one finding if no metric has enough levels for the law."""
    counts = [
        sum(1 for point in row.points if point.usable)
        for row in rows
        if row.figure == "loss" and row.metric.additive
    ]
    if counts and 0 < max(counts) < law.FEWEST_LEVELS:
        detail = f"{max(counts)}, of {law.FEWEST_LEVELS} at least"
        yield _finding("too_few_levels", "numbers of guests", detail), None


def _finding(kind: str, subject: str, detail: str) -> finding.Finding:
    return finding.Finding(kind=kind, subject=subject, detail=detail)
