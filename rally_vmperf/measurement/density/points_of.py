"""From repetitions to what is known of one metric by number of guests."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rates

Several = tuple[gathering.Gathered, ...]


def points_of(
    metric: sample.Metric,
    entries: judge.Repetitions,
    criteria: judge.Criteria,
) -> tuple[points.Point, ...]:
    """Return what is known of a metric, in ascending number of guests.

    :param entries: in the order of their numbers
    :raises ValueError: for a count, which has no rate
    """
    others = {one.name for one in metrics(entries)} - {metric.name}
    planned = {points.guests_of(x) for one in entries for x in one.conditions}
    taken = [
        _take(metric, number, entries, others, criteria.tolerate)
        for number in sorted(planned)
    ]
    lone = [one.gathered for one in taken if one.guests == 1]
    hosts: dict[str, str] = {}
    for one in entries:
        hosts.update(one.hosts)
    return tuple(
        _Point(metric, one, lone[0] if lone else (), criteria.confidence).made(
            hosts
        )
        for one in taken
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Taken:
    """The samples of one metric with so many guests.

    :param gathered: of the guests, for each counted repetition
    :param bare: of as many bare-metal copies, for each repetition of the
        baseline
    :param void: why the samples do not mean what they claim, or nothing
    :param bare_void: why the comparison with bare metal means nothing
    :param reason: why there are none, or nothing
    """

    guests: int
    gathered: tuple[gathering.Gathered, ...]
    bare: tuple[gathering.Gathered, ...]
    void: str
    bare_void: str
    reason: str


class _Point:
    """The figures of one metric at one number of guests, as rates."""

    def __init__(
        self,
        metric: sample.Metric,
        taken: _Taken,
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
        spreads = _known(map(statistics.spread_percent, shares))
        indices = _known(map(statistics.jain_index, shares))
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
        found = rates.compare(self._metric, bare, guest, self._confidence)
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


def metrics(entries: judge.Repetitions) -> list[sample.Metric]:
    """Return every metric once: the expected ones, then the others."""
    return gathering.metrics([x for one in entries for x in one.conditions])


def levels(
    entries: judge.Repetitions, number: int
) -> list[repetition.Condition]:
    """Return the counted conditions with so many guests, skipped ones too."""
    found = [one.at(guests=number) for one in entries if one.counted]
    return [one for one in found if one is not None]


def _take(
    metric: sample.Metric,
    number: int,
    entries: judge.Repetitions,
    others: collections.abc.Collection[str],
    tolerate: collections.abc.Collection[str],
) -> _Taken:
    """Return the samples of a metric with so many guests.

    :param others: names of the other metrics, whose findings void only them
    :param tolerate: kinds of findings that do not void
    """
    there = levels(entries, number)
    ran = [one for one in there if not one.skipped]
    gathered = gathering.guests(metric, ran)
    bare = gathering.bare(metric, ran[0].reference) if ran else ()
    return _Taken(
        guests=number,
        gathered=gathered,
        bare=bare,
        void=_found(number, entries, others, tolerate) or _incomplete(ran),
        bare_void=_changed(ran, tolerate),
        reason="" if gathered else _absence(there),
    )


def _absence(there: collections.abc.Sequence[repetition.Condition]) -> str:
    skipped = [one.skipped for one in there if one.skipped]
    if skipped and len(skipped) == len(there):
        return f"not run: {skipped[0]}"
    return gathering.NOBODY


def _incomplete(ran: collections.abc.Iterable[repetition.Condition]) -> str:
    """Return what a level lacks, or nothing.

    Guests that stopped left the host to the others, whose figures are then
    not those of so many guests, at whichever moment it was.
    """
    for entry in ran:
        if entry.complete:
            continue
        words = f"repetition {entry.number} is {entry.state}"
        for gap in entry.missing[:1]:
            words += f": {gap.sentence()}"
        return words
    return ""


def _changed(
    ran: collections.abc.Iterable[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return that repetitions have different baselines, or nothing."""
    for found, _ in plausibility.baseline_changed(ran):
        if found.kind not in tolerate:
            return finding.RunFinding(finding=found).sentence()
    return ""


def _found(
    number: int,
    entries: judge.Repetitions,
    others: collections.abc.Collection[str],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the finding that voids a metric at this level, or nothing.

    Those of the whole run void all levels. Of a warm-up's levels none does.
    """
    all_seen = [found for one in entries for found in one.findings]
    for level in levels(entries, number):
        all_seen += level.findings
    for one in all_seen:
        voids = one.severity == "void" and one.kind not in tolerate
        if voids and one.subject not in others:
            return finding.RunFinding(finding=one).sentence()
    return ""
