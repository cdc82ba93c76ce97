# SPDX-License-Identifier: Apache-2.0
"""The worst guest of each repetition, which shows victims by turns.

A guest that is slow in some repetitions only has a good mean of its own.
"""

import collections.abc
import dataclasses
import functools
import math
import typing as t

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict

#: The probability that equal guests seem to take turns. It is small, because
#: each guest's own interval is tested in addition.
_ERROR = 0.01
#: The share of the smallest differences that estimate the noise. Half of a
#: guest's repetitions can be slow without raising it above twice the noise.
_QUARTILE = 0.25
#: The efficiency of this estimate for normal values (P. J. Rousseeuw and
#: C. Croux, "Alternatives to the Median Absolute Deviation", Journal of the
#: American Statistical Association 88, 1993).
_EFFICIENCY = 0.8
#: The number of draws of the largest of several normal values.
_DRAWS = 2000

#: The logarithm of each guest's loss, by repetition and guest: positive if
#: the guest is worse.
Losses = collections.abc.Mapping[int, collections.abc.Mapping[str, float]]


@dataclasses.dataclass(frozen=True)
class WorstGuests:
    """The guests with the largest loss in each repetition.

    :param losses: The losses of all guests; empty without a reference.
    :param error: The rounding error of a loss, as a share: the least noise.
    """

    losses: Losses
    error: float = 0.0

    @functools.cached_property
    def worst(self) -> dict[int, str]:
        """The guest with the largest loss, by repetition."""
        return {
            number: max(sorted(by_guest), key=by_guest.__getitem__)
            for number, by_guest in self.losses.items()
            if by_guest
        }

    @functools.cached_property
    def common(self) -> list[str]:
        """The guests that have a loss in each repetition, sorted."""
        each = [*self.losses.values()]
        return sorted(set.intersection(*map(set, each))) if each else []

    def list_alike(self, confidence: float) -> list[str]:
        """Return the guests that are not worse than the mean guest.

        One of many equal guests seems to be worse by chance. Therefore, the
        confidence is corrected for their number. The error is that of all
        guests together, less what a repetition does to all of them.

        :param confidence: The confidence of the interval, as 0.95.
        :returns: The guests, of those that have a loss in each repetition.
        """
        repetitions, number = len(self.losses), len(self.common)
        if min(repetitions, number) < 2:
            return []
        table = self._build_table()
        centred = table - table.mean(axis=1, keepdims=True)
        means = centred.mean(axis=0)
        freedom = (repetitions - 1) * (number - 1)
        variance = ((centred - means) ** 2).sum() / freedom
        error = math.sqrt(variance * (number - 1) / number / repetitions)
        quantile = statistics.student_quantile(
            verdict.correct_confidence(confidence, number), freedom
        )
        return [
            guest
            for guest, mean in zip(self.common, means, strict=True)
            if mean <= quantile * error
        ]

    def _build_table(self) -> t.Any:
        """Return the losses by repetition and common guest, as an array."""
        import numpy

        return numpy.array(
            [
                [losses[guest] for guest in self.common]
                for losses in self.losses.values()
            ]
        )

    @functools.cached_property
    def take_turns(self) -> bool:
        """Whether they are worse than their means and chance explain.

        If the guests keep their own losses, the largest loss of a repetition
        is that of their means with noise. The noise is that of a guest
        between repetitions, less what all guests of a repetition share, and
        is estimated from small differences, which victims do not raise.
        """
        repetitions, number = len(self.losses), len(self.common)
        if min(repetitions, number) < 2:
            return False
        table = self._build_table()
        noise = max(_estimate_noise(table), self.error)
        means = table.mean(axis=0)
        expected = (means + noise * _draw(number)).max(axis=1)
        freedom = _EFFICIENCY * number * (repetitions - 1)
        error = math.hypot(
            expected.std() / math.sqrt(repetitions),
            (expected.mean() - means.max()) / math.sqrt(2 * freedom),
        )
        quantile = statistics.student_quantile(1 - 2 * _ERROR, freedom)
        excess = table.max(axis=1).mean() - expected.mean()
        return bool(excess > quantile * error)


def _estimate_noise(table: t.Any) -> float:
    """Return the standard deviation of a guest between repetitions.

    What all guests of a repetition share is their median, to which they are
    nearer than to the true value by a factor that applies to a mean.

    :param table: The losses by repetition and guest, as an array.
    """
    import numpy
    from scipy import special

    repetitions, number = table.shape
    centred = table - numpy.median(table, axis=1, keepdims=True)
    centred *= math.sqrt(number / (number - 1))
    first, second = numpy.triu_indices(repetitions, 1)
    differences = numpy.abs(centred[first] - centred[second])
    normal = math.sqrt(2) * special.ndtri((1 + _QUARTILE) / 2)
    return float(numpy.quantile(differences, _QUARTILE) / normal)


@functools.lru_cache(maxsize=64)
def _draw(number: int) -> t.Any:
    """Return draws of so many standard normal values, as an array.

    The draws are the same in each process.
    """
    import numpy

    return numpy.random.default_rng(0).standard_normal((_DRAWS, number))
