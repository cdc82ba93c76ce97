"""Contrasts of one metric between repetitions on a host and on other hosts.

A contrast needs the sums of both sides only, so that the work grows linearly
with the number of hosts.
"""

import collections.abc
import dataclasses
import math
import typing as t

from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample

#: The probability that a host of usual variance is taken for one of larger
#: variance.
_NOISY_ERROR = 0.001


@dataclasses.dataclass(frozen=True, slots=True)
class Sums:
    """The sums of logarithms of one metric, on one host or on several.

    :param count: The number of repetitions.
    :param total: The sum of the logarithms.
    :param squares: The sum of squared distances from the mean of each host.
    :param freedom: The degrees of freedom of ``squares``.
    :param error: The largest rounding error, as a share.
    """

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    freedom: int = 0
    error: float = 0.0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.count + other.count,
            self.total + other.total,
            self.squares + other.squares,
            self.freedom + other.freedom,
            max(self.error, other.error),
        )

    def __sub__(self, part: "Sums") -> "Sums":
        """Return the sums without a part; the rounding error remains."""
        return Sums(
            self.count - part.count,
            self.total - part.total,
            max(0.0, self.squares - part.squares),
            self.freedom - part.freedom,
            self.error,
        )

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return math.exp(self.total / self.count)

    @property
    def variance(self) -> float:
        """The variance of the logarithms within hosts; 0 if unknown."""
        return self.squares / self.freedom if self.freedom else 0.0


def sum_repetitions(
    metric: sample.Metric, repetitions: loss.Repetitions
) -> Sums:
    """Return the sums of a metric on one host.

    :param repetitions: The values of all guests, per repetition.
    :raises ValueError: If a repetition has no values, or if one is not above
        zero.
    """
    means = [statistics.geometric_mean(values) for values in repetitions]
    logs = statistics.logarithms(means)
    total = math.fsum(logs)
    center = total / len(logs)
    error, _ = loss.find_rounding_error(
        metric, "the host", repetitions, math.exp(center)
    )
    return Sums(
        count=len(logs),
        total=total,
        squares=math.fsum((log - center) ** 2 for log in logs),
        freedom=len(logs) - 1,
        error=error,
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Contrast:
    """One metric on a host and on its reference.

    :param subject: The sums of the host.
    :param reference: The sums that it is compared with.
    :param pool: The sums of all hosts whose repetitions vary alike, the host
        included.
    :param margin: The largest loss and gain in percent that are equal.
    """

    metric: sample.Metric
    subject: Sums
    reference: Sums
    pool: Sums
    margin: float = changes.MARGIN


class Decision(t.NamedTuple):
    """The loss of a host compared with its reference, in percent.

    :param low: The lower end of the interval; None without an interval.
    :param high: The upper end of the interval; None without an interval.
    :param confidence: The confidence of the interval, which decided.
    """

    status: changes.Status
    loss: float
    low: float | None
    high: float | None
    confidence: float


def decide_all(
    contrasts: collections.abc.Sequence[Contrast], confidence: float = 0.95
) -> list[Decision]:
    """Return the decision on each contrast, in the same order.

    The confidence is that of all decisions together. A side with fewer than
    three repetitions has no interval.
    """
    decisions = [
        Decision(
            "undecided",
            loss.percent(
                contrast.metric,
                contrast.subject.mean / contrast.reference.mean,
            ),
            None,
            None,
            confidence,
        )
        for contrast in contrasts
    ]
    errors = {
        index: _estimate_error(contrast)
        for index, contrast in enumerate(contrasts)
        if min(contrast.subject.count, contrast.reference.count)
        >= statistics.FEWEST
    }

    def decide_contrast(index: int, level: float) -> bool:
        """Decide a contrast; return whether it is decided."""
        decisions[index] = _decide(
            contrasts[index], decisions[index].loss, errors[index], level
        )
        return decisions[index].status != "undecided"

    verdict.decide_family(errors, confidence, decide_contrast)
    return decisions


def _estimate_error(contrast: Contrast) -> tuple[float, float]:
    """Return the standard error of a contrast, and its degrees of freedom.

    The variance is that of all repetitions of the pool around the means of
    their hosts. The spread between the hosts is no part of it, because two
    slow hosts of four would hide each other. A host that varies significantly
    more than the others has its own variance.
    """
    subject, reference = contrast.subject, contrast.reference
    rest = contrast.pool - subject
    if rest.freedom > 0 and _varies_more(subject, rest):
        subject_error = subject.variance / subject.count
        other = rest.variance / reference.count
        share = subject_error / (subject_error + other)
        freedom = 1 / (
            share**2 / subject.freedom + (1 - share) ** 2 / rest.freedom
        )
        return math.sqrt(subject_error + other), freedom
    variance = contrast.pool.variance
    error = math.sqrt(variance / subject.count + variance / reference.count)
    return error, contrast.pool.freedom


def _varies_more(subject: Sums, rest: Sums) -> bool:
    """Return whether a host varies significantly more than the others."""
    from scipy import special

    if subject.variance <= rest.variance or not subject.freedom:
        return False
    if not rest.variance:
        return True
    ratio = subject.variance / rest.variance
    probability = special.fdtrc(subject.freedom, rest.freedom, ratio)
    return bool(probability < _NOISY_ERROR)


def _decide(
    contrast: Contrast,
    loss_percent: float,
    error: tuple[float, float],
    confidence: float,
) -> Decision:
    """Return the decision on a contrast at a confidence.

    :param error: The standard error and its degrees of freedom.
    """
    deviation, freedom = error
    half = statistics.student_quantile(confidence, freedom) * deviation
    half += math.log1p(contrast.subject.error + contrast.reference.error)
    ratio = loss.ratio(contrast.metric, loss_percent)
    low, high = sorted(
        loss.percent(contrast.metric, _scale(ratio, exponent))
        for exponent in (-half, half)
    )
    status = changes.decide(low, high, contrast.margin)
    return Decision(status, loss_percent, low, high, confidence)


def _scale(ratio: float, exponent: float) -> float:
    """Return a ratio times ``e`` to a power; infinity for an overflow."""
    try:
        return ratio * math.exp(exponent)
    except OverflowError:
        return math.inf
