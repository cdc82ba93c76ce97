"""How evenly guests share what there is."""

import math

from rally_vmperf.measurement import statistics


def index(rates: statistics.Values) -> float | None:
    """Return Jain's fairness index of the guests' rates.

    ``(sum x)^2 / (n * sum x^2)``: 1 where all have the same, ``1/n`` where
    one has all, and ``k/n`` where ``k`` of them have equal shares and the
    others nothing (R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of
    Fairness and Discrimination for Resource Allocation in Shared Computer
    Systems", DEC-TR-301, 1984). None for fewer than two guests.

    :raises ValueError: for a rate that is not above zero
    """
    if len(rates) < 2:
        return None
    # Of shares of the largest one, as squares of large rates overflow.
    logs = statistics.logarithms(rates)
    largest = max(logs)
    shares = [math.exp(log - largest) for log in logs]
    total = math.fsum(shares)
    found = total**2 / (len(shares) * math.fsum(one**2 for one in shares))
    return min(1.0, found)


def spread_percent(rates: statistics.Values) -> float | None:
    """Return how far apart guests are, in percent; None for one guest."""
    return statistics.spread_percent(rates)
