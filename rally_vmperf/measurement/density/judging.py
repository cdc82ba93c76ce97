"""The judges of density: what guests lose, and how evenly they share."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import limits
from rally_vmperf.measurement import needed
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics
from rally_vmperf.measurement import summary
from rally_vmperf.measurement.density import criteria as criteria_
from rally_vmperf.measurement.density import findings as density_findings
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.density import points_of
from rally_vmperf.measurement.density import rates
from rally_vmperf.measurement.density import wording


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(summary.Summary[points.Row]):
    """The verdict on a density run; counts have no row."""

    def lines(self, row: points.Row) -> list[str]:
        """Return a line for each level that made the verdict what it is."""
        return wording.lines(row)

    def sentences(self) -> list[str]:
        """Return the verdict, and how many guests fit where all passed."""
        passed = [row for row in self.judged if row.status == "passed"]
        return [
            *super().sentences(),
            *(f"{line}." for row in passed for line in wording.fits(row)),
        ]


class _Judge(judge.Judge[points.Row, Judgement]):
    """Takes repetitions whose conditions are numbers of guests."""

    judgement_type = Judgement

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether the conditions are numbers of guests."""
        return all(points.AXIS in one.axes for one in entry.conditions)

    def seen(
        self,
        entries: judge.Repetitions,
        rows: collections.abc.Sequence[points.Row],
    ) -> finding.Seen:
        """Return findings with the number of the repetition they are of."""
        return density_findings.everything(entries, rows)

    def hold(
        self,
        row: points.Row,
        findings: tuple[finding.RunFinding, ...],
        void: bool,
    ) -> points.Row:
        """Return a row with its findings; its levels have their verdicts."""
        return dataclasses.replace(row, findings=findings)

    def void(
        self,
        entries: judge.Repetitions,
        findings: collections.abc.Iterable[finding.RunFinding],
        names: collections.abc.Collection[str],
    ) -> bool:
        """Return whether a finding voids the run; those of levels do not."""
        whole = {one for entry in entries for one in entry.findings}
        ours = [one for one in findings if one.finding in whole]
        return super().void(entries, ours, names)

    def beyond_return(self, row: points.Row, planned: int) -> bool:
        """Return whether a row has failed, and will have failed in the end.

        That is so if one of its levels has. Losses are asked as overhead is;
        a fairness that is beyond its limit in one of three repetitions or
        more stays there, as the worst is judged.
        """
        return row.limit is not None and any(
            _beyond(row, guests, row.limit, planned)
            for guests, status in row.statuses.items()
            if status == "failed"
        )


def _beyond(row: points.Row, guests: int, limit: float, planned: int) -> bool:
    if row.figure != "loss":
        point = row.point(guests)
        return point is not None and (len(point.gathered) >= statistics.FEWEST)
    found = rates.compare_points(
        row.metric, row.points, guests, row.of, row.against, row.confidence
    )
    if found is None:
        return False
    best = needed.best_loss(found, planned, row.against == "one_guest")
    return best is not None and best > limit


def _metrics(entries: judge.Repetitions) -> list[sample.Metric]:
    """Return the metrics that have a rate; counts have none."""
    return [one for one in points_of.metrics(entries) if one.scale == "ratio"]


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

    criteria: criteria_.Degradation

    def __init__(
        self,
        max_percent: judge.Given | None = None,
        at: criteria_.At = "every",
        of: points.Of = "mean",
        against: points.Against = "one_guest",
        **strictness: t.Any,
    ) -> None:
        super().__init__(
            criteria_.Degradation(
                max_percent=limits.Limits(max_percent or {}),
                at=at,
                of=of,
                against=against,
                **strictness,
            )
        )

    def figures(self, entries: judge.Repetitions) -> list[points.Row]:
        """Return what each metric loses, held to its limit."""
        return [
            levels.hold_loss(metric, entries, self.criteria)
            for metric in _metrics(entries)
        ]

    def unmatched(
        self, rows: collections.abc.Iterable[points.Row]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        names = [row.metric.name for row in rows]
        return self.criteria.max_percent.unmatched(names)


class FairnessJudge(_Judge):
    """Judges how evenly guests share what there is.

    :param min_index: metric or glob -> smallest tolerated index of Jain
    :param max_spread_percent: metric or glob -> largest tolerated spread
    :param at: numbers of guests at which the limits are held, or ``every``
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    criteria: criteria_.Fairness

    def __init__(
        self,
        min_index: judge.Given | None = None,
        max_spread_percent: judge.Given | None = None,
        at: criteria_.At = "every",
        **strictness: t.Any,
    ) -> None:
        for pattern, limit in (min_index or {}).items():
            if not 0 < limit <= 1:
                raise ValueError(
                    f"min_index {pattern!r} is {limit}, but an index is "
                    "above 0 and at most 1"
                )
        super().__init__(
            criteria_.Fairness(
                min_index=limits.Limits(min_index or {}),
                max_spread_percent=limits.Limits(max_spread_percent or {}),
                at=at,
                **strictness,
            )
        )

    def figures(self, entries: judge.Repetitions) -> list[points.Row]:
        """Return how guests share each metric, held to its limits."""
        rows = []
        for metric in _metrics(entries):
            found = points_of.points_of(metric, entries, self.criteria)
            index = self.criteria.min_index.for_metric(metric.name)
            spread = self.criteria.max_spread_percent.for_metric(metric.name)
            limited: list[tuple[points.Figure, tuple[float, str] | None]] = []
            if index or not spread:
                limited.append(("index", index))
            if spread:
                limited.append(("spread", spread))
            rows += [
                levels.hold_shared(metric, found, figure, limit, self.criteria)
                for figure, limit in limited
            ]
        return rows

    def unmatched(
        self, rows: collections.abc.Iterable[points.Row]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        names = [row.metric.name for row in rows]
        return (
            *self.criteria.min_index.unmatched(names),
            *self.criteria.max_spread_percent.unmatched(names),
        )
