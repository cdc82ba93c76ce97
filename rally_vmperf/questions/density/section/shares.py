# SPDX-License-Identifier: Apache-2.0
"""The figures of a metric as shares of the solo guest's rate."""

import dataclasses

from rally_vmperf.judging.results import result
from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.density import points


@dataclasses.dataclass(frozen=True, kw_only=True)
class Share:
    """The figures of one level as shares of the solo guest's rate.

    :param solo_rate: The rate of the solo guest.
    :param hosts: The number of hosts, each with the guests of the level.
    """

    point: points.Point
    solo_rate: float
    hosts: int

    @property
    def guests(self) -> int:
        """The number of guests on each host."""
        return self.point.guests

    @property
    def void(self) -> bool:
        """Whether the figures are not valid."""
        return bool(self.point.void)

    @property
    def value(self) -> float | None:
        """The share of the mean guest; None if nothing was measured."""
        return self._as_share(self.point.mean)

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the interval of the value; None without one."""
        loss = self.point.loss
        if loss is None or loss.low is None or loss.high is None:
            return None
        return 1 - loss.high / 100, 1 - loss.low / 100

    @property
    def repetitions(self) -> list[float]:
        """The share of the mean guest in each repetition, a list."""
        return [rate / self.solo_rate for rate in self.point.rates]

    @property
    def total(self) -> float | None:
        """The total of a host's guests, in solo guests; None if unknown."""
        total = self.point.total
        return None if total is None else total / self.solo_rate / self.hosts

    @property
    def totals(self) -> list[float]:
        """The total of each repetition, in solo guests, a list."""
        return [
            total / self.solo_rate / self.hosts for total in self.point.totals
        ]

    @property
    def bare(self) -> float | None:
        """The share of the mean bare-metal copy; None if unknown."""
        return self._as_share(self.point.bare_mean)

    @property
    def bare_total(self) -> float | None:
        """The total of all bare-metal copies as a share; None if unknown."""
        total = self.point.bare_total
        return None if total is None else total / self.solo_rate

    @property
    def slowest(self) -> float | None:
        """The share of the slowest guest; None for a solo guest."""
        slowest = self.point.slowest
        if slowest is None or self.guests == 1:
            return None
        return self._as_share(slowest.value)

    def _as_share(self, figure: float | None) -> float | None:
        """Return a figure as a share of the solo rate; None for None."""
        if figure is None:
            return None
        return rates.convert(self.point.metric, figure) / self.solo_rate


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShareSeries:
    """A metric at each number of guests.

    :param base: The level whose mean guest is the reference: 1, or the
        smallest measured level if the solo guest was not measured.
    :param rate: The rate of that guest in the unit of the metric, or per unit
        for a time.
    :param hosts: The number of hosts, each with the guests of the level;
        totals are per host.
    """

    row: result.Curve
    base: int
    rate: float
    hosts: int
    shares: tuple[Share, ...]

    @property
    def measured(self) -> tuple[Share, ...]:
        """The shares that have a figure, as a tuple."""
        return tuple(share for share in self.shares if share.value is not None)


def series(row: result.Curve, hosts: int = 1) -> ShareSeries | None:
    """Return a metric as shares, or None if it was not measured.

    :param hosts: The number of hosts, each with the guests of the level.
    """
    for base in row.points:
        if base.mean is None:
            continue
        rate = rates.convert(row.metric, base.mean)
        return ShareSeries(
            row=row,
            base=base.guests,
            rate=rate,
            hosts=hosts,
            shares=tuple(
                Share(point=point, solo_rate=rate, hosts=hosts)
                for point in row.points
            ),
        )
    return None
