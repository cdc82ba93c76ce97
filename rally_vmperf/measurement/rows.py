"""One figure of a metric, and whether it is within its limit."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import absolute
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import loss
from rally_vmperf.measurement import needed
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import units
from rally_vmperf.measurement import verdict

Conditions = collections.abc.Sequence[repetition.Condition]
Several = tuple[gathering.Gathered, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What is known of one metric, and whether it is within its limit.

    :param comparison: with bare metal; None where there is nothing to
        compare, and for absolute figures
    :param value: of absolute figures; None where nothing was measured
    :param reason: why there is neither
    :param limit: of the overhead in percent, else in the metric's unit; None
        for a metric without one
    :param pattern: the metric or glob that gave the limit
    :param status: None for a metric without a limit
    :param findings: those about this metric
    :param guest: the samples of the guests, per counted repetition; its
        entries stand for ``comparison.guest_values``
    :param bare: the samples of bare metal, per repetition of the baseline
    :param confidence: of the interval
    """

    metric: sample.Metric
    figure: absolute.Figure = "overhead"
    comparison: loss.Comparison | None = None
    value: absolute.Value | None = None
    reason: str = ""
    limit: float | None = None
    pattern: str | None = None
    status: verdict.Status | None = None
    findings: tuple[finding.RunFinding, ...] = ()
    guest: Several = ()
    bare: Several = ()
    confidence: float = 0.95

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        return self.comparison is not None or self.value is not None

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why there are none."""
        if not self.measured:
            words = f"{self.metric.name}: {self.reason}"
        elif self.comparison is not None:
            words = self._overhead(self.comparison)
        else:
            words = self._absolute()
        voids = [one.sentence() for one in self.findings if one.voids]
        return ". ".join([words, *voids])

    def _overhead(self, comparison: loss.Comparison) -> str:
        if self.limit is None or self.status is None:
            return f"{verdict.figures(comparison)}, no limit"
        if self.status == "void":
            limit = f"limit {self.limit:g} %"
            return f"{verdict.figures(comparison)}, {limit}: void"
        return verdict.sentence(comparison, self.limit, self.status)

    def _absolute(self) -> str:
        value, unit = t.cast(absolute.Value, self.value), self.metric.unit
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
        if self.status == "inconclusive":
            words += f", {self._would_decide(self.limit)}"
        return words

    def _would_decide(self, limit: float) -> str:
        if self.metric.scale == "count":
            return f"at least {statistics.FEWEST} repetitions would decide"
        more = needed.repetitions_needed(against_limit(self, limit), 0.0)
        return more.sentence("value")


def compare(
    metric: sample.Metric,
    entries: Conditions,
    reference: repetition.Reference,
    confidence: float,
) -> Row:
    """Return the row of a metric's overhead, not judged yet."""
    guest = gathering.guests(metric, entries)
    bare = gathering.bare(metric, reference)
    reason = _absence(metric, guest, bare, reference)
    return Row(
        metric=metric,
        comparison=None
        if reason
        else loss.compare(
            metric,
            [entry.values for entry in bare],
            [entry.values for entry in guest],
            confidence,
        ),
        reason=reason,
        guest=guest,
        bare=bare,
        confidence=confidence,
    )


def measure(
    metric: sample.Metric,
    figure: absolute.Figure,
    entries: Conditions,
    reference: repetition.Reference,
    confidence: float,
) -> Row:
    """Return the row of a metric's own value, not judged yet.

    :param figure: ``max`` or ``min``
    """
    guest = gathering.guests(metric, entries)
    bare = gathering.bare(metric, reference)
    return Row(
        metric=metric,
        figure=figure,
        value=absolute.value(metric, guest, bare, figure, confidence),
        reason="" if guest else gathering.NOBODY,
        guest=guest,
        bare=bare,
        confidence=confidence,
    )


def against_limit(row: Row, limit: float) -> loss.Comparison:
    """Return the guest compared with the absolute limit of a row."""
    return absolute.against_limit(
        row.metric, row.guest, row.figure, limit, row.confidence
    )


def _absence(
    metric: sample.Metric,
    guest: Several,
    bare: Several,
    reference: repetition.Reference,
) -> str:
    """Return why a metric cannot be compared, or nothing."""
    if not guest:
        return gathering.NOBODY
    if bare:
        return ""
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


def judge(
    row: Row, findings: tuple[finding.RunFinding, ...], void: bool
) -> Row:
    """Return the row with its findings and its status.

    :param void: whether a finding about the run takes its meaning from it
    """
    status: verdict.Status | None = None
    if row.limit is not None:
        void = void or any(one.voids for one in findings)
        status = "void" if void else _status(row, row.limit)
    return dataclasses.replace(row, status=status, findings=findings)


def _status(row: Row, limit: float) -> verdict.Status:
    if row.comparison is not None:
        return verdict.decide(row.comparison, limit)
    if row.value is None:
        return "inconclusive"
    if row.metric.scale == "ratio":
        return verdict.decide(against_limit(row, limit), 0.0)
    # Beyond its limit a count has failed however few repetitions there are;
    # to be passed it takes three, as chance can spare one.
    beyond = row.value.value - limit
    if (beyond if row.figure == "max" else -beyond) > 0:
        return "failed"
    few = len(row.guest) < statistics.FEWEST
    return "inconclusive" if few else "passed"


def beyond_return(row: Row, planned: int) -> bool:
    """Return whether a row has failed, and will have failed in the end.

    That takes three things: the verdict is ``failed``; the interval at
    99.9 % is wholly beyond the limit as well; and the figure would be beyond
    it even if each repetition to come were as good as the best one so far. A
    count that is beyond its limit in one of three repetitions or more stays
    there, as its worst repetition is judged.

    :param planned: how many counted repetitions the task asks for
    """
    if row.status != "failed" or row.limit is None:
        return False
    if row.comparison is not None:
        best = needed.best_loss(row.comparison, planned)
        return best is not None and best > row.limit
    if row.metric.scale == "count":
        return len(row.guest) >= statistics.FEWEST
    best = needed.best_loss(against_limit(row, row.limit), planned)
    return best is not None and best > 0
