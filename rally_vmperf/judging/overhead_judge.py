"""The judge of overhead: losses of guests against bare metal."""

import collections.abc
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import loss_figure
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points

#: The heading of the verdict on overhead.
HEADING = "Overhead"
#: Components whose figures represent the machine as a whole.
_WHOLE_MACHINE = ("cpu", "memory")


class OverheadJudge(judge.Judge):
    """A judge of the overhead of guests over bare metal.

    The options with limits are ``max_percent``, ``max`` and ``min``.

    :param statistic: The guest to which ``max_percent`` applies: the mean or
        the worst one.
    :param options: The arguments of the base class.
    """

    def __init__(
        self, *, statistic: points.Statistic = "mean", **options: t.Any
    ) -> None:
        super().__init__(**options)
        self.statistic = statistic

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether it has a single condition, or variants only."""
        is_single = len(run_repetition.conditions) <= 1
        return is_single or run_repetition.has_axis(repetition.VARIANT)

    def figures(self, repetitions: judge.Repetitions) -> list[result.Result]:
        """Return rows of overheads, then of absolute figures, as a list."""
        conditions = [
            run_repetition.condition for run_repetition in repetitions
        ]
        metrics = gathering.metrics(conditions)
        names = [metric.name for metric in metrics]
        max_percent = self.limits["max_percent"]
        reference = _find_reference(conditions)
        has_reference = reference != repetition.NO_REFERENCE or not any(
            condition.observations for condition in conditions
        )
        caps = tuple(
            dict.fromkeys(
                cap
                for run_repetition in repetitions
                for cap in run_repetition.rate_limits
            )
        )
        losses = [
            build.build_overhead(
                metric,
                conditions,
                reference,
                limit,
                self.confidence,
                self.statistic,
                caps,
            )
            for metric in metrics
            for limit in [max_percent.for_metric(metric.name, names)]
            if metric.scale == "ratio" and (has_reference or limit)
        ]
        values = [
            row
            for metric in metrics
            for row in build.build_absolute(
                metric,
                conditions,
                reference,
                self.limits,
                names,
                self.confidence,
                has_reference=has_reference,
            )
        ]
        return [*losses, *values]

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: judge.Rows,
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        conditions = [
            run_repetition.condition for run_repetition in repetitions
        ]
        for condition in conditions:
            for reported_finding in condition.findings:
                yield reported_finding, condition.number
        offered = plausibility.fixed_rate_metrics(
            reported_finding
            for condition in conditions
            for reported_finding in condition.findings
        )
        has_interval = False
        for row in rows:
            comparison, limit = _find_comparison(row)
            if comparison is None:
                continue
            has_interval |= comparison.low is not None
            bottleneck = ""
            if isinstance(row.figure, loss_figure.Loss):
                bottleneck = row.figure.bottleneck
            if row.metric.name in offered:
                bottleneck = ""
            drifts = verdict.list_drifts_across(comparison, limit)
            for reported_finding in plausibility.of_comparison(
                comparison, drifts, bottleneck
            ):
                yield reported_finding, None
            if detail := row.describe_differing():
                name = row.metric.name
                yield finding.Finding("guests_differ", name, detail), None
        if has_interval:
            yield from plausibility.one_session(
                repetitions, _find_reference(conditions)
            )
        yield from plausibility.baseline_changed(conditions)

    def voided_metrics(
        self,
        repetitions: judge.Repetitions,
        findings: collections.abc.Sequence[finding.RunFinding],
    ) -> collections.abc.Set[str]:
        """Return the names of metrics that other findings void, a set.

        A guest cannot be far faster than bare metal. If it is in CPU or
        memory, the machines are not comparable. If it is on the disk or the
        network, the two sides did not measure the same.
        """
        parts = {
            run_finding.finding.subject.partition(".")[0]
            for run_finding in findings
            if run_finding.voids and run_finding.finding.kind == "guest_faster"
        }
        is_whole_machine = not parts.isdisjoint(_WHOLE_MACHINE)
        names = {
            name
            for name in judge.metric_names(repetitions)
            if is_whole_machine or name.partition(".")[0] in parts
        }
        return names | super().voided_metrics(repetitions, findings)

    def is_run_void(
        self,
        findings: collections.abc.Sequence[finding.RunFinding],
        voided: collections.abc.Set[str],
    ) -> bool:
        """Return whether a finding voids any figure of the run."""
        return any(run_finding.voids for run_finding in findings)


def _find_comparison(
    row: result.Result,
) -> tuple[loss.Comparison | None, float | None]:
    """Return the comparison of a row and the limit of its loss.

    Without samples of bare metal, guests are compared with their absolute
    limit, or with any constant: the loss against a limit must not be positive.
    """
    figure = row.figure
    if (
        not isinstance(figure, absolute_value.AbsoluteValue)
        or figure.bare
        or figure.worst_count
        or not figure.guest
    ):
        return row.comparison, row.limit
    comparison = figure.compare_with(row.limit or 1.0)
    return comparison, None if row.limit is None else 0.0


def _find_reference(
    conditions: collections.abc.Iterable[repetition.Condition],
) -> repetition.Reference:
    """Return the bare-metal reference of the first measured condition."""
    return next(
        (
            condition.reference
            for condition in conditions
            if condition.observations
        ),
        repetition.NO_REFERENCE,
    )
