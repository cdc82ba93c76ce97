"""From curves to what is known of one metric at each number of guests."""

import collections.abc

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import terms
from rally_vmperf.measurement.density import comparing
from rally_vmperf.measurement.density import curve
from rally_vmperf.measurement.density import fairness
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.density import taking

Several = tuple[gathering.Gathered, ...]


def points_of(
    metric: sample.Metric,
    curves: collections.abc.Iterable[curve.Curve],
    agreed: terms.Strictness,
) -> tuple[points.Point, ...]:
    """Return what is known of a metric, in ascending number of guests.

    :raises ValueError: for a count, which has no rate
    """
    ordered = sorted(curves, key=lambda one: one.number)
    others = {one.name for one in taking.metrics(ordered)} - {metric.name}
    taken = [
        taking.take(metric, number, ordered, others, agreed.tolerate)
        for number in taking.guests(ordered)
    ]
    lone = [one.gathered for one in taken if one.guests == 1]
    hosts: dict[str, str] = {}
    for one in ordered:
        hosts.update(one.hosts)
    return tuple(
        _Point(metric, one, lone[0] if lone else (), agreed.confidence).made(
            hosts
        )
        for one in taken
    )


class _Point:
    """The figures of one metric at one number of guests, as rates."""

    def __init__(
        self,
        metric: sample.Metric,
        taken: taking.Taken,
        lone: Several,
        confidence: float,
    ) -> None:
        self._metric = metric
        self._taken = taken
        self._confidence = confidence
        self._lone = () if taken.guests == 1 else rates.means(metric, lone)
        self._copies = rates.means(metric, taken.bare)
        self._guests = rates.means(metric, taken.gathered)

    def made(self, hosts: collections.abc.Mapping[str, str]) -> points.Point:
        """Return the point.

        :param hosts: guest -> host
        """
        metric, taken = self._metric, self._taken
        shares = [
            list(rates.by_guest(metric, entry).values())
            for entry in taken.gathered
        ]
        spreads = _known(map(fairness.spread_percent, shares))
        indices = _known(map(fairness.index, shares))
        totals = rates.totals(metric, taken.gathered)
        worst, rest = self._worst()
        return points.Point(
            guests=taken.guests,
            gathered=taken.gathered,
            mean=self._own(self._guests),
            worst=None
            if worst is None
            else points.Worst(
                guest=worst,
                host=hosts.get(worst, ""),
                value=rates.convert(metric, statistics.geometric_mean(rest)),
                loss=self._loss(self._lone, rest),
            ),
            spread_percent=max(spreads, default=None),
            fairness=min(indices, default=None),
            total=statistics.geometric_mean(totals) if totals else None,
            totals=totals,
            loss=self._loss(self._lone, self._guests),
            bare_mean=self._own(self._copies),
            bare_total=_mean(rates.totals(metric, taken.bare)),
            bare_loss=self._loss(self._copies, self._guests),
            bare_worst_loss=self._loss(self._copies, rest),
            void=taken.void,
            reason=taken.reason,
            spreads=spreads,
            fairnesses=indices,
            bare=taken.bare,
            bare_void=taken.bare_void,
        )

    def _worst(self) -> tuple[str | None, tuple[float, ...]]:
        """Return the guest with the lowest rate, and its rates."""
        found = rates.of_guests(self._metric, self._taken.gathered)
        worst = min(
            sorted(found),
            key=lambda name: statistics.geometric_mean(found[name]),
            default=None,
        )
        return worst, () if worst is None else found[worst]

    def _own(self, values: tuple[float, ...]) -> float | None:
        mean = _mean(values)
        return None if mean is None else rates.convert(self._metric, mean)

    def _loss(
        self, bare: tuple[float, ...], guest: tuple[float, ...]
    ) -> points.Loss | None:
        found = comparing.compare(self._metric, bare, guest, self._confidence)
        if found is None:
            return None
        return points.Loss(
            percent=found.overhead_percent, low=found.low, high=found.high
        )


def _mean(values: tuple[float, ...]) -> float | None:
    return statistics.geometric_mean(values) if values else None


def _known(
    values: collections.abc.Iterable[float | None],
) -> tuple[float, ...]:
    return tuple(one for one in values if one is not None)
