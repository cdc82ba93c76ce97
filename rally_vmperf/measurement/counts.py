"""One metric of a judgement that is held to an absolute limit."""

import collections.abc
import dataclasses
import statistics

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import noted
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import statistics as repeated
from rally_vmperf.measurement import units
from rally_vmperf.measurement import verdict


@dataclasses.dataclass(frozen=True, kw_only=True)
class CountRow:
    """What is known of one count, and whether it is within its limit.

    A count can be zero, so it has no geometric mean and no overhead. Its
    figure is the largest of the repetitions' arithmetic means over guests.

    :param worst: None where there is nothing to judge
    :param worst_repetition: the number of that repetition
    :param bare_worst: the same figure of bare metal, if it has one
    :param reason: why there is nothing to judge
    :param limit: what ``worst`` must not exceed, None without a limit
    """

    metric: sample.Metric
    worst: float | None
    worst_repetition: int | None
    bare_worst: float | None
    reason: str
    limit: float | None
    pattern: str | None
    status: verdict.Status | None
    findings: tuple[noted.Noted, ...]
    guest: tuple[gathering.Gathered, ...]
    bare: tuple[gathering.Gathered, ...]

    @property
    def measured(self) -> bool:
        """Whether there is a figure to judge."""
        return self.worst is not None

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why there are none."""
        name, unit = self.metric.name, self.metric.unit
        if self.worst is None:
            words = f"{name}: {self.reason}"
        else:
            words = (
                f"{name}: guest {units.show(self.worst, unit)} in its worst "
                f"repetition ({self.worst_repetition})"
            )
            if self.bare_worst is not None:
                words += f", bare metal {units.show(self.bare_worst, unit)}"
            if self.limit is None:
                words += ", no limit"
            else:
                shown = units.show(self.limit, unit)
                words += f", limit {shown}: {self.status}"
        if self.status == "inconclusive" and self.worst is not None:
            words += f", at least {repeated.FEWEST} repetitions would decide"
        voids = [one.sentence() for one in self.findings if one.voids]
        return ". ".join([words, *voids])


def measure(
    metric: sample.Metric,
    repetitions: collections.abc.Sequence[repetition.Repetition],
    reference: repetition.Reference,
) -> CountRow:
    """Return the row of a count, not judged yet."""
    guest = gathering.guests(metric, repetitions)
    bare = gathering.bare(metric, reference)
    worst = max(guest, key=_mean, default=None)
    return CountRow(
        metric=metric,
        worst=_mean(worst) if worst else None,
        worst_repetition=worst.number if worst else None,
        bare_worst=max(map(_mean, bare), default=None),
        reason="" if worst else gathering.NOBODY,
        limit=None,
        pattern=None,
        status=None,
        findings=(),
        guest=guest,
        bare=bare,
    )


def judge(
    row: CountRow,
    limit: tuple[float, str] | None,
    findings: tuple[noted.Noted, ...],
    void: bool,
) -> CountRow:
    """Return the row with its limit, its findings and its status.

    Beyond its limit it is failed however few repetitions there are; to be
    passed it takes three, as chance can spare one.

    :param void: whether a finding about the run takes its meaning from it
    """
    if limit is None:
        return dataclasses.replace(row, findings=findings)
    status: verdict.Status = "inconclusive"
    if void or any(one.voids for one in findings):
        status = "void"
    elif row.worst is not None and row.worst > limit[0]:
        status = "failed"
    elif len(row.guest) >= repeated.FEWEST:
        status = "passed"
    return dataclasses.replace(
        row,
        limit=limit[0],
        pattern=limit[1],
        status=status,
        findings=findings,
    )


def _mean(entry: gathering.Gathered) -> float:
    return statistics.fmean(entry.values)
