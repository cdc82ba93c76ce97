# SPDX-License-Identifier: Apache-2.0
"""The comparison of a guest with bare metal."""

import collections.abc
import dataclasses
import functools
import itertools
import math

from rally_vmperf.measurement.comparison import normality
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The largest rounding error of any tool, as a share.
LARGEST_ROUNDING_ERROR = 0.1
#: The number of different values up to which repeated values are considered
#: rounded, if the rounding of the tool is unknown.
_MAX_ROUNDED_VALUES = 6
#: The names of the only side of a paired comparison, of the reference side,
#: and of one that is no bare metal.
_RATIOS = "the ratios"
BARE_METAL = "bare metal"
REFERENCE = "the reference"

#: The name of a side, its means per repetition, and their rounding error.
_Side = tuple[str, tuple[float, ...], float]
#: The sides that drift, with how far.
Drifts = tuple[tuple[str, str], ...]
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
    :param reference_name: The reference side in sentences; guests under other
        conditions are no bare metal, which could be recorded again.
    :param overlap: The share of the run in which all guests worked; the upper
        end is that of guests that work together all the time.
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
    reference_name: str = BARE_METAL
    overlap: float = 1.0

    @property
    def error(self) -> float:
        """The rounding error of the ratio of the sides, as a share."""
        return self.bare_error + self.guest_error

    @functools.cached_property
    def departures(self) -> tuple[tuple[str, str, str], ...]:
        """What the interval does not assume: side, kind of finding, detail.

        Bare metal that is skewed or bimodal has a kind of its own, as it can
        be recorded again. Without an interval there are none.
        """
        if self.low is None:
            return ()
        departures = []
        for side, values, error in self._sides:
            kind, detail = normality.departure(values, error) or ("", "")
            if kind and side == BARE_METAL:
                kind, detail = "baseline_irregular", f"{kind}, {detail}"
            if kind:
                departures.append((side, kind, detail))
        if (factor := f"{1 / (self.overlap or 1):.2f}") != "1.00":
            shared = units.show_percent(100 * self.overlap)
            detail = (
                f"all worked during {shared} % of the run; the loss may be "
                f"{factor} times as large"
            )
            departures.append(("the guests", "loss_understated", detail))
        return tuple(departures)

    def find_upper_end(self, confidence: float) -> float | None:
        """Return the upper end of the loss at another confidence, or None."""
        if self.low is None:
            return None
        _, high = _interval(
            self.metric,
            confidence,
            self.error,
            self.paired,
            self.bare_values,
            self.bare_values,
            self.guest_values,
        )
        return high

    @property
    def _sides(self) -> list[_Side]:
        """The measured sides; pairs have one side, their ratios."""
        if self.paired:
            pairs = zip(self.bare_values, self.guest_values, strict=True)
            ratios = tuple(guest / bare for bare, guest in pairs)
            return [(_RATIOS, ratios, self.error)]
        sides = [("the guest", self.guest_values, self.guest_error)]
        if not self.exact:
            sides.append(
                (self.reference_name, self.bare_values, self.bare_error)
            )
        return sides

    @functools.cached_property
    def drifts(self) -> Drifts:
        """The sides that drift, with how far; () without an interval."""
        if self.low is None:
            return ()
        return tuple(
            (side, drift)
            for side, values, error in self._sides
            if (drift := normality.drift(values, error))
        )

    @property
    def estimate(self) -> units.Estimate:
        """The overhead in percent with its interval."""
        return units.Estimate(self.overhead_percent, self.low, self.high)

    @property
    def last_overhead_percent(self) -> float:
        """The overhead of the last state of the sides that drift."""
        ratio = self.guest / self.bare
        drifting = {side for side, _ in self.drifts}
        for side, values, _ in self._sides:
            if side in drifting:
                change = normality.last_state(values)
                is_reference = side == self.reference_name
                ratio *= 1 / change if is_reference else change
        return percent(self.metric, ratio)

    @functools.cached_property
    def plain_high(self) -> float | None:
        """The upper end of the interval at ``confidence``, None without one.

        ``high`` is larger if few guest repetitions vary more.
        """
        ratios = statistics.interval(
            self.bare_values,
            self.guest_values,
            self.confidence,
            self.error,
            self.paired,
        )
        ends = [percent(self.metric, ratio) for ratio in ratios or ()]
        return max(ends, default=None)

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
    usual: statistics.Values | None = None,
    overlap: float = 1.0,
    reference_name: str = BARE_METAL,
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
    :param usual: The values with whose variance theirs is compared, by
        default those of ``bare``; fewer than three have none.
    :param overlap: The share of the run in which all guests worked.
    :param reference_name: The name of the side ``bare`` in sentences.
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
    guest_error, quantised = find_rounding_error(
        metric, "the guest", guest, guest_mean
    )
    bare_error, bare_quantised = (
        (0.0, "")
        if exact
        else find_rounding_error(metric, reference_name, bare, bare_mean)
    )
    usual = bare_values if usual is None else usual
    ends = _interval(
        metric,
        confidence,
        guest_error + bare_error,
        paired,
        usual if conservative else None,
        bare_values,
        guest_values,
    )
    if ends:
        ends[1] = _correct_for_overlap(metric, ends[1], overlap)
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
        bare_error=bare_error,
        guest_error=guest_error,
        quantised=(bare_quantised or quantised) if ends else "",
        paired=paired,
        exact=exact,
        reference_name=reference_name,
        overlap=overlap,
    )


def find_rounding_error(
    metric: sample.Metric, side: str, repetitions: Repetitions, mean: float
) -> tuple[float, str]:
    """Return the rounding error of a side, and how the values show it.

    :returns: The share of the mean, and a clause; empty if the tool states
        the error, or if there is none.
    """
    error = metric.error(mean)
    if error is not None or len(repetitions) < statistics.FEWEST:
        return error or 0.0, ""
    values = [value for values in repetitions for value in values]
    error = _assume_rounding_error(values)
    if not error:
        return 0.0, ""
    count = len(set(values))
    where = f"{len(values)} samples of {side}"
    if count == 1:
        return error, f"all {where} gave the same value"
    return error, f"only {count} different values in {where}"


def _interval(
    metric: sample.Metric,
    confidence: float,
    error: float,
    paired: bool,
    usual: statistics.Values | None,
    bare: tuple[float, ...],
    guest: tuple[float, ...],
) -> list[float]:
    """Return both ends of the overhead's interval in percent, or [].

    :param usual: The values above whose variance few guest repetitions get a
        higher upper end; None for no such end.
    """
    ratios = statistics.interval(bare, guest, confidence, error, paired) or ()
    ends = sorted(percent(metric, ratio) for ratio in ratios)
    if ends and usual is not None:
        has_variance = len(usual) >= statistics.FEWEST
        higher = float(
            statistics.confidence_of_loss(
                confidence,
                statistics.variance(usual) if has_variance else 0.0,
                statistics.variance(guest),
                len(guest),
                paired,
            )
        )
        if higher > confidence:
            wider = statistics.interval(bare, guest, higher, error, paired)
            ends[1] = max(percent(metric, ratio) for ratio in wider or ())
    return ends


def _assume_rounding_error(values: list[float]) -> float:
    """Return the largest rounding error if the tool's rounding is unknown.

    Means over guests would hide that each of their values is rounded. Values
    cannot be rounded by more than half of their smallest distance. For equal
    values, the largest error of any tool applies. Values that are many, or all
    different, are considered as exact.
    """
    distinct = set(values)
    if len(distinct) == 1:
        return LARGEST_ROUNDING_ERROR
    if len(distinct) > _MAX_ROUNDED_VALUES or len(distinct) == len(values):
        return 0.0
    steps = itertools.pairwise(sorted(distinct))
    return min(larger / smaller - 1 for smaller, larger in steps) / 2


def _correct_for_overlap(
    metric: sample.Metric, loss_percent: float, overlap: float
) -> float:
    """Return a loss as if all guests had worked during the whole run.

    In the rest of the run the rate is at most that without a loss: a loss of
    the rate is understated by the overlap at most.
    """
    if overlap >= 1:
        return loss_percent
    rest = ratio(metric, loss_percent)
    lost = 1 - (rest if metric.better == "higher" else 1 / rest)
    if lost <= 0:
        return loss_percent
    corrected = min(1.0, lost / overlap) if overlap > 0 else 1.0
    if metric.better == "higher":
        return corrected * 100
    return corrected / (1 - corrected) * 100 if corrected < 1 else math.inf


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
