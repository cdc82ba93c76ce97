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

#: The smallest number of levels that is fitted: the law has three
#: coefficients and fits any three totals exactly.
FEWEST_LEVELS = 4
#: Evaluations for each of four starts. Totals that vary by tens of percent
#: need at most 100; totals of no real machine need thousands.
MOST_EVALUATIONS = 300
#: The largest logarithm of a rate; no machine is faster.
_LARGEST = 300.0

Totals = collections.abc.Mapping[int, statistics.Values]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimated number with the ends of its interval."""

    value: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class UslFit:
    """The law of one metric.

    :param rate: The rate of the solo guest.
    :param contention: The share of the work that guests do one at a time.
    :param coherency: The cost of coordination between each pair of guests.
    :param r_squared: The share of the totals' variance that is explained.
    :param largest: The largest measured number of guests.
    :param covariance: The covariance of ``log(rate)``, ``contention`` and
        ``coherency``.
    :param quantile: The quantile of Student's t of the intervals.
    """

    rate: Estimate
    contention: Estimate
    coherency: Estimate
    r_squared: float
    largest: int
    covariance: tuple[tuple[float, ...], ...]
    quantile: float

    @property
    def peak(self) -> float | None:
        """Number of guests with the largest total; None if there is none.

        There is one only if the interval of ``coherency`` excludes zero:
        noise alone makes ``coherency`` positive.
        """
        if self.contention.value >= 1:
            return 1.0
        if not self.coherency.value or self.coherency.low == 0:
            return None
        ratio = (1 - self.contention.value) / self.coherency.value
        return max(1.0, math.sqrt(ratio))

    def _slowdown(self, guests: float) -> float:
        """Return the factor by which a guest is slower than a solo guest."""
        return (
            1
            + self.contention.value * (guests - 1)
            + self.coherency.value * guests * (guests - 1)
        )

    def total(self, guests: float) -> float:
        """Return the total rate that the law predicts for some guests."""
        return self.rate.value * guests / self._slowdown(guests)

    def loss(self, guests: float) -> Estimate:
        """Return the loss of a guest in percent of the solo guest."""
        slowed = self._slowdown(guests)
        linear, quadratic = guests - 1, guests * (guests - 1)
        _, (_, contention, covariance), (_, _, coherency) = self.covariance
        variance = (
            contention * linear**2
            + 2 * covariance * linear * quadratic
            + coherency * quadratic**2
        )
        half_width = self.quantile * math.sqrt(max(0.0, variance))
        return Estimate(
            value=(1 - 1 / slowed) * 100,
            low=(1 - 1 / max(1.0, slowed - half_width)) * 100,
            high=(1 - 1 / (slowed + half_width)) * 100,
        )


def fit_points(
    all_points: collections.abc.Iterable[points.Point], confidence: float
) -> UslFit | None:
    """Return the law fitted to points; None below four levels."""
    return fit_totals(
        {point.guests: point.totals for point in all_points if point.usable},
        confidence,
    )


def fit_totals(totals: Totals, confidence: float = 0.95) -> UslFit | None:
    """Return the law fitted to totals of all repetitions, or None.

    None below four levels, and if totals are too far apart for floats.

    The fit minimises the squares of the logarithms of the totals, one value
    per repetition and level; contention and coherency are not below zero.
    The intervals of the coefficients are Student's, from the linearised
    covariance at the solution, with three degrees of freedom less than there
    are values, and cut at zero.

    :param totals: The totals of the repetitions, by number of guests.
    """
    measured = {
        guests: list(rates)
        for guests, rates in sorted(totals.items())
        if rates
    }
    if len(measured) < FEWEST_LEVELS:
        return None
    import numpy

    counts = [guests for guests, rates in measured.items() for _ in rates]
    rates = [rate for rates in measured.values() for rate in rates]
    solved, residuals, slopes = _solve(
        numpy.array(counts, float), numpy.array(statistics.logarithms(rates))
    )
    freedom = len(rates) - 3
    covariance = (
        residuals @ residuals / freedom * numpy.linalg.pinv(slopes.T @ slopes)
    )
    quantile = statistics.student_quantile(confidence, freedom)
    half_widths = quantile * numpy.sqrt(
        numpy.clip(numpy.diag(covariance), 0, None)
    )
    if not max(abs(solved[0]), half_widths[0]) < _LARGEST:
        return None
    rate, rate_factor = math.exp(solved[0]), math.exp(half_widths[0])
    return UslFit(
        rate=Estimate(
            value=rate, low=rate / rate_factor, high=rate * rate_factor
        ),
        contention=_coefficient(solved[1], half_widths[1]),
        coherency=_coefficient(solved[2], half_widths[2]),
        r_squared=_r_squared(numpy.array(rates), numpy.exp(residuals)),
        largest=max(counts),
        covariance=tuple(tuple(row) for row in covariance.tolist()),
        quantile=quantile,
    )


def _coefficient(value: t.Any, half_width: t.Any) -> Estimate:
    """Return a fitted coefficient with its interval, cut off at zero."""
    return Estimate(
        value=float(value),
        low=max(0.0, float(value - half_width)),
        high=float(value + half_width),
    )


def _r_squared(totals: t.Any, factors: t.Any) -> float:
    """Return the share of the variance that the law explains.

    :param factors: The ratios of the fitted to the measured totals.
    """
    shares = totals / totals.mean()
    total_squares = float(((shares - 1) ** 2).sum())
    residual_squares = float(((shares * (1 - factors)) ** 2).sum())
    if total_squares <= 1e-24:
        return 1.0 if residual_squares <= 1e-18 else 0.0
    return 1 - residual_squares / total_squares


def _solve(counts: t.Any, logs: t.Any) -> tuple[t.Any, t.Any, t.Any]:
    """Return coefficients, residuals and Jacobian of the fitted law.

    The solution is the logarithm of the rate, contention and coherency. A
    residual is fitted less measured, as logarithms.

    The solver stays a little inside its bounds; therefore it also runs with
    contention, coherency or both fixed at zero. The solution with the fewest
    free coefficients wins if it fits as well as all.
    """
    import numpy
    from scipy import optimize

    factors = numpy.column_stack(
        [numpy.ones(len(counts)), counts - 1, counts * (counts - 1)]
    )

    def compute_slowdowns(coefficients: t.Any) -> t.Any:
        """Return the slowdown at each number of guests as an array."""
        return factors @ [1.0, *coefficients[1:]]

    def compute_residuals(coefficients: t.Any) -> t.Any:
        """Return the law less the logarithms of the totals, an array."""
        return (
            coefficients[0]
            + numpy.log(counts)
            - numpy.log(compute_slowdowns(coefficients))
            - logs
        )

    def compute_jacobian(coefficients: t.Any) -> t.Any:
        """Return the derivatives of the residuals as a matrix."""
        jacobian = -factors / compute_slowdowns(coefficients)[:, None]
        jacobian[:, 0] = 1.0
        return jacobian

    def fit_free(free: tuple[int, ...]) -> t.Any:
        """Return the fitted coefficients; those not free stay zero."""
        columns = [0, *free]

        def insert_zeros(free_values: t.Any) -> t.Any:
            """Return all coefficients, with zero for those not free."""
            coefficients = numpy.zeros(3)
            coefficients[columns] = free_values
            return coefficients

        # n / X(n) is linear in three coefficients that are not below zero;
        # non-negative least squares has one solution, close to the optimum.
        per_guest = logs - numpy.log(counts)
        efficient = numpy.exp(per_guest - per_guest.max())
        initial, _ = optimize.nnls(
            factors[:, columns] * efficient[:, None], numpy.ones(len(counts))
        )
        inverse = max(initial[0], 1e-9)
        initial /= inverse
        initial[0] = per_guest.max() - numpy.log(inverse)
        result = optimize.least_squares(
            lambda values: compute_residuals(insert_zeros(values)),
            initial,
            jac=lambda values: compute_jacobian(insert_zeros(values))[
                :, columns
            ],
            bounds=([-math.inf, *(0.0 for _ in free)], math.inf),
            x_scale="jac",
            ftol=1e-15,
            xtol=1e-15,
            gtol=1e-15,
            max_nfev=MOST_EVALUATIONS,
        )
        return insert_zeros(result.x)

    solutions = [fit_free(free) for free in ((), (1,), (2,), (1, 2))]
    costs = [
        float((compute_residuals(solution) ** 2).sum())
        for solution in solutions
    ]
    enough = min(costs) * (1 + 1e-9) + 1e-18
    solved = next(
        solution
        for solution, cost in zip(solutions, costs, strict=True)
        if cost <= enough
    )
    return solved, compute_residuals(solved), compute_jacobian(solved)
