"""The judges of density: what guests lose, and how evenly they share."""

import collections.abc
import dataclasses
import itertools
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import level
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows as absolute_rows
from rally_vmperf.measurement import summary as summary_
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import findings as density_findings
from rally_vmperf.measurement.density import fits
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rows as rows_
from rally_vmperf.measurement.samples import sample

#: Numbers of guests at which a limit is held, or all of them.
Levels = t.Literal["all"] | int | collections.abc.Sequence[int]
#: A limit and the pattern that gave it.
Limit = tuple[float, str] | None
#: Losses and shares over numbers of guests, and figures at one number.
Rows = collections.abc.Sequence[rows_.Row | level.Row]

_GRAVEST: tuple[verdict.Status, ...] = (
    "failed",
    "void",
    "inconclusive",
    "passed",
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(summary_.Summary[rows_.Row | level.Row]):
    """The verdict on degradation, or on fairness."""

    @property
    def curves(self) -> tuple[rows_.Row, ...]:
        """The rows of figures over numbers of guests."""
        return _curves(self.rows)

    @property
    def absolute(self) -> tuple[level.Row, ...]:
        """The rows of figures that are held to absolute limits."""
        return tuple(x for x in self.rows if isinstance(x, level.Row))


def _curves(rows: Rows) -> tuple[rows_.Row, ...]:
    return tuple(one for one in rows if isinstance(one, rows_.Row))


class _Judge(judge.Judge[rows_.Row | level.Row]):
    """Takes repetitions whose conditions are numbers of guests.

    :param levels: numbers of guests at which the limits are held, or ``all``
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    summary = Judgement

    def __init__(
        self,
        levels: Levels,
        compare_to: points.CompareTo = "solo_guest",
        **strictness: t.Any,
    ) -> None:
        super().__init__(**strictness)
        if compare_to != "bare_metal":
            self.tolerate = {*self.tolerate, *finding.ABOUT_BARE_METAL}
        #: None for every one.
        self.numbers: list[int] | None = None
        if levels == "all":
            return
        numbers = [levels] if isinstance(levels, int) else list(levels)
        if not numbers or not all(map(_counts, numbers)):
            raise ValueError(
                f"levels={levels!r}: must be all, or integers >= 1"
            )
        self.numbers = sorted(set(numbers))

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether the conditions are numbers of guests."""
        return all(repetition.GUESTS in one.axes for one in entry.conditions)

    def take(
        self,
        entries: collections.abc.Iterable[repetition.Repetition],
        unreadable: int,
    ) -> None:
        """Take what repetitions measured without neighbours."""
        super().take([one.without_neighbours() for one in entries], unreadable)

    def findings(
        self,
        entries: judge.Repetitions,
        rows: Rows,
    ) -> finding.Occurrences:
        """Return findings with the number of the repetition they are of."""
        return density_findings.everything(entries, _curves(rows))

    def concerning_all(
        self,
        found: collections.abc.Iterable[finding.Finding],
        entries: judge.Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about a repetition; those of levels are not."""
        return level.of_repetitions(found, entries)

    def _rows(
        self,
        metric: sample.Metric,
        measured: levels.Measured,
        figures: collections.abc.Mapping[rows_.Figure, Limit],
        **own: t.Any,
    ) -> list[rows_.Row]:
        """Return a row for each figure of a metric, not held to its limit."""
        every = levels.points_of(
            metric, measured, self.confidence, self.tolerate
        )
        reasons = [one.reason for one in every if one.reason]
        known = any(one.mean is not None for one in every)
        return [
            rows_.Row(
                metric=metric,
                points=every,
                figure=figure,
                limit=limit and limit[0],
                pattern=limit and limit[1],
                reason="" if known or not reasons else reasons[0],
                confidence=self.confidence,
                **own,
            )
            for figure, limit in figures.items()
        ]

    def _at(self, measured: collections.abc.Iterable[int]) -> list[int]:
        """Return the numbers of guests at which a limit is held, ascending.

        :param measured: those at which it can be held, ascending
        """
        return list(measured) if self.numbers is None else self.numbers


def _counts(number: object) -> bool:
    return (
        isinstance(number, int)
        and not isinstance(number, bool)
        and number >= 1
    )


def _with_statuses(
    row: rows_.Row, statuses: dict[int, verdict.Status], **own: t.Any
) -> rows_.Row:
    """Return a row with its verdicts; inconclusive where none is held."""
    status = next(
        (one for one in _GRAVEST if one in statuses.values()), "inconclusive"
    )
    return dataclasses.replace(
        row, statuses=statuses, status=t.cast(verdict.Status, status), **own
    )


class DegradationJudge(_Judge):
    """Judges what guests lose as their number grows.

    :param max_percent: metric or glob -> largest tolerated loss of the rate;
        without any there are figures and no verdict
    :param levels: numbers of guests at which the limits are held, or ``all``
    :param statistic: whether the mean guest or the worst is held to them
    :param compare_to: what the loss is against
    :param max: metric or glob -> largest tolerated value, in its own unit
    :param min: metric or glob -> smallest tolerated value
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self,
        max_percent: judge.Given | None = None,
        levels: Levels = "all",
        statistic: points.Statistic = "mean",
        compare_to: points.CompareTo = "solo_guest",
        max: judge.Given | None = None,
        min: judge.Given | None = None,
        **strictness: t.Any,
    ) -> None:
        super().__init__(levels, compare_to, **strictness)
        for name, value, allowed in (
            ("statistic", statistic, t.get_args(points.Statistic)),
            ("compare_to", compare_to, t.get_args(points.CompareTo)),
        ):
            if value not in allowed:
                raise ValueError(
                    f"{name} is {value!r}, use {' or '.join(allowed)}"
                )
        if compare_to == "solo_guest" and 1 in (self.numbers or ()):
            raise ValueError(
                "levels names 1 guest, which loses nothing against itself, "
                "use larger numbers or compare_to: bare_metal"
            )
        self.max_percent = limits.Limits(max_percent or {})
        self.absolute_limits: dict[absolute_rows.Figure, limits.Limits] = {
            "max": limits.Limits(max or {}),
            "min": limits.Limits(min or {}),
        }
        self.statistic = statistic
        self.compare_to = compare_to

    def figures(
        self, entries: judge.Repetitions
    ) -> list[rows_.Row | level.Row]:
        """Return what each metric loses, then the absolute figures."""
        return [*self._losses(entries), *self._absolute(entries)]

    def _absolute(
        self, entries: judge.Repetitions
    ) -> collections.abc.Iterator[level.Row]:
        """Return the figures that have an absolute limit, and counts.

        A number of guests that is not there has none.
        """
        every = levels.metrics(entries)
        names = [one.name for one in every]
        numbers = self._at(levels.numbers(entries))
        figures = self.absolute_limits
        asked = [
            one
            for one in every
            if absolute_rows.absolute_figures(one, figures)
        ]
        for metric, number in itertools.product(asked, numbers):
            there = levels.counted(entries, number)
            yield from level.absolute_rows(
                metric,
                there,
                number,
                levels.void_level(metric, entries, there, self.tolerate),
                figures,
                names,
                self.confidence,
            )

    def _losses(
        self, entries: judge.Repetitions
    ) -> collections.abc.Iterator[rows_.Row]:
        measured = levels.Measured.of(entries)
        names = [one.name for one in measured.ratios]
        room = min(
            (x for one in entries for x in one.rooms),
            key=lambda x: x.guests,
            default=None,
        )
        for metric in measured.ratios:
            limit = self.max_percent.for_metric(metric.name, names)
            (row,) = self._rows(
                metric,
                measured,
                {"loss": limit},
                statistic=self.statistic,
                compare_to=self.compare_to,
            )
            row = dataclasses.replace(
                row,
                room=room,
                law=law.law(row.points, self.confidence),
            )
            yield self._apply_limit(row, limit[0]) if limit else row

    def _apply_limit(self, row: rows_.Row, limit: float) -> rows_.Row:
        alone = self.compare_to == "solo_guest"
        verdicts = {
            one.guests: row.decide(one.guests, limit, self.tolerate)
            for one in row.points
        }
        limited = self._at(n for n in verdicts if not alone or n > 1)
        if alone and (lone := row.point(1)) and lone.usable:
            # It loses nothing to itself.
            verdicts[1] = "passed" if limit >= 0 else "failed"
        predicting = row.law if alone and self.statistic == "mean" else None
        return _with_statuses(
            row,
            {one: verdicts.get(one, "inconclusive") for one in limited},
            fits=fits.fits(verdicts, limit, predicting, row.room),
        )

    def unmatched(
        self, rows: collections.abc.Iterable[t.Any]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        metrics = {row.metric for row in rows}
        rates = [one.name for one in metrics if one.scale == "ratio"]
        return (
            *self.max_percent.unmatched(rates),
            *(
                pattern
                for one in self.absolute_limits.values()
                for pattern in one.unmatched(x.name for x in metrics)
            ),
        )


class FairnessJudge(_Judge):
    """Judges how evenly guests share what there is.

    :param min_index: metric or glob -> smallest tolerated index of Jain
    :param max_spread_percent: metric or glob -> largest tolerated spread
    :param levels: numbers of guests at which the limits are held, or ``all``
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self,
        min_index: judge.Given | None = None,
        max_spread_percent: judge.Given | None = None,
        levels: Levels = "all",
        **strictness: t.Any,
    ) -> None:
        super().__init__(levels, **strictness)
        for pattern, limit in (min_index or {}).items():
            if not 0 < limit <= 1:
                raise ValueError(
                    f"min_index {pattern!r} is {limit}, but an index is "
                    "above 0 and at most 1"
                )
        self.min_index = limits.Limits(min_index or {})
        self.max_spread_percent = limits.Limits(max_spread_percent or {})

    def figures(
        self, entries: judge.Repetitions
    ) -> list[rows_.Row | level.Row]:
        """Return how guests share each metric, held to its limits."""
        found: list[rows_.Row | level.Row] = []
        measured = levels.Measured.of(entries)
        names = [one.name for one in measured.ratios]
        for metric in measured.ratios:
            index = self.min_index.for_metric(metric.name, names)
            spread = self.max_spread_percent.for_metric(metric.name, names)
            limited: dict[rows_.Figure, Limit] = {}
            if index or not spread:
                limited["index"] = index
            if spread:
                limited["spread"] = spread
            found += [
                row if row.limit is None else self._apply_limit(row, row.limit)
                for row in self._rows(metric, measured, limited)
            ]
        return found

    def _apply_limit(self, row: rows_.Row, limit: float) -> rows_.Row:
        shared = (
            one.guests
            for one in row.points
            if one.guests > 1 or one.fairness is not None
        )
        return _with_statuses(
            row, {one: row.decide(one, limit) for one in self._at(shared)}
        )

    def unmatched(
        self, rows: collections.abc.Iterable[t.Any]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        names = [row.metric.name for row in rows]
        return (
            *self.min_index.unmatched(names),
            *self.max_spread_percent.unmatched(names),
        )
