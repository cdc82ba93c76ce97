"""The verdict on one metric at one number of guests."""

import collections.abc

from rally_vmperf.measurement import doubts
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import overhead
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import agreed
from rally_vmperf.measurement.density import comparing
from rally_vmperf.measurement.density import points

_GRAVEST: tuple[verdict.Status, ...] = (
    "failed",
    "void",
    "inconclusive",
    "passed",
)


def places(
    every: comparing.Points, held: agreed.Places, first: int
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
    every: comparing.Points,
    guests: int,
    limit: float,
    terms: agreed.Degradation,
) -> verdict.Status:
    """Return whether the loss with so many guests is within its limit."""
    if void(every, guests, terms.against):
        return "void"
    found = comparing.of_points(
        metric, every, guests, terms.of, terms.against, terms.confidence
    )
    if found is None:
        return "inconclusive"
    if terms.against == "bare_metal":
        kinds = [one.kind for one in too_fast(found)]
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


def void(every: comparing.Points, guests: int, against: points.Against) -> str:
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


def too_fast(comparison: overhead.Comparison) -> list[finding.Finding]:
    """Return the finding that guests do better than bare metal can."""
    return list(doubts.faster(comparison))
