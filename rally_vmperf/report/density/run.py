"""One density run as a report shows it."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.measurement import noted
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import curve
from rally_vmperf.measurement.density import judgement as judgements
from rally_vmperf.measurement.density import judging
from rally_vmperf.measurement.density import points
from rally_vmperf.records import curves as decoding
from rally_vmperf.report import run as runs
from rally_vmperf.report.density import cells
from rally_vmperf.report.density import shares
from rally_vmperf.report.density import told

Json = collections.abc.Mapping[str, t.Any]

#: The gravest first.
_GRAVITY = ("failed", "void", "inconclusive", "passed", "none")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Run(runs.Shown):
    """The curves of one Rally workload, and what they amount to.

    :param curves: what the records hold, in the order of repetitions
    :param judgement: on what guests lose
    :param fairness: on how equally they share; None where nobody asked
    """

    curves: tuple[curve.Curve, ...]
    judgement: judgements.Judgement
    fairness: judgements.Judgement | None

    kind: t.ClassVar[str] = "density"

    @property
    def verdicts(self) -> list[tuple[str, str, judgements.Judgement]]:
        """What was judged, with the status to show and the judgement."""
        found = [("Degradation", self.judgement)]
        if self.fairness is not None:
            found.append(("Fairness", self.fairness))
        return [(what, _status(one), one) for what, one in found]

    @property
    def status(self) -> str:
        """The gravest verdict; ``none`` for figures without any limit."""
        statuses = [status for _, status, _ in self.verdicts]
        if "none" in statuses and len(statuses) > 1:
            statuses.remove("none")
        return min(statuses, key=_GRAVITY.index)

    @property
    def headline(self) -> str:
        """The verdicts in one line."""
        return "; ".join(
            one.headline() if status != "none" else "figures without limits"
            for _, status, one in self.verdicts
        )

    @property
    def findings(self) -> tuple[noted.Noted, ...]:
        """What was seen beside the figures, each once."""
        found = [x for _, _, one in self.verdicts for x in one.findings]
        return tuple(dict.fromkeys(found))

    @functools.cached_property
    def series(self) -> list[shares.Series]:
        """The metrics that were measured, as shares of the lone guest."""
        found = [self.shares_of(row) for row in self.judgement.rows]
        return [one for one in found if one is not None]

    def shares_of(self, row: points.Row) -> shares.Series | None:
        """Return a metric as shares, None where nothing was measured."""
        return shares.series(row, self.hosts)

    @property
    def hosts(self) -> int:
        """On how many hosts there were so many guests each."""
        return (
            max(
                (
                    len(level.machines) // level.guests
                    for one in self.curves
                    for level in one.levels
                ),
                default=1,
            )
            or 1
        )

    @property
    def most_guests(self) -> int:
        """How many guests took part in the largest level."""
        levels = [x for one in self.curves for x in one.levels]
        return max((len(one.machines) for one in levels), default=0)

    def fairness_at(
        self, metric: sample.Metric, guests: int
    ) -> list[tuple[str, str]]:
        """Return what was judged of a level's fairness, with the verdict."""
        rows = self.fairness.rows if self.fairness is not None else ()
        return [
            (
                "Jain's index" if row.figure == "index" else "spread",
                row.statuses[guests],
            )
            for row in rows
            if row.metric == metric and guests in row.statuses
        ]

    @functools.cached_property
    def strips(self) -> list[cells.Strip]:
        """The same, guest by guest."""
        return [cells.strip(one, self.curves) for one in self.series]


def make(
    records: runs.Records,
    judge: judging.DegradationJudge | None = None,
    fairness: judging.FairnessJudge | None = None,
) -> Run:
    """Judge records and return them as a run.

    :param records: one an iteration; None for one without a readable record
    :param judge: holds the limits; without it there are figures only
    :param fairness: likewise; without it nothing is said
    """
    judge = judge or judging.DegradationJudge({})
    readable = []
    for record in records:
        found = decoding.readable(record)
        judge.add(found)
        if fairness is not None:
            fairness.add(found)
        if record is not None and found is not None:
            readable.append((record, found))
    readable.sort(key=lambda pair: pair[1].number)
    return Run(
        title=_title([record for record, _ in readable]),
        records=tuple(record for record, _ in readable),
        curves=tuple(found for _, found in readable),
        judgement=judge.judgement(),
        fairness=None if fairness is None else fairness.judgement(),
    )


def _status(found: judgements.Judgement) -> str:
    held = found.judged or found.unmatched
    measured = any(row.measured for row in found.rows)
    return found.status if held or not measured else "none"


def _title(records: collections.abc.Sequence[Json]) -> str:
    if not records:
        return runs.NO_RECORDS
    size = runs.size(records[-1])
    levels = sorted(
        {one["guests"] for record in records for one in record["levels"]}
    )
    if not levels:
        return f"{size}, no guests"
    if len(levels) == 1:
        return f"{size}, {told.guests(levels[0])}"
    return f"{size}, {levels[0]} to {told.guests(levels[-1])}"
