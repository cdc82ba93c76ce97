"""The value of a metric at a number of guests, and its absolute limit."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.density import levels
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(rows.Row):
    """What a metric is in so many guests at once.

    :param guests: how many on each host
    :param void_level: why the samples do not mean what they claim, or nothing
    :param skipped: in how many repetitions the level was not run, for what
        the smaller ones showed
    """

    guests: int
    void_level: str = ""
    skipped: int = 0

    @property
    def where(self) -> str:
        """At how many guests."""
        return f" at {units.number_of('guest', self.guests)}"

    def voids(self) -> list[str]:
        """Return what takes the meaning from this level."""
        return [self.void_level] if self.void_level else super().voids()

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return it with its findings and its status.

        What voids another level does not void this one.
        """
        status = None
        if self.limit is not None:
            status = self._status(self.limit)
            if status == "passed" and self.skipped:
                status = "inconclusive"
            if self.void_level:
                status = "void"
        return dataclasses.replace(self, status=status, findings=findings)


def rows_of(
    metric: sample.Metric,
    entries: judge.Repetitions,
    figures: collections.abc.Mapping[rows.Figure, limits.Limits],
    names: collections.abc.Collection[str],
    numbers: collections.abc.Iterable[int],
    confidence: float,
    tolerate: collections.abc.Collection[str],
) -> list[Row]:
    """Return the absolute figures of a metric at each number of guests.

    :param figures: each with its limits
    :param names: of all metrics
    :param numbers: of guests at which limits are held
    """
    asked = rows.absolute_figures(metric, figures)
    found = []
    for number in numbers if asked else ():
        there = levels.counted(entries, number)
        done = [one for one in there if not one.skipped]
        void_level = levels.void_level(metric, names, entries, there, tolerate)
        found += [
            rows.make(
                Row,
                metric,
                figure,
                done,
                done[0].reference if done else repetition.NO_REFERENCE,
                figures[figure].for_metric(metric.name, names),
                confidence,
                guests=number,
                void_level=void_level,
                skipped=len(there) - len(done),
            )
            for figure in asked
        ]
    return found
