"""The findings of a density run, recorded or derived from figures."""

import collections
import collections.abc

from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import density_result
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import contrasts
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import units

Rows = collections.abc.Sequence[density_result.DensityResult]


def collect(repetitions: judge.Repetitions, rows: Rows) -> finding.Occurrences:
    """Yield each finding with the number of its repetition.

    Findings in the figures of all repetitions have no number. Levels of a
    warm-up are left out.
    """
    for repetition in repetitions:
        for reported_finding in repetition.findings:
            yield reported_finding, repetition.number
    yield from density_levels.findings(repetitions)
    if any(row.compare_to == "bare_metal" for row in rows):
        yield from _find_in_baseline(repetitions)
    for row in rows:
        for reported_finding in _find_in_row(row):
            yield reported_finding, None


def _find_in_baseline(repetitions: judge.Repetitions) -> finding.Occurrences:
    """Yield that the baseline is one session, and where it was replaced."""
    for guests in density_levels.guest_counts(repetitions):
        conditions = density_levels.counted_conditions(repetitions, guests)
        executed = [
            condition for condition in conditions if not condition.skip_reason
        ]
        if executed and executed[0].reference.repetitions:
            yield from plausibility.one_session(
                repetitions, executed[0].reference
            )
        yield from plausibility.baseline_changed(executed)


def _find_in_row(
    row: density_result.DensityResult,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings about the figures of a metric."""
    name = row.metric.name
    few: dict[int, set[int]] = collections.defaultdict(set)
    for point in row.points:
        if 0 < len(point.samples) < statistics.FEWEST:
            few[len(point.samples)].add(point.guests)
        spread = statistics.spread_percent(point.rates)
        if spread is not None and spread > plausibility.UNSTABLE_PERCENT:
            detail = (
                f"with {units.number_of('guest', point.guests)} they vary by "
                f"{units.show_percent(spread)} %"
            )
            yield _create_finding("unstable", name, detail)
        if row.figure == "loss" and row.compare_to == "bare_metal":
            yield from _find_faster_guest(row, point)
    for count, guests in sorted(few.items()):
        yield _create_finding(
            "too_few_repetitions",
            name,
            f"{count} of {units.number_of('guest', *guests)}",
        )
    if row.solo_slow:
        yield _create_finding("solo_guest_slow", name, row.solo_slow)
    if row.figure == "loss":
        yield from _find_bottlenecks(row)
    quantised = False
    for point in row.points if row.figure == "loss" else ():
        compared = point.compared(row.statistic, row.compare_to)
        if compared is None:
            continue
        where = f"with {units.number_of('guest', point.guests)}: "
        limit = row.limit if point.guests in row.statuses else None
        drifts = verdict.list_drifts_across(compared, limit)
        for reported_finding in plausibility.of_values(
            compared, drifts, where
        ):
            if reported_finding.kind == "values_quantised":
                if quantised:
                    continue
                quantised = True
            yield reported_finding
        if beyond := _find_differing_guests(row, point):
            detail = verdict.describe_beyond(beyond, point.guests, row.limit)
            yield _create_finding("guests_differ", name, where + detail)


def _find_differing_guests(
    row: density_result.DensityResult, point: points.Point
) -> contrasts.Comparisons:
    """Return the guests of a level beyond the limit of the mean guest.

    The result is empty if the mean guest is beyond the limit as well.
    """
    is_within = row.statuses.get(point.guests) in ("passed", "inconclusive")
    if row.limit is None or row.statistic == "worst" or not is_within:
        return {}
    return point.contrast(row.compare_to).list_beyond(row.limit)


def _find_bottlenecks(
    row: density_result.DensityResult,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield at most one finding, about bottlenecks outside the guest."""
    bottlenecks = {
        point.guests: bottleneck
        for point in row.points
        if (bottleneck := point.describe_bottleneck(row.compare_to))
    }
    if bottlenecks:
        guests = units.number_of("guest", *bottlenecks)
        detail = f"with {guests}: {bottlenecks[max(bottlenecks)]}"
        yield _create_finding(
            "bottleneck_outside_guest", row.metric.name, detail
        )


def _find_faster_guest(
    row: density_result.DensityResult, point: points.Point
) -> collections.abc.Iterator[finding.Finding]:
    """Yield a finding if guests at one level are faster than a copy."""
    comparison = point.compared(row.statistic, row.compare_to)
    guests = units.number_of("guest", point.guests)
    for reported in (
        plausibility.guest_faster(comparison) if comparison else ()
    ):
        yield reported.with_prefix(f"with {guests}: ")


def _create_finding(kind: str, subject: str, detail: str) -> finding.Finding:
    """Return a finding on a metric or a machine."""
    return finding.Finding(kind=kind, subject=subject, detail=detail)
