"""The rows of density: one figure of a metric, and its verdicts."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.judging.results import metric_result
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import fairness
from rally_vmperf.measurement.density import max_guests as max_guests_
from rally_vmperf.measurement.density import points as points_
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.samples import units

Figure = t.Literal["loss", "index", "spread"]

#: The largest percentage, over the whole interval, by which a solo guest can
#: be slower than the mean of several under equal conditions.
SOLO_SLOW_PERCENT = 2.0
#: The number of levels with a full sentence.
MAX_SENTENCES = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class DensityResult(metric_result.MetricResult):
    """One metric of a density judgement.

    :param figure: The figure to which the limit applies.
    :param statistic: The guest to which the limit applies.
    :param compare_to: The reference of a loss.
    :param points: The points in ascending number of guests.
    :param limit: The limit, in percent for a loss or spread.
    :param reason: The reason why there is nothing to judge, if so.
    :param max_guests: The number of guests within the limit.
    :param statuses: The verdicts, by number of guests.
    """

    points: tuple[points_.Point, ...]
    reason: str = ""
    max_guests: max_guests_.MaxGuests | None = None
    statuses: dict[int, verdict.Status] = dataclasses.field(
        default_factory=dict
    )
    figure: Figure = "loss"
    statistic: points_.Statistic = "mean"
    compare_to: points_.CompareTo = "solo_guest"

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        return any(point.mean is not None for point in self.points)

    def point(self, guests: int) -> points_.Point | None:
        """Return the point at a number of guests, or None."""
        return next(
            (point for point in self.points if point.guests == guests), None
        )

    @property
    def is_only_undecided(self) -> bool:
        """Whether only limits inside intervals prevent a pass."""
        return bool(self.statuses) and all(
            status == "passed" or self._may_be_within(guests)
            for guests, status in self.statuses.items()
        )

    def _may_be_within(self, guests: int) -> bool:
        """Return whether further repetitions may still give a pass."""
        point, uneven = self.point(guests), self._unevenness(guests)
        if point is None or point.skipped or self.limit is None:
            return False
        if self.figure != "loss":
            return bool(uneven and uneven.interval(self.confidence))
        is_limited = self.has_finding("bottleneck_outside_guest")
        if is_limited and self._policy(guests):
            return False
        comparison = self._compare(guests)
        if self.missing_solo_run(guests) or comparison is None:
            return False
        comparisons = [comparison]
        if self.statistic == "worst":
            corrected = point.contrast(self.compare_to).corrected
            comparisons = [*corrected.values()] or comparisons
        return all(verdict.may_be_within(c, self.limit) for c in comparisons)

    def missing_solo_run(self, guests: int) -> str:
        """Return which guests lack a required solo run as text, or ""."""
        point = self.point(guests)
        limited = (self.figure, self.statistic, self.compare_to)
        if point is None or limited != ("loss", "worst", "solo_guest"):
            return ""
        return point.why_worst_is_unknown

    def _compare(self, guests: int) -> loss.Comparison | None:
        """Return the comparison behind the loss at a level, or None."""
        point = self.point(guests)
        return (
            point.compared(self.statistic, self.compare_to) if point else None
        )

    def decisive(self, guests: int) -> tuple[loss.Comparison | None, int]:
        """Return the comparison that decides a level, for so many guests."""
        point = self.point(guests)
        if point is None:
            return None, 1
        return point.contrast(self.compare_to).find_decisive(
            self.statistic, self.statuses.get(guests)
        )

    @functools.cached_property
    def solo_slow(self) -> str:
        """The first level faster than the solo guest as text, or ""."""
        if self.figure != "loss" or self.compare_to != "solo_guest":
            return ""
        for point in self.points:
            comparison = point.loss
            if (
                comparison
                and comparison.high is not None
                and comparison.high < -SOLO_SLOW_PERCENT
            ):
                gain = units.show_percent(-comparison.overhead_percent)
                number = units.number_of("guest", point.guests)
                return f"with {number} each does {gain} % more"
        return ""

    def void(self, guests: int) -> str:
        """Return why the figures at a level are void as text, or ""."""
        point = self.point(guests)
        if self.figure == "loss":
            return point.void_against(self.compare_to) if point else ""
        return point.void if point else ""

    def decide(
        self,
        guests: int,
        limit: float,
        tolerate: collections.abc.Collection[str] = (),
    ) -> verdict.Status:
        """Return the status of the figure at a level against a limit."""
        if self.void(guests):
            return "void"
        if self.figure != "loss":
            uneven = self._unevenness(guests)
            if uneven is None:
                return "inconclusive"
            return uneven.decide(limit, self.confidence)
        if self.solo_slow and "solo_guest_slow" not in tolerate:
            return "void"
        comparison = self._compare(guests)
        if comparison is None or self.missing_solo_run(guests):
            return "inconclusive"
        findings = plausibility.guest_faster(comparison)
        kinds = {reported_finding.kind for reported_finding in findings}
        faster = self.compare_to == "bare_metal" and "guest_faster" in kinds
        if faster and "guest_faster" not in tolerate:
            return "void"
        status = verdict.decide(comparison, limit)
        if self.statistic == "worst":
            status = self._decide_all(guests, limit)
        if status == "passed" and (
            # A level runs only if the smaller levels passed.
            any(p.skipped for p in self.points if p.guests == guests)
            or (
                "bottleneck_outside_guest" not in tolerate
                and self._policy(guests)
            )
        ):
            return "inconclusive"
        return status

    def _policy(self, guests: int) -> str:
        """Return the policy that limits the rate at a level, or ""."""
        point = self.point(guests)
        if point is None or self.compare_to == "solo_guest":
            return ""
        return rate_caps.describe_policy(self.metric, point.mean, point.caps)

    def _decide_all(self, guests: int, limit: float) -> verdict.Status:
        """Return the status of all guests at a level against a limit."""
        point = t.cast(points_.Point, self.point(guests))
        status = point.contrast(self.compare_to).decide(limit, "worst")
        percent = point.largest_loss_percent
        if self.compare_to == "bare_metal" or percent is None:
            return status
        # The worst guest can be another one in each repetition.
        is_beyond = status == "passed" and percent > limit
        return "inconclusive" if is_beyond else status

    def _unevenness(self, guests: int) -> fairness.Unevenness | None:
        """Return the guests' differences at a level; None for a loss."""
        point = self.point(guests)
        if point is None or self.figure == "loss":
            return None
        return point.unevenness(self.figure)

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return a copy with findings; a void run voids all levels."""
        row = dataclasses.replace(self, findings=findings)
        if not void or {*self.statuses.values()} <= {"void"}:
            return row
        return dataclasses.replace(
            row,
            status="void",
            statuses=dict.fromkeys(self.statuses, "void"),
            max_guests=None,
        )

    def is_failure_final(self, planned: int) -> bool:
        """Return whether no further repetitions can prevent a failure."""
        return self.limit is not None and any(
            self._is_final_at(guests, self.limit, planned)
            for guests, status in self.statuses.items()
            if status == "failed"
        )

    def _is_final_at(self, guests: int, limit: float, planned: int) -> bool:
        """Return whether a failure at a level can no longer be averted."""
        uneven = self._unevenness(guests)
        if uneven is not None:
            confidence = needed.FINAL_CONFIDENCE
            return uneven.is_failure_final(limit, confidence, planned)
        comparison = self._compare(guests)
        if comparison is None:
            return False
        solo = self.compare_to == "solo_guest"
        lowest = needed.lowest_possible_loss(comparison, planned, solo)
        return lowest is not None and lowest > limit

    def cells(self) -> metric_result.Cells:
        """Return the table cells of the largest level with the verdict."""
        same = [n for n, s in self.statuses.items() if s == self.status]
        point = self.point(max(same, default=0))
        if self.limit is None or point is None:
            return metric_result.NO_CELLS
        at = f"at {units.number_of('guest', point.guests)}"
        limit = f"limit {self.limit:g} %"
        if self.figure == "loss":
            comparison, _ = self.decisive(point.guests)
            if comparison is None or self.missing_solo_run(point.guests):
                return metric_result.Cells("", "", limit)
            label = "loss"
            if self.statistic == "worst":
                label = point.subject_label("worst")
            return metric_result.Cells(
                f"{label} {verdict.figure(comparison, self.limit)} {at}",
                verdict.ends(comparison, self.limit),
                limit,
            )
        uneven = self._unevenness(point.guests)
        if self.figure == "index":
            limit = f"least limit {self.limit:g}"
        if uneven is None:
            return metric_result.Cells("", "", limit)
        scale = (self.confidence, self.limit)
        return metric_result.Cells(
            f"{self.figure} {uneven.text(uneven.mean, *scale)} {at}",
            uneven.ends(*scale),
            limit,
        )

    def sentences(self) -> list[str]:
        """Return sentences on the decisive levels, and remarks, a list."""
        name = self.metric.name
        if not self.statuses:
            return [f"{name}: the limit applies to no level"]
        same = [n for n, s in self.statuses.items() if s == self.status]
        sentences = [self._sentence(guests) for guests in same[:MAX_SENTENCES]]
        if rest := ", ".join(map(str, same[MAX_SENTENCES:])):
            sentences.append(f"{name} at {rest} guests: {self.status} too")
        return [*sentences, *self.remarks()]

    def remarks(self) -> list[str]:
        """Return remarks on how many guests fit and on the worst one."""
        return [*self._max_guests_remark(), *self._rotating_remark()]

    def _rotating_remark(self) -> list[str]:
        """Return a remark on worst guests beyond the limit, in a list."""
        if self.figure != "loss" or self.limit is None:
            return []
        for guests, status in sorted(self.statuses.items(), reverse=True):
            point = self.point(guests)
            unknown = self.void(guests) or self.missing_solo_run(guests)
            if point is None or status == "failed" or unknown:
                continue
            percent = point.largest_loss_percent
            if percent is not None and percent > self.limit:
                at = units.number_of("guest", guests)
                return [f"{self.metric.name} at {at}: {point.rotating_worst}"]
        return []

    def _max_guests_remark(self) -> list[str]:
        """Return a sentence on how many guests fit, in a list, or []."""
        max_guests = self.max_guests
        if max_guests is None or self.limit is None or not self.measured:
            return []
        largest = max((point.guests for point in self.points), default=0)
        text = max_guests.sentence(self.limit, largest)
        return [f"{self.metric.name}: {text}"]

    def _sentence(self, guests: int) -> str:
        """Return figures, limit and verdict of one level as text."""
        status = self.statuses[guests]
        is_loss = self.figure == "loss"
        describe = self._describe_loss if is_loss else self._describe_fairness
        text = describe(guests)
        if text is None:
            reason = points_.missing_figure_reason(
                self.point(guests), self.figure, self.compare_to
            )
            text = f"{reason}: {status}"
        where = f"{self.metric.name} at {units.number_of('guest', guests)}"
        sentences = [f"{where}: {text}"]
        if status == "void":
            reason = self.void(guests)
            sentences += [reason] if reason else self.void_reasons()
        return ". ".join(sentences)

    def _describe_loss(self, guests: int) -> str | None:
        """Return loss, limit and verdict as text; None without a loss."""
        point = self.point(guests)
        options = (self.statistic, self.compare_to)
        comparison, number = self.decisive(guests)
        if comparison is None or point is None or self.limit is None:
            return None
        if reason := self.missing_solo_run(guests):
            return f"{reason}: {self.statuses[guests]}"
        status = self.statuses[guests]
        text = (
            f"{points_.reference_label(guests, *options)} "
            f"{self._show(comparison.bare)}, "
            f"{point.subject_label(self.statistic)} "
            f"{self._show(comparison.guest)}, "
            f"loss {verdict.figure(comparison, self.limit)}"
            f"{' of the rate' if self.metric.better == 'lower' else ''}"
            f" ({verdict.interval(comparison, self.limit, number)}), "
            f"limit {self.limit:g} %{self.limit_origin}: {status}"
        )
        if status == "inconclusive" and (skipped := point.skipped):
            repetitions = units.number_of("repetition", skipped)
            text += f", skipped in {repetitions} because of smaller levels"
        elif (
            status == "inconclusive"
            and verdict.decide(comparison, self.limit) == "passed"
            and (reason := self._policy(guests))
        ):
            text += f", a policy limits it: {reason}"
        elif status == "inconclusive":
            text += f", {verdict.would_decide(comparison)}"
        return text

    def _show(self, rate: float) -> str:
        """Return a rate as text in the metric's own unit."""
        return units.show(rates.convert(self.metric, rate), self.metric.unit)

    def _describe_fairness(self, guests: int) -> str | None:
        """Return fairness, limit and verdict as text; None without one."""
        point, uneven = self.point(guests), self._unevenness(guests)
        if point is None or uneven is None or self.limit is None:
            return None
        most = max(uneven.values)
        number = point.samples[uneven.values.index(most)].number
        scale = (self.confidence, self.limit)
        ends = uneven.ends(*scale)
        interval = f"{self.confidence * 100:g} % interval {ends}"
        name = "fairness index" if self.figure == "index" else "spread"
        least = "smallest" if self.figure == "index" else "largest"
        limit = f"{self.limit:g}{' %' if self.figure == 'spread' else ''}"
        text = (
            f"{name} {uneven.text(uneven.mean, *scale)} "
            f"({interval if ends else 'no interval'}), "
            f"{uneven.text(most, *scale)} in its worst repetition ({number}), "
            f"{least} {limit}{self.limit_origin}: {self.statuses[guests]}"
        )
        if not ends:
            text += f", {verdict.more_repetitions(0)}"
        return text
