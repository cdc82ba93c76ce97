# SPDX-License-Identifier: Apache-2.0
"""The loss of guests: of the mean or the worst guest, against a reference."""

import dataclasses
import functools
import typing as t

from rally_vmperf.judging.results import figure as figures
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss(figures.GuestFigure):
    """The loss of the mean or the worst guest against a reference.

    :param contrast: The samples of both sides.
    :param names: The names of both sides and of the loss in sentences.
    :param caps: The bottlenecks that may limit the rate.
    :param compare_to: The reference of the loss at a number of guests.
    :param is_reference: Whether the solo guest is compared with itself.
    """

    verb: t.ClassVar[str] = "loses"

    contrast: contrasts.Contrast
    names: tuple[str, str, str] = verdict.SIDES
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
        lost = self.names[-1].replace(" ", "_")
        return f"{'worst_' if self.find_worst() else ''}{lost}"

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

    @property
    def uses_bare_metal(self) -> bool:
        """Whether guests may be compared with bare metal."""
        return True

    def find_contrast(self, limit: float) -> tuple[contrasts.Contrast, float]:
        """Return the contrast, and the limit, which is one of the loss."""
        return self.contrast, limit

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
    ) -> units.Estimate | None:
        """Return the loss or gain that decides; None if it is missing."""
        comparison, _ = self.find_decisive(status)
        if comparison is None:
            return None
        estimate = comparison.estimate
        return estimate.negate() if self.is_minimum else estimate

    def scale_limit(self, limit: float) -> float:
        """Return the largest loss, or the least gain."""
        return units.negate(limit) if self.is_minimum else limit

    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the loss against a limit in percent.

        A solo guest that is compared with itself is never decided.
        """
        if self.is_reference:
            return "inconclusive"
        return super().decide(limit)

    def show_turn(self, percent: float) -> str:
        """Return the loss of a guest in a repetition as text."""
        return f"{units.show_percent(percent)} %"

    def describe_guests(
        self, beyond: contrasts.Comparisons, limit: float
    ) -> str:
        """Return as text which guests are beyond a limit."""
        return verdict.describe_beyond(beyond, self.guest_count, limit)

    def describe(
        self, limit: float | None, status: verdict.Status | None
    ) -> str:
        """Return both sides, the loss and its interval as a clause."""
        comparison, number = self.find_decisive(status)
        if comparison is None:
            return ""
        reference, other, lost = self.names
        text, _ = verdict.show_loss(comparison, limit, self.is_minimum)
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
