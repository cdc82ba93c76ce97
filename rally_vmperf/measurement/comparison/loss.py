"""The comparison of a guest with bare metal."""

import collections.abc
import dataclasses
import functools
import statistics as stdlib

from rally_vmperf.measurement.comparison import normality
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The largest rounding error of any tool, as a share.
LARGEST_ROUNDING_ERROR = 0.1
#: The name of the only side of a paired comparison.
_RATIOS = "the ratios"

Repetitions = collections.abc.Sequence[collections.abc.Sequence[float]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """One metric on bare metal and in the guest, in base units.

    Overhead is the loss of the guest in percent of bare metal; positive
    means that the guest is worse, in either direction of the metric.

    :param bare: The geometric mean over repetitions.
    :param guest: The geometric mean over repetitions.
    :param low: The lower end of the overhead's interval, None without one.
    :param high: The upper end of the overhead's interval; its confidence is
        higher if few guest repetitions vary more than bare metal.
    :param bare_values: The geometric mean over copies per repetition.
    :param guest_values: The geometric mean over guests per repetition.
    :param bare_error: The rounding error of ``bare_values``, as a share; both
        ends of the interval include it.
    :param guest_error: The rounding error of ``guest_values``, as a share.
    :param paired: Whether both sides are of the same repetitions, in order.
    :param quantised: The side with too few different values, in words.
    :param exact: Whether bare metal is a limit instead of a measurement.
    :param conservative: Whether the upper end is higher if few guest
        repetitions vary more.
    """

    metric: sample.Metric
    bare: float
    guest: float
    overhead_percent: float
    low: float | None
    high: float | None
    confidence: float
    bare_values: tuple[float, ...]
    guest_values: tuple[float, ...]
    bare_error: float = 0
    guest_error: float = 0
    quantised: str = ""
    paired: bool = False
    exact: bool = False
    conservative: bool = True

    @property
    def error(self) -> float:
        """The rounding error of the ratio of the sides, as a share."""
        return self.bare_error + self.guest_error

    @property
    def bare_median(self) -> float:
        """The median of ``bare_values``."""
        return stdlib.median(self.bare_values)

    @property
    def guest_median(self) -> float:
        """The median of ``guest_values``."""
        return stdlib.median(self.guest_values)

    @functools.cached_property
    def bare_outliers(self) -> tuple[int, ...]:
        """The positions of outliers in ``bare_values`` from 0, a tuple."""
        return statistics.outliers(self.bare_values)

    @functools.cached_property
    def guest_outliers(self) -> tuple[int, ...]:
        """The positions of outliers in ``guest_values`` from 0, a tuple."""
        return statistics.outliers(self.guest_values)

    @functools.cached_property
    def departures(self) -> tuple[tuple[str, str, str], ...]:
        """The departures from normality: side, kind of finding, detail.

        They are the side, the kind of finding and the detail; pairs have one
        side, their ratios. Without an interval there are none.
        """
        if self.low is None:
            return ()
        sides = [("the guest", self.guest_values, self.guest_error)]
        if self.paired:
            pairs = zip(self.bare_values, self.guest_values, strict=True)
            ratios = tuple(guest / bare for bare, guest in pairs)
            sides = [(_RATIOS, ratios, self.error)]
        elif not self.exact:
            sides.append(("bare metal", self.bare_values, self.bare_error))
        departures = (
            (side, normality.departure(values, error))
            for side, values, error in sides
        )
        return tuple(
            (side, *departure) for side, departure in departures if departure
        )

    @property
    def bare_repetitions(self) -> int:
        """Number of repetitions of the baseline behind the figure."""
        return len(self.bare_values)

    @property
    def guest_repetitions(self) -> int:
        """Number of counted repetitions of the task behind the figure."""
        return len(self.guest_values)


def compare(
    metric: sample.Metric,
    bare: Repetitions,
    guest: Repetitions,
    confidence: float = 0.95,
    exact: bool = False,
    paired: bool = False,
    conservative: bool = True,
) -> Comparison:
    """Return the overhead of a guest against bare metal, a comparison.

    The repetition is the unit of inference: guests and copies are averaged
    first, as those of one repetition share its disturbances.

    :param bare: The values of all copies, for each baseline repetition.
    :param paired: Whether each repetition measured both sides.
    :param exact: Whether ``bare`` is a limit instead of a measurement.
    :param guest: The values of all guests, for each counted repetition.
    :param conservative: Whether few guest repetitions that vary more get a
        wider interval.
    :raises ValueError: If the metric is a count, or a side has no values.
    """
    if metric.scale != "ratio":
        raise ValueError(
            f"{metric.name}: a count has no overhead; use an absolute limit"
        )
    bare_values = tuple(statistics.geometric_mean(values) for values in bare)
    guest_values = tuple(statistics.geometric_mean(values) for values in guest)
    bare_mean = statistics.geometric_mean(bare_values)
    guest_mean = statistics.geometric_mean(guest_values)
    sides = {"the guest": guest_values}
    if not exact:
        sides["bare metal"] = bare_values
    errors = {
        side: metric.error(statistics.geometric_mean(values))
        for side, values in sides.items()
    }
    quantised = ""
    for side, values in sides.items():
        distinct_values = sorted(set(values))
        is_quantised = len(distinct_values) < statistics.FEWEST <= len(values)
        if errors[side] is None and is_quantised:
            errors[side] = _assume_rounding_error(distinct_values)
            number = units.number_of("different value", len(distinct_values))
            quantised = f"{number} in {len(values)} repetitions of {side}"
    error = sum(error or 0 for error in errors.values())
    conservative = conservative and not exact
    ends = _interval(
        metric,
        confidence,
        error,
        paired,
        conservative,
        bare_values,
        guest_values,
    )
    return Comparison(
        metric=metric,
        bare=bare_mean,
        guest=guest_mean,
        overhead_percent=percent(metric, guest_mean / bare_mean),
        low=ends[0] if ends else None,
        high=ends[1] if ends else None,
        confidence=confidence,
        bare_values=bare_values,
        guest_values=guest_values,
        bare_error=errors.get("bare metal") or 0,
        guest_error=errors["the guest"] or 0,
        quantised=quantised if ends else "",
        paired=paired,
        exact=exact,
        conservative=conservative,
    )


def _interval(
    metric: sample.Metric,
    confidence: float,
    error: float,
    paired: bool,
    conservative: bool,
    bare: tuple[float, ...],
    guest: tuple[float, ...],
) -> list[float]:
    """Return both ends of the overhead's interval in percent, or []."""
    ratios = statistics.interval(bare, guest, confidence, error, paired) or ()
    ends = sorted(percent(metric, ratio) for ratio in ratios)
    if ends and conservative:
        higher = float(
            statistics.confidence_of_loss(
                confidence,
                statistics.variance(bare),
                statistics.variance(guest),
                len(guest),
                paired,
            )
        )
        if higher > confidence:
            wider = statistics.interval(bare, guest, higher, error, paired)
            ends[1] = max(percent(metric, ratio) for ratio in wider or ())
    return ends


def _assume_rounding_error(
    distinct_values: collections.abc.Sequence[float],
) -> float:
    """Return the largest rounding error if the tool's rounding is unknown.

    Values cannot be rounded by more than half of their distance. For a single
    repeated value, the largest error of any tool applies.
    """
    if len(distinct_values) < 2:
        return LARGEST_ROUNDING_ERROR
    return (distinct_values[1] / distinct_values[0] - 1) / 2


def percent(metric: sample.Metric, ratio: float) -> float:
    """Return the overhead in percent for a ratio of guest to bare metal.

    ``(bare - guest) / bare`` for rates and ``(guest - bare) / bare`` for
    times, in percent.
    """
    loss = 1 - ratio if metric.better == "higher" else ratio - 1
    return loss * 100


def ratio(metric: sample.Metric, overhead_percent: float) -> float:
    """Return the ratio of guest to bare metal; the inverse of ``percent``.

    The ratio is zero or negative for an overhead that no guest can reach:
    100 % or more for a rate, -100 % or less for a time.
    """
    loss = overhead_percent / 100
    return 1 - loss if metric.better == "higher" else 1 + loss
