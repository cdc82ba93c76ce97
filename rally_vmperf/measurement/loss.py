"""How much slower a guest is than bare metal."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics

Repetitions = collections.abc.Sequence[collections.abc.Sequence[float]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """One metric on bare metal and in the guest, in base units.

    Overhead is the loss of the guest in percent of bare metal; positive
    means that the guest is worse, whatever the direction of the metric.

    :param bare: geometric mean over repetitions
    :param guest: geometric mean over repetitions
    :param low: lower end of the overhead's interval, None without interval
    :param high: upper end of the overhead's interval
    :param bare_values: one geometric mean over copies per repetition
    :param guest_values: one geometric mean over guests per repetition
    :param bare_outliers: positions in ``bare_values``, from 0
    :param guest_outliers: positions in ``guest_values``, from 0
    """

    metric: sample.Metric
    bare: float
    guest: float
    bare_median: float
    guest_median: float
    overhead_percent: float
    low: float | None
    high: float | None
    confidence: float
    bare_values: tuple[float, ...]
    guest_values: tuple[float, ...]
    bare_outliers: tuple[int, ...]
    guest_outliers: tuple[int, ...]

    @property
    def bare_repetitions(self) -> int:
        """How many repetitions of the baseline the figure rests on."""
        return len(self.bare_values)

    @property
    def guest_repetitions(self) -> int:
        """How many counted repetitions of the task the figure rests on."""
        return len(self.guest_values)


def compare(
    metric: sample.Metric,
    bare: Repetitions,
    guest: Repetitions,
    confidence: float = 0.95,
) -> Comparison:
    """Compare the repetitions of both sides.

    The repetition is the unit of inference: guests and copies are averaged
    first, as those of one repetition share its disturbances.

    :param bare: for each repetition of the baseline the values of all copies
    :param guest: for each counted repetition the values of all guests
    :raises ValueError: for a count, or a side without values
    """
    if metric.scale != "ratio":
        raise ValueError(
            f"{metric.name} is a count and has no overhead, "
            "hold it to an absolute limit"
        )
    bare_values = tuple(statistics.geometric_mean(values) for values in bare)
    guest_values = tuple(statistics.geometric_mean(values) for values in guest)
    bare_mean = statistics.geometric_mean(bare_values)
    guest_mean = statistics.geometric_mean(guest_values)
    ratios = statistics.ratio_interval(bare_values, guest_values, confidence)
    ends = sorted(percent(metric, ratio) for ratio in ratios or ())
    return Comparison(
        metric=metric,
        bare=bare_mean,
        guest=guest_mean,
        bare_median=statistics.median(bare_values),
        guest_median=statistics.median(guest_values),
        overhead_percent=percent(metric, guest_mean / bare_mean),
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        confidence=confidence,
        bare_values=bare_values,
        guest_values=guest_values,
        bare_outliers=statistics.outliers(bare_values),
        guest_outliers=statistics.outliers(guest_values),
    )


def percent(metric: sample.Metric, ratio: float) -> float:
    """Return the overhead that a ratio of guest to bare metal stands for.

    ``(bare - guest) / bare`` for rates and ``(guest - bare) / bare`` for
    times, in percent.
    """
    loss = 1 - ratio if metric.better == "higher" else ratio - 1
    return loss * 100


def ratio(metric: sample.Metric, overhead_percent: float) -> float:
    """Return the ratio of guest to bare metal; the inverse of ``percent``.

    Not above zero for an overhead that no guest can reach: 100 % or more of
    a rate, -100 % or less of a time.
    """
    loss = overhead_percent / 100
    return 1 - loss if metric.better == "higher" else 1 + loss
