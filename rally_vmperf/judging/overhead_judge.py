"""The judge of overhead: losses of guests against bare metal."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import plausibility
from rally_vmperf.judging import rows
from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: Components whose figures represent the machine as a whole.
_WHOLE_MACHINE = ("cpu", "memory")


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverheadResult(rows.FigureResult):
    """A figure of a metric, whose limit applies to the mean or worst guest.

    The percentile of a distribution is that of all guests together and has no
    worst guest.

    :param statistic: The guest to which a limit of the overhead applies.
    """

    statistic: points.Statistic = "mean"

    @functools.cached_property
    def guest_values(self) -> dict[str, list[statistics.Values]]:
        """The values of each guest, by guest and repetition.

        The result is empty for one guest and for merged percentiles.
        """
        values: dict[str, list[statistics.Values]] = {}
        for samples in self.guest:
            for guest, guest_values in samples.by_source.items():
                values.setdefault(guest, []).append(guest_values)
        is_merged = any(samples.merged is not None for samples in self.guest)
        return {} if is_merged or len(values) < 2 else values

    def _compare_guest(self, guest: str, confidence: float) -> loss.Comparison:
        """Return the comparison of a guest with bare metal."""
        bare = [samples.values for samples in self.bare]
        values = self.guest_values[guest]
        return loss.compare(self.metric, bare, values, confidence)

    def compare_each(self, confidence: float) -> dict[str, loss.Comparison]:
        """Return the comparison of each guest by name; {} for one guest."""
        if self.comparison is None:
            return {}
        return {
            guest: self._compare_guest(guest, confidence)
            for guest in self.guest_values
        }

    @functools.cached_property
    def guests(self) -> dict[str, loss.Comparison]:
        """The comparison of each guest by name; empty for one guest."""
        return self.compare_each(self.confidence)

    @functools.cached_property
    def corrected(self) -> dict[str, loss.Comparison]:
        """The comparisons with the confidence that a failure requires."""
        number = len(self.guests)
        return self.compare_each(
            verdict.correct_confidence(self.confidence, number)
        )

    @property
    def worst(self) -> str:
        """The name of the worst guest; "" if the mean guest is judged."""
        if self.statistic == "mean" or not self.guests:
            return ""
        return max(
            sorted(self.guests),
            key=lambda guest: self.guests[guest].overhead_percent,
        )

    def differing_guests(self) -> dict[str, loss.Comparison]:
        """Return the guests beyond the limit if the mean guest is judged.

        The result is empty if the mean guest is beyond the limit as well.
        """
        limit, mean = self.limit, self.comparison
        if limit is None or mean is None or self.statistic == "worst":
            return {}
        if self._status(limit) == "failed":
            return {}
        differing = {}
        for guest, values in self.guest_values.items():
            ratio = statistics.mean_of_repetitions(values) / mean.bare
            # An interval that is beyond the limit has its figure there.
            if loss.percent(self.metric, ratio) > limit:
                comparison = self._compare_guest(guest, self.confidence)
                if verdict.decide(comparison, limit) == "failed":
                    differing[guest] = comparison
        return differing

    def _status(self, limit: float) -> verdict.Status:
        """Return the status of the figure against a limit."""
        if not self.worst:
            return super()._status(limit)
        return verdict.decide_all(
            self.guests.values(), self.corrected.values(), limit
        )

    @property
    def decisive(self) -> loss.Comparison | None:
        """The comparison of the mean or of the worst guest that decides."""
        if not self.worst:
            return self.comparison
        is_passed = self.status == "passed"
        return (self.guests if is_passed else self.corrected)[self.worst]

    @property
    def worst_label(self) -> str:
        """The worst guest with the number of guests; "" for the mean."""
        if not self.worst:
            return ""
        return f"worst of {len(self.guests)} guests ({self.worst})"

    @property
    def corrected_guests(self) -> int:
        """The number of guests for which the confidence is corrected."""
        is_mean = not self.worst or self.status == "passed"
        return 1 if is_mean else len(self.guests)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OverheadJudgement(summary.Judgement[OverheadResult]):
    """The verdict on overhead."""

    @property
    def compared(self) -> tuple[OverheadResult, ...]:
        """The rows of metrics compared with bare metal, a tuple."""
        return tuple(row for row in self.rows if row.figure == "overhead")

    @property
    def absolute(self) -> tuple[OverheadResult, ...]:
        """The rows of absolute figures, a tuple."""
        return tuple(row for row in self.rows if row.figure != "overhead")


class OverheadJudge(judge.Judge[OverheadResult]):
    """A judge of the overhead of guests over bare metal.

    :param max_percent: The largest tolerated overhead by metric or glob.
    :param max: The largest tolerated value by metric or glob, in the unit of
        the metric.
    :param min: The smallest tolerated value by metric or glob, in the unit
        of the metric.
    :param statistic: The guest to which ``max_percent`` applies: the mean or
        the worst one.
    :param strictness: The arguments ``confidence``, ``on_inconclusive`` and
        ``tolerate`` of the base class.
    :raises ValueError: If an argument is invalid.
    """

    judgement_class = OverheadJudgement

    def __init__(
        self,
        max_percent: judge.Given | None = None,
        max: judge.Given | None = None,
        min: judge.Given | None = None,
        statistic: points.Statistic = "mean",
        **strictness: t.Any,
    ) -> None:
        super().__init__(**strictness)
        if statistic not in t.get_args(points.Statistic):
            raise ValueError(f"statistic={statistic!r}: must be mean or worst")
        self.statistic = statistic
        self.limits: dict[rows.Figure, limits.Limits] = {
            "overhead": limits.Limits(max_percent or {}),
            "max": limits.Limits(max or {}),
            "min": limits.Limits(min or {}),
        }

    def accepts(self, repetition_: repetition.Repetition) -> bool:
        """Return whether a repetition has one condition only."""
        return len(repetition_.conditions) <= 1

    def figures(self, repetitions: judge.Repetitions) -> list[OverheadResult]:
        """Return rows of overheads, then of absolute figures, as a list."""
        conditions = [repetition_.condition for repetition_ in repetitions]
        metrics = gathering.metrics(conditions)
        names = [metric.name for metric in metrics]
        caps = tuple(
            dict.fromkeys(
                cap
                for repetition_ in repetitions
                for cap in repetition_.rate_limits
            )
        )
        figures: list[tuple[sample.Metric, rows.Figure]] = [
            (metric, "overhead")
            for metric in metrics
            if metric.scale == "ratio"
        ]
        figures += [
            (metric, figure)
            for metric in metrics
            for figure in limits.absolute_figures(metric, self.limits)
        ]
        return [
            rows.build_result(
                OverheadResult,
                metric,
                figure,
                conditions,
                _find_reference(conditions),
                self.limits[figure].for_metric(metric.name, names),
                self.confidence,
                caps,
                statistic=self.statistic,
            )
            for metric, figure in figures
        ]

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[OverheadResult],
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        conditions = [repetition_.condition for repetition_ in repetitions]
        for condition in conditions:
            for finding_ in condition.findings:
                yield finding_, condition.number
        offered = plausibility.fixed_rate_metrics(
            finding_
            for condition in conditions
            for finding_ in condition.findings
        )
        comparisons = [row.comparison for row in rows if row.comparison]
        for row in rows:
            if row.comparison is None:
                continue
            bottleneck = "" if row.metric.name in offered else row.bottleneck
            for finding_ in plausibility.of_comparison(
                row.comparison, bottleneck
            ):
                yield finding_, None
            if guests := row.differing_guests():
                yield _create_guests_differ(row, guests), None
        if any(comparison.low is not None for comparison in comparisons):
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

    def unmatched(
        self, rows: collections.abc.Iterable[OverheadResult]
    ) -> tuple[str, ...]:
        """Return the limit patterns that match no metric, as a tuple."""
        metrics = {row.metric for row in rows}
        return tuple(
            pattern
            for figure, limits_ in self.limits.items()
            for pattern in limits_.unmatched(
                metric.name
                for metric in metrics
                if figure != "overhead" or metric.scale == "ratio"
            )
        )


def _create_guests_differ(
    row: OverheadResult, guests: dict[str, loss.Comparison]
) -> finding.Finding:
    """Return the finding that guests are beyond the limit of the mean."""
    worst = max(guests, key=lambda guest: guests[guest].overhead_percent)
    number = units.number_of("guest", len(row.guest_values))
    return finding.Finding(
        "guests_differ",
        row.metric.name,
        f"{len(guests)} of {number} beyond the limit of {row.limit:g} %: "
        f"{worst} loses {verdict.figure(guests[worst], row.limit)} "
        f"({verdict.interval(guests[worst], row.limit)})",
    )


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
