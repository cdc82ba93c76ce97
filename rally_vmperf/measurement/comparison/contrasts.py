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
from rally_vmperf.measurement.comparison import worst_guests
from rally_vmperf.measurement.samples import sample

#: The guest to which a limit applies.
Statistic = t.Literal["mean", "worst"]
RepetitionSamples = tuple[sample.MetricSamples, ...]
Comparisons = dict[str, loss.Comparison]
#: The value of a guest's reference, and that of the guest.
_Pair = tuple[float, float]


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
    def worst_guests(self) -> worst_guests.WorstGuests:
        """The guests with the largest loss in each repetition."""
        sign = 1 if self._compared_metric.better == "higher" else -1
        return worst_guests.WorstGuests(
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
