"""How many guests fit within a limit, as one number with its interval."""

import collections.abc

from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.density import points

#: Nothing is predicted beyond so many times the guests that were measured.
FARTHEST = 4

Verdicts = collections.abc.Mapping[int, verdict.Status]


def fits(
    verdicts: Verdicts, limit: float, fitted: points.Law | None
) -> points.Fits:
    """Return the largest number of guests within the limit.

    ``tested`` follows the verdicts upwards, to the last one that is passed
    before the first that is not. What a verdict says of a number of guests
    is not overruled by a prediction, which only narrows what lies between.

    :param verdicts: guests -> verdict, for each level of the task
    :param limit: of a guest's loss against a lone one, in percent
    :param fitted: the law of these losses, None where there is none
    """
    passed, tested = _climbed(verdicts)
    broken = [
        guests
        for guests, status in verdicts.items()
        if status == "failed" and guests > passed
    ]
    low, high = passed, min(broken) - 1 if broken else None
    predicted = None
    if fitted is not None and not fitted.contradicted:
        predicted, lowest, highest = _predicted(fitted, limit)
        if predicted is not None:
            predicted = _within(predicted, passed, high)
            low = _within(lowest, passed, high)
            high = high if highest is None else _within(highest, low, high)
    return points.Fits(
        tested=tested,
        predicted=predicted,
        low=low if verdicts else None,
        high=high,
        extrapolated=predicted is not None
        and fitted is not None
        and predicted > fitted.largest,
    )


def _climbed(verdicts: Verdicts) -> tuple[int, int | None]:
    """Return how far all is passed, and the same if that is decided.

    It is where the next one is failed, or where there is no next one.
    """
    last = 0
    for guests, status in sorted(verdicts.items()):
        if status != "passed":
            return last, last if status == "failed" else None
        last = guests
    return last, last if verdicts else None


def _within(number: int, low: int, high: int | None) -> int:
    number = max(number, low)
    return number if high is None else min(number, high)


def _predicted(
    fitted: points.Law, limit: float
) -> tuple[int | None, int, int | None]:
    """Return the number that the law gives, and the ends of its interval.

    None for what lies farther off than anybody should predict.
    """
    farthest = fitted.largest * FARTHEST
    losses = [law.loss(fitted, guests) for guests in range(1, farthest + 2)]
    number = _last([one.percent for one in losses], limit)
    least = _last(
        [one.percent if one.high is None else one.high for one in losses],
        limit,
    )
    most = _last(
        [one.percent if one.low is None else one.low for one in losses],
        limit,
    )
    return (
        number if number <= farthest else None,
        min(least, farthest),
        most if most <= farthest else None,
    )


def _last(losses: list[float], limit: float) -> int:
    """Return how many guests it takes until the loss is beyond the limit."""
    for before, percent in enumerate(losses):
        # What is exactly the limit shall not fail by rounding.
        if percent > limit + 1e-9:
            return before
    return len(losses)
