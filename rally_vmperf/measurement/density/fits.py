"""The largest number of guests within a limit, with its interval."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.samples import units

#: The largest predicted number of guests, as a multiple of the measured one:
#: the law ends when processors, memory or a disk are exhausted.
MAX_EXTRAPOLATION = 1.5

Verdicts = collections.abc.Mapping[int, verdict.Status]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MaxGuests:
    """The largest number of guests within the limit.

    :param tested: The largest measured number up to which all levels are
        within the limit; 0 if the first is not; None if undecided.
    :param low: The smallest number that the measurements allow.
    :param high: The largest number that the measurements allow; None if
        they allow any.
    :param predicted: The number that the law predicts; None without a law
        or too far beyond the measurements.
    :param predicted_low: The lower end of the interval of ``predicted``.
    :param predicted_high: The upper end of the interval of ``predicted``.
    :param host_limit: The host resource that bounds ``predicted``.
    :param extrapolated: Whether ``predicted`` lies beyond the measurements;
        it then has no interval.
    """

    tested: int | None
    low: int | None
    high: int | None
    predicted: int | None = None
    predicted_low: int | None = None
    predicted_high: int | None = None
    extrapolated: bool = False
    host_limit: repetition.HostLimit | None = None

    def sentence(
        self,
        limit: float,
        largest: int,
        measured: int,
        host: repetition.HostLimit | None,
    ) -> str:
        """Return how many guests fit within the limit, as a clause.

        :param largest: The largest number of guests in the task.
        :param measured: The largest number of guests in the fitted law.
        :param host: The capacity of the host, None if it is unknown.
        """
        limit_text = f"within the limit of {limit:g} %"
        high = "" if self.high is None else f" and at most {self.high}"
        if self.tested is None:
            text = f"undecided how many guests are {limit_text}"
            if self.low:
                text += f", at least {self.low}{high}"
        elif self.tested == 0 and self.high == 0:
            text = f"not even 1 guest {limit_text}"
        elif self.high is not None and self.tested in (0, self.high):
            most = units.number_of("guest", self.high)
            text = f"at most {most} {limit_text}"
        elif self.high is not None and self.high < largest:
            text = f"at least {self.tested}{high} guests {limit_text}"
        else:
            tested = units.number_of("guest", self.tested)
            text = f"all that was tested, up to {tested}, {limit_text}"
        if self.predicted is not None:
            text += f"; the law predicts {self.predicted}"
            if self.extrapolated:
                text += f", extrapolated beyond {measured}"
            if self.host_limit is not None:
                text += f", and no more, as {self.host_limit.sentence()}"
            elif self.extrapolated:
                pass
            elif self.predicted_high is None:
                text += f", {self.predicted_low} or more"
            elif self.predicted_low != self.predicted_high:
                text += (
                    f", between {self.predicted_low} and {self.predicted_high}"
                )
        if self.extrapolated and host is None:
            text += ", and the host's size is unknown"
        return text


def max_guests(
    verdicts: Verdicts,
    limit: float,
    fitted: law.UslFit | None,
    host_limit: repetition.HostLimit | None = None,
) -> MaxGuests:
    """Return the largest number of guests within the limit, with bounds.

    ``tested`` is the last passed level before the first level that is not
    passed. A prediction does not override a verdict; it only narrows the
    range between verdicts.

    :param verdicts: The verdicts of the levels, by number of guests.
    :param limit: The limit of the loss against the solo guest, in percent.
    :param fitted: The law of these losses, None if there is none.
    :param host_limit: The capacity of the host, None if it is unknown.
    """
    passed, tested = _last_passed(verdicts)
    failed = [
        guests
        for guests, status in verdicts.items()
        if status == "failed" and guests > passed
    ]
    measured = MaxGuests(
        tested=tested,
        low=passed if verdicts else None,
        high=min(failed) - 1 if failed else None,
    )
    if fitted is None:
        return measured
    max_predicted = int(fitted.largest * MAX_EXTRAPOLATION)
    if host_limit is not None and host_limit.guests < max_predicted:
        max_predicted = max(host_limit.guests, fitted.largest)
    else:
        host_limit = None
    number, low, high = _predict(fitted, limit, max_predicted)
    if measured.high is not None or number <= max_predicted:
        host_limit = None
    elif host_limit is None:
        return measured
    else:
        number, low = max_predicted, min(low, max_predicted)
    number, predicted_low, predicted_high = (
        _clamp(predicted, passed, measured.high)
        for predicted in (number, low, high)
    )
    extrapolated = number > fitted.largest
    return dataclasses.replace(
        measured,
        predicted=number,
        predicted_low=None if extrapolated else predicted_low,
        predicted_high=None
        if extrapolated or predicted_high > max_predicted
        else predicted_high,
        extrapolated=extrapolated,
        host_limit=host_limit,
    )


def _last_passed(verdicts: Verdicts) -> tuple[int, int | None]:
    """Return the last level that passes, and it again if decided.

    It is decided if the next level failed or does not exist.
    """
    passed = 0
    for guests, status in sorted(verdicts.items()):
        if status != "passed":
            return passed, passed if status == "failed" else None
        passed = guests
    return passed, passed if verdicts else None


def _clamp(number: int, low: int, high: int | None) -> int:
    """Return the number, or the nearer bound if it is out of bounds."""
    number = max(number, low)
    return number if high is None else min(number, high)


def _predict(
    fitted: law.UslFit, limit: float, max_predicted: int
) -> tuple[int, int, int]:
    """Return the predicted number of guests and its interval's ends.

    One more than ``farthest`` stands for all larger numbers.
    """
    losses = [fitted.loss(guests) for guests in range(1, max_predicted + 2)]
    predicted, low, high = (
        _last_within([getattr(loss, end) for loss in losses], limit)
        for end in ("value", "high", "low")
    )
    return predicted, low, high


def _last_within(losses: list[float], limit: float) -> int:
    """Return the largest number of guests whose loss is within the limit."""
    for before, percent in enumerate(losses):
        # What is exactly the limit shall not fail by rounding.
        if percent > limit + 1e-9:
            return before
    return len(losses)
