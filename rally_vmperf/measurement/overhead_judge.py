"""The judge of overhead: what guests lose against bare metal."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import summary as summary_
from rally_vmperf.measurement.comparison import limits

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
        """Return whether a repetition has one condition without neighbours."""
        return len(entry.quiet) <= 1

    def figures(self, entries: judge.Repetitions) -> list[rows.Row]:
        """Return the overhead of each metric, then the absolute figures."""
        conditions = [entry.condition for entry in entries]
        metrics = gathering.metrics(conditions)
        names = [one.name for one in metrics]
        caps = tuple(
            dict.fromkeys(x for one in entries for x in one.rate_limits)
        )
        asked = [
            *((one, "overhead") for one in metrics if one.scale == "ratio"),
            *(
                (one, figure)
                for one in metrics
                for figure in rows.absolute_figures(one, self.limits)
            ),
        ]
        return [
            rows.make(
                rows.Row,
                metric,
                figure,
                conditions,
                _reference(conditions),
                self.limits[figure].for_metric(metric.name, names),
                self.confidence,
                caps,
            )
            for metric, figure in asked
        ]

    def findings(
        self,
        entries: judge.Repetitions,
        rows: collections.abc.Sequence[rows.Row],
    ) -> finding.Occurrences:
        """Return findings with the number of the repetition they are of."""
        conditions = [entry.condition for entry in entries]
        for entry in conditions:
            for one in entry.findings:
                yield one, entry.number
        offered = plausibility.offered(
            one for entry in conditions for one in entry.findings
        )
        comparisons = [row.comparison for row in rows if row.comparison]
        for row in rows:
            if row.comparison is None:
                continue
            capped = "" if row.metric.name in offered else row.capped
            for one in plausibility.about(row.comparison, capped):
                yield one, None
        if any(one.low is not None for one in comparisons):
            yield plausibility.one_session(_reference(conditions)), None
        yield from plausibility.baseline_changed(conditions)

    def voided(
        self,
        entries: judge.Repetitions,
        findings: collections.abc.Sequence[finding.RunFinding],
    ) -> collections.abc.Set[str]:
        """Return the metrics that findings about others void as well.

        A guest cannot be far faster than bare metal. Where it is in CPU or
        memory, the machines are not comparable; where it is on the disk or
        the network, something else was measured there.
        """
        parts = {
            one.finding.subject.partition(".")[0]
            for one in findings
            if one.voids and one.finding.kind == "guest_faster"
        }
        whole = not parts.isdisjoint(_WHOLE_MACHINE)
        found = {
            name
            for name in judge.metric_names(entries)
            if whole or name.partition(".")[0] in parts
        }
        return found | super().voided(entries, findings)

    def voids_run(
        self,
        findings: collections.abc.Sequence[finding.RunFinding],
        voided: collections.abc.Set[str],
    ) -> bool:
        """Return whether the run is void: what is void is never a pass."""
        return any(one.voids for one in findings)

    def unmatched(
        self, rows: collections.abc.Iterable[rows.Row]
    ) -> tuple[str, ...]:
        """Return the limits that match no metric of the run."""
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
