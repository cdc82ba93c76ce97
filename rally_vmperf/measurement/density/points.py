"""What is known of one metric at each number of guests.

Everything here is in rates, so that a loss of 50 % means half the work: a
time of ``x`` seconds counts as ``1/x`` per second.
"""

import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import verdict

Against = t.Literal["one_guest", "bare_metal"]
Of = t.Literal["mean", "worst"]
Figure = t.Literal["loss", "index", "spread"]

#: What differs between the conditions of a density run.
AXIS = "guests"


def guests_of(condition: repetition.Condition) -> int:
    """Return how many guests of each host take part in a condition."""
    return int(condition.axes[AXIS])


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loss:
    """What is lost of a rate, in percent; positive is worse.

    :param low: lower end of the interval, None without one
    :param high: upper end of the interval
    """

    percent: float
    low: float | None
    high: float | None

    @property
    def significant(self) -> bool | None:
        """Whether the interval excludes no loss; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Worst:
    """The guest that had least, over all repetitions.

    :param value: its geometric mean, in the metric's own unit
    :param host: where it ran, as far as the cloud tells
    """

    guest: str
    host: str
    value: float
    loss: Loss | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Point:
    """One metric with so many guests at once, over counted repetitions.

    :param guests: how many on each host
    :param gathered: the samples, per repetition, in the metric's own unit
    :param mean: geometric mean over guests, then over repetitions, in the
        metric's own unit; None where nothing was measured
    :param worst: None where nothing was measured
    :param spread_percent: how far guests are apart within a repetition, in
        the worst one: the geometric standard deviation less one; None for a
        single guest
    :param spreads: the spread of each repetition, in the order of ``gathered``
    :param fairness: Jain's index of the guests' rates, 1/n to 1, in the worst
        repetition; None for a single guest
    :param fairnesses: the index of each repetition
    :param total: sum of all guests' rates, geometric mean over repetitions;
        None for what cannot be added up, such as a latency
    :param totals: the sum of each repetition, in the order of ``gathered``
    :param loss: of the mean guest against the lone guest; None for the lone
        guest itself and where it was not measured
    :param bare_mean: mean bare-metal copy with as many copies, own unit
    :param bare_total: sum over as many bare-metal copies, as a rate
    :param bare_loss: of the mean guest against the mean copy
    :param bare_worst_loss: of the worst guest against the mean copy
    :param bare: the samples of bare metal in as many copies, per repetition
        of the baseline
    :param bare_void: why the comparison with bare metal means nothing
    :param void: why the samples do not mean what they claim, or nothing
    :param reason: why nothing was measured, or nothing
    """

    guests: int
    gathered: tuple[gathering.Gathered, ...]
    mean: float | None
    worst: Worst | None
    spread_percent: float | None
    fairness: float | None
    total: float | None
    totals: tuple[float, ...]
    loss: Loss | None
    bare_mean: float | None
    bare_total: float | None
    bare_loss: Loss | None
    bare_worst_loss: Loss | None
    void: str
    reason: str
    spreads: tuple[float, ...] = ()
    fairnesses: tuple[float, ...] = ()
    bare: tuple[gathering.Gathered, ...] = ()
    bare_void: str = ""

    @property
    def usable(self) -> bool:
        """Whether there is a figure that means what it claims."""
        return self.mean is not None and not self.void

    def lost(self, of: Of, against: Against) -> Loss | None:
        """Return the loss that a limit is put to."""
        if against == "bare_metal":
            return self.bare_loss if of == "mean" else self.bare_worst_loss
        if of == "mean":
            return self.loss
        return self.worst.loss if self.worst else None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Line:
    """Loss per added guest, if it were the same for each.

    :param percent: lost with each further guest, of the lone guest's rate
    :param low: lower end of its interval, None without one
    :param linear: whether a straight line describes the losses; None where
        there are too few numbers of guests to say
    :param seen: in words, what that answer rests on
    """

    percent: float
    low: float | None
    high: float | None
    linear: bool | None
    seen: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Coefficient:
    """A fitted number with its interval; no ends where it has none."""

    value: float
    low: float | None
    high: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Law:
    """The Universal Scalability Law, fitted to the totals.

    ``X(n) = rate * n / (1 + contention * (n - 1) + coherency * n * (n - 1))``

    :param rate: of a lone guest
    :param contention: share of the work that guests do one after another
    :param coherency: cost of their keeping out of each other's way
    :param r_squared: share of the totals' variance that the law explains
    :param peak: number of guests with the largest total; None where the
        total only rises
    :param contradicted: in words, why the data do not follow the law, or
        nothing
    :param largest: largest number of guests that was measured
    :param covariance: of the logarithm of ``rate``, of ``contention`` and of
        ``coherency``; None without intervals
    :param quantile: of Student's t, for the confidence of the intervals
    """

    rate: Coefficient
    contention: Coefficient
    coherency: Coefficient
    r_squared: float
    peak: float | None
    contradicted: str
    largest: int
    covariance: tuple[tuple[float, ...], ...] | None = None
    quantile: float = 0.0

    def total(self, guests: float) -> float:
        """Return the total that the law gives for a number of guests."""
        slowed = (
            1
            + self.contention.value * (guests - 1)
            + self.coherency.value * guests * (guests - 1)
        )
        return self.rate.value * guests / slowed


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fits:
    """The largest number of guests within the limit.

    :param tested: the largest measured number up to which every one is
        within the limit; 0 where even the first is not; None while undecided
    :param predicted: by the law; None without a law that can be trusted, and
        where it lies too far beyond what was measured
    :param low: lower end of the interval of the number
    :param high: upper end; None where nothing measured or predicted bounds it
    :param extrapolated: ``predicted`` lies beyond what was measured
    """

    tested: int | None
    predicted: int | None
    low: int | None
    high: int | None
    extrapolated: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """One metric of a density judgement.

    :param figure: which figure the limit is put to
    :param of: whose loss the limit is put to
    :param against: what a loss is against
    :param points: in ascending number of guests
    :param limit: in percent for a degradation; the index, or percent of
        spread, for fairness; None for a metric without one
    :param statuses: number of guests -> verdict, where a limit is held
    :param status: of the metric as a whole; None without a limit
    :param reason: why there is nothing to judge, or nothing
    """

    metric: sample.Metric
    points: tuple[Point, ...]
    line: Line | None
    law: Law | None
    fits: Fits | None
    limit: float | None
    pattern: str | None
    statuses: dict[int, verdict.Status]
    status: verdict.Status | None
    findings: tuple[finding.RunFinding, ...]
    reason: str
    figure: Figure = "loss"
    of: Of = "mean"
    against: Against = "one_guest"
    confidence: float = 0.95

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        return any(one.mean is not None for one in self.points)

    def point(self, guests: int) -> Point | None:
        """Return the point with so many guests, if there is one."""
        return next((one for one in self.points if one.guests == guests), None)
