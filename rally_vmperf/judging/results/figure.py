# SPDX-License-Identifier: Apache-2.0
"""The figures of a metric: their base classes, and the loss of guests."""

import abc
import dataclasses
import functools
import typing as t

from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


class Subject(t.NamedTuple):
    """The guests or machines that a figure speaks of.

    :param name: The name for tables and programs.
    :param guest: The name of a single guest, or "".
    :param host: The host of this guest as far as it is known, or "".
    """

    name: str
    guest: str = ""
    host: str = ""

    @property
    def title(self) -> str:
        """The name with the guest as text, such as ``worst guest g3``."""
        if self.name == GUEST:
            return f"{self.name} {self.guest}"
        return f"{self.name} ({self.guest})" if self.guest else self.name


#: The names of subjects: the mean of several guests, the only guest, and the
#: worst of several.
ALL_GUESTS = Subject("all guests")
GUEST = "guest"
WORST_GUEST = "worst guest"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Figure(abc.ABC):
    """A figure of a metric, with its interval.

    :param confidence: The confidence of the interval.
    :param point: The rates at the number of guests; None if the figure does
        not depend on that number.
    """

    metric: sample.Metric
    confidence: float = 0.95
    point: points.Point | None = None

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the figure for other programs."""

    def label(self, status: verdict.Status | None) -> str:
        """Return the text before the figure in a table, or ""."""
        return ""

    @property
    def decimals(self) -> int | None:
        """The least number of decimals; None for significant digits."""
        return 1

    @property
    def measured(self) -> bool:
        """Whether the guests have samples of the figure."""
        return self.estimate() is not None

    @property
    def unit(self) -> str:
        """The unit of the figure and of its limit."""
        return "%"

    @property
    def is_minimum(self) -> bool:
        """Whether the limit is the smallest tolerated figure."""
        return False

    @property
    def compare_to(self) -> str:
        """The reference of the loss at a number of guests, or ""."""
        return ""

    def find_subject(self, status: verdict.Status | None) -> Subject:
        """Return the guests that the figure speaks of.

        :param status: The status, which the worst guest decides.
        """
        return ALL_GUESTS

    @property
    def uses_bare_metal(self) -> bool:
        """Whether guests are compared with bare metal."""
        return False

    @property
    def statistic(self) -> contrasts.Statistic:
        """The guest to which a limit applies."""
        return "mean"

    @property
    def comparison(self) -> loss.Comparison | None:
        """The comparison of the mean guest; None if there is none."""
        return None

    def find_decisive(
        self, status: verdict.Status | None
    ) -> tuple[loss.Comparison | None, int]:
        """Return the comparison that decides, as one of so many guests."""
        return self.comparison, 1

    @property
    def policy(self) -> str:
        """The policy that limits the rate, or ""."""
        return ""

    @property
    def sides(
        self,
    ) -> tuple[contrasts.RepetitionSamples, contrasts.RepetitionSamples]:
        """The samples of the reference and of the guests, per repetition."""
        return (), ()

    @property
    def means(self) -> tuple[float, float] | None:
        """The means of both sides; None if there is no such pair."""
        if self.comparison is None:
            return None
        return self.comparison.bare, self.comparison.guest

    def with_confidence(self, confidence: float) -> t.Self:
        """Return the figure with the interval of another confidence."""
        return dataclasses.replace(self, confidence=confidence)

    @abc.abstractmethod
    def estimate(
        self, status: verdict.Status | None = None
    ) -> units.Estimate | None:
        """Return the figure that decides; None if it is missing."""

    @abc.abstractmethod
    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""

    @abc.abstractmethod
    def may_be_within(self, limit: float) -> bool:
        """Return whether further repetitions may still give a pass."""

    def describe_differing(self, limit: float) -> str:
        """Return which guests are beyond the limit of all guests, or ""."""
        return ""

    @abc.abstractmethod
    def is_failure_final(self, limit: float, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        :param planned: The number of counted repetitions of the task.
        """

    @abc.abstractmethod
    def describe(
        self, limit: float | None, status: verdict.Status | None
    ) -> str:
        """Return the figure, its sides and its interval as a clause."""

    @abc.abstractmethod
    def advise(self, limit: float) -> str:
        """Return what would decide an inconclusive figure, as a clause."""

    def scale_limit(self, limit: float) -> float:
        """Return a limit as a number of the figure."""
        return limit

    def show(
        self, estimate: units.Estimate, limit: float | None
    ) -> units.Shown:
        """Return the figure, or another number of it, and ends as texts.

        :param limit: The limit, which the digits distinguish from the ends.
        """
        return units.show_estimate(
            estimate,
            self.unit,
            None if limit is None else self.scale_limit(limit),
            self.decimals,
        )

    def show_limit(self, limit: float) -> str:
        """Return a limit as text: ``limit 5 %`` or ``least limit 0.9``."""
        shown = units.show_limit(
            self.scale_limit(limit), self.unit, self.decimals is not None
        )
        return f"{'least ' if self.is_minimum else ''}limit {shown}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuestFigure(Figure):
    """A figure that guests have together, and that each has on its own.

    The percentile of a distribution is that of all guests together and has
    no worst guest.

    :param statistic: The guest to which a limit applies.
    """

    statistic: contrasts.Statistic = "mean"

    #: What a guest does with its figure, in sentences.
    verb: t.ClassVar[str] = "has"

    @property
    def of_guests(self) -> contrasts.Contrast:
        """The contrast with the reference, whatever the limit is."""
        contrast, _ = self.find_contrast(1.0)
        return contrast

    @abc.abstractmethod
    def find_contrast(self, limit: float) -> tuple[contrasts.Contrast, float]:
        """Return the contrast for a limit, and its largest loss in percent."""

    @abc.abstractmethod
    def describe_guests(
        self, beyond: contrasts.Comparisons, limit: float
    ) -> str:
        """Return as text which guests are beyond a limit.

        :param beyond: Their comparisons by guest, at least one.
        """

    def find_worst(self, status: verdict.Status | None = None) -> str:
        """Return the worst guest; "" if the mean guest is judged."""
        is_mean = self.statistic == "mean"
        return "" if is_mean else self.of_guests.find_worst(status)

    def find_subject(self, status: verdict.Status | None) -> Subject:
        """Return the guests that the figure speaks of."""
        if worst := self.find_worst(status):
            host = self.of_guests.hosts.get(worst, "")
            return Subject(WORST_GUEST, worst, host)
        _, guests = self.sides
        return select_subject(guests)

    @property
    def guest_count(self) -> int:
        """The number of guests that are compared."""
        if self.point is not None:
            return self.point.guests
        return len(self.of_guests.guests)

    def label_worst(self, status: verdict.Status | None) -> str:
        """Return the worst of so many guests as text; "" for the mean."""
        worst = self.find_worst(status)
        if not worst:
            return ""
        host = self.of_guests.hosts.get(worst)
        where = f" on {host}" if host else ""
        guests = units.number_of("guest", self.guest_count)
        return f"worst of {guests} ({worst}{where})"

    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""
        contrast, percent = self.find_contrast(limit)
        return contrast.decide(percent, self.statistic)

    def describe_differing(self, limit: float) -> str:
        """Return which guests are beyond the limit of all guests, or "".

        They are beyond it by their own interval, or by turns.
        """
        contrast, percent = self.find_contrast(limit)
        if self.statistic == "worst":
            is_beyond = contrast.may_be_beyond_by_turns(percent)
            return self.describe_turns() if is_beyond else ""
        if beyond := contrast.list_beyond(percent):
            return self.describe_guests(beyond, limit)
        if contrast.are_beyond_by_turns(percent):
            return self.describe_turns()
        return ""

    def describe_turns(self) -> str:
        """Return the figure of the worst guest of each repetition."""
        comparison = self.of_guests.worst_of_each
        if comparison is None:
            return ""
        most, guest, number = self.of_guests.find_largest()
        mean, most_shown = (
            self.show_turn(percent)
            for percent in (comparison.overhead_percent, most)
        )
        return (
            f"the worst guest of each repetition {self.verb} {mean} in the "
            f"mean, {most_shown} at worst ({guest} in repetition {number})"
        )

    @abc.abstractmethod
    def show_turn(self, percent: float) -> str:
        """Return the figure of a guest in a repetition as text.

        :param percent: Its loss in percent.
        """

    def may_be_within(self, limit: float) -> bool:
        """Return whether all guests may be within a limit."""
        contrast, percent = self.find_contrast(limit)
        comparisons = [contrast.mean]
        if self.find_worst():
            comparisons = [*contrast.corrected.values()]
        return all(
            comparison is not None
            and verdict.may_be_within(comparison, percent)
            for comparison in comparisons
        )

    def is_failure_final(self, limit: float, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        The interval at 99.9 % must be wholly beyond the limit, and the loss
        as well if each remaining repetition were as good as the best one.
        """
        contrast, percent = self.find_contrast(limit)
        comparison, _ = contrast.find_decisive(self.statistic, "failed")
        if comparison is None:
            return False
        is_paired = contrast.pairing != "never"
        lowest = needed.lowest_possible_loss(comparison, planned, is_paired)
        return lowest is not None and lowest > percent

    def advise(self, limit: float) -> str:
        """Return what would decide an inconclusive figure, as a clause."""
        contrast, percent = self.find_contrast(limit)
        if self.statistic == "worst":
            if contrast.has_unlike_guests:
                return (
                    "no guest has a reference of its own, as both sides have "
                    "other numbers of guests; use statistic: mean"
                )
            if contrast.may_be_beyond_by_turns(percent):
                return self.describe_turns()
        comparison, _ = contrast.find_decisive(self.statistic, "inconclusive")
        return verdict.would_decide(comparison) if comparison else ""


def select_subject(repetitions: contrasts.RepetitionSamples) -> Subject:
    """Return the guests that reported samples: one, or all."""
    guests = {
        source for samples in repetitions for source in samples.by_source
    }
    if len(guests) == 1:
        return Subject(GUEST, *guests)
    return ALL_GUESTS


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss(GuestFigure):
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
