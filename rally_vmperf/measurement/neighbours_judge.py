"""The judge of neighbours: what guests lose while others work beside them."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import level
from rally_vmperf.measurement import plausibility
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: Why there is no pair.
_NO_PAIR = "no counted repetition holds it with and without neighbours"

Conditions = list[repetition.Condition]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(level.Row):
    """What guests lose of one metric to their neighbours.

    Both sides are of the same repetitions: ``bare`` without neighbours, and
    ``guest`` with them.
    """

    NAMES = ("without neighbours", "with neighbours", "loss")
    PAIRED = True


class NeighboursJudge(judge.Judge[Row]):
    """Judges what guests lose while other guests run another workload.

    :param max_percent: metric or glob -> largest tolerated loss; without any
        there are figures and no verdict
    :param strictness: ``confidence``, ``on_inconclusive`` and ``tolerate``
    :raises ValueError: for an argument that cannot be meant
    """

    def __init__(
        self, max_percent: judge.Given | None = None, **strictness: t.Any
    ) -> None:
        super().__init__(**strictness)
        self.tolerate = {*self.tolerate, *finding.ABOUT_BARE_METAL}
        self.limits = limits.Limits(max_percent or {})

    def understands(self, entry: repetition.Repetition) -> bool:
        """Return whether each condition says how many neighbours it has."""
        return all(
            repetition.NEIGHBOURS in one.axes for one in entry.conditions
        )

    def figures(self, entries: judge.Repetitions) -> list[Row]:
        """Return the loss of each rate and time, at each number of guests."""
        every = [one for entry in entries for one in entry.conditions]
        metrics = [
            one for one in gathering.metrics(every) if one.scale == "ratio"
        ]
        levels: dict[int | None, Conditions] = {}
        for one in every:
            if not one.skip_reason:
                number = one.axes.get(repetition.GUESTS)
                guests = None if number is None else int(number)
                levels.setdefault(guests, []).append(one)
        names = [one.name for one in metrics]
        return [
            self._row(
                metric,
                guests,
                there,
                names,
                ""
                if guests is None
                else level.void(metric.name, entries, there, self.tolerate),
            )
            for metric in metrics
            for guests, there in sorted(
                levels.items(), key=lambda x: x[0] or 0
            )
        ]

    def _row(
        self,
        metric: sample.Metric,
        guests: int | None,
        there: Conditions,
        names: collections.abc.Collection[str],
        void_level: str,
    ) -> Row:
        """Return the loss of a metric in repetitions that have both sides."""
        sides: dict[bool, Conditions] = {False: [], True: []}
        for one in there:
            sides[bool(one.axes[repetition.NEIGHBOURS])].append(one)
        quiet = gathering.guests(metric, sides[False])
        loud = gathering.guests(metric, sides[True])
        both = {x.number for x in quiet} & {x.number for x in loud}
        limit = self.limits.for_metric(metric.name, names)
        return Row(
            metric=metric,
            figure="overhead",
            reason="" if both else _NO_PAIR,
            limit=limit and limit[0],
            pattern=limit and limit[1],
            bare=tuple(one for one in quiet if one.number in both),
            guest=tuple(one for one in loud if one.number in both),
            confidence=self.confidence,
            guests=guests,
            void_level=void_level,
        )

    def findings(
        self,
        entries: judge.Repetitions,
        rows: collections.abc.Sequence[Row],
    ) -> finding.Occurrences:
        """Return findings with the number of the repetition they are of."""
        for entry in entries:
            yield from ((one, entry.number) for one in entry.findings)
        if level.has_levels(entries):
            yield from level.findings(entries)
        else:
            for entry in entries:
                for condition in entry.conditions:
                    for found in condition.findings:
                        yield found, entry.number
        for row in rows:
            compared = row.comparison
            if compared is None:
                continue
            where = f"{row.where.lstrip()}: " if row.where else ""
            if compared.low is None:
                number = units.number_of("pair", compared.guest_repetitions)
                yield (
                    finding.Finding(
                        "too_few_repetitions", row.metric.name, where + number
                    ),
                    None,
                )
            for one in plausibility.of_values(compared, where):
                yield one, None

    def concerning_all(
        self,
        found: collections.abc.Iterable[finding.Finding],
        entries: judge.Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about a repetition.

        Where there are numbers of guests, those of one of them are not.
        """
        if level.has_levels(entries):
            return level.of_repetitions(found, entries)
        return super().concerning_all(found, entries)

    def unmatched(
        self, rows: collections.abc.Iterable[Row]
    ) -> tuple[str, ...]:
        """Return the limits that no rate or time of the run goes with."""
        return tuple(self.limits.unmatched(one.metric.name for one in rows))
