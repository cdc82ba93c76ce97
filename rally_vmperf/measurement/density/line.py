"""What each added guest costs, if it were the same for each."""

import collections.abc
import math
import statistics as stdlib

from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import units
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rates

#: How far a loss may lie off the line and still be called on it: this many
#: percent points, or this share of the loss at the most guests.
NEAR_POINTS = 2.0
NEAR_SHARE = 0.1

Losses = collections.abc.Sequence[tuple[float, ...]]


def line(
    metric: sample.Metric,
    every: collections.abc.Iterable[points.Point],
    confidence: float,
) -> points.Line | None:
    """Return the straight line through no loss at one guest.

    Least squares in each repetition on its own, of the loss in percent of
    the repetition's lone guest, ``percent * (guests - 1)``: what disturbs a
    whole repetition is in one slope, not in all its levels. The line is the
    mean of the slopes with Student's interval. None without a lone guest and
    another number of guests.
    """
    usable = {one.guests: one for one in every if one.usable}
    if 1 not in usable or len(usable) < 2:
        return None
    added = [guests - 1 for guests in sorted(usable) if guests > 1]
    losses = _paired(metric, usable)
    paired = bool(losses)
    if not paired:
        losses = [_of_means(metric, usable)]
    squares = sum(one**2 for one in added)
    slopes = [
        sum(x * y for x, y in zip(added, entry, strict=True)) / squares
        for entry in losses
    ]
    percent = stdlib.fmean(slopes)
    half = _half(slopes, confidence)
    linear, seen = _linear(added, losses, slopes, confidence)
    return points.Line(
        percent=percent,
        low=None if half is None else percent - half,
        high=None if half is None else percent + half,
        linear=linear,
        seen=seen,
    )


def _paired(
    metric: sample.Metric, usable: dict[int, points.Point]
) -> list[tuple[float, ...]]:
    """Return the losses of each repetition that has every level."""
    found = {
        guests: dict(
            zip(
                (entry.number for entry in point.gathered),
                rates.means(metric, point.gathered),
                strict=True,
            )
        )
        for guests, point in sorted(usable.items())
    }
    numbers = set.intersection(*(set(one) for one in found.values()))
    return [
        tuple(
            (1 - one[number] / found[1][number]) * 100
            for guests, one in found.items()
            if guests > 1
        )
        for number in sorted(numbers)
    ]


def _of_means(
    metric: sample.Metric, usable: dict[int, points.Point]
) -> tuple[float, ...]:
    """Return the losses of the means, where no repetition is whole."""
    means = {
        guests: statistics.geometric_mean(rates.means(metric, point.gathered))
        for guests, point in sorted(usable.items())
    }
    return tuple(
        (1 - mean / means[1]) * 100
        for guests, mean in means.items()
        if guests > 1
    )


def _linear(
    added: list[int], losses: Losses, slopes: list[float], confidence: float
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
            "a line goes through 2 numbers of guests whatever they are",
        )
    count = len(losses)
    if count < statistics.FEWEST:
        return None, f"fewer than {statistics.FEWEST} repetitions have all"
    off = [
        [y - slope * x for x, y in zip(added, entry, strict=True)]
        for entry, slope in zip(losses, slopes, strict=True)
    ]
    means = [stdlib.fmean(column) for column in zip(*off, strict=True)]
    freedom = (len(added) - 1) * (count - 1)
    variance = (
        sum(
            (one - mean) ** 2
            for entry in off
            for one, mean in zip(entry, means, strict=True)
        )
        / freedom
    )
    squares = sum(one**2 for one in added)
    quantile = _quantile(1 - (1 - confidence) / len(added), freedom)
    halves = [
        quantile * math.sqrt(variance * (1 - x**2 / squares) / count)
        for x in added
    ]
    near = max(
        NEAR_POINTS,
        NEAR_SHARE * abs(stdlib.fmean(entry[-1] for entry in losses)),
    )
    place = max(range(len(added)), key=lambda one: abs(means[one]))
    mean, half = means[place], halves[place]
    words = (
        f"at {added[place] + 1} guests the loss is "
        f"{units.show_percent(abs(mean))} points "
        f"{'above' if mean > 0 else 'below'} the line, give or take "
        f"{units.show_percent(half)}"
    )
    pairs = list(zip(means, halves, strict=True))
    if any(abs(one) > max(near, width) for one, width in pairs):
        return False, words
    if all(abs(one) + width <= near for one, width in pairs):
        return True, words
    return None, f"the repetitions vary too much to say: {words}"


def _half(slopes: list[float], confidence: float) -> float | None:
    count = len(slopes)
    if count < statistics.FEWEST:
        return None
    return (
        _quantile(confidence, count - 1)
        * stdlib.stdev(slopes)
        / math.sqrt(count)
    )


def _quantile(confidence: float, freedom: int) -> float:
    from scipy import stats

    return float(stats.t.ppf((1 + confidence) / 2, freedom))
