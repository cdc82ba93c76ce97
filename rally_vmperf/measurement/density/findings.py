"""The findings of a density run: of its parts, and in its figures."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import units
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rows as rows_

Rows = collections.abc.Sequence[rows_.Row]


def everything(entries: judge.Repetitions, rows: Rows) -> finding.Seen:
    """Return findings with the number of the repetition that shows them.

    What the figures of all repetitions show together has no number. Levels
    of a warm-up are not asked.
    """
    for one in entries:
        for found in one.findings:
            yield found, one.number
    yield from _of_levels(entries)
    if any(row.against == "bare_metal" for row in rows):
        yield from _of_baseline(entries)
    for row in rows:
        for found in (*_of_row(row), *_of_model(row)):
            yield found, None
    yield from _too_few_levels(rows)


def _of_levels(entries: judge.Repetitions) -> finding.Seen:
    """Return findings of levels, with the levels where not all have it."""
    numbers: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    guests: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    ran: set[int] = set()
    for one in entries:
        for level in one.conditions if one.counted else ():
            if not level.skipped:
                ran.add(points.guests_of(level))
            for found in level.findings:
                numbers[found].add(one.number)
                guests[found].add(points.guests_of(level))
    for found, at in guests.items():
        told = found
        if at < ran or len(ran) == 1:
            told = dataclasses.replace(
                found,
                seen=f"at {units.number_of('guest', *at)}: {found.seen}",
            )
        for number in sorted(numbers[found]):
            yield told, number


def _of_baseline(entries: judge.Repetitions) -> finding.Seen:
    """Return that its session is one, or that it changed in between."""
    for number in points.numbers(entries):
        ran = [x for x in points.levels(entries, number) if not x.skipped]
        if ran and ran[0].reference.repetitions:
            yield plausibility.one_session(ran[0].reference), None
        yield from plausibility.baseline_changed(ran)


def _of_row(row: rows_.Row) -> collections.abc.Iterator[finding.Finding]:
    """Return what the figures of a metric say against themselves."""
    name = row.metric.name
    few: dict[int, set[int]] = collections.defaultdict(set)
    for point in row.points:
        if 0 < len(point.gathered) < statistics.FEWEST:
            few[len(point.gathered)].add(point.guests)
        spread = statistics.spread_percent(point.rates)
        if spread is not None and spread > plausibility.UNSTABLE_PERCENT:
            words = (
                f"with {units.number_of('guest', point.guests)} they vary by "
                f"{units.show_percent(spread)} %"
            )
            yield _finding("unstable", name, words)
        if row.figure == "loss" and row.against == "bare_metal":
            yield from _too_fast(row, point)
    for count, guests in sorted(few.items()):
        yield _finding(
            "too_few_samples",
            name,
            f"{count} of {units.number_of('guest', *guests)}",
        )
    if row.figure == "loss" and _equal(row):
        yield _finding(
            "no_spread", name, "all repetitions are equal at every number"
        )


def _too_fast(
    row: rows_.Row, point: points.Point
) -> collections.abc.Iterator[finding.Finding]:
    found = point.compared(row.of, row.against)
    for one in plausibility.faster(found) if found else ():
        words = f"with {units.number_of('guest', point.guests)}: {one.seen}"
        yield _finding(one.kind, one.subject, words)


def _of_model(row: rows_.Row) -> collections.abc.Iterator[finding.Finding]:
    """Return what the line, the law and the largest number have to say."""
    name = row.metric.name
    if row.lone_slow:
        yield _finding("lone_guest_slow", name, row.lone_slow)
    if row.line is not None and row.line.linear is False:
        yield _finding("not_linear", name, row.line.seen)
    if row.law is not None and row.law.contradicted:
        yield _finding("law_contradicted", name, row.law.contradicted)
    if row.fits is not None and row.fits.extrapolated and row.law is not None:
        words = (
            f"{row.fits.predicted} predicted, "
            f"{row.law.largest} measured at most"
        )
        yield _finding("extrapolated", name, words)


def _too_few_levels(rows: Rows) -> finding.Seen:
    """Say once that nothing is modelled, with the most levels of a metric."""
    counts = [
        sum(1 for point in row.points if point.usable)
        for row in rows
        if row.figure == "loss" and row.metric.adds_up
    ]
    if counts and 0 < max(counts) < law.FEWEST_LEVELS:
        words = f"{max(counts)}, of {law.FEWEST_LEVELS} at least"
        yield _finding("levels_too_few", "numbers of guests", words), None


def _equal(row: rows_.Row) -> bool:
    values = [
        point.rates
        for point in row.points
        if len(point.gathered) >= statistics.FEWEST
    ]
    return len(values) > 1 and all(len(set(one)) == 1 for one in values)


def _finding(kind: str, subject: str, words: str) -> finding.Finding:
    return finding.Finding(kind=kind, subject=subject, seen=words)
