"""What a metric is in the guest itself, for limits that need no bare metal."""

import dataclasses
import statistics as stdlib
import sys
import typing as t

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import loss
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics

#: What a limit is put to: the loss against bare metal, or the guest's own
#: value, which must not be above ``max`` or below ``min``.
Figure = t.Literal["overhead", "max", "min"]
Several = tuple[gathering.Gathered, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Value:
    """What a metric is in the guest itself, in its own unit.

    Of a rate or a time it is the geometric mean over repetitions. A count
    can be zero, so that it has none: its figure is that of the worst
    repetition, the arithmetic mean over its guests.

    :param low: lower end of the interval; None for a count, and for fewer
        than three repetitions
    :param repetition: the number of the worst repetition of a count
    :param bare: the same figure of bare metal, if it has one
    """

    value: float
    low: float | None = None
    high: float | None = None
    repetition: int | None = None
    bare: float | None = None


def value(
    metric: sample.Metric,
    guest: Several,
    bare: Several,
    figure: Figure,
    confidence: float,
) -> Value | None:
    """Return the value of a metric; None where guests did not measure it."""
    if not guest:
        return None
    if metric.scale == "count":
        return _worst(guest, bare, figure)
    values = _means(guest)
    # The interval of a mean is that of its ratio to what does not vary.
    one = (1.0,) * statistics.FEWEST
    ends = statistics.ratio_interval(one, values, confidence) or (None, None)
    return Value(
        value=statistics.geometric_mean(values),
        low=ends[0],
        high=ends[1],
        bare=statistics.geometric_mean(_means(bare)) if bare else None,
    )


def _worst(guest: Several, bare: Several, figure: Figure) -> Value:
    pick = max if figure == "max" else min
    means = [stdlib.fmean(entry.values) for entry in guest]
    worst = pick(means)
    return Value(
        value=worst,
        repetition=guest[means.index(worst)].number,
        bare=pick([stdlib.fmean(one.values) for one in bare], default=None),
    )


def _means(entries: Several) -> tuple[float, ...]:
    return tuple(statistics.geometric_mean(one.values) for one in entries)


def against_limit(
    metric: sample.Metric,
    guest: Several,
    figure: Figure,
    limit: float,
    confidence: float,
) -> loss.Comparison:
    """Return a rate or a time compared with its limit, which never varies.

    Positive means beyond the limit, whatever is better.
    """
    better: sample.Better = "lower" if figure == "max" else "higher"
    return loss.compare(
        dataclasses.replace(metric, better=better),
        [[max(limit, sys.float_info.min)]] * statistics.FEWEST,
        [entry.values for entry in guest],
        confidence,
    )
