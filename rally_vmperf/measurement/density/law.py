"""The Universal Scalability Law, fitted to the totals of all guests.

``X(n) = rate * n / (1 + contention * (n - 1) + coherency * n * (n - 1))``
(N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007).
"""

import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.density import points

#: Numbers of guests below which nothing is fitted: the law has three
#: coefficients, and goes through any three totals.
FEWEST_LEVELS = 4
#: Evaluations for each of four starts. Totals that scatter by tens of percent
#: take no more than 100; those of no machine would take thousands.
MOST_EVALUATIONS = 300
#: Of a logarithm; what is larger is no rate of any machine.
_LARGEST = 300.0

Totals = collections.abc.Mapping[int, statistics.Values]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A fitted number with its interval; no ends where it has none."""

    value: float
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Law:
    """The law of one metric.

    :param rate: of a lone guest
    :param contention: share of the work that guests do one after another
    :param coherency: cost of coordination between each pair of guests
    :param r_squared: share of the totals' variance that the law explains
    :param largest: largest number of guests that was measured
    :param covariance: of the logarithm of ``rate``, of ``contention`` and of
        ``coherency``; None without intervals
    :param quantile: of Student's t, for the confidence of the intervals
    """

    rate: Coefficient
    contention: Coefficient
    coherency: Coefficient
    r_squared: float
    largest: int
    covariance: tuple[tuple[float, ...], ...] | None = None
    quantile: float = 0.0

    @property
    def peak(self) -> float | None:
        """Number of guests with the largest total; None if there is none.

        There is one only where the interval of ``coherency`` excludes zero:
        noise alone makes it a little larger.
        """
        if self.contention.value >= 1:
            return 1.0
        if not self.coherency.value or self.coherency.low == 0:
            return None
        ratio = (1 - self.contention.value) / self.coherency.value
        return max(1.0, math.sqrt(ratio))

    def _slowed(self, guests: float) -> float:
        return (
            1
            + self.contention.value * (guests - 1)
            + self.coherency.value * guests * (guests - 1)
        )

    def total(self, guests: float) -> float:
        """Return the total that the law gives for a number of guests."""
        return self.rate.value * guests / self._slowed(guests)

    def loss(self, guests: float) -> points.Loss:
        """Return what a guest among so many loses, against a lone one."""
        slowed = self._slowed(guests)
        percent = (1 - 1 / slowed) * 100
        if self.covariance is None:
            return points.Loss(percent=percent, low=None, high=None)
        x, y = guests - 1, guests * (guests - 1)
        _, (_, contention, both), (_, _, coherency) = self.covariance
        variance = contention * x**2 + 2 * both * x * y + coherency * y**2
        half = self.quantile * math.sqrt(max(0.0, variance))
        return points.Loss(
            percent=percent,
            low=(1 - 1 / max(1.0, slowed - half)) * 100,
            high=(1 - 1 / (slowed + half)) * 100,
        )


def law(
    every: collections.abc.Iterable[points.Point], confidence: float
) -> Law | None:
    """Return the law of a metric's totals, None below four levels."""
    return fit(
        {point.guests: point.totals for point in every if point.usable},
        confidence,
    )


def fit(totals: Totals, confidence: float = 0.95) -> Law | None:
    """Fit the law to the totals of all repetitions.

    None below four levels, and where totals are too far apart for floats.

    Least squares of the logarithms of the totals, each repetition of each
    level one value, as totals vary by factors; contention and coherency are
    not below zero. The intervals of the coefficients are Student's, from the
    linearised covariance at the solution with as many degrees of freedom as
    there are values beyond three, and cut at zero.

    :param totals: guests -> the total of each repetition, as rates
    """
    measured = {
        guests: list(values)
        for guests, values in sorted(totals.items())
        if values
    }
    if len(measured) < FEWEST_LEVELS:
        return None
    import numpy

    counts = [guests for guests, values in measured.items() for _ in values]
    values = [value for found in measured.values() for value in found]
    solved, off, slopes = _solve(
        numpy.array(counts, float), numpy.array(statistics.logarithms(values))
    )
    freedom = len(values) - 3
    covariance = off @ off / freedom * numpy.linalg.pinv(slopes.T @ slopes)
    quantile = statistics.student(confidence, freedom)
    halves = quantile * numpy.sqrt(numpy.clip(numpy.diag(covariance), 0, None))
    if not max(abs(solved[0]), halves[0]) < _LARGEST:
        return None
    rate, factor = math.exp(solved[0]), math.exp(halves[0])
    return Law(
        rate=Coefficient(value=rate, low=rate / factor, high=rate * factor),
        contention=_coefficient(solved[1], halves[1]),
        coherency=_coefficient(solved[2], halves[2]),
        r_squared=_r_squared(numpy.array(values), numpy.exp(off)),
        largest=max(counts),
        covariance=tuple(tuple(row) for row in covariance.tolist()),
        quantile=quantile,
    )


def _coefficient(value: t.Any, half: t.Any) -> Coefficient:
    return Coefficient(
        value=float(value),
        low=max(0.0, float(value - half)),
        high=float(value + half),
    )


def _r_squared(values: t.Any, factors: t.Any) -> float:
    """Return the share of the variance that is explained.

    :param factors: fitted over measured, for each value
    """
    shares = values / values.mean()
    whole = float(((shares - 1) ** 2).sum())
    rest = float(((shares * (1 - factors)) ** 2).sum())
    if whole <= 1e-24:
        return 1.0 if rest <= 1e-18 else 0.0
    return 1 - rest / whole


def _solve(counts: t.Any, logs: t.Any) -> tuple[t.Any, t.Any, t.Any]:
    """Return the solution, its residuals and their Jacobian.

    The solution is the logarithm of the rate, contention and coherency. A
    residual is fitted less measured, as logarithms.

    The solver stays a little inside its bounds, so that it is also asked with
    one of contention and coherency at zero, or both: the fewest that do as
    well as all.
    """
    import numpy
    from scipy import optimize

    factors = numpy.column_stack(
        [numpy.ones(len(counts)), counts - 1, counts * (counts - 1)]
    )

    def slowed(solved: t.Any) -> t.Any:
        return factors @ [1.0, *solved[1:]]

    def off(solved: t.Any) -> t.Any:
        return solved[0] + numpy.log(counts) - numpy.log(slowed(solved)) - logs

    def slopes(solved: t.Any) -> t.Any:
        found = -factors / slowed(solved)[:, None]
        found[:, 0] = 1.0
        return found

    def least(free: tuple[int, ...]) -> t.Any:
        """Return the least squares with only some coefficients above zero."""
        places = [0, *free]

        def whole(values: t.Any) -> t.Any:
            solved = numpy.zeros(3)
            solved[places] = values
            return solved

        # n / X(n) is linear in three coefficients that are not below zero, so
        # that non-negative least squares has one answer, near that sought.
        alone = logs - numpy.log(counts)
        efficient = numpy.exp(alone - alone.max())
        begin, _ = optimize.nnls(
            factors[:, places] * efficient[:, None], numpy.ones(len(counts))
        )
        inverse = max(begin[0], 1e-9)
        begin /= inverse
        begin[0] = alone.max() - numpy.log(inverse)
        found = optimize.least_squares(
            lambda values: off(whole(values)),
            begin,
            jac=lambda values: slopes(whole(values))[:, places],
            bounds=([-math.inf, *(0.0 for _ in free)], math.inf),
            x_scale="jac",
            ftol=1e-15,
            xtol=1e-15,
            gtol=1e-15,
            max_nfev=MOST_EVALUATIONS,
        )
        return whole(found.x)

    solutions = [least(free) for free in ((), (1,), (2,), (1, 2))]
    costs = [float((off(one) ** 2).sum()) for one in solutions]
    enough = min(costs) * (1 + 1e-9) + 1e-18
    solved = next(
        one
        for one, cost in zip(solutions, costs, strict=True)
        if cost <= enough
    )
    return solved, off(solved), slopes(solved)
