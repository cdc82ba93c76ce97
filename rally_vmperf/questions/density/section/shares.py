"""A metric's figures as shares of what a lone guest gets."""

import dataclasses

from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.density import rows


@dataclasses.dataclass(frozen=True, kw_only=True)
class Share:
    """The figures of one level as shares of the lone guest's rate.

    :param own: the lone guest's rate
    :param hosts: on how many hosts there were so many guests each
    """

    point: points.Point
    own: float
    hosts: int

    @property
    def guests(self) -> int:
        """How many guests on each host."""
        return self.point.guests

    @property
    def void(self) -> bool:
        """Whether the figures do not mean what they claim."""
        return bool(self.point.void)

    @property
    def value(self) -> float | None:
        """The share of the mean guest; None where nothing was measured."""
        return self._of(self.point.mean)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval of the value, None without one."""
        loss = self.point.loss
        if loss is None or loss.low is None or loss.high is None:
            return None
        return 1 - loss.high / 100, 1 - loss.low / 100

    @property
    def repetitions(self) -> list[float]:
        """The mean guest of each repetition."""
        return [one / self.own for one in self.point.rates]

    @property
    def total(self) -> float | None:
        """The total of a host's guests, in lone guests."""
        total = self.point.total
        return None if total is None else total / self.own / self.hosts

    @property
    def totals(self) -> list[float]:
        """The total of each repetition, in lone guests."""
        return [one / self.own / self.hosts for one in self.point.totals]

    @property
    def bare(self) -> float | None:
        """The share of the mean copy on bare metal."""
        return self._of(self.point.bare_mean)

    @property
    def bare_total(self) -> float | None:
        """The total of all copies on bare metal."""
        total = self.point.bare_total
        return None if total is None else total / self.own

    @property
    def worst(self) -> float | None:
        """The share of the worst guest; None for a lone guest."""
        worst = self.point.worst
        return self._of(worst.value) if worst and self.guests > 1 else None

    def _of(self, value: float | None) -> float | None:
        if value is None:
            return None
        return rates.convert(self.point.metric, value) / self.own


@dataclasses.dataclass(frozen=True, kw_only=True)
class Series:
    """A metric at each number of guests.

    :param base: how many guests the shares are of the mean guest of: 1, or
        the fewest that were measured where the lone guest was not
    :param rate: of that guest, in the metric's unit, or per unit for a time
    :param hosts: on how many hosts there were so many guests each; totals
        here are those of one of them
    """

    row: rows.Row
    base: int
    rate: float
    hosts: int
    shares: tuple[Share, ...]

    @property
    def measured(self) -> tuple[Share, ...]:
        """The shares that have a figure."""
        return tuple(one for one in self.shares if one.value is not None)


def series(row: rows.Row, hosts: int = 1) -> Series | None:
    """Return a metric as shares, None where nothing was measured of it.

    :param hosts: on how many hosts there were so many guests each
    """
    for base in row.points:
        if base.mean is None:
            continue
        own = rates.convert(row.metric, base.mean)
        return Series(
            row=row,
            base=base.guests,
            rate=own,
            hosts=hosts,
            shares=tuple(
                Share(point=one, own=own, hosts=hosts) for one in row.points
            ),
        )
    return None
