"""Which repetitions stand apart from the others; flagged, never dropped."""

from rally_vmperf.measurement import statistics

#: Modified z-score above which a value stands apart.
THRESHOLD = 3.5
#: With fewer values the median absolute deviation says nothing.
FEWEST = 5

# Makes the median absolute deviation of a normal distribution its sigma.
_CONSISTENCY = 0.6745


def positions(values: statistics.Values) -> tuple[int, ...]:
    """Return the positions of outliers, from 0.

    The modified z-score of the logarithms, ``0.6745 * |x - median| / MAD``,
    is above 3.5 (B. Iglewicz and D. C. Hoaglin, "How to detect and handle
    outliers", ASQC 1993). None where more than half of the values are equal,
    as the deviation is then zero.
    """
    if len(values) < FEWEST:
        return ()
    logs = statistics.logarithms(values)
    middle = statistics.median(logs)
    distances = [abs(log - middle) for log in logs]
    deviation = statistics.median(distances)
    if not deviation:
        return ()
    return tuple(
        position
        for position, distance in enumerate(distances)
        if _CONSISTENCY * distance / deviation > THRESHOLD
    )
