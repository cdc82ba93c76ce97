"""The base class of the figures of a metric."""

import abc
import dataclasses
import typing as t

from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


class Estimate(t.NamedTuple):
    """A figure with the ends of its interval, which can be None."""

    value: float
    low: float | None = None
    high: float | None = None


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
    ) -> Estimate | None:
        """Return the figure that decides; None if it is missing."""

    @abc.abstractmethod
    def decide(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""

    @abc.abstractmethod
    def may_be_within(self, limit: float) -> bool:
        """Return whether further repetitions may still give a pass."""

    def list_beyond(self, limit: float) -> tuple[contrasts.Comparisons, int]:
        """Return the guests beyond the limit of the mean guest.

        :returns: Their comparisons by name, and the number of all guests.
        """
        return {}, 0

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
        self, number: float, ends: t.Iterable[float], limit: float | None
    ) -> str:
        """Return a number of the figure as text, without a percent sign.

        :param ends: The ends of the interval, which the digits separate from
            the limit.
        """
        if self.decimals is None:
            return units.show(number, self.unit)
        digits = units.digits_apart(ends, limit, self.decimals)
        return units.show_percent(number, digits)

    def show_limit(self, limit: float) -> str:
        """Return a limit as text: ``limit 5 %`` or ``least limit 0.9``."""
        number = self.scale_limit(limit)
        text = f"{number:g}"
        if self.decimals is None:
            text = units.show(number, self.unit)
        least = "least " if self.is_minimum else ""
        return f"{least}limit {text}{self.percent_sign}"

    @property
    def percent_sign(self) -> str:
        """The text after a number of ``show``: a percent sign, or nothing.

        Values with significant digits have their unit already.
        """
        is_plain = self.decimals is not None and self.unit == "%"
        return " %" if is_plain else ""
