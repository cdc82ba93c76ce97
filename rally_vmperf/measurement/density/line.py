"""The loss per added guest, by a straight line."""

import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import units

#: How far a loss may lie off the line and still be called on it: this many
#: percent points, or this share of the loss at the most guests.
NEAR_POINTS = 2.0
NEAR_SHARE = 0.1


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """Loss per added guest, if it were the same for each.

    :param percent: lost with each further guest, of the lone guest's rate
    :param low: lower end of its interval, None without one
    :param linear: whether a straight line describes the losses; None where
        there are too few numbers of guests to say
    :param seen: in words, what that answer rests on
    """

    percent: float
    low: float | None
    high: float | None
    linear: bool | None
    seen: str


def line(
    every: collections.abc.Iterable[points.Point], confidence: float
) -> Line | None:
    """Return the straight line through no loss at one guest.

    Least squares in each repetition on its own, of the loss in percent of
    the repetition's lone guest, ``percent * (guests - 1)``: a disturbance
    of a whole repetition affects one slope, not all levels. The line is the
    mean of the slopes with Student's interval. None without a lone guest and
    another number of guests.
    """
    usable = {one.guests: one for one in every if one.usable}
    if 1 not in usable or len(usable) < 2:
        return None
    import numpy

    added = numpy.array([n - 1 for n in usable if n > 1], float)
    losses = _losses(usable)
    slopes = losses @ added / (added @ added)
    percent, count = float(slopes.mean()), len(slopes)
    low = high = None
    if count >= statistics.FEWEST:
        half = statistics.student(confidence, count - 1)
        half *= float(slopes.std(ddof=1)) / math.sqrt(count)
        low, high = percent - half, percent + half
    linear, seen = _linear(added, losses, slopes, confidence)
    return Line(percent=percent, low=low, high=high, linear=linear, seen=seen)


def _losses(usable: dict[int, points.Point]) -> t.Any:
    """Return a row of losses for each repetition that has every level.

    Where no repetition is complete it is one row, of the means.
    """
    import numpy

    rates = [
        {
            entry.number: rate
            for entry, rate in zip(one.gathered, one.rates, strict=True)
        }
        for one in usable.values()
    ]
    whole = sorted(set.intersection(*map(set, rates)))
    if whole:
        table = numpy.array([[one[n] for one in rates] for n in whole])
    else:
        means = [statistics.geometric_mean(list(x.values())) for x in rates]
        table = numpy.array([means])
    return (1 - table[:, 1:] / table[:, :1]) * 100


def _linear(
    added: t.Any, losses: t.Any, slopes: t.Any, confidence: float
) -> tuple[bool | None, str]:
    """Return whether the line describes the losses, and by what.

    For each number of guests, the mean distance of its loss from the line
    with Student's interval: from the variance that the repetitions leave
    around their own lines, pooled, and for all numbers at once (Bonferroni).
    Not linear where an interval excludes the line and the distance matters;
    linear where no interval reaches a distance that matters.
    """
    if len(added) < 2:
        return (
            None,
            "2 numbers of guests always lie on a line",
        )
    count = len(losses)
    if count < statistics.FEWEST:
        return (
            None,
            f"fewer than {statistics.FEWEST} repetitions have every level",
        )
    off = losses - slopes[:, None] * added
    means = off.mean(axis=0)
    freedom = (len(added) - 1) * (count - 1)
    variance = ((off - means) ** 2).sum() / freedom
    quantile = statistics.student(1 - (1 - confidence) / len(added), freedom)
    shares = (1 - added**2 / (added @ added)) / count
    halves = quantile * (variance * shares) ** 0.5
    near = max(NEAR_POINTS, NEAR_SHARE * abs(losses[:, -1].mean()))
    place = int(abs(means).argmax())
    words = (
        f"at {added[place] + 1:g} guests the loss is "
        f"{units.show_percent(abs(means[place]))} points "
        f"{'above' if means[place] > 0 else 'below'} the line, give or take "
        f"{units.show_percent(halves[place])}"
    )
    if (abs(means) > halves.clip(min=near)).any():
        return False, words
    if (abs(means) + halves <= near).all():
        return True, words
    return None, f"the repetitions vary too much to say: {words}"
