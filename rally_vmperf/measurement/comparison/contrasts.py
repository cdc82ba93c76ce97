# SPDX-License-Identifier: Apache-2.0
"""The contrast of a metric: a reference side and another side.

The reference side is bare metal, the solo guest, another condition of the same
repetitions, another run, or a constant.
"""

import collections.abc
import dataclasses
import functools
import math
import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample

#: The probability that equal guests seem to take turns. It is small, because
#: each guest's own interval is tested in addition.
_ERROR = 0.01
#: The share of the smallest differences that estimate the noise. Half of a
#: guest's repetitions can be slow without raising it above twice the noise.
_QUARTILE = 0.25
#: The efficiency of this estimate for normal values (P. J. Rousseeuw and
#: C. Croux, "Alternatives to the Median Absolute Deviation", Journal of the
#: American Statistical Association 88, 1993).
_EFFICIENCY = 0.8
#: The number of draws of the largest of several normal values.
_DRAWS = 2000

#: The logarithm of each guest's loss, by repetition and guest: positive if
#: the guest is worse.
Losses = collections.abc.Mapping[int, collections.abc.Mapping[str, float]]
#: The guest to which a limit applies.
Statistic = t.Literal["mean", "worst"]
RepetitionSamples = tuple[sample.MetricSamples, ...]
Comparisons = dict[str, loss.Comparison]
#: The value of a guest's reference, and that of the guest.
_Pair = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class WorstGuests:
    """The guests with the largest loss in each repetition.

    They show victims by turns: a guest that is slow in some repetitions only
    has a good mean of its own.

    :param losses: The losses of all guests; empty without a reference.
    :param error: The rounding error of a loss, as a share: the least noise.
    """

    losses: Losses
    error: float = 0.0

    @functools.cached_property
    def worst(self) -> dict[int, str]:
        """The guest with the largest loss, by repetition."""
        return {
            number: max(sorted(by_guest), key=by_guest.__getitem__)
            for number, by_guest in self.losses.items()
            if by_guest
        }

    @functools.cached_property
    def common(self) -> list[str]:
        """The guests that have a loss in each repetition, sorted."""
        each = [*self.losses.values()]
        return sorted(set.intersection(*map(set, each))) if each else []

    def list_alike(self, confidence: float) -> list[str]:
        """Return the guests that are not worse than the mean guest.

        One of many equal guests seems to be worse by chance. Therefore, the
        confidence is corrected for their number. The error is that of all
        guests together, less what a repetition does to all of them.

        :param confidence: The confidence of the interval, as 0.95.
        :returns: The guests, of those that have a loss in each repetition.
        """
        repetitions, number = len(self.losses), len(self.common)
        if min(repetitions, number) < 2:
            return []
        table = self._build_table()
        centred = table - table.mean(axis=1, keepdims=True)
        means = centred.mean(axis=0)
        freedom = (repetitions - 1) * (number - 1)
        variance = ((centred - means) ** 2).sum() / freedom
        error = math.sqrt(variance * (number - 1) / number / repetitions)
        quantile = statistics.student_quantile(
            verdict.correct_confidence(confidence, number), freedom
        )
        return [
            guest
            for guest, mean in zip(self.common, means, strict=True)
            if mean <= quantile * error
        ]

    def _build_table(self) -> t.Any:
        """Return the losses by repetition and common guest, as an array."""
        import numpy

        return numpy.array(
            [
                [losses[guest] for guest in self.common]
                for losses in self.losses.values()
            ]
        )

    @functools.cached_property
    def take_turns(self) -> bool:
        """Whether they are worse than their means and chance explain.

        If the guests keep their own losses, the largest loss of a repetition
        is that of their means with noise. The noise is that of a guest
        between repetitions, less what all guests of a repetition share, and
        is estimated from small differences, which victims do not raise.
        """
        repetitions, number = len(self.losses), len(self.common)
        if min(repetitions, number) < 2:
            return False
        table = self._build_table()
        noise = max(_estimate_noise(table), self.error)
        means = table.mean(axis=0)
        expected = (means + noise * _draw(number)).max(axis=1)
        freedom = _EFFICIENCY * number * (repetitions - 1)
        error = math.hypot(
            expected.std() / math.sqrt(repetitions),
            (expected.mean() - means.max()) / math.sqrt(2 * freedom),
        )
        quantile = statistics.student_quantile(1 - 2 * _ERROR, freedom)
        excess = table.max(axis=1).mean() - expected.mean()
        return bool(excess > quantile * error)


def _estimate_noise(table: t.Any) -> float:
    """Return the standard deviation of a guest between repetitions.

    What all guests of a repetition share is their median, to which they are
    nearer than to the true value by a factor that applies to a mean.

    :param table: The losses by repetition and guest, as an array.
    """
    import numpy
    from scipy import special

    repetitions, number = table.shape
    centred = table - numpy.median(table, axis=1, keepdims=True)
    centred *= math.sqrt(number / (number - 1))
    first, second = numpy.triu_indices(repetitions, 1)
    differences = numpy.abs(centred[first] - centred[second])
    normal = math.sqrt(2) * special.ndtri((1 + _QUARTILE) / 2)
    return float(numpy.quantile(differences, _QUARTILE) / normal)


@functools.lru_cache(maxsize=64)
def _draw(number: int) -> t.Any:
    """Return draws of so many standard normal values, as an array.

    The draws are the same in each process.
    """
    import numpy

    return numpy.random.default_rng(0).standard_normal((_DRAWS, number))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contrast:
    """One metric on a reference side and on another side.

    :param reference: The samples of the reference side, per repetition.
    :param other: The samples of the other side, per counted repetition.
    :param pairing: Whether repetitions are compared in pairs: never, as those
        of bare metal; if there are enough pairs; or always, if both sides are
        conditions of the same repetitions in the same order.
    :param as_rates: Whether times are compared as rates.
    :param hosts: The hosts of the guests, as far as they are known.
    :param conservative: Whether few repetitions that vary more than those of
        the reference get a wider interval.
    :param constant: A value in place of the samples of the reference; None
        for these.
    :param has_own_references: Whether each guest is compared with the
        reference samples of its own name, if all guests have some.
    """

    metric: sample.Metric
    reference: RepetitionSamples
    other: RepetitionSamples
    confidence: float = 0.95
    pairing: t.Literal["never", "if_enough", "always"] = "never"
    as_rates: bool = False
    hosts: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    conservative: bool = True
    constant: float | None = None
    has_own_references: bool = False

    @functools.cached_property
    def mean(self) -> loss.Comparison | None:
        """The comparison of the mean guest; None if a side is missing."""
        return self.compare(self.confidence)

    @functools.cached_property
    def each(self) -> Comparisons:
        """The comparisons of guests that have both sides, by guest."""
        return self._compare_each(self.confidence)

    @functools.cached_property
    def corrected(self) -> Comparisons:
        """The comparisons with the confidence that a failure requires."""
        return self._compare_each(
            verdict.correct_confidence(self.confidence, len(self.each))
        )

    def find_worst(self, status: verdict.Status | None) -> str:
        """Return the guest that decides a status; "" if it is not known.

        A guest fails by the lower end of its interval, and passes by the
        upper end. Without an interval, it neither fails nor passes.
        """
        is_failed = status == "failed"
        ends = {}
        for guest, comparison in self.each.items():
            end = self.corrected[guest].low if is_failed else comparison.high
            if end is None:
                end = -math.inf if is_failed else math.inf
            ends[guest] = (end, comparison.overhead_percent)
        return max(sorted(ends), key=ends.__getitem__, default="")

    def find_decisive(
        self, statistic: Statistic, status: verdict.Status | None
    ) -> tuple[loss.Comparison | None, int]:
        """Return the comparison that decides, as one of so many guests.

        :param status: The status; each guest passes without correction.
        """
        worst = self.find_worst(status)
        if statistic == "mean" or not worst:
            return self.mean, 1
        if status == "passed":
            return self.each[worst], 1
        return self.corrected[worst], len(self.corrected)

    def decide(self, limit: float, statistic: Statistic) -> verdict.Status:
        """Return the status of the loss against a limit in percent.

        Guests that each keep the limit are undecided if another one of them
        exceeds it in each repetition.
        """
        if self.mean is None or (
            statistic == "worst" and self.has_unlike_guests
        ):
            return "inconclusive"
        if statistic == "mean" or not self.each:
            return verdict.decide(self.mean, limit)
        status = verdict.decide_all(
            self.each.values(), self.corrected.values(), limit
        )
        if status == "passed" and self.may_be_beyond_by_turns(limit):
            return "inconclusive"
        return status

    def list_beyond(self, limit: float) -> Comparisons:
        """Return the comparisons of guests beyond a limit, by guest.

        They are beyond it by their own interval, and worse than the mean
        guest: some of many equal guests are beyond a close limit by chance.
        """
        beyond = {}
        for guest in self.guests if self.mean else ():
            # An interval that is beyond the limit has its figure there.
            if self.compute_percent(guest) <= limit:
                continue
            comparison = self.compare(self.confidence, guest)
            if comparison and verdict.decide(comparison, limit) == "failed":
                beyond[guest] = comparison
        if not beyond:
            return beyond
        alike = self.worst_guests.list_alike(self.confidence)
        return {
            guest: comparison
            for guest, comparison in beyond.items()
            if guest not in alike
        }

    def may_be_beyond_by_turns(self, limit: float) -> bool:
        """Return whether the worst guests of repetitions may exceed a limit.

        They do if they are worse than the guests' own means and chance
        explain.
        """
        comparison = self.worst_of_each
        if comparison is None or comparison.overhead_percent <= limit:
            return False
        return (
            verdict.decide(comparison, limit) != "passed"
            and self.worst_guests.take_turns
        )

    def are_beyond_by_turns(self, limit: float) -> bool:
        """Return whether the worst guests of repetitions exceed a limit."""
        comparison = self.worst_of_each
        return (
            comparison is not None
            and verdict.decide(comparison, limit) == "failed"
            and self.worst_guests.take_turns
        )

    @functools.cached_property
    def worst_of_each(self) -> loss.Comparison | None:
        """The comparison of the worst guest of each repetition, or None."""
        worst = self.worst_guests.worst
        if not worst or len(self.guests) < 2:
            return None
        pairs = [
            self._pairs_by_number[number][guest]
            for number, guest in worst.items()
        ]
        reference: loss.Repetitions = [(own,) for own, _ in pairs]
        if not self._is_paired:
            mean = self._reference_mean
            pairs = [(mean, value / own * mean) for own, value in pairs]
            reference = self._reference_values
        return self._compare_values(
            reference,
            [(value,) for _, value in pairs],
            self.confidence,
            is_paired=self._is_paired,
            conservative=False,
        )

    @property
    def _is_paired(self) -> bool:
        """Whether repetitions are compared in pairs if there are enough."""
        return self.pairing != "never"

    @functools.cached_property
    def worst_guests(self) -> WorstGuests:
        """The guests with the largest loss in each repetition."""
        sign = 1 if self._compared_metric.better == "higher" else -1
        return WorstGuests(
            {
                number: {
                    guest: sign * math.log(own / value)
                    for guest, (own, value) in pairs.items()
                }
                for number, pairs in self._pairs_by_number.items()
            },
            self.mean.error if self.mean else 0.0,
        )

    def find_largest(self) -> tuple[float, str, int]:
        """Return the largest loss of a repetition, its guest and its number.

        :raises ValueError: If there are no losses.
        """
        log_loss, guest, number = max(
            (self.worst_guests.losses[number][guest], guest, number)
            for number, guest in self.worst_guests.worst.items()
        )
        is_rate = self._compared_metric.better == "higher"
        ratio = math.exp(-log_loss if is_rate else log_loss)
        return loss.percent(self._compared_metric, ratio), guest, number

    @functools.cached_property
    def _pairs_by_number(self) -> dict[int, dict[str, _Pair]]:
        """The value of each guest and of its reference, by repetition."""
        if not (self.guests and self._reference_values):
            return {}
        pairs: dict[int, dict[str, _Pair]] = {}
        for index, samples in enumerate(self.other):
            values = samples.means_by_source
            if self.as_rates:
                values = rates.by_guest(self.metric, samples)
            own = self._find_own_values(index, samples)
            pairs[samples.number] = {
                guest: (own[guest], value)
                for guest, value in values.items()
                if guest in own
            }
        return pairs

    def _find_own_values(
        self, index: int, samples: sample.MetricSamples
    ) -> collections.abc.Mapping[str, float]:
        """Return the value that each guest of a repetition is compared with.

        :param index: The position of the repetition.
        """
        if self.pairing == "if_enough":
            return rates.select_solo(
                self._solo_rates.get(samples.number, {}),
                samples.by_source,
                self.hosts,
            )
        reference = self.reference
        if self.pairing == "always":
            reference = self.reference[index : index + 1]
        if self.are_named_alike:
            return {
                guest: statistics.mean_of_repetitions(
                    _select_guest(reference, guest)
                )
                for guest in samples.by_source
            }
        mean = self._reference_mean
        if self.pairing == "always":
            mean = statistics.geometric_mean(self._reference_values[index])
        return dict.fromkeys(samples.by_source, mean)

    @functools.cached_property
    def _solo_rates(self) -> dict[int, dict[str, float]]:
        """The rates of the solo guests, by repetition and guest."""
        return rates.by_number(self.metric, self.reference)

    @functools.cached_property
    def are_named_alike(self) -> bool:
        """Whether each guest has reference samples of its own name.

        In pairs, these are those of the same repetition.
        """
        sides = (self.reference, self.other)
        if not self.has_own_references or any(
            samples.merged is not None for side in sides for samples in side
        ):
            return False
        reference, other = (
            [{*samples.by_source} for samples in side] for side in sides
        )
        if self.pairing == "always":
            return reference == other
        names = [*reference, *other]
        return all(each == names[0] for each in names)

    @property
    def has_unlike_guests(self) -> bool:
        """Whether several guests have no reference samples of their own."""
        return (
            self.has_own_references
            and not self.are_named_alike
            and any(
                samples.merged is None and len(samples.by_source) > 1
                for samples in self.other
            )
        )

    def compute_percent(self, guest: str) -> float:
        """Return the loss of a guest in percent; -100 without a loss."""
        reference, other, is_paired = self._find_sides(guest)
        if not (reference and other):
            return -100.0
        mean = (
            statistics.mean_of_repetitions(reference)
            if is_paired or self.are_named_alike
            else self._reference_mean
        )
        return loss.percent(
            self._compared_metric,
            statistics.mean_of_repetitions(other) / mean,
        )

    @property
    def _compared_metric(self) -> sample.Metric:
        """The metric, as a rate if times are compared as rates."""
        return rates.of_metric(self.metric) if self.as_rates else self.metric

    @functools.cached_property
    def _reference_mean(self) -> float:
        """The mean of all repetitions of the reference."""
        return statistics.mean_of_repetitions(self._reference_values)

    @functools.cached_property
    def _reference_values(self) -> loss.Repetitions:
        """The values of the reference, per repetition.

        A constant has as many as the other side: it has no variance.
        """
        if self.constant is not None:
            return [[self.constant]] * max(statistics.FEWEST, len(self.other))
        return self._list_values(self.reference)

    @functools.cached_property
    def guests(self) -> dict[str, loss.Repetitions]:
        """The values of each guest, by guest and repetition.

        The result is empty for merged percentiles, for guests that take turns
        or that have no reference of their own, and for one guest whose values
        are those of the mean.
        """
        if self.has_unlike_guests or any(
            samples.merged is not None for samples in self.other
        ):
            return {}
        if self.as_rates:
            by_guest = rates.of_guests(self.metric, self.other)
            return {
                guest: [(rate,) for rate in guest_rates]
                for guest, guest_rates in by_guest.items()
            }
        values: dict[str, list[statistics.Values]] = {}
        for samples in self.other:
            for guest, guest_values in samples.by_source.items():
                values.setdefault(guest, []).append(guest_values)
        has_turns = all(len(samples.by_source) == 1 for samples in self.other)
        return {} if has_turns else {**values}

    def _list_values(self, samples: RepetitionSamples) -> loss.Repetitions:
        """Return the values or rates of all machines per repetition."""
        if self.as_rates:
            return rates.of_repetitions(self.metric, samples)
        return [repetition.values for repetition in samples]

    def _find_sides(
        self, guest: str
    ) -> tuple[loss.Repetitions, loss.Repetitions, bool]:
        """Return the values of both sides, and whether they are paired.

        :param guest: The name of the guest; empty for the mean of all.
        """
        if self.pairing == "if_enough":
            pairs = rates.pairs(
                self.metric, self.reference, self.other, self.hosts, guest
            )
            if len(pairs) >= statistics.FEWEST:
                solo, several = zip(*pairs, strict=True)
                return solo, several, True
        is_paired = self.pairing == "always"
        reference = self._reference_values
        if not guest:
            return reference, self._list_values(self.other), is_paired
        if self.are_named_alike:
            reference = _select_guest(self.reference, guest)
        return reference, self.guests[guest], is_paired

    def compare(
        self, confidence: float, guest: str = ""
    ) -> loss.Comparison | None:
        """Return the comparison of a guest at a confidence, or None.

        :param guest: The name of the guest; empty for the mean of all.
        """
        reference, other, is_paired = self._find_sides(guest)
        if not (reference and other):
            return None
        is_of_guest = bool(guest) and self.pairing == "if_enough"
        return self._compare_values(
            reference,
            other,
            confidence,
            is_paired=is_paired,
            conservative=self.conservative and not (is_paired and is_of_guest),
        )

    def _compare_values(
        self,
        reference: loss.Repetitions,
        other: loss.Repetitions,
        confidence: float,
        *,
        is_paired: bool,
        conservative: bool,
    ) -> loss.Comparison:
        """Return the comparison of values, whose overlap counts.

        :param is_paired: Whether each repetition measured both sides.
        """
        compare = rates.compare if self.as_rates else loss.compare
        is_whole = self.pairing == "always" or self.constant is not None
        return compare(
            self.metric,
            reference,
            other,
            confidence,
            overlap=1.0 if is_whole else sample.mean_overlap(self.other),
            paired=is_paired,
            conservative=conservative,
            exact=self.constant is not None,
            reference_name=loss.REFERENCE
            if self._is_paired
            else loss.BARE_METAL,
            usual=None
            if self.constant is None
            else [
                statistics.geometric_mean(samples.values)
                for samples in self.reference
            ],
        )

    def _compare_each(self, confidence: float) -> Comparisons:
        """Return the comparisons of guests that have both sides, a dict."""
        return {
            guest: comparison
            for guest in self.guests
            if (comparison := self.compare(confidence, guest))
        }


def _select_guest(
    repetitions: RepetitionSamples, guest: str
) -> loss.Repetitions:
    """Return the values of a guest in each repetition that has it."""
    return [
        samples.by_source[guest]
        for samples in repetitions
        if guest in samples.by_source
    ]
