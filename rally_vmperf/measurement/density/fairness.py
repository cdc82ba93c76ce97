# SPDX-License-Identifier: Apache-2.0
"""The fairness of a level: a mean over repetitions with its interval.

Jain's index and the coefficient of variation ``cv`` of the guests' rates say
the same: ``index = 1 / (1 + cv^2)``. The coefficient is closer to a normal
distribution than the index; therefore the coefficient is averaged.

Its mean is still skewed: if guests vary at random, the coefficient is
proportional to a chi value with one degree of freedom less than there are
guests. A mean that is low by chance has a low deviation as well; therefore
Student's interval ends too early above, and uneven guests pass.
"""

import dataclasses
import functools
import math
import statistics as stdlib
import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict

Figure = t.Literal["index", "spread"]
#: The largest number of samples for a quantile, and of values in them.
_DRAWS, _VALUES = 100_000, 3_000_000


def index(variation: float) -> float:
    """Return Jain's index for a coefficient of variation."""
    return 1 / (1 + variation**2)


def variation(index: float) -> float:
    """Return the coefficient of variation for Jain's index."""
    return math.sqrt(max(0.0, 1 / index - 1))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unevenness:
    """The differences between the guests of a level.

    :param values: The coefficients of variation of the repetitions for an
        index, or their spreads in percent.
    :param guests: The number of guests compared in each repetition.
    :param error: The rounding error of a value.
    """

    figure: Figure
    values: tuple[float, ...]
    guests: int
    error: float = 0

    @property
    def mean(self) -> float:
        """The mean over repetitions."""
        return stdlib.fmean(self.values)

    def to_figure(self, value: float) -> float:
        """Return a value as the number that a limit applies to."""
        return index(value) if self.figure == "index" else value

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the interval of the mean; None below three values.

        The lower end is Student's. The upper end is the larger one of
        Student's and that of guests that vary at random. With fewer than
        three different values the variation is unknown; a margin is added.
        """
        count = len(self.values)
        if count < statistics.FEWEST:
            return None
        standard_error = stdlib.stdev(self.values) / math.sqrt(count)
        low_quantile = statistics.student_quantile(confidence, count - 1)
        high_quantile = max(
            low_quantile, _quantile(count, self.guests, confidence)
        )
        margin = self.error
        if (
            len({f"{variation:.6g}" for variation in self.values})
            < statistics.FEWEST
        ):
            margin += loss.LARGEST_ROUNDING_ERROR * self.mean
        return (
            max(0.0, self.mean - low_quantile * standard_error - margin),
            self.mean + high_quantile * standard_error + margin,
        )

    def decide(self, limit: float, confidence: float) -> verdict.Status:
        """Return the status of the guests' fairness against a limit.

        :param limit: The limit of the figure: an index or a percentage.
        """
        low, high = self.interval(confidence) or (None, None)
        largest = self._largest_variation(limit)
        return verdict.decide_interval(low, high, largest)

    def is_failure_final(
        self, limit: float, confidence: float, planned: int
    ) -> bool:
        """Return whether no further repetitions can meet the limit."""
        remaining = max(0, planned - len(self.values))
        best = [*self.values, *[min(self.values)] * remaining]
        is_failed = self.decide(limit, confidence) == "failed"
        return is_failed and stdlib.fmean(best) > self._largest_variation(
            limit
        )

    def _largest_variation(self, limit: float) -> float:
        """Return a limit as the largest variation that passes."""
        return variation(limit) if self.figure == "index" else limit


@functools.cache
def _quantile(count: int, guests: int, confidence: float) -> float:
    """Return by how many standard errors a mean can be too low.

    It is a quantile of the bootstrap-t, drawn from normal rates (P. Hall,
    "Theoretical comparison of bootstrap confidence intervals", Annals of
    Statistics 16, 1988; B. Efron and R. Tibshirani, "An introduction to the
    bootstrap", 1993, chapter 12). The draws are the same each time, on every
    machine.

    :param count: The number of repetitions.
    """
    import numpy

    random = numpy.random.RandomState(7)
    draws = max(2, min(_DRAWS, _VALUES // count))
    chi = numpy.sqrt(random.chisquare(guests - 1, (draws, count)))
    mean = math.sqrt(2) * math.exp(
        math.lgamma(guests / 2) - math.lgamma((guests - 1) / 2)
    )
    standard_errors = chi.std(axis=1, ddof=1) / math.sqrt(count)
    errors = (mean - chi.mean(axis=1)) / standard_errors
    return float(numpy.quantile(errors, (1 + confidence) / 2))
