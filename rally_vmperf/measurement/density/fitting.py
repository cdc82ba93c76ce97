"""The least squares behind the Universal Scalability Law."""

import math
import typing as t


def slope(
    contention: float, coherency: float, guests: float
) -> tuple[float, float, float]:
    """Return how the total's logarithm follows the coefficients."""
    x, y = guests - 1, guests * (guests - 1)
    slowed = 1 + contention * x + coherency * y
    return 1.0, -x / slowed, -y / slowed


def off(solved: t.Any, counts: list[int], logs: list[float]) -> list[float]:
    """Return fitted less measured, as logarithms."""
    log_rate, contention, coherency = solved
    return [
        log_rate
        + math.log(guests)
        - math.log1p(
            contention * (guests - 1) + coherency * guests * (guests - 1)
        )
        - log
        for guests, log in zip(counts, logs, strict=True)
    ]


def solve(counts: list[int], logs: list[float]) -> list[float]:
    """Return the logarithm of the rate, contention and coherency.

    ``n / X(n)`` is linear in three coefficients that are not below zero, so
    that non-negative least squares has one answer; from there, least squares
    of the logarithms.
    """
    import numpy
    from scipy import optimize

    lone = max(log - math.log(n) for n, log in zip(counts, logs, strict=True))
    efficient = [
        math.exp(log - math.log(n) - lone)
        for n, log in zip(counts, logs, strict=True)
    ]
    table = [
        [one, one * (n - 1), one * n * (n - 1)]
        for n, one in zip(counts, efficient, strict=True)
    ]
    (inverse, first, second), _ = optimize.nnls(
        numpy.array(table), numpy.ones(len(counts))
    )
    inverse = max(inverse, 1e-9)
    begin = [lone - math.log(inverse), first / inverse, second / inverse]
    found = optimize.least_squares(
        lambda solved: off(solved, counts, logs),
        begin,
        jac=lambda solved: [slope(solved[1], solved[2], n) for n in counts],
        bounds=([-math.inf, 0.0, 0.0], math.inf),
        x_scale="jac",
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-15,
        max_nfev=1000,
    )
    return _at_zero([float(one) for one in found.x], counts, logs)


def _at_zero(
    solved: list[float], counts: list[int], logs: list[float]
) -> list[float]:
    """Return the solution with zeros where zero is no worse.

    The solver stays a little inside its bounds.
    """

    def cost(solution: list[float]) -> float:
        return math.fsum(one**2 for one in off(solution, counts, logs))

    for place in (1, 2):
        trial = [*solved]
        trial[place] = 0.0
        if cost(trial) <= cost(solved) * (1 + 1e-9) + 1e-24:
            solved = trial
    return solved
