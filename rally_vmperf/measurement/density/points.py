"""What is known of one metric at each number of guests.

Everything here is in rates, so that a loss of 50 % means half the work: a
time of ``x`` seconds counts as ``1/x`` per second.
"""

import collections.abc
import dataclasses
import functools
import statistics as stdlib
import typing as t

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement.comparison import caps as caps_
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.density import fairness as fairness_
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

CompareTo = t.Literal["solo_guest", "bare_metal"]
Statistic = t.Literal["mean", "worst"]
Several = tuple[gathering.Gathered, ...]
_Lowest = rates.Lowest


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
    :param bare: The samples of as many copies, per repetition.
    :param lone: the point of one guest; None for itself
    :param hosts: guest -> host, as far as the cloud tells
    :param skipped: The number of repetitions in which a stop rule skipped it.
    :param turns: in how many groups, one after another, the guests ran
    :param caps: what else may hold its rate; None where it is offered at one
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
    skipped: int = 0
    turns: int = 1
    caps: tuple[caps_.Cap, ...] | None = None
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
        return rates.totals(self.metric, self.gathered, self.turns)

    @property
    def total(self) -> float | None:
        """The geometric mean of the totals."""
        return _mean(self.totals)

    def capped(self, compare_to: CompareTo) -> str:
        """Return what else limits the rate, or nothing.

        That guests give what one gives is as it should be, that they give
        what bare metal does is not.
        """
        if self.mean is None or self.caps is None:
            return ""
        machines = len(rates.by_guest(self.metric, self.gathered[-1]))
        together = self.mean * machines / self.turns
        found = caps_.limiting_cap(self.metric, self.mean, together, self.caps)
        bare = self.compared("mean", compare_to)
        if compare_to == "solo_guest" or bare is None:
            return found
        return found or caps_.capped(bare)

    @functools.cached_property
    def _shares(self) -> list[list[float]]:
        if self.turns > 1:
            return []
        return [
            list(rates.by_guest(self.metric, entry).values())
            for entry in self.gathered
        ]

    @functools.cached_property
    def spreads(self) -> tuple[float, ...]:
        """Geometric standard deviation of the guests less one, in percent."""
        return _known(map(statistics.spread_percent, self._shares))

    @property
    def spread_percent(self) -> float | None:
        """The mean of the spreads."""
        return _fmean(self.spreads)

    @functools.cached_property
    def fairnesses(self) -> tuple[float, ...]:
        """Jain's index in each repetition; none for a single guest."""
        return _known(map(statistics.jain_index, self._shares))

    @property
    def fairness(self) -> float | None:
        """The index that the mean coefficient of variation stands for."""
        found = self.unevenness("index")
        return fairness_.index(found.mean) if found else None

    def unevenness(
        self, figure: fairness_.Figure
    ) -> fairness_.Unevenness | None:
        """Return how far guests are apart; None for a single guest."""
        values = self.spreads
        if figure == "index":
            values = tuple(map(fairness_.variation, self.fairnesses))
        if not values:
            return None
        error = self.metric.error(self.mean or 0) or 0
        return fairness_.Unevenness(
            figure=figure,
            values=values,
            guests=min(len(one) for one in self._shares if len(one) > 1),
            error=error if figure == "index" else 100 * error,
        )

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
            loss=_loss(
                self._compared(
                    name, found[name], "solo_guest", self.confidence
                )
            ),
        )

    @functools.cached_property
    def lowest(self) -> list[_Lowest]:
        """The guest that lost most in each repetition, against one alone.

        Over all repetitions a victim that rotates is no worse than others.
        """
        if self.lone is None:
            return []
        return rates.lowest(
            self.metric, self.lone.gathered, self.gathered, self.hosts
        )

    @functools.cached_property
    def never_alone(self) -> tuple[str, ...]:
        """The guests without a solo run in some repetition."""
        if self.lone is None:
            return ()
        alone = {
            entry.number: rates.by_guest(self.metric, entry)
            for entry in self.lone.gathered
        }
        return tuple(
            dict.fromkeys(
                guest
                for entry in self.gathered
                for guest in rates.by_guest(self.metric, entry)
                if guest not in alone.get(entry.number, {guest: 0})
            )
        )

    @property
    def why_worst_is_unknown(self) -> str:
        """Return who lacks a lone rate, and the way out, or nothing."""
        if not self.never_alone:
            return ""
        first, *others = self.never_alone
        more = f" and {units.number_of('other guest', len(others))}"
        return (
            f"the worst guest is not known, as what {first}"
            f"{more if others else ''} give alone is missing; measure with "
            "solo_guest: all, or judge statistic: mean"
        )

    def loser(self, statistic: Statistic) -> str:
        """Return in words whose rate is compared."""
        if statistic == "mean" or self.worst is None:
            one = self.guests == 1
            return "guest" if one else f"mean of {self.guests} guests"
        where = f" on {self.worst.host}" if self.worst.host else ""
        who = f"{self.worst.guest}{where}"
        return f"worst of {units.number_of('guest', self.guests)} ({who})"

    @property
    def lowest_percent(self) -> float | None:
        """What the worst guest of a repetition loses, their mean."""
        return _fmean(one.percent for one in self.lowest)

    @property
    def rotating(self) -> str:
        """What the worst guest of each repetition loses, in words."""
        percent = self.lowest_percent
        if percent is None:
            return ""
        most = max(self.lowest, key=lambda one: one.percent)
        return (
            "the worst guest of each repetition loses "
            f"{units.show_percent(percent)} % in the mean, "
            f"{units.show_percent(most.percent)} % at most "
            f"({most.guest} in repetition {most.number})"
        )

    def compared(
        self, statistic: Statistic, compare_to: CompareTo
    ) -> loss.Comparison | None:
        """Return the comparison that a limit applies to; None without a side.

        The loss of the rate, by the same arithmetic as overhead.
        """
        guest, own = "", self.rates
        if statistic == "worst" and self.worst is not None:
            guest, own = self.worst.guest, self.worst.rates
        if not own:
            return None
        return self._compared(guest, own, compare_to, self.confidence)

    def of_each(
        self, compare_to: CompareTo, confidence: float
    ) -> list[loss.Comparison]:
        """Return the comparison of each guest."""
        found = rates.of_guests(self.metric, self.gathered)
        compared = (
            self._compared(guest, own, compare_to, confidence)
            for guest, own in found.items()
        )
        return [one for one in compared if one is not None]

    def of_each_corrected(
        self, compare_to: CompareTo
    ) -> list[loss.Comparison]:
        """Return that at a confidence corrected for their number."""
        number = len(self.of_each(compare_to, self.confidence))
        level = 1 - (1 - self.confidence) / max(1, number)
        return self.of_each(compare_to, level)

    def _compared(
        self,
        guest: str,
        own: tuple[float, ...],
        compare_to: CompareTo,
        confidence: float,
    ) -> loss.Comparison | None:
        """Compare a guest, or without a name their mean.

        A level and the lone guest were measured in the same repetitions:
        they are compared in pairs, where there are pairs enough.
        """
        if compare_to == "bare_metal":
            other = rates.means(self.metric, self.bare)
            return rates.compare(self.metric, other, own, confidence)
        lone, paired = rates.pairs(
            self.metric,
            self.lone.gathered if self.lone else (),
            self.gathered,
            self.hosts,
            guest,
        )
        if len(lone) >= statistics.FEWEST:
            return rates.compare(
                self.metric, lone, paired, confidence, True, not guest
            )
        other = self.lone.rates if self.lone else ()
        return rates.compare(self.metric, other, own, confidence)

    def lost(self, statistic: Statistic, compare_to: CompareTo) -> Loss | None:
        """Return the loss that a limit applies to."""
        return _loss(self.compared(statistic, compare_to))

    @functools.cached_property
    def loss(self) -> Loss | None:
        """What the mean guest loses against the lone guest."""
        return self.lost("mean", "solo_guest")

    @functools.cached_property
    def bare_loss(self) -> Loss | None:
        """What the mean guest loses against the mean copy."""
        return self.lost("mean", "bare_metal")

    def void_against(self, compare_to: CompareTo) -> str:
        """Return why a comparison means nothing, or nothing.

        Against one guest it needs one that means something as well.
        """
        if self.void:
            return self.void
        if compare_to == "bare_metal":
            return self.bare_void
        lone = self.lone.void if self.lone else ""
        return f"one guest: {lone}" if lone else ""

    def _own(self, values: tuple[float, ...]) -> float | None:
        mean = _mean(values)
        return None if mean is None else rates.convert(self.metric, mean)


def _mean(values: tuple[float, ...]) -> float | None:
    return statistics.geometric_mean(values) if values else None


def _fmean(values: collections.abc.Iterable[float]) -> float | None:
    known = [*values]
    return stdlib.fmean(known) if known else None


def _known(
    values: collections.abc.Iterable[float | None],
) -> tuple[float, ...]:
    return tuple(one for one in values if one is not None)


def _loss(found: loss.Comparison | None) -> Loss | None:
    if found is None:
        return None
    return Loss(percent=found.overhead_percent, low=found.low, high=found.high)
