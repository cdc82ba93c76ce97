"""Two sides of a degradation, compared as rates."""

import collections.abc

from rally_vmperf.measurement import overhead
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rates

Points = collections.abc.Sequence[points.Point]


def compare(
    metric: sample.Metric,
    bare: statistics.Values,
    guest: statistics.Values,
    confidence: float,
) -> overhead.Comparison | None:
    """Compare two sides, each one rate a repetition; None without a side.

    The loss of the rate, by the same arithmetic as overhead.
    """
    if not bare or not guest:
        return None
    return overhead.compare(
        rates.of_metric(metric),
        [[value] for value in bare],
        [[value] for value in guest],
        confidence,
    )


def of_points(
    metric: sample.Metric,
    every: Points,
    guests: int,
    of: points.Of,
    against: points.Against,
    confidence: float,
) -> overhead.Comparison | None:
    """Return the comparison that a limit at so many guests is put to."""
    found = {one.guests: one for one in every}
    point, lone = found.get(guests), found.get(1)
    if point is None or point.worst is None:
        return None
    if against == "bare_metal":
        bare = rates.means(metric, point.bare)
    elif lone is None or lone is point:
        return None
    else:
        bare = rates.means(metric, lone.gathered)
    if of == "mean":
        guest = rates.means(metric, point.gathered)
    else:
        guest = rates.of_guest(metric, point.gathered, point.worst.guest)
    return compare(metric, bare, guest, confidence)
