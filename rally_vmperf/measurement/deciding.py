"""The steps from repetitions to a judgement."""

import collections.abc

from rally_vmperf.measurement import counts
from rally_vmperf.measurement import judgement
from rally_vmperf.measurement import noted
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import rows
from rally_vmperf.measurement import sample
from rally_vmperf.measurement import seen
from rally_vmperf.measurement import shortfall
from rally_vmperf.measurement import summary
from rally_vmperf.measurement import terms


def decide(
    repetitions: collections.abc.Iterable[repetition.Repetition],
    unreadable: int,
    agreed: terms.Terms,
) -> judgement.Judgement:
    """Compare each metric, hold it to its limit, and sum up.

    :param unreadable: how many iterations left no readable record
    """
    entries = sorted(repetitions, key=lambda entry: entry.number)
    metrics = _metrics(entries)
    compared = _compare(metrics, entries, agreed.confidence)
    counted = _count(metrics, entries)
    findings = noted.collect(seen.everything(entries, compared), agreed)
    names = {metric.name for metric in metrics}
    void = any(
        one.voids and one.finding.subject not in names for one in findings
    )
    judged = tuple(
        rows.judge(
            row,
            agreed.max_percent.for_metric(row.metric.name),
            _about(row.metric, findings),
            void,
        )
        for row in compared
    )
    judged_counts = tuple(
        counts.judge(
            row,
            agreed.max_count.for_metric(row.metric.name),
            _about(row.metric, findings),
            void,
        )
        for row in counted
    )
    missing = shortfall.count(entries, unreadable)
    unmatched = (
        *agreed.max_percent.unmatched(row.metric.name for row in judged),
        *agreed.max_count.unmatched(row.metric.name for row in judged_counts),
    )
    return judgement.Judgement(
        status=summary.overall(
            (*judged, *judged_counts), void, bool(missing or unmatched)
        ),
        rows=judged,
        counts=judged_counts,
        missing=missing,
        findings=findings,
        unmatched=unmatched,
        reference=entries[0].reference if entries else None,
        confidence=agreed.confidence,
        on_inconclusive=agreed.on_inconclusive,
    )


def _metrics(
    entries: collections.abc.Iterable[repetition.Repetition],
) -> list[sample.Metric]:
    """Return every metric once: the expected ones, then the others."""
    expected = [one for entry in entries for one in entry.expected]
    observed = [
        one.sample.metric for entry in entries for one in entry.observations
    ]
    return list(dict.fromkeys(expected + observed))


def _compare(
    metrics: collections.abc.Iterable[sample.Metric],
    entries: collections.abc.Sequence[repetition.Repetition],
    confidence: float,
) -> list[rows.Row]:
    return [
        rows.compare(metric, entries, entries[0].reference, confidence)
        for metric in metrics
        if metric.scale == "ratio"
    ]


def _count(
    metrics: collections.abc.Iterable[sample.Metric],
    entries: collections.abc.Sequence[repetition.Repetition],
) -> list[counts.CountRow]:
    return [
        counts.measure(metric, entries, entries[0].reference)
        for metric in metrics
        if metric.scale == "count"
    ]


def _about(
    metric: sample.Metric, findings: tuple[noted.Noted, ...]
) -> tuple[noted.Noted, ...]:
    return tuple(one for one in findings if one.finding.subject == metric.name)
