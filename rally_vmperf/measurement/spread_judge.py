"""The judge of spread: how far the repetitions of a run lie apart."""

import collections.abc
import dataclasses
import functools
import statistics as stdlib
import sys
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import overhead_judge
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows as rows_
from rally_vmperf.measurement import summary as summary_
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import needed
from rally_vmperf.measurement.comparison import spread
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import units

Figure = t.Literal["range_percent", "cv_percent", "gsd_ratio"]
#: Figure -> the name of its value for one side; the option for its limit is
#: ``max_`` and the figure.
NAMES: dict[Figure, str] = {
    "range_percent": "range",
    "cv_percent": "coefficient of variation",
    "gsd_ratio": "geometric standard deviation",
}
#: Between what spread is taken; intervals are of time, within a repetition.
Over = t.Literal["repetitions", "intervals"]
NO_RATIO = (
    "max_gsd_ratio goes with over: repetitions only: a baseline keeps the "
    "mean of its repetitions over time, which varies less than one does"
)

Values = tuple[float, ...]
#: What stands for nothing in an interval, as a share: it has a logarithm.
_STILL = 1e-9


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(summary_.Row):
    """One figure of the spread of a metric, and whether it is in its limit.

    :param compared: the metric's samples, compared with bare metal
    :param limit: in percent, or of the ratio
    """

    figure: Figure
    compared: rows_.Row

    @functools.cached_property
    def guest(self) -> Values:
        """One geometric mean over guests per counted repetition."""
        return _means(self.compared.guest)

    @functools.cached_property
    def bare(self) -> Values:
        """One geometric mean over copies per repetition of the baseline."""
        return _means(self.compared.bare)

    @functools.cached_property
    def ratio(self) -> spread.Ratio | None:
        """The ratio to bare metal, if there is one."""
        return spread.ratio(self.bare, self.guest, self.confidence)

    @property
    def measured(self) -> bool:
        """Whether something was measured on each side that it takes."""
        return bool(self.guest and (self.bare or not self._is_ratio))

    @property
    def forgivable(self) -> bool:
        """Whether there is an interval; only a ratio has one."""
        return self._is_ratio and bool(self.ratio and self.ratio.ends)

    @property
    def _is_ratio(self) -> bool:
        return self.figure == "gsd_ratio"

    def of(self, values: Values) -> float | None:
        """Return the figure of one side; None for fewer than two values."""
        found = spread.spread(values)
        return None if found is None else self._value(found)

    def _value(self, found: spread.Spread) -> float:
        """Return the figure of one side, for the ratio the gsd."""
        if self.figure == "range_percent":
            return found.range_percent
        return found.gsd if self._is_ratio else found.cv_percent

    def show(self, value: float) -> str:
        """Return a figure of one side as text."""
        if self._is_ratio:
            return f"{value:.4f}" if value < 10 else f"{value:.3g}"
        return units.show(value, "%")

    @property
    def shown_limit(self) -> str:
        """The limit as text, nothing without one."""
        if self.limit is None:
            return ""
        percent = " %" if self.figure.endswith("_percent") else ""
        return f"{self.limit:g}{percent}"

    @property
    def shown_interval(self) -> str:
        """The interval of the ratio as text."""
        ends = self.ratio.ends if self.ratio else ""
        sure = f"{self.confidence * 100:g} % interval"
        return f"{sure} {ends}" if ends else "no interval"

    @property
    def reason(self) -> str:
        """Why there is no figure, or nothing."""
        if not self.guest:
            return gathering.NOBODY
        if self._is_ratio and not self.bare:
            return self.compared.reason
        few = len(self.guest) < spread.FEWEST
        if few or (self._is_ratio and len(self.bare) < spread.FEWEST):
            side = "the guest" if few else "bare metal"
            return f"1 repetition of {side} has no {NAMES[self.figure]}"
        if self._is_ratio and self.ratio is None:
            return (
                "all repetitions of bare metal are equal, so that there is no "
                "ratio to them, record a baseline with more repetitions"
            )
        return ""

    def sentence(self) -> str:
        """Return figure, limit and verdict, or why there is no figure."""
        words = f"{self.metric.name}: {self.reason or self._figures()}"
        if self.limit is None or self.status is None:
            words += ", no limit"
        elif self.measured:
            limit = f"{self.shown_limit}{self.given_by}"
            words += f", limit {limit}: {self.status}"
            if self.status == "inconclusive":
                words += self._would_decide(self.limit)
        return ". ".join([words, *self.voids()])

    def _figures(self) -> str:
        value, bare = self.of(self.guest), self.of(self.bare)
        shown = self.show(t.cast(float, value))
        words = f"guest's {NAMES[self.figure]} {shown}"
        words += f" over {len(self.guest)} repetitions"
        if bare is not None:
            words += f", bare metal's {self.show(bare)} over {len(self.bare)}"
        if self._is_ratio and self.ratio is not None:
            words += (
                f", ratio on logarithms {self.ratio.value:.3g} "
                f"({self.shown_interval})"
            )
        return words

    def cells(self) -> summary_.Cells:
        """Return its figure, interval and limit for a table."""
        limit = f"limit {self.shown_limit}"
        name = self.figure.removesuffix("_percent").replace("_", " ")
        if self._is_ratio and (found := self.ratio) is not None:
            value = f"{name} {found.value:.3g}"
            return summary_.Cells(value, found.ends, limit)
        figure = self.of(self.guest)
        if self._is_ratio or figure is None:
            return summary_.Cells("", "", limit)
        return summary_.Cells(f"{name} {self.show(figure)}", "", limit)

    def _kind(self) -> Values:
        return (*self.guest, statistics.geometric_mean(self.guest))

    def _would_decide(self, limit: float) -> str:
        if len(self.guest) < statistics.FEWEST:
            return f", at least {statistics.FEWEST} repetitions would decide"
        have = len(self.bare), len(self.guest)
        if len(self.bare) < statistics.FEWEST:
            more = needed.Needed(bare=statistics.FEWEST)
        elif self.ratio is None:
            return ""
        else:
            confidence = self.confidence
            more = _needed(self.ratio.value, limit, have, confidence)
        return f", {more.sentence('ratio')}"

    def beyond_return(self, planned: int) -> bool:
        """Return whether it has failed, and will have failed in the end.

        That is so if it would fail even if all repetitions to come were like
        the one, of those there are and their mean, that brings the figure
        lowest; a ratio's interval at 99.9 % is beyond the limit as well.
        """
        if self.status != "failed" or self.limit is None:
            return False
        more = max(0, planned - len(self.guest))
        for one in set(self._kind()):
            value = self._figure((*self.guest, *[one] * more))
            if value is None or value <= self.limit:
                return False
        if not self._is_ratio:
            return True
        found = spread.ratio(self.bare, self.guest, needed.CONFIDENCE)
        return bool(found and found.low is not None and found.low > self.limit)

    def _figure(self, guest: Values) -> float | None:
        """Return the figure that these repetitions of the guest would give."""
        if not self._is_ratio:
            return self.of(guest)
        found = spread.ratio(self.bare, guest, self.confidence)
        return found.value if found else None

    def _status(self, limit: float) -> verdict.Status:
        if len(self.guest) < statistics.FEWEST:
            return "inconclusive"
        if not self._is_ratio:
            value = self.of(self.guest)
            return "failed" if value is None or value > limit else "passed"
        found = self.ratio
        if found is None:
            return "inconclusive"
        return verdict.of_interval(found.low, found.high, limit)


@dataclasses.dataclass(frozen=True, kw_only=True)
class IntervalRow(Row):
    """One figure of the spread over intervals of time, within repetitions.

    :param runs: the mean guest's values over time, by counted repetition
    """

    runs: tuple[Values, ...]

    @functools.cached_property
    def guest(self) -> Values:
        """The figure of each counted repetition that has intervals."""
        return tuple(map(self._within, self.runs))

    #: A baseline keeps the mean of its repetitions over time, not each.
    bare: t.ClassVar[Values] = ()

    def of(self, values: Values) -> float | None:
        """Return the mean of the figures of several repetitions."""
        return stdlib.fmean(values) if values else None

    @property
    def reason(self) -> str:
        """Why there is no figure, or nothing."""
        if self._is_ratio:
            return "there is no ratio over intervals"
        return "" if self.guest else gathering.NOBODY

    def _figures(self) -> str:
        value = self.show(t.cast(float, self.of(self.guest)))
        return (
            f"guest's {NAMES[self.figure]} over intervals {value}, mean of "
            f"{units.number_of('repetition', len(self.guest))}"
        )

    def _kind(self) -> Values:
        return self.guest

    def _within(self, values: Values) -> float:
        least = max(stdlib.fmean(values) * _STILL, sys.float_info.min)
        found = spread.spread([max(value, least) for value in values])
        return self._value(t.cast(spread.Spread, found))


def _means(entries: collections.abc.Iterable[gathering.Gathered]) -> Values:
    return tuple(statistics.geometric_mean(one.values) for one in entries)


def _needed(
    ratio: float, limit: float, have: tuple[int, int], confidence: float
) -> needed.Needed:
    """Return how many repetitions would decide at least, if figures stay.

    :param have: repetitions of bare metal, and of the guest
    """
    bare, guest = have

    def decides(bare_count: int, guest_count: int) -> bool:
        low, high = spread.interval(ratio, bare_count, guest_count, confidence)
        return not low <= limit < high

    for count in range(guest + 1, needed.MOST + 1):
        if decides(bare, count):
            return needed.Needed(guest=count, least=True)
    for count in range(bare + 1, needed.MOST + 1):
        if decides(count, max(count, guest)):
            return needed.Needed(bare=count)
    return needed.Needed()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(summary_.Summary[Row]):
    """The verdict on spread."""

    @property
    def by_metric(self) -> dict[str, list[Row]]:
        """The figures of each metric."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.metric.name, []).append(row)
        return found


def _runs(entries: judge.Repetitions) -> dict[str, list[Values]]:
    """Return metric -> values over time, where every guest has them."""
    found: dict[str, list[Values]] = {}
    for entry in entries:
        condition = entry.condition
        for one in condition.time_series if condition.counted else ():
            whole = one.machines >= len(condition.machines)
            if whole and len(one.line.mean) >= spread.FEWEST:
                found.setdefault(one.metric.name, []).append(one.line.mean)
    return found


class SpreadJudge(judge.Judge[Row]):
    """Judges how far the repetitions of a run lie apart.

    :param over: between what spread is taken
    :param given: ``max_`` and a figure -> metric or glob -> largest tolerated
        figure; and ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    summary = Judgement

    def __init__(self, over: Over = "repetitions", **given: t.Any) -> None:
        self.limits: dict[Figure, limits.Limits] = {
            figure: limits.Limits(given.pop(f"max_{figure}", {}))
            for figure in NAMES
        }
        super().__init__(**given)
        self.over = over
        if over != "repetitions" and self.limits["gsd_ratio"]:
            raise ValueError(NO_RATIO)
        # What voids the samples voids their spread as well.
        self._overhead = overhead_judge.OverheadJudge(
            confidence=self.confidence
        )

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether a repetition has one condition only."""
        return self._overhead.understands(entry)

    def figures(self, entries: judge.Repetitions) -> list[Row]:
        """Return all figures of each rate and time, not judged yet."""
        found: list[Row] = []
        runs = _runs(entries)
        every = [
            one
            for one in self._overhead.figures(entries)
            if one.figure == "overhead"
            and (self.over != "intervals" or one.metric.name in runs)
        ]
        names = {one.metric.name for one in every}
        for compared in every:
            name = compared.metric.name
            make: t.Callable[..., Row] = Row
            if self.over == "intervals":
                make = functools.partial(IntervalRow, runs=tuple(runs[name]))
            for figure, held in self.limits.items():
                limit = held.for_metric(name, names)
                found.append(
                    make(
                        metric=compared.metric,
                        figure=figure,
                        compared=compared,
                        limit=limit and limit[0],
                        pattern=limit and limit[1],
                        confidence=self.confidence,
                    )
                )
        return found

    def findings(
        self, entries: judge.Repetitions, rows: collections.abc.Sequence[Row]
    ) -> finding.Occurrences:
        """Return findings with the number of the repetition they are of."""
        compared = [row.compared for row in rows if row.figure == "gsd_ratio"]
        return self._overhead.findings(entries, compared)

    def unmatched(
        self, rows: collections.abc.Iterable[Row]
    ) -> tuple[str, ...]:
        """Return the limits that no rate or time of the run goes with."""
        names = {row.metric.name for row in rows}
        every = self.limits.values()
        return tuple(
            dict.fromkeys(x for y in every for x in y.unmatched(names))
        )
