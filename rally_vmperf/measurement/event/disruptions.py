# SPDX-License-Identifier: Apache-2.0
"""Disruptions of a line of reports: dips of a rate, spikes of a time.

The reports before an event give the usual value. A report resembles the one
before it; with the correlation ``r`` of neighbours, the mean of ``k`` reports
has the variance of a report times ``f(k) / k``, where ``f(k) = 1 + 2 sum((1 -
j / k) r^j)`` (M. S. Bartlett, 1946). A trend before the event that is surer
than chance is continued behind it.
"""

import collections.abc
import dataclasses
import itertools
import math
import statistics as numbers

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.samples import sample

#: The confidence of intervals, and that of a trend.
_CONFIDENCE, _SURE = 0.95, 0.5
#: A value has recovered if it is at most this share worse than usual.
TOLERANCES: dict[sample.Better, float] = {"higher": 0.05, "lower": 0.1}
#: The fewest reports before the event.
FEWEST = 5
#: The reports of the deepest run. The lowest single report is biased more.
_RUN = 2
#: A part with at least this number of reports has a depth without its first
#: and last report, which may lie partly outside of it.
_WITH_INTERIOR = 4
#: The multiple of the tolerance from which noise hides a disruption.
_HIDES = 10
#: The largest share of the mean by which a trend is continued.
_CONTINUED = 0.2
#: The largest multiple of the usual noise that a spike must exceed.
_MOST_NOISE = 2.0
#: The largest correlation of neighbouring reports that is assumed.
_MOST_ALIKE = 0.95

#: The end of each report in seconds, and its value.
Points = collections.abc.Sequence[tuple[float, float]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Usual:
    """The reports of a machine before an event.

    :param mean: The mean of the reports, at the time ``center``.
    :param slope: The change in a second; 0 without a sure trend.
    :param center: The mean time of the reports in seconds.
    :param deviation: The standard deviation of a report.
    :param correlation: The correlation of neighbouring reports.
    :param number: The number of reports.
    :param spread: The sum of the squared distances from ``center``.
    :param better: The direction; ``lower`` for response times.
    """

    better: sample.Better
    mean: float
    slope: float
    center: float
    deviation: float
    correlation: float
    number: int
    spread: float

    @property
    def sign(self) -> int:
        """The sign of a loss: 1 for rates, and -1 for response times."""
        return 1 if self.better == "higher" else -1

    @property
    def tolerance(self) -> float:
        """The share of the usual value by which a report may be worse."""
        return TOLERANCES[self.better]

    def at(self, moment: float) -> float:
        """Return the usual value at a time; above zero.

        A trend is continued by a share of the mean at most: a warm-up slows
        down, and does not go on for ever.
        """
        most = _CONTINUED * self.mean
        change = self.slope * (moment - self.center)
        return self.mean + min(most, max(-most, change))

    def inflate(self, count: int) -> float:
        """Return the variance of a mean against that without correlation."""
        return _inflate(self.correlation, count)

    def own_variance(self, moment: float) -> float:
        """Return the variance of the usual value at a time."""
        share = 1 / self.number
        if self.slope:
            share += (moment - self.center) ** 2 / self.spread
        return self.deviation**2 * self.inflate(self.number) * share

    def mean_variance(self, count: int) -> float:
        """Return the variance of the mean of successive reports."""
        return self.deviation**2 * self.inflate(count) / count

    def scale_noise(self, loss: float, moment: float) -> float:
        """Return how much more a report varies than usual.

        The noise of a response time, which a loss raises, is a share of it.
        A rate that is lower does not vary more.

        :param loss: The loss; negative for a better value.
        """
        if self.better == "higher":
            return 1.0
        return max(1.0, 1 + loss / self.at(moment))

    def quantile(self, others: int = 1) -> float:
        """Return the quantile of Student's distribution for a difference.

        :param others: The number of differences of which one is the largest.
        """
        freedom = self.number / self.inflate(self.number) - 1
        confidence = 1 - (1 - _CONFIDENCE) / others
        return statistics.student_quantile(confidence, max(2.0, freedom))

    def error(self, count: int, moment: float, others: int = 1) -> float:
        """Return the error of the difference of a mean from the usual."""
        variance = self.mean_variance(count) + self.own_variance(moment)
        return self.quantile(others) * math.sqrt(variance)


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Part:
    """A time with worse reports.

    :param place: The places of its first and its last report.
    :param begun: The begin in seconds, on the time axis of the reports.
    :param ended: The end in seconds.
    :param begin_error: The error of the begin in seconds.
    :param end_error: The error of the end in seconds.
    :param depth: The mean loss of its reports.
    """

    place: tuple[int, int]
    begun: float
    ended: float
    begin_error: float
    end_error: float
    depth: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Disruption:
    """The effect of an event on a line of reports.

    :param depth: The worst run of two reports: its loss in percent of the
        usual value for a rate.
    :param peak: The value of this run.
    :param duration: The duration of the disruption around it in seconds.
    :param recovery: The seconds from the request for the event until the
        reports stay within the tolerance of the usual value; None if they do
        not before the end of the measurement.
    :param not_recovered: The seconds from the request until the end of the
        measurement, if they did not, else 0.
    """

    depth: figures.Approximation
    peak: figures.Approximation
    duration: figures.Approximation
    recovery: figures.Approximation | None
    not_recovered: float


def compute_usual(points: Points, better: sample.Better = "higher") -> Usual:
    """Return mean, trend and variation of the reports before an event.

    :param better: The direction; ``lower`` for response times.
    :raises ValueError: If there are too few reports, or their mean is zero.
    """
    values = [value for _, value in points]
    number = len(values)
    if number < FEWEST or not numbers.fmean(values) > 0:
        raise ValueError(
            f"{number} intervals with a rate before the event: must be at "
            f"least {FEWEST}, with a mean above zero"
        )
    mean = numbers.fmean(values)
    center = numbers.fmean(moment for moment, _ in points)
    spread = sum((moment - center) ** 2 for moment, _ in points)
    slope = 0.0
    if spread:
        slope = sum((at - center) * value for at, value in points) / spread
    for trend in (slope, 0.0):
        rest = [
            value - mean - trend * (moment - center)
            for moment, value in points
        ]
        correlation, deviation = _measure_noise(rest)
        usual = Usual(
            better=better,
            mean=mean,
            slope=trend,
            center=center,
            deviation=deviation,
            correlation=correlation,
            number=number,
            spread=spread,
        )
        inflation = usual.inflate(number)
        freedom = max(2.0, number / inflation - 2)
        sure = statistics.student_quantile(_SURE, freedom) * deviation
        if abs(trend) * math.sqrt(spread / inflation) > sure:
            break
    return usual


def _measure_noise(
    rest: collections.abc.Sequence[float],
) -> tuple[float, float]:
    """Return correlation and deviation of reports around their mean.

    Both are corrected for the bias of a mean that is estimated, too (M. G.
    Kendall, 1954).
    """
    number = len(rest)
    square = sum(value * value for value in rest)
    if not square:
        return 0.0, 0.0
    product = sum(one * other for one, other in itertools.pairwise(rest))
    correlation = product / square
    correlation += (1 + 4 * correlation) / number
    correlation = min(max(0.0, correlation), _MOST_ALIKE)
    known = max(0.1, 1 - _inflate(correlation, number) / number)
    return correlation, math.sqrt(square / number / known)


def _inflate(correlation: float, count: int) -> float:
    """Return ``f(count)`` for a correlation of neighbours."""
    rest = 1 - correlation
    tail = 2 * correlation * (1 - correlation**count) / (count * rest**2)
    return (1 + correlation) / rest - tail


def estimate_disruption(
    usual: Usual, points: Points, requested: float
) -> Disruption:
    """Return depth, duration and recovery after the request for an event.

    :param points: The end of each report in seconds, and its value.
    :param requested: The time of the request, on the same axis.
    :raises ValueError: If there are too few reports after the request.
    """
    width = numbers.median(
        late - early for (early, _), (late, _) in itertools.pairwise(points)
    )
    after = [point for point in points if point[0] > requested]
    if len(after) < FEWEST:
        raise ValueError(
            f"{len(after)} intervals with a rate after the request for the "
            f"event: must be at least {FEWEST}"
        )
    losses = [
        usual.sign * (usual.at(moment) - value) for moment, value in after
    ]
    parts = _drop_edges(_find_parts(usual, after, losses, width))
    depth, peak, place = _find_worst_run(usual, after, losses, parts)
    if not parts:
        # Noise that hides a loss hides how long it lasts, too.
        is_hidden = depth.error > 100 * usual.tolerance * _HIDES
        rest = after[-1][0] - requested if is_hidden else 0.0
        none = figures.Approximation(value=0.0, error=max(width, rest))
        return Disruption(
            depth=depth,
            peak=peak,
            duration=none,
            recovery=none,
            not_recovered=0.0,
        )
    group = _select_group(parts, place)
    last = parts[-1]
    recovery, rest = None, after[-1][0] - requested
    if last.ended < after[-1][0] - width / 2:
        rest = 0.0
        recovery = figures.Approximation(
            value=max(0.0, last.ended - requested), error=last.end_error
        )
    return Disruption(
        depth=depth,
        peak=peak,
        duration=figures.Approximation(
            value=group[-1].ended - group[0].begun,
            error=math.hypot(group[0].begin_error, group[-1].end_error),
        ),
        recovery=recovery,
        not_recovered=rest,
    )


def _find_worst_run(
    usual: Usual,
    after: Points,
    losses: collections.abc.Sequence[float],
    parts: collections.abc.Sequence[_Part],
) -> tuple[figures.Approximation, figures.Approximation, int]:
    """Return loss and value of the worst run, and its first place.

    The worst of several runs that are alike is worse by chance: the interval
    ends at the quantile of the largest of so many on this side.
    """
    runs = [
        (numbers.fmean(losses[place : place + _RUN]), place)
        for place in range(len(losses) - _RUN + 1)
    ]
    worst, place = max(runs)
    moment = numbers.fmean(at for at, _ in after[place : place + _RUN])
    usual_value = usual.at(moment)
    alike = len(runs)
    for part in parts:
        first, last = part.place
        if first <= place <= last:
            alike = max(1, last - first)
    scale = usual.scale_noise(worst, moment)
    error = scale * usual.error(_RUN, moment)
    far = scale * usual.error(_RUN, moment, alike)
    middle, error = worst - (far - error) / 2, (far + error) / 2
    value = usual_value - usual.sign * middle
    # A value below zero is none; the upper end remains.
    peak = figures.Approximation(
        value=max(0.0, value), error=max(0.0, error + min(0.0, value))
    )
    if not parts:
        unseen = 100 * usual.error(1, moment) / usual_value
        depth = figures.Approximation(value=0.0, error=unseen)
    else:
        depth = figures.Approximation(
            value=100 * min(1.0, max(0.0, middle / usual_value)),
            error=100 * error / usual_value,
        )
    return depth, peak, place


def _drop_edges(parts: collections.abc.Iterable[_Part]) -> list[_Part]:
    """Return the parts in order, without reports that are edges of others.

    A report in which a disruption begins or ends is less deep; the edge of
    the part beside it is within this report already.
    """
    ordered = sorted(parts, key=lambda part: part.begun)
    longer = [part for part in ordered if part.place[0] < part.place[1]]
    return [
        part
        for part in ordered
        if part in longer
        or not any(
            other.depth > part.depth
            and part.place[0] in (other.place[0] - 1, other.place[1] + 1)
            for other in longer
        )
    ]


def _select_group(
    parts: collections.abc.Sequence[_Part], place: int
) -> list[_Part]:
    """Return the parts around the worst run that follow each other.

    :param parts: All parts in order.
    :param place: The place of the worst run.
    """
    groups: list[list[_Part]] = []
    for part in parts:
        if groups and part.place[0] <= groups[-1][-1].place[1] + 1:
            groups[-1].append(part)
        else:
            groups.append([part])
    return min(
        groups,
        key=lambda group: max(
            group[0].place[0] - place, place - group[-1].place[1]
        ),
    )


def estimate_loss(usual: Usual, points: Points) -> figures.Approximation:
    """Return the loss of reports in percent; 0 with its error for a gain.

    :param points: The reports that are compared.
    :raises ValueError: If there are none.
    """
    if not points:
        raise ValueError("no interval with a rate during the event")
    moment = numbers.fmean(at for at, _ in points)
    usual_value = usual.at(moment)
    share = 100 / usual_value
    mean = numbers.fmean(value for _, value in points)
    loss = usual.sign * share * (usual_value - mean)
    error = share * usual.error(len(points), moment)
    if loss < 0:
        return figures.Approximation(value=0.0, error=max(0.0, loss + error))
    return figures.Approximation(value=loss, error=error)


def _find_parts(
    usual: Usual,
    points: Points,
    losses: collections.abc.Sequence[float],
    width: float,
    offset: int = 0,
) -> collections.abc.Iterator[_Part]:
    """Yield the worse parts of the reports, the surest first of each half.

    The reports before and after a part are searched again.

    :param offset: The place of the first report.
    """
    place = _find_segment(usual, points, losses)
    if place is None:
        return
    first, last = place
    yield _measure_part(usual, points, losses, place, width, offset)
    for begin, end in ((0, first), (last + 1, len(points))):
        yield from _find_parts(
            usual,
            points[begin:end],
            losses[begin:end],
            width,
            offset + begin,
        )


def _find_segment(
    usual: Usual,
    points: Points,
    losses: collections.abc.Sequence[float],
) -> tuple[int, int] | None:
    """Return the first and the last report of the surest part, or None.

    It is the rectangle whose loss is largest in its deviations. One that
    noise explains, or a loss within the tolerance, is no part.
    """
    sums = [0.0, *itertools.accumulate(losses)]
    number = len(losses)
    best = 0.0
    place = None
    variances = [usual.mean_variance(length + 1) for length in range(number)]
    own = [usual.own_variance(moment) for moment, _ in points]
    smallest = (usual.mean * 1e-9) ** 2
    for first in range(number):
        tolerated = usual.tolerance * usual.at(points[first][0])
        for last in range(first, number):
            total = sums[last + 1] - sums[first]
            length = last + 1 - first
            if total <= tolerated * length:
                continue
            variance = max(smallest, variances[length - 1] + own[first])
            surety = (total / length) ** 2 / variance
            if surety > best:
                best, place = surety, (first, last)
    if place is None:
        return None
    first, last = place
    mean = (sums[last + 1] - sums[first]) / (last + 1 - first)
    # The noise of a long time is larger; a higher spike is no less sure.
    scale = min(_MOST_NOISE, usual.scale_noise(mean, points[first][0]))
    # The largest of so many squares of normal values.
    by_chance = 2 * math.log(max(2, number * (number + 1) / 2)) + 2
    return place if best > by_chance * scale**2 else None


def _measure_part(
    usual: Usual,
    points: Points,
    losses: collections.abc.Sequence[float],
    place: tuple[int, int],
    width: float,
    offset: int,
) -> _Part:
    """Return the part of a segment, with its edges within reports."""
    first, last = place
    inner = 1 if last + 1 - first >= _WITH_INTERIOR else 0
    interior = losses[first + inner : last + 1 - inner]
    edges = []
    for beside, near, moment in (
        (losses[max(0, first - 1) : first + inner], interior[:_RUN], first),
        (losses[last + 1 - inner : last + 2], interior[-_RUN:], last),
    ):
        # The lost amount beside the interior, as a duration of the part.
        depth = numbers.fmean(near)
        scale = usual.scale_noise(depth, points[moment][0])
        error = scale * usual.error(len(near), points[moment][0]) / depth
        lasts = width * min(max(sum(beside) / depth, 0), len(beside))
        deviation = scale * usual.deviation * math.sqrt(usual.inflate(2))
        noise = usual.quantile() * deviation * width / depth * math.sqrt(2)
        edges.append((lasts, math.hypot(noise, lasts * error)))
    (early, early_error), (late, late_error) = edges
    # A report without work before it lasts as long as the gap.
    start = first + inner
    begin = points[start - 1][0] if start else points[0][0] - width
    shortest = 0 if inner else width
    return _Part(
        place=(first + offset, last + offset),
        begun=begin - early,
        ended=points[last - inner][0] + late,
        begin_error=max(shortest, early_error),
        end_error=max(shortest, late_error),
        depth=numbers.fmean(interior),
    )
