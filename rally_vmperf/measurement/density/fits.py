"""How many guests fit within a limit, as one number with its interval."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.samples import units

#: Nothing is predicted beyond so many times the guests that were measured:
#: where processors, memory or a disk are full, no law goes on.
FARTHEST = 1.5

Verdicts = collections.abc.Mapping[int, verdict.Status]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fits:
    """The largest number of guests within the limit.

    :param tested: the largest measured number up to which every one is
        within the limit; 0 where even the first is not; None while undecided
    :param low: the number is at least this, by what was measured
    :param high: and at most this; None where nothing measured bounds it
    :param predicted: by the law; None without a law, and where it lies too
        far beyond what was measured
    :param least: lower end of the interval of ``predicted``
    :param most: upper end
    :param room: what of the host bounds ``predicted``
    :param extrapolated: ``predicted`` lies beyond what was measured; it has
        no interval then, as its own is that of the law, if the law goes on
    """

    tested: int | None
    low: int | None
    high: int | None
    predicted: int | None = None
    least: int | None = None
    most: int | None = None
    extrapolated: bool = False
    room: repetition.Room | None = None

    def sentence(
        self,
        limit: float,
        largest: int,
        measured: int,
        host: repetition.Room | None,
    ) -> str:
        """Return it in words.

        :param largest: number of guests that was to be measured
        :param measured: the largest that the law was fitted to
        :param host: what it holds, None where its size is not known
        """
        within = f"within the limit of {limit:g} %"
        high = "" if self.high is None else f" and at most {self.high}"
        if self.tested is None:
            words = f"undecided how many guests are {within}"
            if self.low:
                words += f", at least {self.low}{high}"
        elif self.tested == 0 and self.high == 0:
            words = f"not even 1 guest {within}"
        elif self.high == self.tested:
            words = f"at most {units.number_of('guest', self.tested)} {within}"
        elif self.tested == 0 and self.high is not None:
            words = f"at most {units.number_of('guest', self.high)} {within}"
        elif self.high is not None and self.high < largest:
            words = f"at least {self.tested}{high} guests {within}"
        else:
            tested = units.number_of("guest", self.tested)
            words = f"all that was tested, up to {tested}, {within}"
        if self.predicted is not None:
            words += f"; the law predicts {self.predicted}"
            if self.extrapolated:
                words += f", extrapolated beyond {measured}"
            if self.room is not None:
                words += f", and no more, as {self.room.sentence()}"
            elif self.extrapolated:
                pass
            elif self.most is None:
                words += f", {self.least} or more"
            else:
                words += f", between {self.least} and {self.most}"
        if self.extrapolated and host is None:
            words += ", and nobody knows the host's size"
        return words


def fits(
    verdicts: Verdicts,
    limit: float,
    fitted: law.Law | None,
    room: repetition.Room | None = None,
) -> Fits:
    """Return the largest number of guests within the limit.

    ``tested`` follows the verdicts upwards, to the last one that is passed
    before the first that is not. What a verdict says of a number of guests
    is not overruled by a prediction, which only narrows what lies between.

    :param verdicts: guests -> verdict, for each level of the task
    :param limit: of a guest's loss against a lone one, in percent
    :param fitted: the law of these losses, None where there is none
    :param room: what the host holds, None where its size is not known
    """
    passed, tested = _climbed(verdicts)
    broken = [
        guests
        for guests, status in verdicts.items()
        if status == "failed" and guests > passed
    ]
    measured = Fits(
        tested=tested,
        low=passed if verdicts else None,
        high=min(broken) - 1 if broken else None,
    )
    if fitted is None:
        return measured
    farthest = int(fitted.largest * FARTHEST)
    bounded = False
    if room is not None and room.guests < farthest:
        farthest, bounded = max(room.guests, fitted.largest), True
    ends = _predicted(fitted, limit, farthest)
    bounded = bounded and ends[0] > farthest and measured.high is None
    if bounded:
        ends = (farthest, min(ends[1], farthest), ends[2])
    elif measured.high is None and ends[0] > farthest:
        return measured
    number, least, most = (_within(x, passed, measured.high) for x in ends)
    extrapolated = number > fitted.largest
    return dataclasses.replace(
        measured,
        predicted=number,
        least=None if extrapolated else least,
        most=None if extrapolated or most > farthest else most,
        extrapolated=extrapolated,
        room=room if bounded else None,
    )


def _climbed(verdicts: Verdicts) -> tuple[int, int | None]:
    """Return up to which number all levels pass, and that number if decided.

    It is decided if the next level failed, or if there is no next one.
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

    One more than ``farthest`` stands for all larger numbers.
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
