"""What is known of one metric at each number of guests.

Everything here is in rates, so that a loss of 50 % means half the work: a
time of ``x`` seconds counts as ``1/x`` per second.
"""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import loss
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement.density import rates

Against = t.Literal["one_guest", "bare_metal"]
Of = t.Literal["mean", "worst"]
Several = tuple[gathering.Gathered, ...]

#: What differs between the conditions of a density run.
AXIS = "guests"


def guests_of(condition: repetition.Condition) -> int:
    """Return how many guests of each host take part in a condition."""
    return int(condition.axes[AXIS])


def numbers(entries: judge.Repetitions) -> list[int]:
    """Return every number of guests of a run, ascending."""
    return sorted({guests_of(x) for one in entries for x in one.conditions})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss:
    """What is lost of a rate, in percent; positive is worse.

    :param low: lower end of the interval, None without one
    :param high: upper end of the interval
    """

    percent: float
    low: float | None
    high: float | None

    @property
    def significant(self) -> bool | None:
        """Whether the interval excludes no loss; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Worst:
    """The guest that had least, over all repetitions.

    :param value: its geometric mean, in the metric's own unit
    :param host: where it ran, as far as the cloud tells
    :param rates: in each repetition that has it
    """

    guest: str
    host: str
    value: float
    rates: tuple[float, ...]
    loss: Loss | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Point:
    """One metric with so many guests at once, over counted repetitions.

    :param guests: how many on each host
    :param gathered: the samples, per repetition, in the metric's own unit
    :param bare: the samples of bare metal in as many copies, per repetition
        of the baseline
    :param lone: the point of one guest; None for itself
    :param hosts: guest -> host, as far as the cloud tells
    :param void: why the samples do not mean what they claim, or nothing
    :param bare_void: why the comparison with bare metal means nothing
    :param reason: why nothing was measured, or nothing
    """

    metric: sample.Metric
    guests: int
    gathered: Several
    bare: Several = ()
    lone: "Point | None" = None
    hosts: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    confidence: float = 0.95
    void: str = ""
    bare_void: str = ""
    reason: str = ""

    @functools.cached_property
    def rates(self) -> tuple[float, ...]:
        """The rate of the mean guest, for each repetition."""
        return rates.means(self.metric, self.gathered)

    @functools.cached_property
    def mean(self) -> float | None:
        """Geometric mean over guests, then over repetitions, own unit."""
        return self._own(self.rates)

    @property
    def usable(self) -> bool:
        """Whether there is a figure that means what it claims."""
        return self.mean is not None and not self.void

    @functools.cached_property
    def totals(self) -> tuple[float, ...]:
        """The sum of all guests' rates, for each repetition.

        Nothing for what cannot be added up, such as a latency.
        """
        return rates.totals(self.metric, self.gathered)

    @property
    def total(self) -> float | None:
        """The geometric mean of the totals."""
        return _mean(self.totals)

    @functools.cached_property
    def _shares(self) -> list[list[float]]:
        return [
            list(rates.by_guest(self.metric, entry).values())
            for entry in self.gathered
        ]

    @functools.cached_property
    def spreads(self) -> tuple[float, ...]:
        """How far guests are apart within each repetition, in percent.

        The geometric standard deviation less one; none for a single guest.
        """
        return _known(map(statistics.spread_percent, self._shares))

    @property
    def spread_percent(self) -> float | None:
        """That of the worst repetition."""
        return max(self.spreads, default=None)

    @functools.cached_property
    def fairnesses(self) -> tuple[float, ...]:
        """Jain's index of the guests' rates, 1/n to 1, in each repetition.

        None for a single guest.
        """
        return _known(map(statistics.jain_index, self._shares))

    @property
    def fairness(self) -> float | None:
        """That of the worst repetition."""
        return min(self.fairnesses, default=None)

    @functools.cached_property
    def bare_mean(self) -> float | None:
        """Mean bare-metal copy with as many copies, own unit."""
        return self._own(rates.means(self.metric, self.bare))

    @functools.cached_property
    def bare_total(self) -> float | None:
        """Sum over as many bare-metal copies, as a rate."""
        return _mean(rates.totals(self.metric, self.bare))

    @functools.cached_property
    def worst(self) -> Worst | None:
        """The guest with the lowest rate; None where nothing was measured."""
        found = rates.of_guests(self.metric, self.gathered)
        if not found:
            return None
        means = {n: statistics.geometric_mean(v) for n, v in found.items()}
        name = min(sorted(means), key=means.__getitem__)
        return Worst(
            guest=name,
            host=self.hosts.get(name, ""),
            value=rates.convert(self.metric, means[name]),
            rates=found[name],
            loss=_loss(self._compared(found[name], "one_guest")),
        )

    def compared(self, of: Of, against: Against) -> loss.Comparison | None:
        """Return the comparison that a limit is put to; None without a side.

        The loss of the rate, by the same arithmetic as overhead.
        """
        if self.worst is None:
            return None
        own = self.rates if of == "mean" else self.worst.rates
        return self._compared(own, against)

    def _compared(
        self, own: tuple[float, ...], against: Against
    ) -> loss.Comparison | None:
        if against == "bare_metal":
            other = rates.means(self.metric, self.bare)
        else:
            other = self.lone.rates if self.lone else ()
        return rates.compare(self.metric, other, own, self.confidence)

    def lost(self, of: Of, against: Against) -> Loss | None:
        """Return the loss that a limit is put to."""
        return _loss(self.compared(of, against))

    @functools.cached_property
    def loss(self) -> Loss | None:
        """What the mean guest loses against the lone guest."""
        return self.lost("mean", "one_guest")

    @functools.cached_property
    def bare_loss(self) -> Loss | None:
        """What the mean guest loses against the mean copy."""
        return self.lost("mean", "bare_metal")

    def void_against(self, against: Against) -> str:
        """Return why a comparison means nothing, or nothing.

        Against one guest it needs one that means something as well.
        """
        if self.void:
            return self.void
        if against == "bare_metal":
            return self.bare_void
        lone = self.lone.void if self.lone else ""
        return f"one guest: {lone}" if lone else ""

    def _own(self, values: tuple[float, ...]) -> float | None:
        mean = _mean(values)
        return None if mean is None else rates.convert(self.metric, mean)


def _mean(values: tuple[float, ...]) -> float | None:
    return statistics.geometric_mean(values) if values else None


def _known(
    values: collections.abc.Iterable[float | None],
) -> tuple[float, ...]:
    return tuple(one for one in values if one is not None)


def _loss(found: loss.Comparison | None) -> Loss | None:
    if found is None:
        return None
    return Loss(percent=found.overhead_percent, low=found.low, high=found.high)


def points_of(
    metric: sample.Metric,
    entries: judge.Repetitions,
    confidence: float = 0.95,
    tolerate: collections.abc.Collection[str] = (),
) -> tuple[Point, ...]:
    """Return what is known of a metric, in ascending number of guests.

    :param entries: in the order of their numbers
    :param tolerate: kinds of findings that do not void
    :raises ValueError: for a count, which has no rate
    """
    others = {one.name for one in metrics(entries)} - {metric.name}
    hosts: dict[str, str] = {}
    for one in entries:
        hosts.update(one.hosts)
    found: list[Point] = []
    for number in numbers(entries):
        there = levels(entries, number)
        ran = [one for one in there if not one.skipped]
        gathered = gathering.guests(metric, ran)
        seen = [x for one in entries for x in one.findings]
        seen += [x for one in there for x in one.findings]
        own = (
            one
            for one in seen
            if one.names(metric.name) or one.concerns_all(others)
        )
        changed = (one for one, _ in plausibility.baseline_changed(ran))
        found.append(
            Point(
                metric=metric,
                guests=number,
                gathered=gathered,
                bare=gathering.bare(metric, ran[0].reference) if ran else (),
                lone=next((one for one in found if one.guests == 1), None),
                hosts=hosts,
                confidence=confidence,
                void=_voiding(own, tolerate) or _incomplete(ran),
                bare_void=_voiding(changed, tolerate),
                reason="" if gathered else _absence(there),
            )
        )
    return tuple(found)


def metrics(entries: judge.Repetitions) -> list[sample.Metric]:
    """Return every metric once: the expected ones, then the others."""
    return gathering.metrics([x for one in entries for x in one.conditions])


def levels(
    entries: judge.Repetitions, number: int
) -> list[repetition.Condition]:
    """Return the counted conditions with so many guests, skipped ones too."""
    found = [one.at(guests=number) for one in entries if one.counted]
    return [one for one in found if one is not None]


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


def _voiding(
    found: collections.abc.Iterable[finding.Finding],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the first finding that voids, or nothing."""
    for one in found:
        if one.severity == "void" and one.kind not in tolerate:
            return finding.RunFinding(finding=one).sentence()
    return ""
