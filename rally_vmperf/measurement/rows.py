"""One figure of a metric, and whether it is within its limit."""

import dataclasses
import functools
import statistics as stdlib
import sys
import typing as t

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import loss
from rally_vmperf.measurement import needed
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import summary
from rally_vmperf.measurement import units
from rally_vmperf.measurement import verdict

#: What a limit is put to: the loss against bare metal, or the guest's own
#: value, which must not be above ``max`` or below ``min``.
Figure = t.Literal["overhead", "max", "min"]
Several = tuple[gathering.Gathered, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Value:
    """What a metric is in the guest itself, in its own unit.

    Of a rate or a time it is the geometric mean over repetitions. A count
    can be zero, so that it has none: its figure is that of the worst
    repetition, the arithmetic mean over its guests.

    :param low: lower end of the interval; None for a count, and for fewer
        than three repetitions
    :param repetition: the number of the worst repetition of a count
    :param bare: the same figure of bare metal, if it has one
    """

    value: float
    low: float | None = None
    high: float | None = None
    repetition: int | None = None
    bare: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(summary.Row):
    """What guests lose of one metric, or what it is in them.

    :param guest: the samples of the guests, per counted repetition; its
        entries stand for ``comparison.guest_values``
    :param bare: the samples of bare metal, per repetition of the baseline
    :param limit: of the overhead in percent, else in the metric's unit
    :param reason: why there is no figure, or nothing
    """

    figure: Figure
    reason: str = ""
    guest: Several
    bare: Several

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
        )

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
        pick = max if self.figure == "max" else min
        means = [stdlib.fmean(entry.values) for entry in self.guest]
        bare = [stdlib.fmean(entry.values) for entry in self.bare]
        worst = pick(means)
        return Value(
            value=worst,
            repetition=self.guest[means.index(worst)].number,
            bare=pick(bare, default=None),
        )

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

    def brief(self) -> str:
        """Return its figure and limit in a few words."""
        if self.limit is None:
            return ""
        if self.comparison is not None:
            found = units.show_percent(self.comparison.overhead_percent)
            sure = verdict.interval(self.comparison)
            return f"overhead {found} % ({sure}, limit {self.limit:g} %)"
        if self.value is None:
            return ""
        value = units.show(self.value.value, self.metric.unit)
        least = "least " if self.figure == "min" else ""
        limit = units.show(self.limit, self.metric.unit)
        return f"{value} ({least}limit {limit})"

    def _held(self, limit: float) -> tuple[loss.Comparison, float] | None:
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
        )
        return against_limit, 0.0

    def _status(self, limit: float) -> verdict.Status:
        held = self._held(limit)
        if held is not None:
            return verdict.decide(*held)
        if self.value is None:
            return "inconclusive"
        # Beyond its limit a count has failed however few repetitions there
        # are; to be passed it takes three, as chance can spare one.
        beyond = self.value.value - limit
        if (beyond if self.figure == "max" else -beyond) > 0:
            return "failed"
        few = len(self.guest) < statistics.FEWEST
        return "inconclusive" if few else "passed"

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
        held = self._held(self.limit)
        if held is None:
            return len(self.guest) >= statistics.FEWEST
        best = needed.best_loss(held[0], planned)
        return best is not None and best > held[1]

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why there are none."""
        if self.comparison is not None:
            words = verdict.sentence(self.comparison, self.limit, self.status)
        elif self.value is not None:
            words = self._absolute(self.value)
        else:
            words = f"{self.metric.name}: {self.reason}"
        return ". ".join([words, *self.voids()])

    def _absolute(self, value: Value) -> str:
        unit = self.metric.unit
        words = f"{self.metric.name}: guest {units.show(value.value, unit)}"
        if value.repetition is not None:
            words += f" in its worst repetition ({value.repetition})"
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
        words += f", {least}limit {shown}: {self.status}"
        if self.status != "inconclusive":
            return words
        held = self._held(self.limit)
        if held is None:
            at_least = f"at least {statistics.FEWEST} repetitions"
            return f"{words}, {at_least} would decide"
        more = needed.repetitions_needed(*held)
        return f"{words}, {more.sentence('value')}"


def _means(entries: Several) -> tuple[float, ...]:
    return tuple(statistics.geometric_mean(one.values) for one in entries)


def make(
    metric: sample.Metric,
    figure: Figure,
    entries: gathering.Conditions,
    reference: repetition.Reference,
    limit: tuple[float, str] | None,
    confidence: float,
) -> Row:
    """Return the row of a figure, not judged yet.

    :param limit: with the pattern that gave it
    """
    guest = gathering.guests(metric, entries)
    bare = gathering.bare(metric, reference)
    reason = "" if guest else gathering.NOBODY
    if figure == "overhead" and guest and not bare:
        reason = _absence(metric, reference)
    return Row(
        metric=metric,
        figure=figure,
        reason=reason,
        limit=limit and limit[0],
        pattern=limit and limit[1],
        guest=guest,
        bare=bare,
        confidence=confidence,
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
    names = ", ".join(sorted({other.name for other in there})) or "nothing"
    return (
        f"baseline {reference.name!r} has no such metric (it has: {names}), "
        "record the baseline with the workload that measures it"
    )


def _meaning(metric: sample.Metric) -> str:
    return f"{metric.scale} in {metric.unit!r}, {metric.better} is better"
