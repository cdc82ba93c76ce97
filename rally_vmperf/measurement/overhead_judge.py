"""The judge of overhead: what guests lose against bare metal."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import limits
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import summary as summary_

#: Parts whose figures are those of the machine as a whole.
_WHOLE_MACHINE = ("cpu", "memory")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Judgement(summary_.Summary[rows.Row]):
    """The verdict on overhead."""

    @property
    def compared(self) -> tuple[rows.Row, ...]:
        """The rows of metrics that are compared with bare metal."""
        return tuple(row for row in self.rows if row.figure == "overhead")

    @property
    def absolute(self) -> tuple[rows.Row, ...]:
        """The rows of figures that are held to absolute limits."""
        return tuple(row for row in self.rows if row.figure != "overhead")


class OverheadJudge(judge.Judge[rows.Row]):
    """Judges the overhead of guests over bare metal.

    :param max_percent: metric or glob -> largest tolerated overhead
    :param max: metric or glob -> largest tolerated value, in its own unit
    :param min: metric or glob -> smallest tolerated value
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    summary = Judgement

    def __init__(
        self,
        max_percent: judge.Given | None = None,
        max: judge.Given | None = None,
        min: judge.Given | None = None,
        **strictness: t.Any,
    ) -> None:
        super().__init__(**strictness)
        self.limits: dict[rows.Figure, limits.Limits] = {
            "overhead": limits.Limits(max_percent or {}),
            "max": limits.Limits(max or {}),
            "min": limits.Limits(min or {}),
        }

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether a repetition has one condition only."""
        return len(entry.conditions) <= 1

    def figures(self, entries: judge.Repetitions) -> list[rows.Row]:
        """Return the overhead of each metric, then the absolute figures."""
        conditions = [entry.condition for entry in entries]
        metrics = gathering.metrics(conditions)
        names = [one.name for one in metrics]
        asked = [
            *((one, "overhead") for one in metrics if one.scale == "ratio"),
            *(
                (one, figure)
                for one in metrics
                for figure in self._absolute(one)
            ),
        ]
        return [
            rows.make(
                metric,
                figure,
                conditions,
                _reference(conditions),
                self.limits[figure].for_metric(metric.name, names),
                self.confidence,
            )
            for metric, figure in asked
        ]

    def _absolute(self, metric: sample.Metric) -> list[rows.Figure]:
        """Return which absolute figures of a metric are to be shown.

        Of a metric without a bare-metal figure, such as a count, there is one
        in any case.
        """
        both: tuple[rows.Figure, ...] = ("max", "min")
        limited = [
            one for one in both if self.limits[one].for_metric(metric.name)
        ]
        return limited or (["max"] if metric.scale == "count" else [])

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

    def doubted(
        self,
        entries: judge.Repetitions,
        findings: collections.abc.Iterable[finding.RunFinding],
    ) -> set[str]:
        """Return the metrics that findings about others void as well.

        A guest cannot be far faster than bare metal. Where it is in CPU or
        memory, the machines are not comparable; where it is on the disk or
        the network, something else answers than is measured there.
        """
        findings = list(findings)
        found = super().doubted(entries, findings)
        every = judge.metric_names(entries)
        for one in findings:
            if one.voids and one.finding.kind == "guest_faster":
                part = one.finding.subject.partition(".")[0]
                found |= {
                    name
                    for name in every
                    if part in _WHOLE_MACHINE or name.startswith(f"{part}.")
                }
        # Whatever has a limit, what is void is never a pass.
        if any(one.voids for one in findings):
            found |= {""}
        return found

    def unmatched(
        self, rows: collections.abc.Iterable[rows.Row]
    ) -> tuple[str, ...]:
        """Return the limits that no metric of the run goes with."""
        metrics = {row.metric for row in rows}
        return tuple(
            pattern
            for figure, given in self.limits.items()
            for pattern in given.unmatched(
                one.name
                for one in metrics
                if figure != "overhead" or one.scale == "ratio"
            )
        )


def _reference(
    conditions: collections.abc.Iterable[repetition.Condition],
) -> repetition.Reference:
    """Return what guests are compared with: that of the first repetition."""
    return next(
        (one.reference for one in conditions if one.observations),
        repetition.NO_REFERENCE,
    )
