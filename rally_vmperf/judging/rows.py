"""The result of one figure of a metric: value, limit and status."""

import dataclasses
import functools
import sys
import typing as t

from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The figure that a limit applies to: the loss against bare metal, or the
#: value of the guest, which must not be above ``max`` or below ``min``.
Figure = t.Literal["overhead", "max", "min"]
RepetitionSamples = tuple[sample.MetricSamples, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class AbsoluteValue:
    """The absolute value of a metric in the guests, in the metric's unit.

    The value of a rate or a time is the geometric mean over repetitions. A
    count can be zero and has no geometric mean: its value is that of the
    worst guest in its worst repetition.

    :param low: The lower end of the interval; None for a count, and for
        fewer than three repetitions.
    :param high: The upper end of the interval; None as for ``low``.
    :param repetition: The number of the worst repetition of a count.
    :param worst: The guest with that count, if there are several guests.
    :param bare: The same figure of bare metal; None if it has none.
    """

    value: float
    low: float | None = None
    high: float | None = None
    repetition: int | None = None
    worst: str = ""
    bare: float | None = None

    def ends(self, unit: str) -> str:
        """Return the ends of the interval as text; "" without one."""
        if self.low is None or self.high is None:
            return ""
        return f"{units.show(self.low, unit)} to {units.show(self.high, unit)}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class FigureResult(summary.MetricResult):
    """A loss of guests against bare metal, or an absolute figure of them.

    :param guest: The samples of the guests, per counted repetition, in the
        order of ``comparison.guest_values``.
    :param bare: The samples of bare metal, per repetition of the baseline.
    :param limit: The limit of the overhead in percent, or of an absolute
        figure in the metric's unit.
    :param reason: The reason why the figure is missing, or "".
    :param caps: The bottlenecks that may limit the rate.
    :cvar NAMES: The names of both sides and of the loss in sentences.
    :cvar PAIRED: True if each repetition measured both sides.
    """

    NAMES: t.ClassVar[tuple[str, str, str]] = verdict.SIDES
    PAIRED: t.ClassVar[bool] = False

    figure: Figure
    reason: str = ""
    guest: RepetitionSamples
    bare: RepetitionSamples
    caps: tuple[rate_caps.Cap, ...] = ()

    @functools.cached_property
    def comparison(self) -> loss.Comparison | None:
        """The comparison with bare metal; None for an absolute figure.

        It is None as well if one side has no samples.
        """
        if self.figure != "overhead" or self.reason:
            return None
        return loss.compare(
            self.metric,
            [samples.values for samples in self.bare],
            [samples.values for samples in self.guest],
            self.confidence,
            paired=self.PAIRED,
            overlap=1.0 if self.PAIRED else sample.mean_overlap(self.guest),
        )

    @functools.cached_property
    def bottleneck(self) -> str:
        """The bottleneck outside the guest that limits the rate, or ""."""
        if self.comparison is None:
            return ""
        sources = {
            observation.source
            for samples in self.guest
            for observation in samples.observations
        }
        return rate_caps.describe_bottleneck(
            self.comparison, self.caps, len(sources)
        )

    @functools.cached_property
    def value(self) -> AbsoluteValue | None:
        """The absolute figure; None if the guests did not measure it."""
        if self.figure == "overhead" or not self.guest:
            return None
        if self.metric.scale == "count":
            return self._worst_count()
        means = gathering.geometric_means(self.guest)
        # The interval of a mean is that of its ratio to what does not vary.
        compared = self._compare_with_constant(1.0)
        low, high = sorted(
            loss.ratio(compared.metric, end)
            for end in (compared.low, compared.high)
            if end is not None
        ) or (None, None)
        return AbsoluteValue(
            value=statistics.geometric_mean(means),
            low=low,
            high=high,
            bare=statistics.geometric_mean(
                gathering.geometric_means(self.bare)
            )
            if self.bare
            else None,
        )

    def _worst_count(self) -> AbsoluteValue:
        """Return the count of the worst guest in its worst repetition.

        A mean over guests would hide the count of a single guest.
        """
        pick = max if self.figure == "max" else min
        counts = [
            (observation.sample.value, samples.number, observation.source)
            for samples in self.guest
            for observation in samples.observations
        ]
        value, number, guest = pick(counts, key=lambda count: count[0])
        bare = [
            observation.sample.value
            for samples in self.bare
            for observation in samples.observations
        ]
        return AbsoluteValue(
            value=value,
            repetition=number,
            worst=guest if len({source for *_, source in counts}) > 1 else "",
            bare=pick(bare, default=None),
        )

    @property
    def level_suffix(self) -> str:
        """The number of guests, as text; "" if it is the same in the run."""
        return ""

    @property
    def title(self) -> str:
        """The metric's name as text, with the number of guests if any."""
        return f"{self.metric.name}{self.level_suffix}"

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        return self.comparison is not None or self.value is not None

    @property
    def estimated(self) -> bool:
        """Whether there are enough repetitions for an interval."""
        if self.comparison is not None:
            return self.comparison.low is not None
        return self.measured and len(self.guest) >= statistics.FEWEST

    @property
    def decisive(self) -> loss.Comparison | None:
        """The comparison that decides the status, as ``comparison``."""
        return self.comparison

    @property
    def worst_label(self) -> str:
        """The worst guest as text; "" if the mean of the guests is judged."""
        return ""

    @property
    def corrected_guests(self) -> int:
        """The number of guests for which the confidence is corrected."""
        return 1

    def cells(self) -> summary.Cells:
        """Return figure, interval and limit as texts for a table."""
        if self.limit is None:
            return summary.NO_CELLS
        if (comparison := self.decisive) is not None:
            return summary.Cells(
                f"{self.worst_label or self.NAMES[-1]} "
                f"{verdict.figure(comparison, self.limit)}"
                f"{self.level_suffix}",
                verdict.ends(comparison, self.limit),
                f"limit {self.limit:g} %",
            )
        least = "least " if self.figure == "min" else ""
        limit = f"{least}limit {units.show(self.limit, self.metric.unit)}"
        if self.value is None:
            return summary.Cells("", "", limit)
        unit = self.metric.unit
        value = f"{units.show(self.value.value, unit)}{self.level_suffix}"
        return summary.Cells(value, self.value.ends(unit), limit)

    def _compare_with_limit(
        self, limit: float
    ) -> tuple[loss.Comparison, float] | None:
        """Return the comparison and the largest passing loss, or None.

        The guest is compared with bare metal, or with its absolute limit,
        which does not vary; a loss against a limit is positive, whatever is
        better. The result is None for a count, and if nothing was measured.
        """
        if (comparison := self.decisive) is not None:
            return comparison, limit
        if self.value is None or self.metric.scale == "count":
            return None
        return self._compare_with_constant(limit), 0.0

    def _compare_with_constant(self, constant: float) -> loss.Comparison:
        """Return the loss of the guest against a constant, a comparison."""
        better: sample.Better = "lower" if self.figure == "max" else "higher"
        return loss.compare(
            dataclasses.replace(self.metric, better=better),
            [[max(constant, sys.float_info.min)]] * statistics.FEWEST,
            [samples.values for samples in self.guest],
            self.confidence,
            exact=True,
            usual=gathering.geometric_means(self.bare),
        )

    def _status(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""
        compared = self._compare_with_limit(limit)
        if compared is not None:
            return verdict.decide(*compared)
        if self.value is None:
            return "inconclusive"
        # A count beyond its limit fails with any number of repetitions. To
        # pass it needs three, because one can pass by chance.
        excess = self.value.value - limit
        if (excess if self.figure == "max" else -excess) > 0:
            return "failed"
        is_few = len(self.guest) < statistics.FEWEST
        return "inconclusive" if is_few else "passed"

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return a copy of the row with findings and status.

        A rate that a policy limits does not pass, because a guest without
        the policy can lose more.
        """
        row = super().with_verdict(findings, void)
        if row.status == "passed" and row.limiting_policy:
            return dataclasses.replace(row, status="inconclusive")
        return row

    @property
    def limiting_policy(self) -> str:
        """The policy that limits the rate and is not tolerated, or ""."""
        kind = "bottleneck_outside_guest"
        if self.figure != "overhead" or not self.has_finding(kind):
            return ""
        rate = self.comparison.guest if self.comparison else None
        return rate_caps.describe_policy(self.metric, rate, self.caps)

    @property
    def is_only_undecided(self) -> bool:
        """Whether only a limit inside its interval prevents a pass.

        A count has no interval.
        """
        if self.limit is None or self.limiting_policy:
            return False
        compared = self._compare_with_limit(self.limit)
        return compared is not None and verdict.may_be_within(*compared)

    def is_failure_final(self, planned: int) -> bool:
        """Return whether no further repetitions can avert a failure.

        Three conditions must hold: the verdict is ``failed``; the interval at
        99.9 % is wholly beyond the limit as well; and the figure would be
        beyond it even if each remaining repetition were as good as the best
        one so far. A count that is beyond its limit in one of three
        repetitions or more stays there, as its worst repetition is judged.
        """
        if self.status != "failed" or self.limit is None:
            return False
        compared = self._compare_with_limit(self.limit)
        if compared is None:
            return len(self.guest) >= statistics.FEWEST
        best = needed.lowest_possible_loss(compared[0], planned, self.PAIRED)
        return best is not None and best > compared[1]

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why none, as text."""
        if (comparison := self.decisive) is not None:
            policy = self.limiting_policy
            bare, guest, lost = self.NAMES
            text = verdict.sentence(
                comparison,
                self.limit,
                self.status,
                f"a policy limits it: {policy}" if policy else "",
                (bare, self.worst_label or guest, lost),
                self.title,
                self.limit_origin,
                self.corrected_guests,
            )
        elif self.value is not None:
            text = self._describe_absolute(self.value)
        else:
            text = f"{self.title}: {self.reason}"
        return ". ".join([text, *self.void_reasons()])

    def _describe_absolute(self, figure: AbsoluteValue) -> str:
        """Return an absolute figure, its limit and verdict as text."""
        unit = self.metric.unit
        text = f"{self.title}: guest {units.show(figure.value, unit)}"
        if figure.repetition is not None:
            guest = (
                f" of its worst guest ({figure.worst})" if figure.worst else ""
            )
            text += f"{guest} in its worst repetition ({figure.repetition})"
        else:
            ends = figure.ends(unit)
            sure = f"{self.confidence * 100:g} % interval {ends}"
            text += f" ({sure if ends else 'no interval'})"
        if figure.bare is not None:
            text += f", bare metal {units.show(figure.bare, unit)}"
        if self.limit is None:
            return f"{text}, no limit"
        least = "" if self.figure == "max" else "least "
        shown = units.show(self.limit, unit)
        text += f", {least}limit {shown}{self.limit_origin}: {self.status}"
        if self.status != "inconclusive":
            return text
        compared = self._compare_with_limit(self.limit)
        if compared is None:
            return f"{text}, {verdict.more_repetitions(len(self.guest))}"
        return f"{text}, {verdict.would_decide(compared[0])}"


ResultT = t.TypeVar("ResultT", bound=FigureResult)


def build_result(
    row: type[ResultT],
    metric: sample.Metric,
    figure: Figure,
    conditions: gathering.Conditions,
    reference: repetition.Reference,
    limit: tuple[float, str] | None,
    confidence: float,
    caps: tuple[rate_caps.Cap, ...] = (),
    **extra_fields: t.Any,
) -> ResultT:
    """Return an unjudged row of a class for a figure of a metric.

    :param row: The class of the row.
    :param limit: The limit and the pattern that gave it; None without one.
    :param caps: The bottlenecks that may limit the rate.
    :param extra_fields: The fields that only this class of rows has.
    """
    guest = gathering.guest_samples(metric, conditions)
    bare = gathering.bare_metal_samples(metric, reference)
    reason = "" if guest else gathering.NO_COMPLETE_SAMPLES
    if figure == "overhead" and guest and not bare:
        reason = gathering.explain_missing(reference, metric)
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
        **extra_fields,
    )
