"""One metric of a judgement that is compared with bare metal."""

import collections.abc
import dataclasses

from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import noted
from rally_vmperf.measurement import overhead
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import verdict


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """What is known of one metric, and whether it is within its limit.

    :param comparison: None where there is nothing to compare
    :param reason: why there is no comparison
    :param limit: of the overhead in percent, None for a metric without one
    :param pattern: the metric or glob that gave the limit
    :param status: None for a metric without a limit
    :param findings: those about this metric
    :param guest: the samples of the guests, per counted repetition; its
        entries stand for ``comparison.guest_values``
    :param bare: the samples of bare metal, per repetition of the baseline
    """

    metric: sample.Metric
    comparison: overhead.Comparison | None
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
        return self.comparison is not None

    def sentence(self) -> str:
        """Return figures, limit and verdict, or why there are none."""
        if self.comparison is None:
            words = f"{self.metric.name}: {self.reason}"
        elif self.limit is None or self.status is None:
            words = f"{verdict.figures(self.comparison)}, no limit"
        elif self.status == "void":
            words = (
                f"{verdict.figures(self.comparison)}, "
                f"limit {self.limit:g} %: void"
            )
        else:
            words = verdict.sentence(self.comparison, self.limit, self.status)
        voids = [one.sentence() for one in self.findings if one.voids]
        return ". ".join([words, *voids])


def compare(
    metric: sample.Metric,
    repetitions: collections.abc.Sequence[repetition.Repetition],
    reference: repetition.Reference,
    confidence: float,
) -> Row:
    """Return the row of a metric, not judged yet."""
    guest = gathering.guests(metric, repetitions)
    bare = gathering.bare(metric, reference)
    reason = _absence(metric, guest, bare, reference)
    return Row(
        metric=metric,
        comparison=None
        if reason
        else overhead.compare(
            metric,
            [entry.values for entry in bare],
            [entry.values for entry in guest],
            confidence,
        ),
        reason=reason,
        limit=None,
        pattern=None,
        status=None,
        findings=(),
        guest=guest,
        bare=bare,
    )


def _absence(
    metric: sample.Metric,
    guest: tuple[gathering.Gathered, ...],
    bare: tuple[gathering.Gathered, ...],
    reference: repetition.Reference,
) -> str:
    """Return why a metric cannot be compared, or nothing."""
    if not guest:
        return gathering.NOBODY
    if bare:
        return ""
    there = {
        one.sample.metric for entry in reference.repetitions for one in entry
    }
    for other in there:
        if other.name == metric.name:
            return (
                f"baseline {reference.name!r} has it as {_meaning(other)}, "
                f"the guests as {_meaning(metric)}, record the baseline again"
            )
    names = ", ".join(sorted({other.name for other in there})) or "nothing"
    return (
        f"baseline {reference.name!r} has no such metric (it has: {names}), "
        "record the baseline with the workload that measures it"
    )


def judge(
    row: Row,
    limit: tuple[float, str] | None,
    findings: tuple[noted.Noted, ...],
    void: bool,
) -> Row:
    """Return the row with its limit, its findings and its status.

    :param void: whether a finding about the run takes its meaning from it
    """
    if limit is None:
        return dataclasses.replace(row, findings=findings)
    void = void or any(one.voids for one in findings)
    status: verdict.Status = "inconclusive"
    if void:
        status = "void"
    elif row.comparison is not None:
        status = verdict.decide(row.comparison, limit[0])
    return dataclasses.replace(
        row,
        limit=limit[0],
        pattern=limit[1],
        status=status,
        findings=findings,
    )


def _meaning(metric: sample.Metric) -> str:
    return f"{metric.scale} in {metric.unit!r}, {metric.better} is better"
