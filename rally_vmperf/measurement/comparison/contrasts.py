"""The contrast of a metric: a reference side and another side.

The reference side is bare metal, the solo guest or another condition of the
same repetitions.
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

#: The guest to which a limit applies.
Statistic = t.Literal["mean", "worst"]
RepetitionSamples = tuple[sample.MetricSamples, ...]
Comparisons = dict[str, loss.Comparison]


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

    def compute_percent(self, guest: str) -> float:
        """Return the loss of a guest in percent; -100 without a loss."""
        reference, other, options = self._find_sides(guest)
        if not (reference and other):
            return -100.0
        metric = rates.of_metric(self.metric) if self.as_rates else self.metric
        mean = (
            statistics.mean_of_repetitions(reference)
            if options["paired"]
            else self._reference_mean
        )
        return loss.percent(
            metric, statistics.mean_of_repetitions(other) / mean
        )

    @functools.cached_property
    def _reference_mean(self) -> float:
        """The mean of all repetitions of the reference."""
        return statistics.mean_of_repetitions(self._reference_values)

    @functools.cached_property
    def _reference_values(self) -> loss.Repetitions:
        """The values of the reference, per repetition."""
        return self._list_values(self.reference)

    @functools.cached_property
    def guests(self) -> dict[str, loss.Repetitions]:
        """The values of each guest, by guest and repetition.

        The result is empty for merged percentiles, and for one guest whose
        values are those of the mean.
        """
        if any(samples.merged is not None for samples in self.other):
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
        return {**values} if len(values) > 1 else {}

    def _list_values(self, samples: RepetitionSamples) -> loss.Repetitions:
        """Return the values or rates of all machines per repetition."""
        if self.as_rates:
            return rates.of_repetitions(self.metric, samples)
        return [repetition.values for repetition in samples]

    def _find_sides(
        self, guest: str
    ) -> tuple[loss.Repetitions, loss.Repetitions, dict[str, t.Any]]:
        """Return the values of both sides, and how they are compared.

        :param guest: The name of the guest; empty for the mean of all.
        """
        if self.pairing == "if_enough":
            pairs = rates.pairs(
                self.metric, self.reference, self.other, self.hosts, guest
            )
            if len(pairs) >= statistics.FEWEST:
                options = {"paired": True, "conservative": not guest}
                reference, other = zip(*pairs, strict=True)
                return reference, other, options
        values = self.guests[guest] if guest else self._list_values(self.other)
        is_paired = self.pairing == "always"
        options = {"paired": is_paired, "conservative": self.conservative}
        return self._reference_values, values, options

    def compare(
        self, confidence: float, guest: str = ""
    ) -> loss.Comparison | None:
        """Return the comparison of a guest at a confidence, or None.

        :param guest: The name of the guest; empty for the mean of all.
        """
        reference, other, options = self._find_sides(guest)
        if not (reference and other):
            return None
        compare = rates.compare if self.as_rates else loss.compare
        return compare(
            self.metric,
            reference,
            other,
            confidence,
            overlap=1.0
            if self.pairing == "always"
            else sample.mean_overlap(self.other),
            **options,
        )

    def _compare_each(self, confidence: float) -> Comparisons:
        """Return the comparisons of guests that have both sides, a dict."""
        return {
            guest: comparison
            for guest in self.guests
            if (comparison := self.compare(confidence, guest))
        }
