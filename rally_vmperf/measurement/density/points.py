# SPDX-License-Identifier: Apache-2.0
"""The figures of one metric at one number of guests.

All figures are rates, so that a loss of 50 % means half the work: a time of
``x`` seconds counts as ``1/x`` per second.
"""

import collections.abc
import dataclasses
import functools
import statistics as stdlib
import typing as t

from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import fairness as fairness_
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

CompareTo = t.Literal["solo_guest", "bare_metal"]
Statistic = contrasts.Statistic
RepetitionSamples = tuple[sample.MetricSamples, ...]
#: The largest percentage, over the whole interval, by which a solo guest can
#: be slower than the mean of several under equal conditions.
SOLO_SLOW_PERCENT = 2.0
# Points have properties with the names of these modules.
_Comparison = loss.Comparison


@dataclasses.dataclass(frozen=True, kw_only=True)
class SlowestGuest:
    """The guest with the lowest rate over all repetitions.

    :param value: The geometric mean, in the metric's own unit.
    :param host: The host of the guest, empty if unknown.
    :param rates: The rates in the repetitions that have the guest.
    """

    guest: str
    host: str
    value: float
    rates: tuple[float, ...]
    loss: _Comparison | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Point:
    """One metric at one number of guests, over counted repetitions.

    :param guests: The number of guests on each host.
    :param samples: The samples, per repetition, in the metric's own unit.
    :param bare: The samples of as many copies, per repetition.
    :param solo: The point of the solo guest; None for itself.
    :param hosts: The hosts of the guests, as far as they are known.
    :param skipped: The number of repetitions in which a stop rule skipped it.
    :param groups: The number of groups that ran one after another.
    :param caps: The limits of the rate; None for a fixed rate.
    :param void: The reason why the samples are void, if they are.
    :param bare_void: The reason why bare metal cannot be compared with.
    :param reason: The reason why nothing was measured, if so.
    :param is_absent: Whether the task has no such number of guests.
    """

    metric: sample.Metric
    guests: int
    samples: RepetitionSamples
    bare: RepetitionSamples = ()
    solo: "Point | None" = None
    hosts: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    confidence: float = 0.95
    skipped: int = 0
    groups: int = 1
    caps: tuple[rate_caps.Cap, ...] | None = None
    void: str = ""
    bare_void: str = ""
    reason: str = ""
    is_absent: bool = False

    @functools.cached_property
    def rates(self) -> tuple[float, ...]:
        """The rate of the mean guest in each repetition, a tuple."""
        return rates.means(self.metric, self.samples)

    @functools.cached_property
    def mean(self) -> float | None:
        """The mean over guests and repetitions, own unit, or None."""
        return self._mean_value(self.rates)

    @property
    def usable(self) -> bool:
        """Whether there is a valid figure."""
        return self.mean is not None and not self.void

    @functools.cached_property
    def totals(self) -> tuple[float, ...]:
        """The sum of rates per repetition, a tuple; () if not additive."""
        return rates.totals(self.metric, self.samples, self.groups)

    @property
    def total(self) -> float | None:
        """The geometric mean of the totals; None without totals."""
        return _mean(self.totals)

    def describe_bottleneck(self, compare_to: CompareTo, metrics: int) -> str:
        """Return the bottleneck outside the guest as text, or "".

        Equal rates are suspicious only against bare metal.

        :param metrics: The number of comparisons that can have a cap.
        """
        if self.mean is None or self.caps is None:
            return ""
        machines = len(rates.by_guest(self.metric, self.samples[-1]))
        total_rate = self.mean * machines / self.groups
        bottleneck = rate_caps.describe_limiting_cap(
            self.metric, self.mean, total_rate, self.caps
        )
        bare = self.bare_loss
        if bottleneck or compare_to == "solo_guest" or bare is None:
            return bottleneck
        return rate_caps.describe_bottleneck(bare, metrics=metrics)

    @functools.cached_property
    def _guest_rates(self) -> list[list[float]]:
        """The rates of the guests, as one list per repetition."""
        if self.groups > 1:
            return []
        return [
            list(rates.by_guest(self.metric, samples).values())
            for samples in self.samples
        ]

    @functools.cached_property
    def spreads(self) -> tuple[float, ...]:
        """The spread of the guests in percent per repetition, a tuple."""
        return _without_none(map(statistics.spread_percent, self._guest_rates))

    @property
    def spread_percent(self) -> float | None:
        """The mean of the spreads; None without spreads."""
        return _mean_or_none(self.spreads)

    @functools.cached_property
    def fairness(self) -> float | None:
        """The index of the mean variation coefficient, or None."""
        unevenness = self.unevenness("index")
        return fairness_.index(unevenness.mean) if unevenness else None

    def unevenness(
        self, figure: fairness_.Figure
    ) -> fairness_.Unevenness | None:
        """Return the guests' differences; None for a single guest."""
        variations = self.spreads
        if figure == "index":
            indices = map(statistics.jain_index, self._guest_rates)
            variations = tuple(
                map(fairness_.variation, _without_none(indices))
            )
        if not variations:
            return None
        error = self.metric.error(self.mean or 0) or 0
        return fairness_.Unevenness(
            figure=figure,
            values=variations,
            guests=min(
                len(shares) for shares in self._guest_rates if len(shares) > 1
            ),
            error=error if figure == "index" else 100 * error,
        )

    @functools.cached_property
    def bare_mean(self) -> float | None:
        """The mean of as many bare-metal copies, own unit, or None."""
        return self._mean_value(rates.means(self.metric, self.bare))

    @functools.cached_property
    def bare_total(self) -> float | None:
        """The sum over as many bare-metal copies as a rate, or None."""
        return _mean(rates.totals(self.metric, self.bare))

    @functools.cached_property
    def slowest(self) -> SlowestGuest | None:
        """The guest with the lowest rate; None where nothing was measured."""
        found = rates.find_slowest(self.metric, self.samples)
        if found is None:
            return None
        guest, guest_rates = found
        mean = statistics.geometric_mean(guest_rates)
        return SlowestGuest(
            guest=guest,
            host=self.hosts.get(guest, ""),
            value=rates.convert(self.metric, mean),
            rates=guest_rates,
            loss=self.contrast("solo_guest").each.get(guest),
        )

    @property
    def why_worst_is_unknown(self) -> str:
        """The guests without a solo rate as a clause, or ""."""
        if self.solo is None:
            return ""
        solo_rates = rates.by_number(self.metric, self.solo.samples)
        guest_rates = rates.by_number(self.metric, self.samples)
        unknown = dict.fromkeys(
            guest
            for number, rates_by_guest in guest_rates.items()
            for guest in rates_by_guest
            if guest not in solo_rates.get(number, {guest: 0})
        )
        if not unknown:
            return ""
        first, *others = unknown
        more = f" and {units.number_of('other guest', len(others))}"
        return (
            f"the worst guest is unknown because the solo rate of {first}"
            f"{more if others else ''} is missing; measure with "
            "solo_guest: all, or judge statistic: mean"
        )

    @property
    def subject_label(self) -> str:
        """The name of the mean guest, as text."""
        several = self.guests > 1
        return f"mean of {self.guests} guests" if several else "guest"

    def contrast(self, compare_to: CompareTo) -> contrasts.Contrast:
        """Return the contrast of the guests with a reference."""
        return self._contrasts[compare_to]

    @functools.cached_property
    def _contrasts(self) -> dict[CompareTo, contrasts.Contrast]:
        """The contrasts with each reference, a dict.

        A level and the solo guest are measured in the same repetitions.
        """
        contrast_with = functools.partial(
            contrasts.Contrast,
            metric=self.metric,
            other=self.samples,
            confidence=self.confidence,
            as_rates=True,
            hosts=self.hosts,
        )
        return {
            "solo_guest": contrast_with(
                reference=self.solo.samples if self.solo else (),
                pairing="if_enough",
            ),
            "bare_metal": contrast_with(reference=self.bare),
        }

    def compared(
        self, statistic: Statistic, compare_to: CompareTo
    ) -> _Comparison | None:
        """Return the comparison for a limit; None if a side is missing.

        The confidence of the worst guest is not corrected, as for a pass.
        """
        contrast = self.contrast(compare_to)
        comparison, _ = contrast.find_decisive(statistic, "passed")
        return comparison

    @property
    def loss(self) -> _Comparison | None:
        """The mean guest's loss against the solo guest, or None."""
        return self.contrast("solo_guest").mean

    @property
    def bare_loss(self) -> _Comparison | None:
        """The mean guest's loss against the mean copy, or None."""
        return self.contrast("bare_metal").mean

    def void_against(self, compare_to: CompareTo) -> str:
        """Return why a comparison is void as text, or ""."""
        if self.void:
            return self.void
        if compare_to == "bare_metal":
            return self.bare_void
        solo_void = self.solo.void if self.solo else ""
        return f"one guest: {solo_void}" if solo_void else ""

    def _mean_value(self, values: tuple[float, ...]) -> float | None:
        """Return the mean of rates in the metric's own unit, or None."""
        mean = _mean(values)
        return None if mean is None else rates.convert(self.metric, mean)


def missing_figure_reason(
    point: Point, figure: str, compare_to: CompareTo
) -> str:
    """Return why a level has no figure, as text.

    :param figure: The figure: ``loss`` or one of fairness.
    :param compare_to: The reference of a loss.
    """
    if point.reason or point.is_absent:
        return point.reason or "the task has no such level"
    if figure != "loss":
        return "fairness needs at least two guests"
    if compare_to == "bare_metal":
        copies = units.number_of("copy", point.guests)
        return (
            f"the baseline does not have it of {copies}, record "
            f"it with --copies {point.guests}"
        )
    if point.solo is None:
        return "the task has no level of one guest to compare with"
    return f"one guest: {point.solo.reason}"


def describe_slow_solo(
    all_points: collections.abc.Sequence[Point], metrics: int = 1
) -> str:
    """Return the first level faster than the solo guest as text, or "".

    :param metrics: The number of metrics of the run. One of several levels of
        several metrics can be faster by chance.
    """
    levels = [point for point in all_points if not point.is_absent][1:]
    for point in all_points:
        comparison = point.loss
        if comparison is None:
            continue
        corrected = verdict.correct_confidence(
            comparison.confidence, metrics * len(levels)
        )
        highest = comparison.find_upper_end(corrected)
        if highest is not None and highest < -SOLO_SLOW_PERCENT:
            gain = units.show_percent(-comparison.overhead_percent)
            number = units.number_of("guest", point.guests)
            return f"with {number} each does {gain} % more"
    return ""


def reference_label(
    guests: int, statistic: Statistic, compare_to: CompareTo
) -> str:
    """Return the name of the reference of a loss as text."""
    if compare_to == "solo_guest":
        return "one guest"
    if guests == 1:
        return "one bare-metal copy"
    worst = statistic == "worst"
    remark = ", as no guest has a copy of its own," if worst else ""
    return f"mean of {guests} bare-metal copies{remark}"


def _mean(values: tuple[float, ...]) -> float | None:
    """Return the geometric mean of values; None for no values."""
    return statistics.geometric_mean(values) if values else None


def _mean_or_none(numbers: collections.abc.Sequence[float]) -> float | None:
    """Return the arithmetic mean of numbers; None for no numbers."""
    return stdlib.fmean(numbers) if numbers else None


def _without_none(
    values: collections.abc.Iterable[float | None],
) -> tuple[float, ...]:
    """Return the values that are not None, as a tuple."""
    return tuple(value for value in values if value is not None)
