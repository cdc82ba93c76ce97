"""The judges of density: what guests lose, and how evenly they share."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import limits
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import verdict
from rally_vmperf.measurement.density import findings as density_findings
from rally_vmperf.measurement.density import fits
from rally_vmperf.measurement.density import law
from rally_vmperf.measurement.density import line
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import rows as rows_

#: Numbers of guests at which a limit is held, or all of them.
At = t.Literal["every"] | int | collections.abc.Sequence[int]
#: A limit and the pattern that gave it.
Limit = tuple[float, str] | None

_GRAVEST: tuple[verdict.Status, ...] = (
    "failed",
    "void",
    "inconclusive",
    "passed",
)


class _Judge(judge.Judge[rows_.Row]):
    """Takes repetitions whose conditions are numbers of guests.

    :param at: numbers of guests at which the limits are held, or ``every``
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(self, at: At, **strictness: t.Any) -> None:
        super().__init__(**strictness)
        #: None for every one.
        self.numbers: list[int] | None = None
        if at == "every":
            return
        numbers = [at] if isinstance(at, int) else list(at)
        if not numbers or not all(map(_counts, numbers)):
            raise ValueError(
                f"at is {at!r}, use every or numbers of guests from 1"
            )
        self.numbers = sorted(set(numbers))

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether the conditions are numbers of guests."""
        return all(points.AXIS in one.axes for one in entry.conditions)

    def seen(
        self,
        entries: judge.Repetitions,
        rows: collections.abc.Sequence[rows_.Row],
    ) -> finding.Seen:
        """Return findings with the number of the repetition they are of."""
        return density_findings.everything(entries, rows)

    def concerns_all(
        self, one: finding.Finding, entries: judge.Repetitions
    ) -> bool:
        """Return whether it is about a repetition; those of levels are not."""
        whole = any(one in entry.findings for entry in entries)
        return whole and not one.metrics

    def _rows(
        self,
        metric: sample.Metric,
        entries: judge.Repetitions,
        figures: collections.abc.Mapping[rows_.Figure, Limit],
        **own: t.Any,
    ) -> list[rows_.Row]:
        """Return a row for each figure of a metric, not held to its limit."""
        every = points.points_of(
            metric, entries, self.confidence, self.tolerate
        )
        reasons = [one.reason for one in every if one.reason]
        measured = any(one.mean is not None for one in every)
        return [
            rows_.Row(
                metric=metric,
                points=every,
                figure=figure,
                limit=limit and limit[0],
                pattern=limit and limit[1],
                reason="" if measured or not reasons else reasons[0],
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


def _held(
    row: rows_.Row, statuses: dict[int, verdict.Status], **own: t.Any
) -> rows_.Row:
    """Return a row with its verdicts; inconclusive where none is held."""
    status = next(
        (one for one in _GRAVEST if one in statuses.values()), "inconclusive"
    )
    return dataclasses.replace(
        row, statuses=statuses, status=t.cast(verdict.Status, status), **own
    )


def _metrics(entries: judge.Repetitions) -> list[sample.Metric]:
    """Return the metrics that have a rate; counts have none."""
    return [one for one in points.metrics(entries) if one.scale == "ratio"]


class DegradationJudge(_Judge):
    """Judges what guests lose as their number grows.

    :param max_percent: metric or glob -> largest tolerated loss of the rate;
        without any there are figures and no verdict
    :param at: numbers of guests at which the limits are held, or ``every``
    :param of: whether the mean guest or the worst is held to them
    :param against: what the loss is against
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self,
        max_percent: judge.Given | None = None,
        at: At = "every",
        of: points.Of = "mean",
        against: points.Against = "one_guest",
        **strictness: t.Any,
    ) -> None:
        super().__init__(at, **strictness)
        for name, value, allowed in (
            ("of", of, t.get_args(points.Of)),
            ("against", against, t.get_args(points.Against)),
        ):
            if value not in allowed:
                raise ValueError(
                    f"{name} is {value!r}, use {' or '.join(allowed)}"
                )
        if against == "one_guest" and 1 in (self.numbers or ()):
            raise ValueError(
                "at names 1 guest, which loses nothing against itself, "
                "use larger numbers or against: bare_metal"
            )
        self.max_percent = limits.Limits(max_percent or {})
        self.of = of
        self.against = against

    def figures(self, entries: judge.Repetitions) -> list[rows_.Row]:
        """Return what each metric loses, held to its limit."""
        found = []
        metrics = _metrics(entries)
        names = [one.name for one in metrics]
        for metric in metrics:
            limit = self.max_percent.for_metric(metric.name, names)
            (row,) = self._rows(
                metric,
                entries,
                {"loss": limit},
                of=self.of,
                against=self.against,
            )
            row = dataclasses.replace(
                row,
                line=line.line(row.points, self.confidence),
                law=law.law(row.points, self.confidence),
            )
            found.append(self._judged(row, limit[0]) if limit else row)
        return found

    def _judged(self, row: rows_.Row, limit: float) -> rows_.Row:
        alone = self.against == "one_guest"
        verdicts = {
            one.guests: row.decide(one.guests, limit, self.tolerate)
            for one in row.points
        }
        held = self._at(n for n in verdicts if not alone or n > 1)
        if alone and (lone := row.point(1)) and lone.usable:
            # It loses nothing to itself.
            verdicts[1] = "passed" if limit >= 0 else "failed"
        predicting = row.law if alone and self.of == "mean" else None
        return _held(
            row,
            {one: verdicts.get(one, "inconclusive") for one in held},
            fits=fits.fits(verdicts, limit, predicting),
        )

    def unmatched(
        self, rows: collections.abc.Iterable[rows_.Row]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        return self.max_percent.unmatched(row.metric.name for row in rows)


class FairnessJudge(_Judge):
    """Judges how evenly guests share what there is.

    :param min_index: metric or glob -> smallest tolerated index of Jain
    :param max_spread_percent: metric or glob -> largest tolerated spread
    :param at: numbers of guests at which the limits are held, or ``every``
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self,
        min_index: judge.Given | None = None,
        max_spread_percent: judge.Given | None = None,
        at: At = "every",
        **strictness: t.Any,
    ) -> None:
        super().__init__(at, **strictness)
        for pattern, limit in (min_index or {}).items():
            if not 0 < limit <= 1:
                raise ValueError(
                    f"min_index {pattern!r} is {limit}, but an index is "
                    "above 0 and at most 1"
                )
        self.min_index = limits.Limits(min_index or {})
        self.max_spread_percent = limits.Limits(max_spread_percent or {})

    def figures(self, entries: judge.Repetitions) -> list[rows_.Row]:
        """Return how guests share each metric, held to its limits."""
        found = []
        metrics = _metrics(entries)
        names = [one.name for one in metrics]
        for metric in metrics:
            index = self.min_index.for_metric(metric.name, names)
            spread = self.max_spread_percent.for_metric(metric.name, names)
            limited: dict[rows_.Figure, Limit] = {}
            if index or not spread:
                limited["index"] = index
            if spread:
                limited["spread"] = spread
            found += [
                row if row.limit is None else self._judged(row, row.limit)
                for row in self._rows(metric, entries, limited)
            ]
        return found

    def _judged(self, row: rows_.Row, limit: float) -> rows_.Row:
        shared = (
            one.guests
            for one in row.points
            if one.guests > 1 or one.fairness is not None
        )
        return _held(
            row, {one: row.decide(one, limit) for one in self._at(shared)}
        )

    def unmatched(
        self, rows: collections.abc.Iterable[rows_.Row]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        names = [row.metric.name for row in rows]
        return (
            *self.min_index.unmatched(names),
            *self.max_spread_percent.unmatched(names),
        )
