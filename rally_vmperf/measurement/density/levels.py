"""One metric of a density run, held to its limit at each level."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import judge
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import criteria
from rally_vmperf.measurement.density import fits
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.density import line
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import points_of
from rally_vmperf.measurement.density import rates

_GRAVEST: tuple[verdict.Status, ...] = (
    "failed",
    "void",
    "inconclusive",
    "passed",
)


def hold_loss(
    metric: sample.Metric,
    entries: judge.Repetitions,
    terms: criteria.Degradation,
) -> points.Row:
    """Return the row of what a metric loses, held to its limit."""
    every = points_of.points_of(metric, entries, terms)
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
        one.guests: loss(metric, every, one.guests, limit[0], terms)
        for one in every
        if not (alone and one.guests == 1)
    }
    held = places(every, terms, 2 if alone else 1)
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
        status=gravest(statuses.values()),
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


def hold_shared(
    metric: sample.Metric,
    every: tuple[points.Point, ...],
    figure: points.Figure,
    limit: tuple[float, str] | None,
    terms: criteria.Fairness,
) -> points.Row:
    """Return the row of how a metric is shared, held to its limit."""
    row = dataclasses.replace(_unlimited(metric, every, terms), figure=figure)
    if limit is None:
        return row
    shared = [
        one for one in every if one.guests > 1 or one.fairness is not None
    ]
    statuses = {
        guests: fairness(row.point(guests), figure, limit[0])
        for guests in places(shared, terms, 1)
    }
    return dataclasses.replace(
        row,
        limit=limit[0],
        pattern=limit[1],
        statuses=statuses,
        status=gravest(statuses.values()),
    )


def _unlimited(
    metric: sample.Metric,
    every: tuple[points.Point, ...],
    terms: criteria.Criteria,
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


def places(
    every: rates.Points, held: criteria.Criteria, first: int
) -> list[int]:
    """Return the numbers of guests at which a limit is held, ascending.

    :param first: the fewest guests of which it can be held at ``every``
    """
    if held.numbers is not None:
        return sorted(set(held.numbers))
    return [one.guests for one in every if one.guests >= first]


def gravest(
    statuses: collections.abc.Collection[verdict.Status],
) -> verdict.Status:
    """Return the verdict on all levels; inconclusive where none is held."""
    return next((one for one in _GRAVEST if one in statuses), "inconclusive")


def loss(
    metric: sample.Metric,
    every: rates.Points,
    guests: int,
    limit: float,
    terms: criteria.Degradation,
) -> verdict.Status:
    """Return whether the loss with so many guests is within its limit."""
    if void(every, guests, terms.against):
        return "void"
    found = rates.compare_points(
        metric, every, guests, terms.of, terms.against, terms.confidence
    )
    if found is None:
        return "inconclusive"
    if terms.against == "bare_metal":
        kinds = [one.kind for one in plausibility.faster(found)]
        if "guest_faster" in kinds and "guest_faster" not in terms.tolerate:
            return "void"
    return verdict.decide(found, limit)


def fairness(
    point: points.Point | None, figure: points.Figure, limit: float
) -> verdict.Status:
    """Return whether guests share evenly enough.

    By the worst repetition: beyond its limit a figure has failed however few
    there are; to be passed it takes three, as chance can spare one.

    :param figure: ``index`` or ``spread``
    """
    if point is None:
        return "inconclusive"
    if point.void:
        return "void"
    if point.fairness is None or point.spread_percent is None:
        return "inconclusive"
    beyond = (
        point.fairness < limit
        if figure == "index"
        else point.spread_percent > limit
    )
    if beyond:
        return "failed"
    if len(point.gathered) < statistics.FEWEST:
        return "inconclusive"
    return "passed"


def void(every: rates.Points, guests: int, against: points.Against) -> str:
    """Return why figures mean nothing, or nothing.

    Against one guest they need one that means something as well.
    """
    found = {one.guests: one for one in every}
    point, lone = found.get(guests), found.get(1)
    if point is None:
        return ""
    if point.void:
        return point.void
    if against == "bare_metal":
        return point.bare_void
    return f"one guest: {lone.void}" if lone and lone.void else ""
