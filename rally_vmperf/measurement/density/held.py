"""One metric of a density run, held to its limit at each level."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import sample
from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import agreed
from rally_vmperf.measurement.density import curve
from rally_vmperf.measurement.density import fits
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.density import line
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import points_of


def loss(
    metric: sample.Metric,
    curves: collections.abc.Sequence[curve.Curve],
    terms: agreed.Degradation,
) -> points.Row:
    """Return the row of what a metric loses, held to its limit."""
    every = points_of.points_of(metric, curves, terms)
    fitted = law.law(every, terms.confidence)
    limit = terms.max_percent.for_metric(metric.name)
    row = dataclasses.replace(
        _unlimited(metric, every, terms),
        line=line.line(metric, every, terms.confidence),
        law=fitted,
        of=terms.of,
        against=terms.against,
    )
    if limit is None:
        return row
    alone = terms.against == "one_guest"
    verdicts: dict[int, verdict.Status] = {
        one.guests: levels.loss(metric, every, one.guests, limit[0], terms)
        for one in every
        if not (alone and one.guests == 1)
    }
    held = levels.places(every, terms, 2 if alone else 1)
    if alone:
        verdicts = {**_lone(every, limit[0]), **verdicts}
    predicting = fitted if alone and terms.of == "mean" else None
    statuses = {one: verdicts.get(one, "inconclusive") for one in held}
    return dataclasses.replace(
        row,
        fits=fits.fits(verdicts, limit[0], predicting),
        limit=limit[0],
        pattern=limit[1],
        statuses=statuses,
        status=levels.gravest(statuses.values()),
    )


def _lone(
    every: tuple[points.Point, ...], limit: float
) -> dict[int, verdict.Status]:
    """Return the verdict on one guest, which loses nothing to itself."""
    lone = next((one for one in every if one.guests == 1), None)
    if lone is None:
        return {}
    if not lone.usable:
        return {1: "void" if lone.void else "inconclusive"}
    return {1: "passed" if limit >= 0 else "failed"}


def shared(
    metric: sample.Metric,
    every: tuple[points.Point, ...],
    figure: points.Figure,
    limit: tuple[float, str] | None,
    terms: agreed.Fairness,
) -> points.Row:
    """Return the row of how a metric is shared, held to its limit."""
    row = dataclasses.replace(_unlimited(metric, every, terms), figure=figure)
    if limit is None:
        return row
    shared = [
        one for one in every if one.guests > 1 or one.fairness is not None
    ]
    statuses = {
        guests: levels.fairness(row.point(guests), figure, limit[0])
        for guests in levels.places(shared, terms, 1)
    }
    return dataclasses.replace(
        row,
        limit=limit[0],
        pattern=limit[1],
        statuses=statuses,
        status=levels.gravest(statuses.values()),
    )


def _unlimited(
    metric: sample.Metric,
    every: tuple[points.Point, ...],
    terms: agreed.Places,
) -> points.Row:
    reasons = [one.reason for one in every if one.reason]
    measured = any(one.mean is not None for one in every)
    return points.Row(
        metric=metric,
        points=every,
        line=None,
        law=None,
        fits=None,
        limit=None,
        pattern=None,
        statuses={},
        status=None,
        findings=(),
        reason="" if measured or not reasons else reasons[0],
        confidence=terms.confidence,
    )
