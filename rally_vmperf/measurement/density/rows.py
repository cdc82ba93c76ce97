"""One figure of a metric at each number of guests, and its verdicts."""

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

#: A lone guest that is worse than the mean of several by more than this, in
#: percent and over the whole interval, was not measured as they were.
LONE_PERCENT = 2.0
#: How many levels of a metric are told in full; the report has them all.
SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(summary.Row):
    """One metric of a density judgement.

    :param figure: which figure the limit applies to
    :param statistic: whose loss the limit applies to
    :param compare_to: what a loss is against
    :param points: in ascending number of guests
    :param limit: in percent for a degradation; the index, or percent of
        spread, for fairness
    :param reason: why there is nothing to judge, or nothing
    :param room: how many guests the host holds, None where nobody knows
    :param statuses: number of guests -> verdict, where a limit is held
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
        return any(one.mean is not None for one in self.points)

    def point(self, guests: int) -> points_.Point | None:
        """Return the point with so many guests, if there is one."""
        return next((one for one in self.points if one.guests == guests), None)

    @property
    def forgivable(self) -> bool:
        """Whether nothing but limits inside intervals denies a pass."""
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
        capped = self.shows("bottleneck_outside_guest") and self._capped(
            guests
        )
        found = self._compared(guests)
        if capped or self._never_alone(guests) or found is None:
            return False
        every = [found]
        if self.statistic == "worst":
            every = point.of_each_corrected(self.compare_to)
        return all(verdict.may_be_within(x, self.limit) for x in every)

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
        """At how many guests each is faster than one alone, or nothing.

        Their mean, by the whole interval and by more than two boots of one
        machine differ.
        """
        if self.figure != "loss" or self.compare_to != "solo_guest":
            return ""
        for point in self.points:
            found = point.compared("mean", "solo_guest")
            if found and found.high is not None and found.high < -LONE_PERCENT:
                gain = units.show_percent(-found.overhead_percent)
                with_ = units.number_of("guest", point.guests)
                return f"with {with_} each does {gain} % more"
        return ""

    def void(self, guests: int) -> str:
        """Return why figures mean nothing, or nothing."""
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
        """Return whether the figure with so many guests is within a limit."""
        if self.void(guests):
            return "void"
        if self.figure != "loss":
            uneven = self._uneven(guests)
            if uneven is None:
                return "inconclusive"
            return uneven.decide(limit, self.confidence)
        if self.lone_slow and "solo_guest_slow" not in tolerate:
            return "void"
        found = self._compared(guests)
        if found is None or self._never_alone(guests):
            return "inconclusive"
        kinds = [one.kind for one in plausibility.faster(found)]
        faster = self.compare_to == "bare_metal" and "guest_faster" in kinds
        if faster and "guest_faster" not in tolerate:
            return "void"
        status = verdict.decide(found, limit)
        if self.statistic == "worst":
            status = self._of_all(guests, limit)
        if status == "passed" and (
            # It ran where what was before it went well.
            any(one.skipped for one in self.points if one.guests == guests)
            or (
                "bottleneck_outside_guest" not in tolerate
                and self._capped(guests)
            )
        ):
            return "inconclusive"
        return status

    def _capped(self, guests: int) -> str:
        """Return what gives guests and bare metal the same, or nothing.

        Against one guest, each has what it may have there: that passes.
        """
        point = self.point(guests)
        if point is None or self.compare_to == "solo_guest":
            return ""
        return point.capped(self.compare_to)

    def _of_all(self, guests: int, limit: float) -> verdict.Status:
        """Return whether every guest is within a limit.

        Passed where each is, which takes no correction; failed where the one
        that is farthest beyond is so at a level corrected for their number
        (S. Holm, "A simple sequentially rejective multiple test procedure",
        Scandinavian Journal of Statistics 6, 1979): among many some guest is
        always last.
        """
        point = t.cast(points_.Point, self.point(guests))
        each = point.of_each(self.compare_to, self.confidence)
        if {verdict.decide(one, limit) for one in each} == {"passed"}:
            return "passed"
        strict = point.of_each_corrected(self.compare_to)
        if "failed" in {verdict.decide(one, limit) for one in strict}:
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
        """Return it with its findings; what voids the run voids each level."""
        found = dataclasses.replace(self, findings=findings)
        if not void or {*self.statuses.values()} <= {"void"}:
            return found
        return dataclasses.replace(
            found,
            status="void",
            statuses=dict.fromkeys(self.statuses, "void"),
            fits=None,
        )

    def beyond_return(self, planned: int) -> bool:
        """Return whether it has failed, and will have failed in the end.

        That is so if one of its levels has. Losses are asked as overhead
        is, and fairness likewise.
        """
        return self.limit is not None and any(
            self._beyond(guests, self.limit, planned)
            for guests, status in self.statuses.items()
            if status == "failed"
        )

    def _beyond(self, guests: int, limit: float, planned: int) -> bool:
        uneven = self._uneven(guests)
        if uneven is not None:
            return uneven.beyond_return(limit, needed.CONFIDENCE, planned)
        found = self._compared(guests)
        if found is None:
            return False
        best = needed.best_loss(
            found, planned, self.compare_to == "solo_guest"
        )
        return best is not None and best > limit

    def cells(self) -> summary.Cells:
        """Return figure, interval and limit with the most guests.

        The most of those that share its verdict.
        """
        same = [n for n, one in self.statuses.items() if one == self.status]
        point = self.point(max(same, default=0))
        if self.limit is None or point is None:
            return summary.NOTHING
        at = f"at {units.number_of('guest', point.guests)}"
        if self.figure == "loss":
            limit = f"limit {self.limit:g} %"
            found = self._compared(point.guests)
            if found is None or self._never_alone(point.guests):
                return summary.Cells("", "", limit)
            return summary.Cells(
                f"loss {verdict.figure(found, self.limit)} {at}",
                verdict.ends(found, self.limit),
                limit,
            )
        uneven = self._uneven(point.guests)
        index = self.figure == "index"
        limit = f"{'least ' if index else ''}limit {self.limit:g}"
        limit += "" if index else " %"
        if uneven is None:
            return summary.Cells("", "", limit)
        asked = (self.confidence, self.limit)
        return summary.Cells(
            f"{self.figure} {uneven.text(uneven.mean, *asked)} {at}",
            uneven.ends(*asked),
            limit,
        )

    def lines(self) -> list[str]:
        """Return what is to be said of a metric that has a limit.

        The levels that share its verdict, fewest guests first, and how many
        guests fit.
        """
        name = self.metric.name
        if not self.statuses:
            return [f"{name}: no number of guests to hold a limit at"]
        same = [n for n, one in self.statuses.items() if one == self.status]
        told = [self._sentence(guests) for guests in same[:SHOWN]]
        if len(same) > SHOWN:
            others = ", ".join(map(str, same[SHOWN:]))
            told.append(f"{name} at {others} guests: {self.status} too")
        return [*told, *self.remarks()]

    def remarks(self) -> list[str]:
        """Return how many guests fit within the limit, and who lost most."""
        return [*self._largest(), *self._rotating()]

    def _rotating(self) -> list[str]:
        """Return that some guest of each repetition is beyond the limit.

        At the most guests where that is so, and the verdict does not say it.
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
        found = self.fits
        if found is None or self.limit is None or not self.measured:
            return []
        largest = max((one.guests for one in self.points), default=0)
        measured = self.law.largest if self.law else largest
        words = found.sentence(self.limit, largest, measured, self.room)
        return [f"{self.metric.name}: {words}"]

    def _sentence(self, guests: int) -> str:
        """Return figures, limit and verdict of one number of guests."""
        status = self.statuses[guests]
        describe = self._lost if self.figure == "loss" else self._shared
        words = describe(guests)
        if words is None:
            why = levels.no_figure(
                self.point(guests), self.figure, self.compare_to
            )
            words = f"{why}: {status}"
        where = f"{self.metric.name} at {units.number_of('guest', guests)}"
        parts = [f"{where}: {words}"]
        if status == "void":
            why = self.void(guests)
            parts += [why] if why else self.voids()
        return ". ".join(parts)

    def _lost(self, guests: int) -> str | None:
        point, found = self.point(guests), self._compared(guests)
        if found is None or point is None or self.limit is None:
            return None
        if why := self._never_alone(guests):
            return f"{why}: {self.statuses[guests]}"
        status = self.statuses[guests]
        words = (
            f"{self._other(guests)} {self._own(found.bare)}, "
            f"{point.loser(self.statistic)} {self._own(found.guest)}, loss "
            f"{verdict.figure(found, self.limit)}"
        )
        if self.metric.better == "lower":
            words += " of the rate"
        words += (
            f" ({verdict.interval(found, self.limit)}), "
            f"limit {self.limit:g} %{self.given_by}: {status}"
        )
        if status == "inconclusive" and (skipped := point.skipped):
            number = units.number_of("repetition", skipped)
            words += f", skipped in {number} for what smaller levels showed"
        elif (
            status == "inconclusive"
            and verdict.decide(found, self.limit) == "passed"
            and (why := self._capped(guests))
        ):
            words += f", something else limits it: {why}"
        elif status == "inconclusive":
            both = self.compare_to == "solo_guest"
            more = verdict.would_decide(found, self.limit, "loss", both)
            words += f", {more}"
        return words

    def _other(self, guests: int) -> str:
        """Return what the loss is against."""
        if self.compare_to == "solo_guest":
            return "one guest"
        if guests == 1:
            return "one bare-metal copy"
        own = ", as no guest has a copy of its own," * (
            self.statistic == "worst"
        )
        return f"mean of {guests} bare-metal copies{own}"

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
        asked = (self.confidence, self.limit)
        ends = uneven.ends(*asked)
        sure = f"{self.confidence * 100:g} % interval {ends}"
        name = "fairness index" if self.figure == "index" else "spread"
        least = "smallest" if self.figure == "index" else "largest"
        limit = f"{self.limit:g}{' %' if self.figure == 'spread' else ''}"
        words = (
            f"{name} {uneven.text(uneven.mean, *asked)} "
            f"({sure if ends else 'no interval'}), "
            f"{uneven.text(most, *asked)} in its worst repetition ({number}), "
            f"{least} {limit}{self.given_by}: {status}"
        )
        if not ends:
            words += f", at least {statistics.FEWEST} repetitions would decide"
        return words
