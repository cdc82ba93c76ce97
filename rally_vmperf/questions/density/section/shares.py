"""A metric's figures as shares of what a lone guest gets."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement.density import points


@dataclasses.dataclass(frozen=True, kw_only=True)
class Share:
    """So many guests, all figures as shares of the lone guest's rate.

    :param value: of the mean guest; None where nothing was measured
    :param low: lower end of its interval, None without one
    :param high: upper end
    :param repetitions: the mean guest of each repetition
    :param total: of all guests of a host: how many lone guests they are
    :param totals: that of each repetition
    :param bare: of the mean copy on bare metal
    :param bare_total: of all copies together
    :param worst: of the worst guest; None for a lone one
    :param void: whether the figures do not mean what they claim
    """

    guests: int
    value: float | None
    low: float | None
    high: float | None
    repetitions: tuple[float, ...]
    total: float | None
    totals: tuple[float, ...]
    bare: float | None
    bare_total: float | None
    worst: float | None
    void: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Series:
    """A metric at each number of guests.

    :param base: how many guests the shares are of the mean guest of: 1, or
        the fewest that were measured where the lone guest was not
    :param rate: of that guest, in the metric's unit, or per unit for a time
    :param hosts: on how many hosts there were so many guests each; totals
        here are those of one of them
    """

    row: points.Row
    base: int
    rate: float
    hosts: int
    shares: tuple[Share, ...]

    @property
    def measured(self) -> tuple[Share, ...]:
        """The shares that have a figure."""
        return tuple(one for one in self.shares if one.value is not None)


def series(row: points.Row, hosts: int = 1) -> Series | None:
    """Return a metric as shares, None where nothing was measured of it.

    :param hosts: on how many hosts there were so many guests each
    """
    known = [(one, one.mean) for one in row.points if one.mean is not None]
    if not known:
        return None
    base, mean = known[0]
    own = rate(row.metric, mean)
    return Series(
        row=row,
        base=base.guests,
        rate=own,
        hosts=hosts,
        shares=tuple(
            _share(row.metric, one, own, hosts) for one in row.points
        ),
    )


def rate(metric: sample.Metric, value: float) -> float:
    """Return a value of a metric as a rate: of a time, how many in one."""
    return value if metric.better == "higher" else 1 / value


def _share(
    metric: sample.Metric, point: points.Point, own: float, hosts: int
) -> Share:
    def of(value: float | None) -> float | None:
        return None if value is None else rate(metric, value) / own

    ends: tuple[float | None, float | None] = (None, None)
    loss = point.loss
    if loss is not None and loss.low is not None and loss.high is not None:
        ends = (1 - loss.high / 100, 1 - loss.low / 100)
    return Share(
        guests=point.guests,
        value=of(point.mean),
        low=ends[0],
        high=ends[1],
        repetitions=tuple(_means(metric, point.gathered, own)),
        total=None if point.total is None else point.total / own / hosts,
        totals=tuple(total / own / hosts for total in point.totals),
        bare=of(point.bare_mean),
        bare_total=(
            None if point.bare_total is None else point.bare_total / own
        ),
        worst=(
            of(point.worst.value) if point.worst and point.guests > 1 else None
        ),
        void=bool(point.void),
    )


def _means(
    metric: sample.Metric,
    gathered: collections.abc.Iterable[gathering.Gathered],
    own: float,
) -> collections.abc.Iterator[float]:
    for entry in gathered:
        mean = statistics.geometric_mean(entry.values)
        yield rate(metric, mean) / own
