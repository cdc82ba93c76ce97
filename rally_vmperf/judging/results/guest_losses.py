"""The losses of each guest against bare metal."""

import dataclasses
import functools

from rally_vmperf.judging.results import absolute_value
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample

Statistic = points.Statistic
Comparisons = dict[str, loss.Comparison]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuestLosses:
    """The samples of several guests, each compared with bare metal.

    :param guest: The samples of the guests, per counted repetition.
    :param bare: The samples of bare metal, per repetition of the baseline.
    """

    metric: sample.Metric
    guest: absolute_value.RepetitionSamples
    bare: absolute_value.RepetitionSamples
    confidence: float

    @functools.cached_property
    def values(self) -> dict[str, list[statistics.Values]]:
        """The values of each guest, by guest and repetition.

        The result is empty for one guest and for merged percentiles.
        """
        values: dict[str, list[statistics.Values]] = {}
        for samples in self.guest:
            for guest, guest_values in samples.by_source.items():
                values.setdefault(guest, []).append(guest_values)
        is_merged = any(samples.merged is not None for samples in self.guest)
        return {} if is_merged or len(values) < 2 else values

    def _compare(self, guest: str, confidence: float) -> loss.Comparison:
        """Return the comparison of a guest with bare metal."""
        bare = [samples.values for samples in self.bare]
        return loss.compare(
            self.metric,
            bare,
            self.values[guest],
            confidence,
            overlap=sample.mean_overlap(self.guest),
        )

    def _compare_each(self, confidence: float) -> Comparisons:
        """Return the comparison of each guest by name, a dict."""
        return {
            guest: self._compare(guest, confidence) for guest in self.values
        }

    @functools.cached_property
    def each(self) -> Comparisons:
        """The comparison of each guest by name, a dict."""
        return self._compare_each(self.confidence)

    @functools.cached_property
    def corrected(self) -> Comparisons:
        """The comparisons with the confidence that a failure requires."""
        return self._compare_each(
            verdict.correct_confidence(self.confidence, len(self.values))
        )

    @property
    def worst(self) -> str:
        """The name of the guest with the largest loss; "" without guests."""
        return max(
            sorted(self.values),
            key=lambda guest: self.each[guest].overhead_percent,
            default="",
        )

    def list_beyond(self, limit: float, bare_mean: float) -> Comparisons:
        """Return the guests whose whole interval is beyond a limit, a dict.

        :param limit: The limit of the loss in percent.
        :param bare_mean: The mean of bare metal in base units.
        """
        beyond = {}
        for guest, values in self.values.items():
            ratio = statistics.mean_of_repetitions(values) / bare_mean
            # An interval that is beyond the limit has its figure there.
            if loss.percent(self.metric, ratio) > limit:
                comparison = self._compare(guest, self.confidence)
                if verdict.decide(comparison, limit) == "failed":
                    beyond[guest] = comparison
        return beyond
