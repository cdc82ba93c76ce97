"""The findings of a density run, recorded or derived from figures."""

import collections
import collections.abc
import typing as t

from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import curve
from rally_vmperf.judging.results import loss_figure
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import units


def find(
    run_judge: judge.Judge, repetitions: judge.Repetitions, rows: judge.Rows
) -> finding.Occurrences:
    """Yield the findings in the figures of all repetitions, without number."""
    curves = [each for each in curve.group(rows) if each.points]
    if any(each.compare_to == "bare_metal" for each in curves):
        yield from _find_in_baseline(repetitions)
    for each in curves:
        for reported_finding in (*_find_in_rates(each), *_find_in_loss(each)):
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


def _find_in_rates(
    shown: curve.Curve,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings about the rates of a metric."""
    name = shown.metric.name
    few: dict[int, set[int]] = collections.defaultdict(set)
    undecided = {
        judged.point.guests
        for judged in shown.results
        if judged.point is not None
        and judged.limit is not None
        and judged.decide(judged.limit) == "inconclusive"
    }
    for point in shown.points:
        if 0 < len(point.samples) < statistics.FEWEST:
            few[len(point.samples)].add(point.guests)
        spread = statistics.spread_percent(point.rates)
        if (
            point.guests in undecided
            and spread is not None
            and spread > plausibility.UNSTABLE_PERCENT
        ):
            detail = (
                f"with {units.number_of('guest', point.guests)} they vary by "
                f"{units.show_percent(spread)} %"
            )
            yield finding.Finding("unstable", name, detail)
    for count, guests in sorted(few.items()):
        detail = f"{count} of {units.number_of('guest', *guests)}"
        yield finding.Finding("too_few_repetitions", name, detail)


def _find_in_loss(
    shown: curve.Curve,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings about the loss of a metric; none about fairness."""
    if not shown.compare_to:
        return
    name = shown.metric.name
    slow = points.describe_slow_solo(shown.points)
    if slow and shown.compare_to == "solo_guest":
        yield finding.Finding("solo_guest_slow", name, slow)
    yield from _find_bottlenecks(shown)
    quantised = False
    for judged in shown.results:
        if not isinstance(judged.figure, loss_figure.Loss):
            continue
        point = t.cast(points.Point, judged.point)
        compared = point.compared(judged.figure.statistic, shown.compare_to)
        if compared is None:
            continue
        where = f"with {units.number_of('guest', point.guests)}: "
        if shown.compare_to == "bare_metal":
            for found in plausibility.guest_faster(compared):
                yield found.with_prefix(where)
        drifts = verdict.list_drifts_across(compared, judged.limit)
        for found in plausibility.of_values(compared, drifts, where):
            if found.kind == "values_quantised":
                if quantised:
                    continue
                quantised = True
            yield found
        if detail := judged.describe_differing():
            yield finding.Finding("guests_differ", name, where + detail)


def _find_bottlenecks(
    shown: curve.Curve,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield at most one finding, about bottlenecks outside the guest."""
    bottlenecks = {
        point.guests: bottleneck
        for point in shown.points
        if (bottleneck := point.describe_bottleneck(shown.compare_to))
    }
    if bottlenecks:
        guests = units.number_of("guest", *bottlenecks)
        detail = f"with {guests}: {bottlenecks[max(bottlenecks)]}"
        name = shown.metric.name
        yield finding.Finding("bottleneck_outside_guest", name, detail)
