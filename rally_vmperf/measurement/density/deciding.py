"""The steps from curves to a judgement."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import noted
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import shortfall
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.density import agreed
from rally_vmperf.measurement.density import curve
from rally_vmperf.measurement.density import held
from rally_vmperf.measurement.density import judgement
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import points_of
from rally_vmperf.measurement.density import seen
from rally_vmperf.measurement.density import taking

Curves = collections.abc.Iterable[curve.Curve]


def degradation(
    curves: Curves, unreadable: int, terms: agreed.Degradation
) -> judgement.Judgement:
    """Hold the loss of each metric to its limit, and sum up.

    :param unreadable: how many iterations left no readable record
    """
    ordered = sorted(curves, key=lambda one: one.number)
    rows = [held.loss(metric, ordered, terms) for metric in _metrics(ordered)]
    names = [row.metric.name for row in rows]
    return _sum_up(
        ordered, unreadable, terms, rows, terms.max_percent.unmatched(names)
    )


def fairness(
    curves: Curves, unreadable: int, terms: agreed.Fairness
) -> judgement.Judgement:
    """Hold how guests share each metric to its limits, and sum up.

    :param unreadable: how many iterations left no readable record
    """
    ordered = sorted(curves, key=lambda one: one.number)
    rows = []
    for metric in _metrics(ordered):
        index = terms.min_index.for_metric(metric.name)
        spread = terms.max_spread_percent.for_metric(metric.name)
        found = points_of.points_of(metric, ordered, terms)
        if index or not spread:
            rows.append(held.shared(metric, found, "index", index, terms))
        if spread:
            rows.append(held.shared(metric, found, "spread", spread, terms))
    names = [row.metric.name for row in rows]
    unmatched = (
        *terms.min_index.unmatched(names),
        *terms.max_spread_percent.unmatched(names),
    )
    return _sum_up(ordered, unreadable, terms, rows, unmatched)


def _metrics(
    curves: collections.abc.Sequence[curve.Curve],
) -> list[sample.Metric]:
    """Return the metrics that have a rate; counts have none."""
    return [one for one in taking.metrics(curves) if one.scale == "ratio"]


def _sum_up(
    curves: collections.abc.Sequence[curve.Curve],
    unreadable: int,
    terms: agreed.Places,
    rows: list[points.Row],
    unmatched: tuple[str, ...],
) -> judgement.Judgement:
    findings = noted.collect(seen.everything(curves, rows), terms)
    told = tuple(
        dataclasses.replace(
            row,
            findings=tuple(
                one
                for one in findings
                if one.finding.subject == row.metric.name
            ),
        )
        for row in rows
    )
    whole = [
        dataclasses.replace(one.whole, expected=(), observations=())
        for one in curves
    ]
    missing = shortfall.count(whole, unreadable)
    names = {one.name for one in taking.metrics(curves)}
    void = any(
        one.severity == "void"
        and one.kind not in terms.tolerate
        and one.subject not in names
        for entry in whole
        for one in entry.findings
    )
    return judgement.Judgement(
        status=summary.overall(told, void, bool(missing or unmatched)),
        rows=told,
        missing=missing,
        findings=findings,
        unmatched=unmatched,
        confidence=terms.confidence,
        on_inconclusive=terms.on_inconclusive,
    )
