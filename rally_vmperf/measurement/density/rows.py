"""The rows of density: one figure of a metric, and its verdicts."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import fairness
from rally_vmperf.measurement.density import fits as fits_
from rally_vmperf.measurement.density import law as law_
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.density import points as points_
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.samples import units

Figure = t.Literal["loss", "index", "spread"]

#: The largest percentage, over the whole interval, by which a solo guest can
#: be slower than the mean of several under equal conditions.
LONE_PERCENT = 2.0
#: The number of levels with a full sentence; the report has all levels.
SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(summary.Row):
    """One metric of a density judgement.

    :param figure: The figure to which the limit applies.
    :param statistic: The guest to which the limit applies.
    :param compare_to: The reference of a loss.
    :param points: The points in ascending number of guests.
    :param limit: The limit, in percent for a loss or spread.
    :param reason: The reason why there is nothing to judge, if so.
    :param room: The capacity of the host, None if unknown.
    :param statuses: The verdicts, by number of guests.
    """

    points: tuple[points_.Point, ...]
    reason: str = ""
    law: law_.Law | None = None
    fits: fits_.Fits | None = None
    room: repetition.Room | None = None
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
        """Return the point at a number of guests, if there is one."""
        return next(
            (point for point in self.points if point.guests == guests), None
        )

    @property
    def forgivable(self) -> bool:
        """Whether only limits inside intervals prevent a pass."""
        return bool(self.statuses) and all(
            status == "passed" or self._may_be_within(guests)
            for guests, status in self.statuses.items()
        )

    def _may_be_within(self, guests: int) -> bool:
        point, uneven = self.point(guests), self._uneven(guests)
        if point is None or point.skipped or self.limit is None:
            return False
        if self.figure != "loss":
            return bool(uneven and uneven.interval(self.confidence))
        if self.shows("bottleneck_outside_guest") and self._capped(guests):
            return False
        comparison = self._compared(guests)
        if self._never_alone(guests) or comparison is None:
            return False
        comparisons = [comparison]
        if self.statistic == "worst":
            comparisons = point.of_each_corrected(self.compare_to)
        return all(verdict.may_be_within(c, self.limit) for c in comparisons)

    def _never_alone(self, guests: int) -> str:
        point = self.point(guests)
        limited = (self.figure, self.statistic, self.compare_to)
        if point is None or limited != ("loss", "worst", "solo_guest"):
            return ""
        return point.why_worst_is_unknown

    def _compared(self, guests: int) -> loss.Comparison | None:
        point = self.point(guests)
        return (
            point.compared(self.statistic, self.compare_to) if point else None
        )

    @functools.cached_property
    def lone_slow(self) -> str:
        """The first level with a mean guest faster than the solo guest."""
        if self.figure != "loss" or self.compare_to != "solo_guest":
            return ""
        for point in self.points:
            comparison = point.compared("mean", "solo_guest")
            if (
                comparison
                and comparison.high is not None
                and comparison.high < -LONE_PERCENT
            ):
                gain = units.show_percent(-comparison.overhead_percent)
                with_ = units.number_of("guest", point.guests)
                return f"with {with_} each does {gain} % more"
        return ""

    def void(self, guests: int) -> str:
        """Return why figures are void, or an empty text."""
        point = self.point(guests)
        if point is None:
            return ""
        if self.figure == "loss":
            return point.void_against(self.compare_to)
        return point.void

    def decide(
        self,
        guests: int,
        limit: float,
        tolerate: collections.abc.Collection[str] = (),
    ) -> verdict.Status:
        """Return whether the figure at a number of guests meets a limit."""
        if self.void(guests):
            return "void"
        if self.figure != "loss":
            uneven = self._uneven(guests)
            if uneven is None:
                return "inconclusive"
            return uneven.decide(limit, self.confidence)
        if self.lone_slow and "solo_guest_slow" not in tolerate:
            return "void"
        comparison = self._compared(guests)
        if comparison is None or self._never_alone(guests):
            return "inconclusive"
        findings = plausibility.faster(comparison)
        kinds = [finding.kind for finding in findings]
        faster = self.compare_to == "bare_metal" and "guest_faster" in kinds
        if faster and "guest_faster" not in tolerate:
            return "void"
        status = verdict.decide(comparison, limit)
        if self.statistic == "worst":
            status = self._of_all(guests, limit)
        if status == "passed" and (
            # A level runs only if the smaller levels passed.
            any(p.skipped for p in self.points if p.guests == guests)
            or (
                "bottleneck_outside_guest" not in tolerate
                and self._capped(guests)
            )
        ):
            return "inconclusive"
        return status

    def _capped(self, guests: int) -> str:
        """Describe a bottleneck that guests and bare metal share."""
        point = self.point(guests)
        if point is None or self.compare_to == "solo_guest":
            return ""
        return point.capped(self.compare_to)

    def _of_all(self, guests: int, limit: float) -> verdict.Status:
        """Return whether all guests are within a limit.

        Passed if each guest passes, without correction; failed if the worst
        guest fails at a level corrected for their number (S. Holm, "A simple
        sequentially rejective multiple test procedure", Scandinavian Journal
        of Statistics 6, 1979).
        """
        point = t.cast(points_.Point, self.point(guests))
        comparisons = point.of_each(self.compare_to, self.confidence)
        if {verdict.decide(c, limit) for c in comparisons} == {"passed"}:
            return "passed"
        corrected = point.of_each_corrected(self.compare_to)
        if "failed" in {verdict.decide(c, limit) for c in corrected}:
            return "failed"
        return "inconclusive"

    def _uneven(self, guests: int) -> fairness.Unevenness | None:
        point = self.point(guests)
        if point is None or self.figure == "loss":
            return None
        return point.unevenness(self.figure)

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return the row with findings; a void run voids all levels."""
        row = dataclasses.replace(self, findings=findings)
        if not void or {*self.statuses.values()} <= {"void"}:
            return row
        return dataclasses.replace(
            row,
            status="void",
            statuses=dict.fromkeys(self.statuses, "void"),
            fits=None,
        )

    def beyond_return(self, planned: int) -> bool:
        """Return whether no further repetitions can prevent a failure."""
        return self.limit is not None and any(
            self._beyond(guests, self.limit, planned)
            for guests, status in self.statuses.items()
            if status == "failed"
        )

    def _beyond(self, guests: int, limit: float, planned: int) -> bool:
        uneven = self._uneven(guests)
        if uneven is not None:
            return uneven.beyond_return(limit, needed.CONFIDENCE, planned)
        comparison = self._compared(guests)
        if comparison is None:
            return False
        solo = self.compare_to == "solo_guest"
        best = needed.best_loss(comparison, planned, solo)
        return best is not None and best > limit

    def cells(self) -> summary.Cells:
        """Return the cells of the largest level with the row's verdict."""
        same = [n for n, s in self.statuses.items() if s == self.status]
        point = self.point(max(same, default=0))
        if self.limit is None or point is None:
            return summary.NOTHING
        at = f"at {units.number_of('guest', point.guests)}"
        if self.figure == "loss":
            limit = f"limit {self.limit:g} %"
            comparison = self._compared(point.guests)
            if comparison is None or self._never_alone(point.guests):
                return summary.Cells("", "", limit)
            return summary.Cells(
                f"loss {verdict.figure(comparison, self.limit)} {at}",
                verdict.ends(comparison, self.limit),
                limit,
            )
        uneven = self._uneven(point.guests)
        index = self.figure == "index"
        limit = f"{'least ' if index else ''}limit {self.limit:g}"
        limit += "" if index else " %"
        if uneven is None:
            return summary.Cells("", "", limit)
        scale = (self.confidence, self.limit)
        return summary.Cells(
            f"{self.figure} {uneven.text(uneven.mean, *scale)} {at}",
            uneven.ends(*scale),
            limit,
        )

    def lines(self) -> list[str]:
        """Return sentences on the levels with the verdict, and remarks."""
        name = self.metric.name
        if not self.statuses:
            return [f"{name}: no number of guests to hold a limit at"]
        same = [n for n, s in self.statuses.items() if s == self.status]
        sentences = [self._sentence(guests) for guests in same[:SHOWN]]
        if len(same) > SHOWN:
            rest = ", ".join(map(str, same[SHOWN:]))
            sentences.append(f"{name} at {rest} guests: {self.status} too")
        return [*sentences, *self.remarks()]

    def remarks(self) -> list[str]:
        """Return how many guests fit within the limit, and the worst one."""
        return [*self._largest(), *self._rotating()]

    def _rotating(self) -> list[str]:
        """Return a remark if the worst guests are beyond the limit.

        It names the largest level with such guests and another verdict.
        """
        if self.figure != "loss" or self.limit is None:
            return []
        for guests, status in sorted(self.statuses.items(), reverse=True):
            point = self.point(guests)
            unknown = self.void(guests) or self._never_alone(guests)
            if point is None or status == "failed" or unknown:
                continue
            percent = point.lowest_percent
            if percent is not None and percent > self.limit:
                where = units.number_of("guest", guests)
                return [f"{self.metric.name} at {where}: {point.rotating}"]
        return []

    def _largest(self) -> list[str]:
        """Return how many guests fit within the limit."""
        fits = self.fits
        if fits is None or self.limit is None or not self.measured:
            return []
        largest = max((point.guests for point in self.points), default=0)
        measured = self.law.largest if self.law else largest
        text = fits.sentence(self.limit, largest, measured, self.room)
        return [f"{self.metric.name}: {text}"]

    def _sentence(self, guests: int) -> str:
        """Return figures, limit and verdict of one number of guests."""
        status = self.statuses[guests]
        describe = self._lost if self.figure == "loss" else self._shared
        text = describe(guests)
        if text is None:
            reason = levels.no_figure(
                self.point(guests), self.figure, self.compare_to
            )
            text = f"{reason}: {status}"
        where = f"{self.metric.name} at {units.number_of('guest', guests)}"
        sentences = [f"{where}: {text}"]
        if status == "void":
            reason = self.void(guests)
            sentences += [reason] if reason else self.voids()
        return ". ".join(sentences)

    def _lost(self, guests: int) -> str | None:
        point, comparison = self.point(guests), self._compared(guests)
        if comparison is None or point is None or self.limit is None:
            return None
        if reason := self._never_alone(guests):
            return f"{reason}: {self.statuses[guests]}"
        status = self.statuses[guests]
        text = (
            f"{self._other(guests)} {self._own(comparison.bare)}, "
            f"{point.loser(self.statistic)} {self._own(comparison.guest)}, "
            f"loss {verdict.figure(comparison, self.limit)}"
        )
        if self.metric.better == "lower":
            text += " of the rate"
        text += (
            f" ({verdict.interval(comparison, self.limit)}), "
            f"limit {self.limit:g} %{self.given_by}: {status}"
        )
        if status == "inconclusive" and (skipped := point.skipped):
            number = units.number_of("repetition", skipped)
            text += f", skipped in {number} for what smaller levels showed"
        elif (
            status == "inconclusive"
            and verdict.decide(comparison, self.limit) == "passed"
            and (reason := self._capped(guests))
        ):
            text += f", something else limits it: {reason}"
        elif status == "inconclusive":
            solo = self.compare_to == "solo_guest"
            advice = verdict.would_decide(comparison, self.limit, "loss", solo)
            text += f", {advice}"
        return text

    def _other(self, guests: int) -> str:
        """Describe the reference of the loss."""
        if self.compare_to == "solo_guest":
            return "one guest"
        if guests == 1:
            return "one bare-metal copy"
        worst = self.statistic == "worst"
        remark = ", as no guest has a copy of its own," if worst else ""
        return f"mean of {guests} bare-metal copies{remark}"

    def _own(self, rate: float) -> str:
        """Show a rate in the metric's own unit."""
        return units.show(rates.convert(self.metric, rate), self.metric.unit)

    def _shared(self, guests: int) -> str | None:
        point, uneven = self.point(guests), self._uneven(guests)
        if point is None or uneven is None or self.limit is None:
            return None
        status = self.statuses[guests]
        most = max(uneven.values)
        number = point.gathered[uneven.values.index(most)].number
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
            f"{least} {limit}{self.given_by}: {status}"
        )
        if not ends:
            text += f", at least {statistics.FEWEST} repetitions would decide"
        return text
