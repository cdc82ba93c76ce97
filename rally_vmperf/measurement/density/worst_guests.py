"""The worst guest of each repetition, which shows a victim that rotates.

A guest that is slow in one repetition only has a good mean of its own.
"""

import collections
import collections.abc
import dataclasses
import functools
import statistics as stdlib

from rally_vmperf.measurement.comparison import rates
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class LargestLoss:
    """The guest with the largest loss in one repetition.

    :param number: The number of the repetition.
    :param percent: The loss of the rate, in percent.
    """

    number: int
    guest: str
    percent: float


@dataclasses.dataclass(frozen=True)
class WorstGuests:
    """The guests with the largest loss against the solo guest.

    :param losses: The losses of all guests in percent, by repetition and
        guest; empty for the solo guest.
    """

    losses: rates.Losses

    @functools.cached_property
    def largest(self) -> list[LargestLoss]:
        """The worst guest of each repetition with its loss, a list."""
        largest = []
        for number, losses in self.losses.items():
            if losses:
                guest = max(sorted(losses), key=losses.__getitem__)
                largest.append(
                    LargestLoss(
                        number=number, guest=guest, percent=losses[guest]
                    )
                )
        return largest

    @functools.cached_property
    def percent(self) -> float | None:
        """The mean of the largest losses; None without losses."""
        if not self.largest:
            return None
        return stdlib.fmean(loss.percent for loss in self.largest)

    @functools.cached_property
    def percent_by_chance(self) -> float:
        """How far the largest loss of equal guests is above the others.

        The difference is in percent points. Noise that all guests of a
        repetition share is not counted: it moves the largest loss and the
        others alike.
        """
        by_guest: dict[str, list[float]] = collections.defaultdict(list)
        for losses in self.losses.values():
            centred = statistics.subtract_median(tuple(losses.values()))
            for guest, percent in zip(losses, centred, strict=True):
                by_guest[guest].append(percent)
        return statistics.expected_largest(by_guest.values())

    def are_beyond(self, limit: float) -> bool:
        """Return whether they are beyond a limit, and not by chance."""
        if self.percent is None or self.percent <= limit:
            return False
        return self.percent - self.percent_by_chance > limit

    def describe(self) -> str:
        """Return their losses as a clause, or ""."""
        if self.percent is None:
            return ""
        most = max(self.largest, key=lambda loss: loss.percent)
        return (
            "the worst guest of each repetition loses "
            f"{units.show_percent(self.percent)} % in the mean, "
            f"{units.show_percent(most.percent)} % at most "
            f"({most.guest} in repetition {most.number})"
        )
