"""One number of guests: its figures, and the findings that void them there."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(rows.Row):
    """What a metric is, or loses, with so many guests at once.

    :param guests: how many of each host are measured at once; None in a run
        that has always the same
    :param void_level: why the samples do not mean what they claim, or nothing
    :param skipped: in how many repetitions the level was not run, for what
        the smaller ones showed
    """

    guests: int | None = None
    void_level: str = ""
    skipped: int = 0

    @property
    def where(self) -> str:
        """At how many guests."""
        if self.guests is None:
            return ""
        return f" at {units.number_of('guest', self.guests)}"

    def voids(self) -> list[str]:
        """Return what takes the meaning from this level."""
        if self.guests is None:
            return super().voids()
        return [self.void_level] if self.void_level else []

    @property
    def forgivable(self) -> bool:
        """Whether nothing but a limit inside its interval denies a pass."""
        return super().forgivable and not self.skipped

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return it with its findings and its status.

        What voids another level does not void this one.
        """
        if self.guests is None:
            return super().with_verdict(findings, void)
        status: verdict.Status | None = None
        if self.limit is not None:
            status = self._status(self.limit)
            if status == "passed" and self.skipped:
                status = "inconclusive"
            if void or self.void_level:
                status = "void"
        return dataclasses.replace(self, status=status, findings=findings)


def has_levels(entries: judge.Repetitions) -> bool:
    """Return whether conditions differ in their number of guests."""
    return any(
        repetition.GUESTS in condition.axes
        for entry in entries
        for condition in entry.conditions
    )


def guests_of(condition: repetition.Condition) -> int:
    """Return how many guests of each host take part in a condition."""
    return int(condition.axes[repetition.GUESTS])


def findings(entries: judge.Repetitions) -> finding.Occurrences:
    """Return findings of levels, with the levels in their detail.

    Levels of a warm-up are left out.
    """
    numbers: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    guests: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    executed: set[int] = set()
    for one in entries:
        for level in one.conditions if one.counted else ():
            if not level.skip_reason:
                executed.add(guests_of(level))
            for found in level.findings:
                numbers[found].add(one.number)
                guests[found].add(guests_of(level))
    for found, at in guests.items():
        told = found
        if at < executed or len(executed) == 1:
            told = dataclasses.replace(
                found,
                detail=f"at {units.number_of('guest', *at)}: {found.detail}",
            )
        for number in sorted(numbers[found]):
            yield told, number


def of_repetitions(
    found: collections.abc.Iterable[finding.Finding],
    entries: judge.Repetitions,
) -> frozenset[finding.Finding]:
    """Return the findings about repetitions or records, of all levels."""
    whole = {x for entry in entries for x in entry.findings}
    return frozenset(
        x
        for x in found
        if (x in whole and x.concerns_all) or x.kind in judge.ABOUT_RECORDS
    )


def void(
    metric: str,
    entries: judge.Repetitions,
    there: collections.abc.Iterable[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the finding that voids a metric at a level, or nothing.

    It is one of the level or of a repetition, and no warm-up's.

    :param there: the conditions of the level
    """
    seen = [x for one in entries if one.counted for x in one.findings]
    seen += [x for one in there if one.counted for x in one.findings]
    return voiding(
        (x for x in seen if x.names(metric) or x.concerns_all),
        tolerate,
    )


def voiding(
    found: collections.abc.Iterable[finding.Finding],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the first finding that voids, or nothing."""
    for one in found:
        if one.severity == "void" and one.kind not in tolerate:
            return finding.RunFinding(finding=one).sentence()
    return ""


def absolute_rows(
    metric: sample.Metric,
    there: gathering.Conditions,
    guests: int,
    void_level: str,
    figures: collections.abc.Mapping[rows.Figure, limits.Limits],
    names: collections.abc.Collection[str],
    confidence: float,
) -> list[Row]:
    """Return the absolute figures of a metric at a number of guests.

    :param there: the level in each counted repetition, skipped ones too
    :param figures: each with its limits
    :param names: of all metrics
    """
    done = [one for one in there if not one.skip_reason]
    return [
        rows.make(
            Row,
            metric,
            figure,
            done,
            done[0].reference if done else repetition.NO_REFERENCE,
            figures[figure].for_metric(metric.name, names),
            confidence,
            guests=guests,
            void_level=void_level,
            skipped=len(there) - len(done),
        )
        for figure in rows.absolute_figures(metric, figures)
    ]
