# SPDX-License-Identifier: Apache-2.0
"""Contrasts of one metric between a host and the other hosts.

A contrast needs the sums of each host only, and the medians of the others
come from one sorted list, so that the work grows linearly with the hosts.
"""

import bisect
import collections.abc
import dataclasses
import itertools
import math
import typing as t

from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample

Status = verdict.Change | t.Literal["differ"]

#: The probability that a host of usual variance is taken for one of larger
#: variance.
_NOISY_ERROR = 0.001
#: The number of hosts up to which no host is in the majority without another.
_FEW_HOSTS = 3
#: The smallest standard deviation, of values that are all equal.
_LEAST_DEVIATION = 1e-12


class HostMean(t.NamedTuple):
    """The mean of one metric on a host, on logarithms.

    :param repetitions: Their number.
    :param center: The mean of the logarithms.
    :param variance: The variance of the logarithms; 0 if unknown.
    :param rounding: The rounding error, as a share.
    """

    repetitions: int
    center: float
    variance: float
    rounding: float


def average(metric: sample.Metric, repetitions: loss.Repetitions) -> HostMean:
    """Return the mean of a metric on one host.

    :param repetitions: The values of all guests, per repetition.
    :raises ValueError: If a repetition has no values, or if one is not above
        zero.
    """
    means = [statistics.geometric_mean(values) for values in repetitions]
    center = math.log(statistics.geometric_mean(means))
    rounding, _ = loss.find_rounding_error(
        metric, "the host", repetitions, math.exp(center)
    )
    variance = statistics.variance(means) if len(means) > 1 else 0.0
    return HostMean(len(means), center, variance, rounding)


class MedianEstimate(t.NamedTuple):
    """A mean of logarithms, or a median of such means, with its error.

    :param deviation: The standard error; infinite with too few repetitions.
    :param freedom: The degrees of freedom of ``deviation``.
    :param rounding: The largest rounding error, as a share.
    """

    center: float
    deviation: float
    freedom: int
    rounding: float

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return math.exp(self.center)


class _Spread(t.NamedTuple):
    """The variance of repetitions around the means of their hosts."""

    variance: float = 0.0
    freedom: int = 0

    def add(self, host: HostMean) -> "_Spread":
        """Return the pooled variance of these hosts and another one."""
        freedom = self.freedom + host.repetitions - 1
        squares = self.variance * self.freedom
        squares += host.variance * (host.repetitions - 1)
        return _Spread(squares / freedom, freedom)


class MedianGroup:
    """One metric on the hosts that are compared with each other.

    The variance is that of all repetitions around the means of their hosts.
    The spread between the hosts is no part of it, because two slow hosts of
    four would hide each other. A host that varies significantly more than the
    others has its own variance, and is no part of that of the others.

    :param hosts: The means of the hosts.
    """

    def __init__(self, hosts: collections.abc.Iterable[HostMean]) -> None:
        measured = [
            host for host in hosts if host.repetitions >= statistics.FEWEST
        ]
        ordered = sorted(measured, key=lambda host: host.variance)
        pools = [
            *itertools.accumulate(ordered, _Spread.add, initial=_Spread())
        ]
        while len(pools) > 2 and _varies_more(
            ordered[len(pools) - 2], pools[-2]
        ):
            pools.pop()
        self._pool = pools[-1]
        self._erratic = {*ordered[len(pools) - 1 :]}
        self._ranked = sorted(map(self.estimate, measured))
        self._inverse = math.fsum(1 / host.deviation for host in self._ranked)

    def estimate(self, host: HostMean) -> MedianEstimate:
        """Return the mean of a host with its error."""
        is_erratic = host in self._erratic
        spread = _Spread().add(host) if is_erratic else self._pool
        deviation = (
            max(_LEAST_DEVIATION, (spread.variance / host.repetitions) ** 0.5)
            if host.repetitions >= statistics.FEWEST
            else math.inf
        )
        return MedianEstimate(
            host.center, deviation, spread.freedom, host.rounding
        )

    def build_reference(self, host: HostMean | None) -> MedianEstimate | None:
        """Return the median of the other hosts; None without any.

        In a group of three, it is the median of all three: the mean of two
        others would follow the one that is not as usual.

        :param host: One of the hosts, or None for the median of all.
        """
        number, inverse, place = len(self._ranked), self._inverse, math.inf
        own = self.estimate(host) if host else None
        if own and math.isfinite(own.deviation) and number != _FEW_HOSTS:
            place = bisect.bisect_left(self._ranked, own)
            inverse -= 1 / own.deviation
            number -= 1
        if not number:
            return None
        middle = [
            self._ranked[index + (index >= place)]
            for index in ((number - 1) // 2, number // 2)
        ]
        if number == 1:
            return middle[0]
        # The median of k normal values has pi / (2 k + 1) of the variance of
        # one, within 0.5 % for odd k and less for even k. It depends on the
        # sum of the densities at the center, thus on the harmonic mean of
        # deviations. If one of three is far away, the median is one of two.
        is_few = len(self._ranked) <= _FEW_HOSTS
        share = 1.0 if is_few else math.pi / (2 * number + 1)
        return MedianEstimate(
            (middle[0].center + middle[1].center) / 2,
            math.sqrt(share) * number / inverse,
            self._pool.freedom,
            max(host.rounding for host in middle),
        )


def _varies_more(host: HostMean, rest: _Spread) -> bool:
    """Return whether a host varies significantly more than the others."""
    from scipy import special

    if host.variance <= rest.variance or not rest.variance:
        return host.variance > rest.variance
    ratio = host.variance / rest.variance
    probability = special.fdtrc(host.repetitions - 1, rest.freedom, ratio)
    return bool(probability < _NOISY_ERROR)


@dataclasses.dataclass(frozen=True, slots=True)
class HostContrast:
    """One metric on a host and on its reference.

    :param margin: The largest loss and gain in percent that are equal.
    :param is_pair: Whether the reference is a host that may itself be worse.
    """

    metric: sample.Metric
    subject: MedianEstimate
    reference: MedianEstimate
    margin: float = verdict.MARGIN
    is_pair: bool = False

    @property
    def loss(self) -> float:
        """The loss in percent."""
        shift = self.subject.center - self.reference.center
        return loss.percent(self.metric, _exp(shift))

    @property
    def has_interval(self) -> bool:
        """Whether both sides have enough repetitions."""
        deviations = self.subject.deviation, self.reference.deviation
        return all(map(math.isfinite, deviations))


class Decision(t.NamedTuple):
    """The loss of a host compared with its reference, in percent.

    :param low: The lower end of the interval; None without an interval.
    :param high: The upper end of the interval; None without an interval.
    :param confidence: The confidence of the interval, which decided.
    """

    status: Status
    loss: float
    low: float | None
    high: float | None
    confidence: float


def decide_all(
    contrasts: collections.abc.Sequence[HostContrast], confidence: float = 0.95
) -> list[Decision]:
    """Return the decision on each contrast, in the same order.

    The confidence is that of all named differences together, and of each one
    that is not worse: every host must pass, as in ``verdict.decide_all``. A
    side with fewer than three repetitions has no interval.
    """
    decisions = [
        Decision("undecided", contrast.loss, None, None, confidence)
        for contrast in contrasts
    ]

    def decide_contrast(index: int, level: float) -> bool:
        """Decide a contrast; return whether it is decided."""
        decisions[index] = _decide(contrasts[index], level)
        return decisions[index].status != "undecided"

    family = {
        index
        for index, contrast in enumerate(contrasts)
        if contrast.has_interval
    }
    for index in verdict.decide_family(family, confidence, decide_contrast):
        plain = _decide(contrasts[index], confidence)
        if plain.status in ("equal", "not worse", "better"):
            decisions[index] = plain._replace(status="not worse")
    return decisions


def _decide(contrast: HostContrast, confidence: float) -> Decision:
    """Return the decision on a contrast at a confidence."""
    subject, reference = contrast.subject, contrast.reference
    # An error with few degrees of freedom is that of an erratic host, which is
    # much larger than the other.
    freedom = min(subject.freedom, reference.freedom)
    half = statistics.student_quantile(confidence, freedom)
    half *= math.hypot(subject.deviation, reference.deviation)
    half += math.log1p(subject.rounding + reference.rounding)
    shift = subject.center - reference.center

    def decide(shift: float) -> tuple[Status, float, float]:
        """Return the status of a difference, and the ends of its loss."""
        low, high = sorted(
            loss.percent(contrast.metric, _exp(end))
            for end in (shift - half, shift + half)
        )
        return verdict.decide_change(low, high, contrast.margin), low, high

    status, low, high = decide(shift)
    if contrast.is_pair and "worse" in (status, decide(-shift)[0]):
        status = "differ"
    return Decision(status, contrast.loss, low, high, confidence)


def _exp(exponent: float) -> float:
    """Return ``e`` to a power; infinity instead of an overflow."""
    try:
        return math.exp(exponent)
    except OverflowError:
        return math.inf
