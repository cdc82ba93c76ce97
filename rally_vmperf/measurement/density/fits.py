"""How many guests fit within a limit, as one number with its interval."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import law

#: Nothing is predicted beyond so many times the guests that were measured.
FARTHEST = 4

Verdicts = collections.abc.Mapping[int, verdict.Status]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fits:
    """The largest number of guests within the limit.

    :param tested: the largest measured number up to which every one is
        within the limit; 0 where even the first is not; None while undecided
    :param predicted: by the law; None without a law that can be trusted, and
        where it lies too far beyond what was measured
    :param low: lower end of the interval of the number
    :param high: upper end; None where nothing measured or predicted bounds it
    :param extrapolated: ``predicted`` lies beyond what was measured
    """

    tested: int | None
    predicted: int | None
    low: int | None
    high: int | None
    extrapolated: bool


def fits(verdicts: Verdicts, limit: float, fitted: law.Law | None) -> Fits:
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
    predicted, largest = None, 0
    if fitted is not None and not fitted.contradicted:
        largest = fitted.largest
        farthest = largest * FARTHEST
        number, least, most = _predicted(fitted, limit, farthest)
        if high is not None or number <= farthest:
            predicted = _within(number, passed, high)
            low = _within(least, passed, high)
            if high is not None or most <= farthest:
                high = _within(most, low, high)
    return Fits(
        tested=tested,
        predicted=predicted,
        low=low if verdicts else None,
        high=high,
        extrapolated=predicted is not None and predicted > largest,
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
    fitted: law.Law, limit: float, farthest: int
) -> tuple[int, int, int]:
    """Return the number that the law gives, and the ends of its interval.

    One more than the farthest stands for all that lies farther off.
    """
    losses = [fitted.loss(guests) for guests in range(1, farthest + 2)]
    return (
        _last([one.percent for one in losses], limit),
        _last(
            [one.percent if one.high is None else one.high for one in losses],
            limit,
        ),
        _last(
            [one.percent if one.low is None else one.low for one in losses],
            limit,
        ),
    )


def _last(losses: list[float], limit: float) -> int:
    """Return how many guests it takes until the loss is beyond the limit."""
    for before, percent in enumerate(losses):
        # What is exactly the limit shall not fail by rounding.
        if percent > limit + 1e-9:
            return before
    return len(losses)
