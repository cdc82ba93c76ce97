"""The result of one figure of a metric: value, limit and status."""

import dataclasses
import functools
import typing as t

from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import metric_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import contrasts
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The figure that a limit applies to: the loss against bare metal, or the
#: value of the guest, which must not be above ``max`` or below ``min``.
Figure = t.Literal["overhead", "max", "min"]
RepetitionSamples = absolute_value.RepetitionSamples


@dataclasses.dataclass(frozen=True, kw_only=True)
class FigureResult(metric_result.MetricResult):
    """A loss of guests, or an absolute value of them, at a number of guests.

    A loss is that of the mean or the worst guest against bare metal, or
    between two conditions of the same repetitions. The percentile of a
    distribution is that of all guests together and has no worst guest.

    :param guest: The samples of the guests, per counted repetition, in the
        order of ``comparison.guest_values``.
    :param bare: The samples of bare metal, per repetition of the baseline,
        or those of the other condition.
    :param limit: The limit of the overhead in percent, or of an absolute
        figure in the metric's unit.
    :param reason: The reason why the figure is missing, or "".
    :param caps: The bottlenecks that may limit the rate.
    :param names: The names of both sides and of the loss in sentences.
    :param paired: Whether each repetition measured both sides.
    :param statistic: The guest to which a limit of the loss applies.
    :param guests: The number of guests of each host that are measured at
        once; None if it is the same in the whole run.
    :param void_level: The reason why the samples of a level are void, or "".
    :param skipped: The number of repetitions in which the level was skipped
        because of the results of smaller levels.
    """

    figure: Figure
    reason: str = ""
    guest: RepetitionSamples
    bare: RepetitionSamples
    caps: tuple[rate_caps.Cap, ...] = ()
    names: tuple[str, str, str] = verdict.SIDES
    paired: bool = False
    statistic: contrasts.Statistic = "mean"
    guests: int | None = None
    void_level: str = ""
    skipped: int = 0

    @functools.cached_property
    def contrast(self) -> contrasts.Contrast:
        """The contrast of the guests with the other side."""
        return contrasts.Contrast(
            metric=self.metric,
            reference=self.bare,
            other=self.guest,
            confidence=self.confidence,
            pairing="always" if self.paired else "never",
        )

    @property
    def comparison(self) -> loss.Comparison | None:
        """The comparison with bare metal; None for an absolute figure.

        It is None as well if one side has no samples.
        """
        if self.figure != "overhead" or self.reason:
            return None
        return self.contrast.mean

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
    def value(self) -> absolute_value.AbsoluteValue | None:
        """The absolute figure; None if the guests did not measure it."""
        if self.figure == "overhead" or not self.guest:
            return None
        return absolute_value.compute_value(
            self.metric, self.figure, self.guest, self.bare, self.confidence
        )

    @property
    def worst(self) -> str:
        """The name of the worst guest; "" if the mean guest is judged."""
        is_worst = self.statistic == "worst" and self.comparison
        return self.contrast.worst if is_worst else ""

    @property
    def level_suffix(self) -> str:
        """The number of guests, as text; "" if it is the same in the run."""
        if self.guests is None:
            return ""
        return f" at {units.number_of('guest', self.guests)}"

    @property
    def title(self) -> str:
        """The metric's name as text, with variant and number of guests."""
        return f"{self.metric_title}{self.level_suffix}"

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
        """The comparison of the mean or of the worst guest that decides."""
        if self.comparison is None:
            return None
        return self.contrast.find_decisive(self.statistic, self.status)[0]

    @property
    def worst_label(self) -> str:
        """The worst guest with the number of guests; "" for the mean."""
        if not self.worst:
            return ""
        return f"worst of {len(self.contrast.each)} guests ({self.worst})"

    @property
    def corrected_guests(self) -> int:
        """The number of guests for which the confidence is corrected."""
        return self.contrast.find_decisive(self.statistic, self.status)[1]

    @property
    def is_gain(self) -> bool:
        """Whether the loss is shown as a gain."""
        return self.names[-1] == verdict.GAIN

    def cells(self) -> metric_result.Cells:
        """Return figure, interval and limit as texts for a table."""
        if self.limit is None:
            return metric_result.NO_CELLS
        if self.figure == "overhead":
            limit = f"{verdict.show_limit(self.limit, self.is_gain)} %"
            if (comparison := self.decisive) is None:
                return metric_result.Cells("", "", limit)
            figure = verdict.figure(comparison, self.limit, self.is_gain)
            value = f"{self.worst_label or self.names[-1]} {figure}"
            ends = verdict.ends(comparison, self.limit, self.is_gain)
            return metric_result.Cells(value + self.level_suffix, ends, limit)
        unit = self.metric.unit
        least = "least " if self.figure == "min" else ""
        limit = f"{least}limit {units.show(self.limit, unit)}"
        if self.value is None:
            return metric_result.Cells("", "", limit)
        value = f"{units.show(self.value.value, unit)}{self.level_suffix}"
        return metric_result.Cells(value, self.value.ends(unit), limit)

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
        return absolute_value.compare_with_constant(
            self.metric,
            t.cast(limits.AbsoluteFigure, self.figure),
            self.guest,
            self.bare,
            self.confidence,
            constant,
        )

    def _status(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""
        if self.comparison is not None:
            return self.contrast.decide(limit, self.statistic)
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

    def differing_guests(self) -> dict[str, loss.Comparison]:
        """Return the guests beyond the limit if the mean guest is judged.

        The result is empty if the mean guest is beyond the limit as well.
        """
        limit, mean = self.limit, self.comparison
        if limit is None or mean is None or self.statistic == "worst":
            return {}
        if self._status(limit) == "failed":
            return {}
        return self.contrast.list_beyond(limit)

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return a copy of the row with findings and status.

        A level runs only if the smaller levels passed. A rate that a policy
        limits does not pass, because a guest without the policy can lose
        more.
        """
        row = super().with_verdict(findings, void)
        if row.status == "passed" and (row.skipped or row.limiting_policy):
            return dataclasses.replace(row, status="inconclusive")
        return row

    def _is_void(self, findings: tuple[finding.RunFinding, ...]) -> bool:
        """Return whether a finding voids this metric, or this level of it.

        A finding that voids another level does not void this one.
        """
        if self.guests is None:
            return super()._is_void(findings)
        return bool(self.void_level)

    def void_reasons(self) -> list[str]:
        """Return the reasons why the figure is void, a list of texts."""
        if self.guests is None:
            return super().void_reasons()
        return [self.void_level] if self.void_level else []

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
        if self.limit is None or self.skipped or self.limiting_policy:
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
        best = needed.lowest_possible_loss(compared[0], planned, self.paired)
        return best is not None and best > compared[1]

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why none, as text."""
        if (comparison := self.decisive) is not None:
            policy = self.limiting_policy
            bare, guest, lost = self.names
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

    def _describe_absolute(self, figure: absolute_value.AbsoluteValue) -> str:
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


def build_result(
    metric: sample.Metric,
    figure: Figure,
    conditions: gathering.Conditions,
    reference: repetition.Reference,
    limit: tuple[float, str] | None,
    confidence: float,
    caps: tuple[rate_caps.Cap, ...] = (),
    **extra_fields: t.Any,
) -> FigureResult:
    """Return an unjudged row for a figure of a metric.

    :param limit: The limit and the pattern that gave it; None without one.
    :param caps: The bottlenecks that may limit the rate.
    :param extra_fields: The other fields of the row.
    """
    guest = gathering.guest_samples(metric, conditions)
    bare = gathering.bare_metal_samples(metric, reference)
    reason = "" if guest else gathering.NO_COMPLETE_SAMPLES
    if figure == "overhead" and guest and not bare:
        reason = gathering.explain_missing(reference, metric)
    return FigureResult(
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
