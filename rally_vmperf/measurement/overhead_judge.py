"""The judge of overhead: what guests lose against bare metal."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import absolute
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import limits
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import summary


@dataclasses.dataclass(frozen=True, kw_only=True)
class Criteria(judge.Criteria):
    """The limits of overhead.

    :param max_percent: largest tolerated overhead, in percent
    :param max: largest tolerated value, in the metric's own unit
    :param min: smallest tolerated value
    """

    max_percent: limits.Limits
    max: limits.Limits
    min: limits.Limits


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(summary.Summary[rows.Row]):
    """The verdict on overhead."""

    @property
    def compared(self) -> tuple[rows.Row, ...]:
        """The rows of metrics that are compared with bare metal."""
        return tuple(row for row in self.rows if row.figure == "overhead")

    @property
    def absolute(self) -> tuple[rows.Row, ...]:
        """The rows of figures that are held to absolute limits."""
        return tuple(row for row in self.rows if row.figure != "overhead")

    def lines(self, row: rows.Row) -> list[str]:
        """Return the row's sentence."""
        return [row.sentence()]


class OverheadJudge(judge.Judge[rows.Row, Judgement]):
    """Judges the overhead of guests over bare metal.

    :param max_percent: metric or glob -> largest tolerated overhead
    :param max: metric or glob -> largest tolerated value, in its own unit
    :param min: metric or glob -> smallest tolerated value
    :param confidence: of the intervals, between 0.5 and 1
    :param on_inconclusive: whether an undecided run passes
    :param tolerate: kinds of findings that do not void
    :raises ValueError: for an argument that cannot be meant
    """

    criteria: Criteria
    judgement_type = Judgement

    def __init__(
        self,
        max_percent: judge.Given | None = None,
        max: judge.Given | None = None,
        min: judge.Given | None = None,
        **strictness: t.Any,
    ) -> None:
        super().__init__(
            Criteria(
                max_percent=limits.Limits(max_percent or {}),
                max=limits.Limits(max or {}),
                min=limits.Limits(min or {}),
                **strictness,
            )
        )

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether a repetition has one condition only."""
        return len(entry.conditions) <= 1

    def figures(self, entries: judge.Repetitions) -> list[rows.Row]:
        """Return the overhead of each metric, then the absolute figures.

        Of a metric without a bare-metal figure, such as a count, there is an
        absolute one in any case.
        """
        conditions = [entry.condition for entry in entries]
        reference = _reference(conditions)
        metrics = gathering.metrics(conditions)
        found = [
            _limited(
                rows.compare(
                    metric, conditions, reference, self.criteria.confidence
                ),
                self.criteria.max_percent,
            )
            for metric in metrics
            if metric.scale == "ratio"
        ]
        for metric in metrics:
            for figure in self._absolute(metric):
                row = rows.measure(
                    metric,
                    figure,
                    conditions,
                    reference,
                    self.criteria.confidence,
                )
                found.append(_limited(row, getattr(self.criteria, figure)))
        return found

    def _absolute(self, metric: sample.Metric) -> list[absolute.Figure]:
        """Return which absolute figures of a metric are to be shown."""
        figures: list[absolute.Figure] = []
        low = self.criteria.min.for_metric(metric.name)
        if self.criteria.max.for_metric(metric.name) or (
            metric.scale == "count" and not low
        ):
            figures.append("max")
        return [*figures, "min"] if low else figures

    def seen(
        self,
        entries: judge.Repetitions,
        rows: collections.abc.Sequence[rows.Row],
    ) -> finding.Seen:
        """Return findings with the number of the repetition they are of."""
        conditions = [entry.condition for entry in entries]
        for entry in conditions:
            for one in entry.findings:
                yield one, entry.number
        comparisons = [row.comparison for row in rows if row.comparison]
        for comparison in comparisons:
            for one in plausibility.about(comparison):
                yield one, None
        if any(one.low is not None for one in comparisons):
            yield plausibility.one_session(_reference(conditions)), None
        yield from plausibility.baseline_changed(conditions)

    def hold(
        self,
        row: rows.Row,
        findings: tuple[finding.RunFinding, ...],
        void: bool,
    ) -> rows.Row:
        """Return a row with its findings and its status."""
        return rows.judge(row, findings, void)

    def unmatched(
        self, rows: collections.abc.Iterable[rows.Row]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        names = {row.metric.name for row in rows}
        ratios = {r.metric.name for r in rows if r.metric.scale == "ratio"}
        return (
            *self.criteria.max_percent.unmatched(ratios),
            *self.criteria.max.unmatched(names),
            *self.criteria.min.unmatched(names),
        )

    def beyond_return(self, row: rows.Row, planned: int) -> bool:
        """Return whether a row has failed, and will have failed in the end."""
        return rows.beyond_return(row, planned)


def _limited(row: rows.Row, patterns: limits.Limits) -> rows.Row:
    limit = patterns.for_metric(row.metric.name)
    if limit is None:
        return row
    return dataclasses.replace(row, limit=limit[0], pattern=limit[1])


def _reference(
    conditions: collections.abc.Iterable[repetition.Condition],
) -> repetition.Reference:
    """Return what guests are compared with: that of the first repetition."""
    return next(
        (one.reference for one in conditions if one.observations),
        repetition.NO_REFERENCE,
    )
