# SPDX-License-Identifier: Apache-2.0
"""The levels of a run: conditions by number of guests, points and gaps."""

import collections
import collections.abc
import dataclasses

from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import capped_metrics
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunMetrics:
    """The repetitions of a run, and the facts that all metrics share.

    :param repetitions: The repetitions in the order of their numbers.
    :param hosts: The hosts of the guests, as far as the cloud reports them.
    :param fixed_rate_metrics: The names of metrics with a fixed rate.
    :param caps: The rate limits of links and policies.
    """

    repetitions: gathering.Repetitions
    metrics: tuple[sample.Metric, ...]
    hosts: collections.abc.Mapping[str, str]
    fixed_rate_metrics: collections.abc.Collection[str]
    caps: tuple[rate_caps.Cap, ...]

    @classmethod
    def collect(cls, repetitions: gathering.Repetitions) -> "RunMetrics":
        """Return the metrics, hosts and rate limits of repetitions."""
        hosts: dict[str, str] = {}
        for run_repetition in repetitions:
            hosts.update(run_repetition.hosts)
        return cls(
            repetitions=repetitions,
            metrics=tuple(metrics(repetitions)),
            hosts=hosts,
            fixed_rate_metrics=plausibility.fixed_rate_metrics(
                finding
                for condition in repetition.list_conditions(repetitions)
                for finding in condition.findings
            ),
            caps=gathering.list_rate_limits(repetitions),
        )

    @property
    def ratios(self) -> list[sample.Metric]:
        """The metrics that have a rate, as a list; counts have none."""
        return [metric for metric in self.metrics if metric.scale == "ratio"]


def build_points(
    metric: sample.Metric,
    measured: RunMetrics,
    confidence: float = 0.95,
    tolerate: collections.abc.Collection[str] = (),
    levels: collections.abc.Iterable[int] = (),
) -> tuple[points.Point, ...]:
    """Return a point per level for a metric, as an ascending tuple.

    :param tolerate: The kinds of findings that do not void.
    :param levels: The levels with limits, which the task can lack.
    :raises ValueError: If the metric is a count, which has no rate.
    """
    repetitions = measured.repetitions
    all_points: list[points.Point] = []
    present = guest_counts(repetitions)
    for guests in sorted({*present, *levels}):
        if guests not in present:
            all_points.append(
                points.Point(
                    metric=metric, guests=guests, samples=(), is_absent=True
                )
            )
            continue
        conditions = counted_conditions(repetitions, guests)
        executed = [c for c in conditions if not c.skip_reason]
        guest_samples = gathering.guest_samples(metric, executed)
        changed = plausibility.baseline_changed(executed)
        changes = (finding for finding, _ in changed)
        all_points.append(
            points.Point(
                metric=metric,
                guests=guests,
                samples=guest_samples,
                bare=gathering.bare_metal_samples(
                    metric, executed[0].reference
                )
                if executed
                else (),
                solo=next(
                    (point for point in all_points if point.guests == 1), None
                ),
                hosts=measured.hosts,
                confidence=confidence,
                skipped=len(conditions) - len(executed),
                caps=None
                if metric.name in measured.fixed_rate_metrics
                else capped_metrics.Commands(
                    executed, measured.metrics
                ).list_caps(metric, measured.caps),
                groups=max(
                    (condition.batches for condition in executed), default=1
                ),
                void=void_reason(metric, repetitions, conditions, tolerate),
                bare_void=first_void_sentence(changes, tolerate),
                reason=""
                if guest_samples
                else not_measured_reason(conditions),
            )
        )
    return tuple(all_points)


def guest_counts(repetitions: gathering.Repetitions) -> list[int]:
    """Return the numbers of guests of a run as an ascending list."""
    return sorted({*map(guests_of, repetition.list_conditions(repetitions))})


def void_reason(
    metric: sample.Metric,
    repetitions: gathering.Repetitions,
    conditions: collections.abc.Sequence[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return why the samples of a level are void as text, or "".

    :param conditions: The level in each counted repetition.
    """
    finding_text = find_void_sentence(
        metric.name, repetitions, conditions, tolerate
    )
    return finding_text or _describe_gap(
        condition for condition in conditions if not condition.skip_reason
    )


def metrics(repetitions: gathering.Repetitions) -> list[sample.Metric]:
    """Return the metrics of a run as a list, the expected ones first."""
    return gathering.metrics(repetition.list_conditions(repetitions))


def counted_conditions(
    repetitions: gathering.Repetitions, guests: int
) -> list[repetition.Condition]:
    """Return the counted conditions of a level, skipped ones included."""
    return [
        condition
        for run_repetition in repetitions
        if run_repetition.counted
        for condition in repetition.select(
            run_repetition.conditions, guests=guests
        )
    ]


def not_measured_reason(
    conditions: collections.abc.Sequence[repetition.Condition],
) -> str:
    """Return why the conditions of a level have no samples, as text."""
    skipped = [
        condition.skip_reason
        for condition in conditions
        if condition.skip_reason
    ]
    if skipped and len(skipped) == len(conditions):
        return f"not run: {skipped[0]}"
    return gathering.NO_COMPLETE_SAMPLES


def _describe_gap(
    executed: collections.abc.Iterable[repetition.Condition],
) -> str:
    """Return what the first incomplete condition lacks as text, or "".

    After a guest stops, the others share the host among fewer guests;
    therefore their figures do not belong to the level.
    """
    for condition in executed:
        if condition.complete:
            continue
        text = f"repetition {condition.number} is {condition.state}"
        for gap in condition.missing[:1]:
            text += f": {gap.sentence()}"
        return text
    return ""


def has_levels(repetitions: gathering.Repetitions) -> bool:
    """Return whether the conditions have numbers of guests."""
    return any(
        run_repetition.conditions
        and run_repetition.has_axis(repetition.GUESTS)
        for run_repetition in repetitions
    )


def guests_of(condition: repetition.Condition) -> int:
    """Return the number of guests of each host in a condition."""
    return int(condition.axes[repetition.GUESTS])


def findings(repetitions: gathering.Repetitions) -> finding.Occurrences:
    """Return the findings of repetitions, with levels in their detail.

    Levels of a warm-up are omitted.
    """
    numbers: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    counts: dict[finding.Finding, set[int]] = collections.defaultdict(set)
    executed: set[int] = set()
    for run_repetition in repetitions:
        conditions = (
            run_repetition.conditions if run_repetition.counted else ()
        )
        for level in conditions:
            if not level.skip_reason:
                executed.add(guests_of(level))
            for reported_finding in level.findings:
                numbers[reported_finding].add(run_repetition.number)
                counts[reported_finding].add(guests_of(level))
    for reported_finding, guest_counts in counts.items():
        level_finding = reported_finding
        if guest_counts < executed or len(executed) == 1:
            level_finding = dataclasses.replace(
                reported_finding,
                detail=(
                    f"at {units.number_of('guest', *guest_counts)}: "
                    f"{reported_finding.detail}"
                ),
            )
        for number in sorted(numbers[reported_finding]):
            yield level_finding, number


def select_run_wide(
    findings: collections.abc.Iterable[finding.Finding],
    repetitions: gathering.Repetitions,
) -> frozenset[finding.Finding]:
    """Return the findings about whole repetitions, records or runs, a set.

    Other findings are about a metric, or about one number of guests.
    """
    wide = [found for found in findings if found.is_run_wide]
    if not has_levels(repetitions):
        return frozenset(wide)
    about_repetitions = {
        found
        for run_repetition in repetitions
        for found in run_repetition.findings
    }
    return frozenset(
        found
        for found in wide
        if found in about_repetitions or found.kind in finding.ABOUT_RECORDS
    )


def find_void_sentence(
    metric: str,
    repetitions: gathering.Repetitions,
    conditions: collections.abc.Iterable[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return which finding voids a metric at a level as text, or "".

    The findings of the level and of the repetitions are considered, except
    those of warm-ups.

    :param conditions: The conditions of the level.
    """
    findings: list[finding.Finding] = []
    for run_repetition in repetitions:
        findings += run_repetition.findings if run_repetition.counted else ()
    for condition in conditions:
        findings += condition.findings if condition.counted else ()
    return first_void_sentence(
        (
            reported_finding
            for reported_finding in findings
            if reported_finding.concerns(metric)
        ),
        tolerate,
    )


def first_void_sentence(
    findings: collections.abc.Iterable[finding.Finding],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return the sentence of the first finding that voids, or ""."""
    for reported_finding in findings:
        if (
            reported_finding.severity == "void"
            and reported_finding.kind not in tolerate
        ):
            return finding.RunFinding(finding=reported_finding).sentence()
    return ""
