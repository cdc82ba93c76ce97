"""One figure of a metric, and whether it is within its limit."""

import collections.abc
import dataclasses
import functools
import sys
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.comparison import caps as caps_
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: What a limit applies to: the loss against bare metal, or the guest's own
#: value, which must not be above ``max`` or below ``min``.
Figure = t.Literal["overhead", "max", "min"]
Several = tuple[gathering.Gathered, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Value:
    """What a metric is in the guest itself, in its own unit.

    Of a rate or a time it is the geometric mean over repetitions. A count
    can be zero, so that it has none: its figure is that of the worst guest
    in its worst repetition.

    :param low: lower end of the interval; None for a count, and for fewer
        than three repetitions
    :param repetition: the number of the worst repetition of a count
    :param worst: which of several guests had that count
    :param bare: the same figure of bare metal, if it has one
    """

    value: float
    low: float | None = None
    high: float | None = None
    repetition: int | None = None
    worst: str = ""
    bare: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(summary.Row):
    """What guests lose of one metric, or what it is in them.

    :param guest: the samples of the guests, per counted repetition; its
        entries stand for ``comparison.guest_values``
    :param bare: the samples of bare metal, per repetition of the baseline
    :param limit: of the overhead in percent, else in the metric's unit
    :param reason: why there is no figure, or nothing
    :param caps: what else may hold it
    :cvar NAMES: what sentences call both sides, and the loss
    :cvar PAIRED: whether each repetition measured both sides
    """

    NAMES: t.ClassVar[tuple[str, str, str]] = verdict.SIDES
    PAIRED: t.ClassVar[bool] = False

    figure: Figure
    reason: str = ""
    guest: Several
    bare: Several
    caps: tuple[caps_.Cap, ...] = ()

    @functools.cached_property
    def comparison(self) -> loss.Comparison | None:
        """With bare metal; None for absolute figures and without a side."""
        if self.figure != "overhead" or self.reason:
            return None
        return loss.compare(
            self.metric,
            [entry.values for entry in self.bare],
            [entry.values for entry in self.guest],
            self.confidence,
            paired=self.PAIRED,
        )

    @functools.cached_property
    def capped(self) -> str:
        """What else than the machine limits its rate, or nothing."""
        if self.comparison is None:
            return ""
        sources = {x.source for one in self.guest for x in one.observations}
        return caps_.capped(self.comparison, self.caps, len(sources))

    @functools.cached_property
    def value(self) -> Value | None:
        """The absolute figure; None where guests did not measure it."""
        if self.figure == "overhead" or not self.guest:
            return None
        if self.metric.scale == "count":
            return self._worst()
        values = _means(self.guest)
        # The interval of a mean is that of its ratio to what does not vary.
        one = (1.0,) * statistics.FEWEST
        ends = statistics.ratio_interval(one, values, self.confidence)
        low, high = ends or (None, None)
        return Value(
            value=statistics.geometric_mean(values),
            low=low,
            high=high,
            bare=statistics.geometric_mean(_means(self.bare))
            if self.bare
            else None,
        )

    def _worst(self) -> Value:
        """Return the count of the worst guest in its worst repetition.

        A mean over guests would spread what one of them suffers over all.
        """
        pick = max if self.figure == "max" else min
        every = [
            (one.sample.value, entry.number, one.source)
            for entry in self.guest
            for one in entry.observations
        ]
        value, number, guest = pick(every, key=lambda one: one[0])
        bare = [x.sample.value for one in self.bare for x in one.observations]
        return Value(
            value=value,
            repetition=number,
            worst=guest if len({x for *_, x in every}) > 1 else "",
            bare=pick(bare, default=None),
        )

    @property
    def where(self) -> str:
        """At how many guests it is, where that differs; else nothing."""
        return ""

    @property
    def title(self) -> str:
        """The name of the metric, and where it is."""
        return f"{self.metric.name}{self.where}"

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        return self.comparison is not None or self.value is not None

    @property
    def estimated(self) -> bool:
        """Whether there are repetitions enough to say how sure it is."""
        if self.comparison is not None:
            return self.comparison.low is not None
        return self.measured and len(self.guest) >= statistics.FEWEST

    def cells(self) -> summary.Cells:
        """Return its figure and where it is, its interval and its limit."""
        if self.limit is None:
            return summary.NOTHING
        if self.comparison is not None:
            return summary.Cells(
                f"{self.NAMES[-1]} "
                f"{verdict.figure(self.comparison, self.limit)}{self.where}",
                verdict.ends(self.comparison, self.limit),
                f"limit {self.limit:g} %",
            )
        least = "least " if self.figure == "min" else ""
        limit = f"{least}limit {units.show(self.limit, self.metric.unit)}"
        if self.value is None:
            return summary.Cells("", "", limit)
        value = units.show(self.value.value, self.metric.unit)
        return summary.Cells(f"{value}{self.where}", "", limit)

    def _compared_with_limit(
        self, limit: float
    ) -> tuple[loss.Comparison, float] | None:
        """Return what is compared, and the loss up to which it is within.

        The guest is compared with bare metal, or with its absolute limit,
        which never varies; beyond that is positive, whatever is better. None
        for a count, and where nothing was measured.
        """
        if self.comparison is not None:
            return self.comparison, limit
        if self.value is None or self.metric.scale == "count":
            return None
        better: sample.Better = "lower" if self.figure == "max" else "higher"
        against_limit = loss.compare(
            dataclasses.replace(self.metric, better=better),
            [[max(limit, sys.float_info.min)]] * statistics.FEWEST,
            [entry.values for entry in self.guest],
            self.confidence,
            exact=True,
        )
        return against_limit, 0.0

    def _status(self, limit: float) -> verdict.Status:
        compared = self._compared_with_limit(limit)
        if compared is not None:
            return verdict.decide(*compared)
        if self.value is None:
            return "inconclusive"
        # Beyond its limit a count has failed however few repetitions there
        # are; to be passed it takes three, as chance can spare one.
        beyond = self.value.value - limit
        if (beyond if self.figure == "max" else -beyond) > 0:
            return "failed"
        few = len(self.guest) < statistics.FEWEST
        return "inconclusive" if few else "passed"

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return it with its findings and its status.

        What something else limits is not passed: of virtualisation it says
        nothing.
        """
        found = super().with_verdict(findings, void)
        if found.status == "passed" and found.is_capped:
            return dataclasses.replace(found, status="inconclusive")
        return found

    @property
    def is_capped(self) -> bool:
        """Whether something else limits it, and that is not tolerated."""
        return bool(self.capped) and self.shows("bottleneck_outside_guest")

    @property
    def forgivable(self) -> bool:
        """Whether nothing but a limit inside its interval denies a pass.

        A count has no interval.
        """
        if self.limit is None or self.is_capped:
            return False
        compared = self._compared_with_limit(self.limit)
        return compared is not None and verdict.may_be_within(*compared)

    def beyond_return(self, planned: int) -> bool:
        """Return whether it has failed, and will have failed in the end.

        That takes three things: the verdict is ``failed``; the interval at
        99.9 % is wholly beyond the limit as well; and the figure would be
        beyond it even if each repetition to come were as good as the best one
        so far. A count that is beyond its limit in one of three repetitions
        or more stays there, as its worst repetition is judged.
        """
        if self.status != "failed" or self.limit is None:
            return False
        compared = self._compared_with_limit(self.limit)
        if compared is None:
            return len(self.guest) >= statistics.FEWEST
        best = needed.best_loss(compared[0], planned, self.PAIRED)
        return best is not None and best > compared[1]

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why there are none."""
        if self.comparison is not None:
            why = f"something else limits it: {self.capped}"
            words = verdict.sentence(
                self.comparison,
                self.limit,
                self.status,
                why if self.is_capped else "",
                self.NAMES,
                self.title,
                self.given_by,
            )
        elif self.value is not None:
            words = self._absolute(self.value)
        else:
            words = f"{self.title}: {self.reason}"
        return ". ".join([words, *self.voids()])

    def _absolute(self, value: Value) -> str:
        unit = self.metric.unit
        words = f"{self.title}: guest {units.show(value.value, unit)}"
        if value.repetition is not None:
            who = f" of its worst guest ({value.worst})" if value.worst else ""
            words += f"{who} in its worst repetition ({value.repetition})"
        elif value.low is None or value.high is None:
            words += " (no interval)"
        else:
            words += (
                f" ({self.confidence * 100:g} % interval "
                f"{units.show(value.low, unit)} to "
                f"{units.show(value.high, unit)})"
            )
        if value.bare is not None:
            words += f", bare metal {units.show(value.bare, unit)}"
        if self.limit is None:
            return f"{words}, no limit"
        least = "" if self.figure == "max" else "least "
        shown = units.show(self.limit, unit)
        words += f", {least}limit {shown}{self.given_by}: {self.status}"
        if self.status != "inconclusive":
            return words
        compared = self._compared_with_limit(self.limit)
        if compared is None:
            at_least = f"at least {statistics.FEWEST} repetitions"
            return f"{words}, {at_least} would decide"
        return f"{words}, {verdict.would_decide(*compared, 'value')}"


def _means(entries: Several) -> tuple[float, ...]:
    return tuple(statistics.geometric_mean(one.values) for one in entries)


R = t.TypeVar("R", bound=Row)

#: Figures that are held to absolute limits.
ABSOLUTE: tuple[Figure, ...] = ("max", "min")


def absolute_figures(
    metric: sample.Metric,
    given: collections.abc.Mapping[Figure, limits.Limits],
) -> list[Figure]:
    """Return which absolute figures of a metric are to be shown.

    Of a count without a limit there is one in any case, as it has no loss.

    :param given: figure -> its limits
    """
    limited = [one for one in ABSOLUTE if given[one].for_metric(metric.name)]
    return limited or (["max"] if metric.scale == "count" else [])


def make(
    row: type[R],
    metric: sample.Metric,
    figure: Figure,
    entries: gathering.Conditions,
    reference: repetition.Reference,
    limit: tuple[float, str] | None,
    confidence: float,
    caps: tuple[caps_.Cap, ...] = (),
    **own: t.Any,
) -> R:
    """Return the row of a figure, not judged yet.

    :param row: of which sort
    :param limit: with the pattern that gave it
    :param caps: what else may hold it
    :param own: what rows of that sort have beside the others
    """
    guest = gathering.guests(metric, entries)
    bare = gathering.bare(metric, reference)
    reason = "" if guest else gathering.NOBODY
    if figure == "overhead" and guest and not bare:
        reason = _absence(metric, reference)
    return row(
        metric=metric,
        figure=figure,
        reason=reason,
        limit=limit and limit[0],
        pattern=limit and limit[1],
        guest=guest,
        bare=bare,
        confidence=confidence,
        caps=caps,
        **own,
    )


def _absence(metric: sample.Metric, reference: repetition.Reference) -> str:
    """Return why bare metal does not have a metric."""
    there = {
        one.sample.metric for entry in reference.repetitions for one in entry
    }
    for other in there:
        if other.name == metric.name:
            return (
                f"baseline {reference.name!r} has it as {_meaning(other)}, "
                f"the guests as {_meaning(metric)}, record the baseline again"
            )
    for one in reference.distributions:
        if metric in sample.percentiles(one.metric):
            return (
                f"baseline {reference.name!r} has too few values for it in "
                "some or all repetitions, record it with a longer run"
            )
    names = ", ".join(reference.has_instead_of(metric)) or "nothing"
    return (
        f"baseline {reference.name!r} has no such metric (it has: {names}), "
        "record the baseline with the workload that measures it"
    )


def _meaning(metric: sample.Metric) -> str:
    return f"{metric.scale} in {metric.unit!r}, {metric.better} is better"
