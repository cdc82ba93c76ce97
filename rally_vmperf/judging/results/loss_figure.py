"""The loss of guests: of the mean or the worst guest, against a reference."""

import dataclasses
import functools
import typing as t

from rally_vmperf.judging.results import figure as figures
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss(figures.Figure):
    """The loss of the mean or the worst guest against a reference.

    The percentile of a distribution is that of all guests together and has
    no worst guest.

    :param contrast: The samples of both sides.
    :param names: The names of both sides and of the loss in sentences.
    :param statistic: The guest to which a limit applies.
    :param caps: The bottlenecks that may limit the rate.
    :param compare_to: The reference of the loss at a number of guests.
    :param is_reference: Whether the solo guest is compared with itself.
    """

    contrast: contrasts.Contrast
    names: tuple[str, str, str] = verdict.SIDES
    statistic: contrasts.Statistic = "mean"
    caps: tuple[rate_caps.Cap, ...] = ()
    compare_to: str = ""
    is_reference: bool = False

    @property
    def name(self) -> str:
        """The name of the figure for other programs."""
        if self.compare_to:
            return f"{self.statistic}_loss_to_{self.compare_to}"
        if self.is_minimum:
            return f"{self.names[-1]}_over_{self.names[0]}"
        return f"{'worst_' if self._find_worst() else ''}{self.names[-1]}"

    def label(self, status: verdict.Status | None) -> str:
        """Return the text before the figure: the guest or the loss."""
        return self.label_worst(status) or self.names[-1]

    @property
    def is_minimum(self) -> bool:
        """Whether the loss is shown as a gain."""
        return self.names[-1] == verdict.GAIN

    @property
    def comparison(self) -> loss.Comparison | None:
        """The comparison of the mean guest; None if a side is missing."""
        return self.contrast.mean

    @property
    def sides(
        self,
    ) -> tuple[contrasts.RepetitionSamples, contrasts.RepetitionSamples]:
        """The samples of the reference and of the guests, per repetition."""
        return self.contrast.reference, self.contrast.other

    def with_confidence(self, confidence: float) -> t.Self:
        """Return the loss with the interval of another confidence."""
        contrast = dataclasses.replace(self.contrast, confidence=confidence)
        return dataclasses.replace(
            self, confidence=confidence, contrast=contrast
        )

    def _find_worst(self, status: verdict.Status | None = None) -> str:
        """Return the worst guest; "" if the mean guest is judged."""
        is_mean = self.statistic == "mean"
        return "" if is_mean else self.contrast.find_worst(status)

    @property
    def _number(self) -> int:
        """The number of guests that are compared."""
        if self.point is not None:
            return self.point.guests
        return len(self.contrast.guests)

    def label_worst(self, status: verdict.Status | None) -> str:
        """Return the worst of so many guests as text; "" for the mean."""
        worst = self._find_worst(status)
        if not worst:
            return ""
        host = self.contrast.hosts.get(worst)
        where = f" on {host}" if host else ""
        guests = units.number_of("guest", self._number)
        return f"worst of {guests} ({worst}{where})"

    def describe_bottleneck(self, metrics: int) -> str:
        """Return the bottleneck outside the guest as text, or "".

        :param metrics: The number of compared metrics that can have a cap.
        """
        if self.comparison is None:
            return ""
        sources = {
            observation.source
            for samples in self.contrast.other
            for observation in samples.observations
        }
        return rate_caps.describe_bottleneck(
            self.comparison, self.caps, len(sources), metrics
        )

    @functools.cached_property
    def policy(self) -> str:
        """The policy that limits the rate, or ""."""
        rate = self.comparison.guest if self.comparison else None
        if self.point is not None:
            rate = self.point.mean
        return rate_caps.describe_policy(self.metric, rate, self.caps)

    def find_decisive(
        self, status: verdict.Status | None
    ) -> tuple[loss.Comparison | None, int]:
        """Return the comparison that decides, as one of so many guests."""
        return self.contrast.find_decisive(self.statistic, status)

    def estimate(
        self, status: verdict.Status | None = None
    ) -> figures.Estimate | None:
        """Return the loss or gain that decides; None if it is missing."""
        comparison, _ = self.find_decisive(status)
        if comparison is None:
            return None
        ends = (comparison.low, comparison.high)
        if not self.is_minimum:
            return figures.Estimate(comparison.overhead_percent, *ends)
        gain, high, low = (
            None if number is None else loss.negate(number)
            for number in (comparison.overhead_percent, *ends)
        )
        return figures.Estimate(t.cast(float, gain), low, high)

    def scale_limit(self, limit: float) -> float:
        """Return the largest loss, or the least gain."""
        return loss.negate(limit) if self.is_minimum else limit

    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the loss against a limit in percent."""
        if self.is_reference:
            return "passed" if limit >= 0 else "failed"
        if self.comparison is None:
            return "inconclusive"
        status = verdict.decide(self.comparison, limit)
        if self._find_worst():
            status = verdict.decide_all(
                self.contrast.each.values(),
                self.contrast.corrected.values(),
                limit,
            )
        if (
            status == "passed"
            and self.statistic == "worst"
            and self.point is not None
            and self.contrast.pairing != "never"
            and self.point.worst_guests.are_beyond(limit)
        ):
            return "inconclusive"
        return status

    def list_beyond(self, limit: float) -> tuple[contrasts.Comparisons, int]:
        """Return the guests beyond the limit of the mean guest.

        :returns: Their comparisons by name, and the number of all guests.
        """
        if self.statistic == "worst":
            return {}, 0
        beyond = {}
        for guest in self.contrast.guests if self.comparison else ():
            # An interval that is beyond the limit has its figure there.
            if self.contrast.compute_percent(guest) <= limit:
                continue
            comparison = self.contrast.compare(self.confidence, guest)
            if comparison and verdict.decide(comparison, limit) == "failed":
                beyond[guest] = comparison
        return beyond, self._number

    def may_be_within(self, limit: float) -> bool:
        """Return whether all guests may be within a limit."""
        comparisons = [self.comparison]
        if self._find_worst():
            comparisons = [*self.contrast.corrected.values()]
        return all(
            comparison is not None and verdict.may_be_within(comparison, limit)
            for comparison in comparisons
        )

    def is_failure_final(self, limit: float, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        The interval at 99.9 % must be wholly beyond the limit, and the loss
        as well if each remaining repetition were as good as the best one.
        """
        comparison, _ = self.find_decisive("failed")
        if comparison is None:
            return False
        is_paired = self.contrast.pairing != "never"
        lowest = needed.lowest_possible_loss(comparison, planned, is_paired)
        return lowest is not None and lowest > limit

    def describe(
        self, limit: float | None, status: verdict.Status | None
    ) -> str:
        """Return both sides, the loss and its interval as a clause."""
        comparison, number = self.find_decisive(status)
        if comparison is None:
            return ""
        reference, other, lost = self.names
        text = verdict.figure(comparison, limit, self.is_minimum)
        if self.contrast.as_rates and self.metric.better == "lower":
            text += " of the rate"
        interval = verdict.interval(comparison, limit, number, self.is_minimum)
        return (
            f"{reference} {self._show_side(comparison.bare)}, "
            f"{self.label_worst(status) or other} "
            f"{self._show_side(comparison.guest)}, {lost} {text} ({interval})"
        )

    def _show_side(self, mean: float) -> str:
        """Return the mean of a side as text, in the metric's own unit."""
        if self.contrast.as_rates:
            mean = rates.convert(self.metric, mean)
        return units.show(mean, self.metric.unit)

    def advise(self, limit: float) -> str:
        """Return what would decide an inconclusive loss, as a clause."""
        comparison, _ = self.find_decisive("inconclusive")
        return verdict.would_decide(comparison) if comparison else ""
