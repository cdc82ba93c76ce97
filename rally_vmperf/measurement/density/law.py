"""The Universal Scalability Law, fitted to the totals of all guests.

``X(n) = rate * n / (1 + contention * (n - 1) + coherency * n * (n - 1))``
(N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007).
"""

import collections.abc
import dataclasses
import math

from rally_vmperf.measurement import statistics
from rally_vmperf.measurement.density import contradiction
from rally_vmperf.measurement.density import fitting
from rally_vmperf.measurement.density import points

#: Numbers of guests below which nothing is fitted: the law has three
#: coefficients, and goes through any three totals.
FEWEST_LEVELS = 4

Totals = collections.abc.Mapping[int, statistics.Values]


def law(
    every: collections.abc.Iterable[points.Point], confidence: float
) -> points.Law | None:
    """Return the law of a metric's totals, None below four levels."""
    return fit(
        {one.guests: one.totals for one in every if one.usable}, confidence
    )


def fit(totals: Totals, confidence: float = 0.95) -> points.Law | None:
    """Fit the law to the totals of all repetitions.

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
    counts = [guests for guests, values in measured.items() for _ in values]
    values = [value for found in measured.values() for value in found]
    solved = fitting.solve(counts, statistics.logarithms(values))
    fitted = _with_intervals(solved, counts, values, confidence)
    return dataclasses.replace(
        fitted,
        contradicted=contradiction.words(fitted, measured, confidence),
    )


def loss(law: points.Law, guests: float) -> points.Loss:
    """Return what a guest among so many loses, against a lone one."""
    slowed = law.rate.value * guests / law.total(guests)
    half = 0.0
    if law.covariance is not None:
        x, y = guests - 1, guests * (guests - 1)
        _, (_, contention, both), (_, _, coherency) = law.covariance
        variance = contention * x**2 + 2 * both * x * y + coherency * y**2
        half = law.quantile * math.sqrt(max(0.0, variance))
    known = law.covariance is not None
    return points.Loss(
        percent=(1 - 1 / slowed) * 100,
        low=(1 - 1 / max(1.0, slowed - half)) * 100 if known else None,
        high=(1 - 1 / (slowed + half)) * 100 if known else None,
    )


def band(law: points.Law, guests: float) -> tuple[float, float] | None:
    """Return the interval of the law's total, None without one."""
    if law.covariance is None:
        return None
    slope = fitting.slope(law.contention.value, law.coherency.value, guests)
    variance = sum(
        slope[row] * slope[column] * law.covariance[row][column]
        for row in range(3)
        for column in range(3)
    )
    factor = math.exp(law.quantile * math.sqrt(max(0.0, variance)))
    total = law.total(guests)
    return total / factor, total * factor


def _with_intervals(
    solved: list[float],
    counts: list[int],
    values: list[float],
    confidence: float,
) -> points.Law:
    import numpy
    from scipy import stats

    log_rate, contention, coherency = solved
    off = fitting.off(solved, counts, statistics.logarithms(values))
    freedom = len(values) - 3
    slopes = numpy.array(
        [fitting.slope(contention, coherency, n) for n in counts]
    )
    covariance = (
        math.fsum(one**2 for one in off)
        / freedom
        * numpy.linalg.pinv(slopes.T @ slopes)
    )
    quantile = float(stats.t.ppf((1 + confidence) / 2, freedom))
    halves = quantile * numpy.sqrt(numpy.clip(numpy.diag(covariance), 0, None))
    rate = math.exp(log_rate)
    return points.Law(
        rate=points.Coefficient(
            value=rate,
            low=rate * math.exp(-halves[0]),
            high=rate * math.exp(halves[0]),
        ),
        contention=_coefficient(contention, float(halves[1])),
        coherency=_coefficient(coherency, float(halves[2])),
        r_squared=_r_squared(values, [math.exp(one) for one in off]),
        peak=_peak(contention, coherency),
        contradicted="",
        largest=max(counts),
        covariance=tuple(
            tuple(float(one) for one in row) for row in covariance
        ),
        quantile=quantile,
    )


def _coefficient(value: float, half: float) -> points.Coefficient:
    return points.Coefficient(
        value=value, low=max(0.0, value - half), high=value + half
    )


def _r_squared(values: list[float], factors: list[float]) -> float:
    """Return the share of the variance that is explained.

    :param factors: fitted over measured, for each value
    """
    mean = math.fsum(values) / len(values)
    whole = math.fsum((one / mean - 1) ** 2 for one in values)
    rest = math.fsum(
        (one / mean * (1 - factor)) ** 2
        for one, factor in zip(values, factors, strict=True)
    )
    if whole <= 1e-24:
        return 1.0 if rest <= 1e-18 else 0.0
    return 1 - rest / whole


def _peak(contention: float, coherency: float) -> float | None:
    """Return the number of guests with the largest total, if there is one."""
    if contention >= 1:
        return 1.0
    if not coherency:
        return None
    return max(1.0, math.sqrt((1 - contention) / coherency))
