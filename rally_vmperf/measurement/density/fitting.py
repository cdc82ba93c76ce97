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

    The solver stays a little inside its bounds, so that it is also asked
    with one of the two at zero, or both: the fewest that do as well as all.
    """
    solutions = [
        _least(counts, logs, free) for free in ((), (1,), (2,), (1, 2))
    ]
    costs = [
        math.fsum(one**2 for one in off(solution, counts, logs))
        for solution in solutions
    ]
    enough = min(costs) * (1 + 1e-9) + 1e-18
    return next(
        solution
        for solution, cost in zip(solutions, costs, strict=True)
        if cost <= enough
    )


def _least(
    counts: list[int], logs: list[float], free: tuple[int, ...]
) -> list[float]:
    """Return the least squares with only some coefficients above zero.

    :param free: places of the coefficients beside the rate
    """
    from scipy import optimize

    places = (0, *free)

    def whole(values: t.Any) -> list[float]:
        solved = [0.0, 0.0, 0.0]
        for place, value in zip(places, values, strict=True):
            solved[place] = float(value)
        return solved

    def slopes(values: t.Any) -> list[list[float]]:
        _, contention, coherency = whole(values)
        rows = [slope(contention, coherency, guests) for guests in counts]
        return [[row[place] for place in places] for row in rows]

    begin = _begin(counts, logs, free)
    found = optimize.least_squares(
        lambda values: off(whole(values), counts, logs),
        [begin[place] for place in places],
        jac=slopes,
        bounds=([-math.inf, *(0.0 for _ in free)], math.inf),
        x_scale="jac",
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-15,
        max_nfev=1000,
    )
    return whole(found.x)


def _begin(
    counts: list[int], logs: list[float], free: tuple[int, ...]
) -> list[float]:
    """Return where to begin.

    ``n / X(n)`` is linear in three coefficients that are not below zero, so
    that non-negative least squares has one answer, near that sought.
    """
    import numpy
    from scipy import optimize

    lone = max(log - math.log(n) for n, log in zip(counts, logs, strict=True))
    table = []
    for guests, log in zip(counts, logs, strict=True):
        efficient = math.exp(log - math.log(guests) - lone)
        factors = (1, guests - 1, guests * (guests - 1))
        table.append([factors[place] * efficient for place in (0, *free)])
    found, _ = optimize.nnls(numpy.array(table), numpy.ones(len(counts)))
    inverse = max(float(found[0]), 1e-9)
    begin = [lone - math.log(inverse), 0.0, 0.0]
    for place, value in zip(free, found[1:], strict=True):
        begin[place] = float(value) / inverse
    return begin
