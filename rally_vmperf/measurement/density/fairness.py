"""How evenly guests share, as a mean over repetitions with its interval.

Jain's index and the coefficient of variation ``cv`` of the guests' rates say
the same: ``index = 1 / (1 + cv^2)``. Of the two the coefficient varies more
nearly like a normal value, and is what is averaged.

Its mean is still skewed: of guests that vary at random the coefficient is in
proportion to a chi value with one degree of freedom less than there are
guests. A mean that happens to be low comes with a deviation that is low, so
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
from rally_vmperf.measurement.samples import units

Figure = t.Literal["index", "spread"]
#: Samples that a quantile is drawn from, and values of all of them, at most.
_DRAWS, _VALUES = 100_000, 3_000_000


def index(variation: float) -> float:
    """Return Jain's index for a coefficient of variation."""
    return 1 / (1 + variation**2)


def variation(index: float) -> float:
    """Return the coefficient of variation for Jain's index."""
    return math.sqrt(max(0.0, 1 / index - 1))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unevenness:
    """How far guests of a level are apart: the more, the less fair.

    :param values: of each repetition: coefficients of variation for an
        index, percent for a spread
    :param guests: how many of them were compared in each repetition
    :param error: by which a value may be off, as the tool rounds
    """

    figure: Figure
    values: tuple[float, ...]
    guests: int
    error: float = 0

    @property
    def mean(self) -> float:
        """The mean over repetitions."""
        return stdlib.fmean(self.values)

    def shown(self, value: float) -> float:
        """Return a value as the figure that a limit applies to."""
        return index(value) if self.figure == "index" else value

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the interval of the mean, None below three values.

        Student's below. Above it is the wider of Student's and of that of
        guests that vary at random, as nobody knows which of these are so. Of
        fewer than three different values nobody knows how far they vary.
        """
        count = len(self.values)
        if count < statistics.FEWEST:
            return None
        error = stdlib.stdev(self.values) / math.sqrt(count)
        below = statistics.student(confidence, count - 1)
        above = max(below, _quantile(count, self.guests, confidence))
        off = self.error
        if len({f"{value:.6g}" for value in self.values}) < statistics.FEWEST:
            off += loss.COARSEST * self.mean
        return (
            max(0.0, self.mean - below * error - off),
            self.mean + above * error + off,
        )

    def text(
        self, value: float, confidence: float, limit: float | None
    ) -> str:
        """Return a value as the figure.

        With as many digits as keep the interval apart from the limit.
        """
        ends = [*map(self.shown, self.interval(confidence) or ())]
        if self.figure == "index":
            digits = units.digits_apart(ends, limit, 3)
            return f"{index(value):.{digits}f}"
        digits = units.digits_apart(ends, limit)
        return f"{units.show_percent(value, digits)} %"

    def ends(self, confidence: float, limit: float | None) -> str:
        """Return the ends of the interval, the lower one first, or nothing."""
        low_high = sorted(self.interval(confidence) or (), key=self.shown)
        return " to ".join(self.text(x, confidence, limit) for x in low_high)

    def decide(self, limit: float, confidence: float) -> verdict.Status:
        """Return whether guests share evenly enough.

        :param limit: of the figure as it is shown
        """
        ends = self.interval(confidence)
        largest = self._largest(limit)
        if ends is None:
            return "inconclusive"
        if ends[1] <= largest:
            return "passed"
        return "failed" if ends[0] > largest else "inconclusive"

    def beyond_return(
        self, limit: float, confidence: float, planned: int
    ) -> bool:
        """Return whether it stays beyond its limit whatever is to come."""
        ends, largest = self.interval(confidence), self._largest(limit)
        to_come = max(0, planned - len(self.values))
        best = [*self.values, *[min(self.values)] * to_come]
        return (
            ends is not None
            and ends[0] > largest
            and stdlib.fmean(best) > largest
        )

    def _largest(self, limit: float) -> float:
        return variation(limit) if self.figure == "index" else limit


@functools.cache
def _quantile(count: int, guests: int, confidence: float) -> float:
    """Return by how many standard errors a mean is too low, at most.

    A quantile of the bootstrap-t, drawn from normal rates (P. Hall,
    "Theoretical comparison of bootstrap confidence intervals", Annals of
    Statistics 16, 1988; B. Efron and R. Tibshirani, "An introduction to the
    bootstrap", 1993, chapter 12). The draws are the same each time, on every
    machine.

    :param count: number of repetitions
    """
    import numpy

    random = numpy.random.RandomState(7)
    draws = max(2, min(_DRAWS, _VALUES // count))
    chi = numpy.sqrt(random.chisquare(guests - 1, (draws, count)))
    true = math.sqrt(2) * math.exp(
        math.lgamma(guests / 2) - math.lgamma((guests - 1) / 2)
    )
    error = chi.std(axis=1, ddof=1) / math.sqrt(count)
    off = (true - chi.mean(axis=1)) / error
    return float(numpy.quantile(off, (1 + confidence) / 2))
