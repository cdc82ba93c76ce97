"""One figure of a metric at each number of guests, and its verdicts."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import loss
from rally_vmperf.measurement import needed
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import summary
from rally_vmperf.measurement import units
from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import fits as fits_
from rally_vmperf.measurement.density import law as law_
from rally_vmperf.measurement.density import line as line_
from rally_vmperf.measurement.density import points as points_
from rally_vmperf.measurement.density import rates

Figure = t.Literal["loss", "index", "spread"]

#: A lone guest that is worse than the mean of several by more than this, in
#: percent and over the whole interval, was not measured as they were.
LONE_PERCENT = 2.0
#: How many levels of a metric are told in full; the report has them all.
SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(summary.Row):
    """One metric of a density judgement.

    :param figure: which figure the limit is put to
    :param of: whose loss the limit is put to
    :param against: what a loss is against
    :param points: in ascending number of guests
    :param limit: in percent for a degradation; the index, or percent of
        spread, for fairness
    :param reason: why there is nothing to judge, or nothing
    :param statuses: number of guests -> verdict, where a limit is held
    """

    points: tuple[points_.Point, ...]
    reason: str = ""
    line: line_.Line | None = None
    law: law_.Law | None = None
    fits: fits_.Fits | None = None
    statuses: dict[int, verdict.Status] = dataclasses.field(
        default_factory=dict
    )
    figure: Figure = "loss"
    of: points_.Of = "mean"
    against: points_.Against = "one_guest"

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        return any(one.mean is not None for one in self.points)

    def point(self, guests: int) -> points_.Point | None:
        """Return the point with so many guests, if there is one."""
        return next((one for one in self.points if one.guests == guests), None)

    def _compared(self, guests: int) -> loss.Comparison | None:
        point = self.point(guests)
        return point.compared(self.of, self.against) if point else None

    @functools.cached_property
    def lone_slow(self) -> str:
        """At how many guests each is faster than one alone, or nothing.

        Their mean, by the whole interval and by more than two boots of one
        machine differ.
        """
        if self.figure != "loss" or self.against != "one_guest":
            return ""
        for point in self.points:
            found = point.compared("mean", "one_guest")
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
            return point.void_against(self.against)
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
            return self._fair(guests, limit)
        if self.lone_slow and "lone_guest_slow" not in tolerate:
            return "void"
        found = self._compared(guests)
        if found is None:
            return "inconclusive"
        kinds = [one.kind for one in plausibility.faster(found)]
        faster = self.against == "bare_metal" and "guest_faster" in kinds
        if faster and "guest_faster" not in tolerate:
            return "void"
        return verdict.decide(found, limit)

    def _fair(self, guests: int, limit: float) -> verdict.Status:
        """Return whether guests share evenly enough.

        By the worst repetition: beyond its limit a figure has failed however
        few there are; to be passed it takes three, as chance can spare one.
        """
        point = self.point(guests)
        if point is None or point.fairness is None:
            return "inconclusive"
        if self.figure == "index":
            beyond = point.fairness < limit
        else:
            beyond = max(point.spreads) > limit
        if beyond:
            return "failed"
        few = len(point.gathered) < statistics.FEWEST
        return "inconclusive" if few else "passed"

    def judged(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return it with its findings; its levels have their verdicts."""
        return dataclasses.replace(self, findings=findings)

    def beyond_return(self, planned: int) -> bool:
        """Return whether it has failed, and will have failed in the end.

        That is so if one of its levels has. Losses are asked as overhead is;
        a fairness that is beyond its limit in one of three repetitions or
        more stays there, as the worst is judged.
        """
        return self.limit is not None and any(
            self._beyond(guests, self.limit, planned)
            for guests, status in self.statuses.items()
            if status == "failed"
        )

    def _beyond(self, guests: int, limit: float, planned: int) -> bool:
        if self.figure != "loss":
            point = self.point(guests)
            return point is not None and (
                len(point.gathered) >= statistics.FEWEST
            )
        found = self._compared(guests)
        if found is None:
            return False
        best = needed.best_loss(found, planned, self.against == "one_guest")
        return best is not None and best > limit

    def brief(self) -> str:
        """Return its figure with the most guests in a few words."""
        guests = max(self.statuses, default=0)
        found = self._compared(guests) if self.figure == "loss" else None
        if found is None or self.limit is None:
            return ""
        return (
            f"loss {units.show_percent(found.overhead_percent)} % at "
            f"{units.number_of('guest', guests)} ({verdict.interval(found)}, "
            f"limit {self.limit:g} %)"
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
        """Return how many guests fit within the limit, where it is known."""
        found = self.fits
        if found is None or self.limit is None or not self.measured:
            return []
        limit = f"within the limit of {self.limit:g} %"
        high = "" if found.high is None else f" and at most {found.high}"
        largest = max((one.guests for one in self.points), default=0)
        if found.tested is None:
            words = f"undecided how many guests are {limit}"
            if found.low:
                words += f", at least {found.low}{high}"
        elif found.tested == 0 and found.high == 0:
            words = f"not even 1 guest {limit}"
        elif found.high == found.tested:
            words = f"at most {units.number_of('guest', found.tested)} {limit}"
        elif found.high is not None and found.high < largest:
            words = f"at least {found.tested}{high} guests {limit}"
        else:
            tested = units.number_of("guest", found.tested)
            words = f"all that was tested, up to {tested}, {limit}"
        if found.predicted is not None:
            words += f"; the law predicts {found.predicted}"
            if found.extrapolated and self.law is not None:
                words += f", extrapolated beyond {self.law.largest}"
            elif found.most is None:
                words += f", {found.least} or more"
            else:
                words += f", between {found.least} and {found.most}"
        return [f"{self.metric.name}: {words}"]

    def _sentence(self, guests: int) -> str:
        """Return figures, limit and verdict of one number of guests."""
        status = self.statuses[guests]
        words = (
            self._lost(guests)
            if self.figure == "loss"
            else (self._shared(guests))
        )
        if words is None:
            words = f"{self._absence(guests)}: {status}"
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
        status = self.statuses[guests]
        words = (
            f"{self._other(guests)} {self._own(found.bare)}, "
            f"{self._loser(point)} {self._own(found.guest)}, loss "
            f"{units.show_percent(found.overhead_percent)} %"
        )
        if self.metric.better == "lower":
            words += " of the rate"
        words += (
            f" ({verdict.interval(found)}), limit {self.limit:g} %: {status}"
        )
        if status == "inconclusive":
            more = needed.repetitions_needed(
                found, self.limit, both=self.against == "one_guest"
            )
            words += f", {more.sentence('loss')}"
        return words

    def _other(self, guests: int) -> str:
        """Return what the loss is against."""
        if self.against == "one_guest":
            return "one guest"
        if guests == 1:
            return "one bare-metal copy"
        return f"mean of {guests} bare-metal copies"

    def _loser(self, point: points_.Point) -> str:
        if self.of == "mean" or point.worst is None:
            one = point.guests == 1
            return "guest" if one else f"mean of {point.guests} guests"
        where = f" on {point.worst.host}" if point.worst.host else ""
        who = f"{point.worst.guest}{where}"
        return f"worst of {units.number_of('guest', point.guests)} ({who})"

    def _own(self, rate: float) -> str:
        """Show a rate in the metric's own unit."""
        return units.show(rates.convert(self.metric, rate), self.metric.unit)

    def _shared(self, guests: int) -> str | None:
        point = self.point(guests)
        if point is None or point.fairness is None or self.limit is None:
            return None
        status = self.statuses[guests]
        if self.figure == "index":
            worst = point.fairnesses.index(point.fairness)
            figure = f"fairness index {point.fairness:.3f}"
            limit = f"smallest {self.limit:g}"
        else:
            spread = max(point.spreads)
            worst = point.spreads.index(spread)
            figure = f"spread {units.show_percent(spread)} %"
            limit = f"largest {self.limit:g} %"
        number = point.gathered[worst].number
        words = f"{figure} in its worst repetition ({number}), {limit}: "
        if status == "inconclusive":
            least = f"at least {statistics.FEWEST} repetitions would decide"
            return f"{words}{status}, {least}"
        return f"{words}{status}"

    def _absence(self, guests: int) -> str:
        """Return why there is no figure for so many guests."""
        point = self.point(guests)
        if point is None:
            return "the task has no such level"
        if point.reason:
            return point.reason
        if self.figure != "loss":
            return "a single guest shares with nobody"
        if self.against == "bare_metal":
            copies = "copy" if guests == 1 else "copies"
            return (
                f"the baseline does not have it of {guests} {copies}, record "
                f"it with --copies {guests}"
            )
        lone = self.point(1)
        if lone is None:
            return "the task has no level of one guest to compare with"
        return f"one guest: {lone.reason}"
