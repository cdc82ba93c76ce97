# SPDX-License-Identifier: Apache-2.0
"""The judge of all criteria.

Rally passes repetitions one by one, in any order and to several judges that
are merged; the verdict depends on neither.
"""

import collections.abc
import copy
import dataclasses
import types
import typing as t

from rally_vmperf.judging import counting
from rally_vmperf.judging import parts
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import contrasts
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

Repetitions = gathering.Repetitions
Rows = collections.abc.Sequence[result.Result]

#: The limits of a judge that only has figures.
NO_LIMITS = verdict.LimitsByOption()


#: Limits by metric or glob, as a task has them.
ByPattern = t.Annotated[
    collections.abc.Mapping[str, float] | None,
    {
        "minProperties": 1,
        "propertyNames": {"type": "string"},
        "additionalProperties": {"type": "number"},
    },
]
#: The kinds of findings, as a task lists them.
Kinds = t.Annotated[
    collections.abc.Sequence[str],
    {
        "type": "array",
        "items": {"enum": sorted(finding.KINDS)},
        "uniqueItems": True,
    },
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class VerdictOptions:
    """The options of every criterion with figures.

    :param confidence: Confidence of the interval.
    :param on_inconclusive: Result of a task if a limit is undecided.
    :param tolerate: Kinds of findings that do not void samples.
    """

    confidence: t.Annotated[float, {"minimum": 0.5, "exclusiveMaximum": 1}] = (
        0.95
    )
    on_inconclusive: summary.OnInconclusive = "fail"
    tolerate: Kinds = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(VerdictOptions):
    """The options of every criterion with limits by metric.

    :param unmeasured: Limits that no workload of the task measures, or that
        require a baseline that the task does not have. reject: the task is
        rejected. skip: they are not judged, and the verdict lists them.
    """

    unmeasured: t.Literal["reject", "skip"] = "reject"


@dataclasses.dataclass(frozen=True, kw_only=True)
class GuestOptions(Options):
    """The options of a criterion whose limits apply to one of the guests.

    :param statistic: Guest that the limits apply to: the mean or the worst
        guest. A count is always that of the worst guest.
    """

    statistic: contrasts.Statistic = "mean"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ValueOptions(GuestOptions):
    """The options of a criterion with limits on values of guests.

    :param max: Metric or glob -> largest tolerated value in the guest, in the
        unit of the metric. For a count, such as retransmits, it applies to
        the worst guest in its worst repetition.
    :param min: Metric or glob -> smallest tolerated value in the guest; see
        max.
    """

    max: ByPattern = None
    min: ByPattern = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rules:
    """What a criterion asks of a run.

    :param build: A function that returns the results of repetitions, without
        verdicts, from the judge and the repetitions.
    :param find: A function that yields the findings on these results.
    :param axis: The axis that distinguishes the conditions; "" for a single
        condition, or one for each variant.
    :param compares_values: Whether each value of the axis is compared with
        the first one, and judged on its own.
    :param has_limit: A function that returns whether a limit applies to a
        condition, from the options of the criterion, the condition and
        whether it is a limit of the loss; True by default.
    :param uses_bare_metal: A function that returns whether findings about
        bare metal void the run, from the judge.
    :param list_voided: A function that returns the names of metrics that
        findings on other metrics void.
    :param is_void_by_any: Whether any finding that voids a metric voids the
        run.
    :param conclude: A function that returns sentences on all results, from
        the results and the confidence.
    :param bare_metal_option: The option whose limits can be skipped if guests
        are not compared with bare metal; "" without one.
    """

    build: "t.Callable[[Judge, Repetitions], list[result.Result]]"
    find: "t.Callable[[Judge, Repetitions, Rows], finding.Occurrences]"
    axis: str = ""
    compares_values: bool = False
    has_limit: t.Callable[[t.Any, repetition.Condition, bool], bool] = (
        lambda options, condition, is_loss: True
    )
    uses_bare_metal: "t.Callable[[Judge], bool]" = lambda run_judge: False
    list_voided: t.Callable[
        [collections.abc.Sequence[finding.RunFinding], set[str]], set[str]
    ] = lambda findings, names: set()
    is_void_by_any: bool = False
    conclude: t.Callable[[list[result.Result], float], list[str]] = (
        lambda rows, confidence: []
    )
    bare_metal_option: str = ""


def list_unmeasured(
    by_option: verdict.LimitsByOption,
    metrics: collections.abc.Collection[sample.Metric],
    skipped: collections.abc.Collection[str],
    without_baseline: str = "",
) -> list[summary.NotJudged]:
    """Return the limits that nothing measures, with the reason, as a list.

    :param metrics: The metrics that are measured.
    :param skipped: The names of the metrics of skipped workloads.
    :param without_baseline: The option that requires bare metal, which is
        missing; "" if no option does.
    """
    unmeasured = []
    for option, option_limits in by_option.items():
        names = option_limits.list_names(metrics)
        unmatched = option_limits.unmatched(names)
        for pattern in option_limits.patterns:
            reason = ""
            if option == without_baseline:
                reason = "no bare metal"
            elif pattern in unmatched:
                reason = "no workload measures it"
                if option_limits.is_of_counts(pattern, metrics):
                    reason = f"{verdict.COUNTS}; use max"
                elif verdict.matches_any(pattern, skipped):
                    reason = "no peer"
            if reason:
                unmeasured.append(summary.NotJudged(option, pattern, reason))
    return unmeasured


class Judge:
    """A judge that collects repetitions and returns a verdict.

    :param rules: The rules of the criterion.
    :param limits: The limits by option; by value and option if each value of
        an axis is compared. Without limits there are figures and no verdict.
    :param options: The options of the criterion.
    :param selects: The conditions that it judges, by axis, as in
        ``Repetition.select``; all by default.
    :ivar tolerate: The kinds of findings that do not void.
    :ivar part: The variant or value that a copy of the judge judges, or "".
    :ivar reference: The value that this value is compared with, or "".
    """

    def __init__(
        self,
        rules: Rules,
        limits: t.Any = NO_LIMITS,
        options: t.Any = GuestOptions(),
        selects: repetition.Axes = types.MappingProxyType({}),
    ) -> None:
        self.rules = rules
        self.by_value = limits if rules.compares_values else {}
        self.limits = NO_LIMITS if rules.compares_values else limits
        self.selects = selects
        self.options = options
        self.tolerate = self._list_tolerated()
        self.part = ""
        self.reference = ""
        self._repetitions: list[repetition.Repetition] = []
        self._unreadable = 0
        self._judgement: summary.Judgement | None = None

    def _list_tolerated(self) -> frozenset[str]:
        """Return the kinds of findings that do not void."""
        tolerate = frozenset(self.options.tolerate)
        if self.rules.uses_bare_metal(self):
            return tolerate
        return tolerate | {*finding.ABOUT_BARE_METAL}

    def add(self, run_repetition: repetition.Repetition | None) -> None:
        """Add a repetition; None stands for an unreadable record.

        A repetition with conditions of another question counts as
        unreadable.
        """
        selected = run_repetition and run_repetition.select(**self.selects)
        if selected is None or not self.accepts(selected):
            self.extend((), 1)
        else:
            self.extend((selected,), 0)

    def merge(self, other: t.Self) -> None:
        """Add the repetitions of another judge with the same criteria."""
        self.extend(other._repetitions, other._unreadable)

    def extend(
        self,
        repetitions: collections.abc.Iterable[repetition.Repetition],
        unreadable: int,
    ) -> None:
        """Add repetitions, and the number of unreadable records."""
        self._repetitions += repetitions
        self._unreadable += unreadable
        self._judgement = None

    def is_failure_final(self) -> bool:
        """Return whether the run has failed and cannot recover.

        An undecided run continues, also where a limit fails only without
        the repetitions that findings void. Findings are costly, and most
        runs have no figure beyond its limit.
        """
        repetitions, _ = gathering.merge_duplicates(self._repetitions)
        if not self._list_parts() and not any(
            row.with_verdict((), False).status == "failed"
            for row in self.figures(repetitions)
        ):
            return False
        current = self.judgement()
        return any(
            row.is_failure_final(current.missing.planned)
            for row in current.limited
        )

    def judgement(self) -> summary.Judgement:
        """Return the verdict on the repetitions so far, as a judgement."""
        if self._judgement is None:
            self._judgement = self._judge()
        return self._judgement

    def _judge(self) -> summary.Judgement:
        """Return the verdict computed from the repetitions so far.

        Each variant of a run is judged on its own.
        """
        if names := self._list_parts():
            return self._judge_parts(names)
        if self._lacks_bare_metal():
            return self._judge_without_bare_metal()
        counted = counting.count(
            self._repetitions,
            self.tolerate,
            self.rules.axis if self.rules.compares_values else "",
        )
        rows = self.figures(counted.judged)
        warmups = {
            run_repetition.number
            for run_repetition in counted.repetitions
            if not run_repetition.counted
        }
        findings = finding.collect(
            [*counted.occurrences, *self.find(counted.judged, rows)],
            self.tolerate,
            counted.omitted | warmups,
        )
        return self._conclude(
            counted.repetitions, rows, findings, counted.omitted
        )

    def _lacks_bare_metal(self) -> bool:
        """Return whether limits require bare metal that the run has not."""
        return (
            self.options.unmeasured == "skip"
            and bool(self.limits[self.rules.bare_metal_option])
            and gathering.lacks_bare_metal(self._repetitions)
        )

    def _judge_without_bare_metal(self) -> summary.Judgement:
        """Return the verdict by the limits that do not require bare metal."""
        option = self.rules.bare_metal_option
        required = verdict.LimitsByOption({option: self.limits[option]})
        others = copy.copy(self)
        others.limits = verdict.LimitsByOption(self.limits)
        del others.limits[option]
        others.tolerate = others._list_tolerated()
        judgement = others._judge()
        not_judged = list_unmeasured(required, (), (), option)
        return dataclasses.replace(
            judgement, not_judged=(*not_judged, *judgement.not_judged)
        )

    def _conclude(
        self,
        repetitions: Repetitions,
        rows: list[result.Result],
        findings: tuple[finding.RunFinding, ...],
        void: frozenset[int],
    ) -> summary.Judgement:
        """Return the verdict on rows without verdicts.

        :param void: The numbers of the void repetitions.
        """
        voided = self._list_voided(repetitions, findings)
        voided_without_bare_metal = self._list_voided(
            repetitions,
            [each for each in findings if not each.is_about_bare_metal],
        )
        is_void = bool(voided)
        if self.rules.is_void_by_any:
            is_void = any(run_finding.voids for run_finding in findings)
        rows = [
            row.with_verdict(
                tuple(
                    run_finding
                    for run_finding in findings
                    if run_finding.finding.names(row.metric.name)
                ),
                row.metric.name
                in (
                    voided
                    if row.figure.uses_bare_metal
                    else voided_without_bare_metal
                ),
            )
            for row in rows
        ]
        missing = counting.count_missing(repetitions, self._unreadable, void)
        not_judged = self._list_not_judged(rows, findings)
        unmatched = () if not_judged else self.unmatched(rows)
        return summary.Judgement(
            status=summary.overall_status(
                rows,
                is_void,
                bool(missing or unmatched),
            ),
            rows=tuple(rows),
            missing=missing,
            findings=findings,
            unmatched=unmatched,
            not_judged=not_judged,
            omitted=tuple(sorted(void)),
            confidence=self.options.confidence,
            on_inconclusive=self.options.on_inconclusive,
        )

    def _list_not_judged(
        self,
        rows: list[result.Result],
        findings: tuple[finding.RunFinding, ...],
    ) -> tuple[summary.NotJudged, ...]:
        """Return the limits that nothing measures, if the task skips them."""
        if self.options.unmeasured != "skip":
            return ()
        skipped = {
            name
            for each in findings
            if each.finding.kind == "workload_skipped"
            for name in each.finding.metrics
        }
        metrics = {row.metric for row in rows}
        return tuple(list_unmeasured(self.limits, metrics, skipped))

    def _list_parts(self) -> list[str]:
        """Return the variants or values that are judged on their own."""
        if self.part:
            return []
        if self.rules.compares_values:
            return self._list_values()[1:]
        if self.rules.axis:
            return []
        return gathering.list_variants(self._repetitions)

    def _list_values(self) -> list[str]:
        """Return the values that are compared, the reference first."""
        return gathering.list_values(self._repetitions, self.rules.axis)

    def _judge_parts(self, names: list[str]) -> summary.Judgement:
        """Return one judgement for those on the parts of a run."""
        judgement = parts.merge(
            {name: self._judge_part(name) for name in names},
            self._repetitions,
            self._unreadable,
            is_named=not self.rules.compares_values,
        )
        if not self.rules.compares_values:
            return judgement
        rows = [dataclasses.replace(row, variant="") for row in judgement.rows]
        unmatched = {
            f"{value}: {pattern}": self._explain_value(value, names)
            for value, by_option in self.by_value.items()
            if value not in names
            for option_limits in by_option.values()
            for pattern in option_limits.unmatched(())
        }
        status = judgement.status
        if unmatched and status == "passed":
            status = "inconclusive"
        return dataclasses.replace(
            judgement,
            status=status,
            unmatched=(*judgement.unmatched, *unmatched),
            unmatched_reasons=unmatched,
            conclusions=tuple(
                self.rules.conclude(rows, self.options.confidence)
            ),
        )

    def _explain_value(
        self, value: str, compared: collections.abc.Iterable[str]
    ) -> str:
        """Return why no metric has the limit of a value, as a clause.

        :param compared: The values that are compared with the reference.
        """
        axis, values = self.rules.axis, self._list_values()
        if value in values:
            return (
                f"is for the reference, which has no gain or loss against "
                f"itself; set it for another {axis} ({', '.join(compared)})"
            )
        return f"names no {axis} of this run ({', '.join(values)})"

    def _judge_part(self, name: str) -> summary.Judgement:
        """Return the verdict on a variant, as if it were all of the run."""
        part = copy.copy(self)
        part.part = name
        if not self.rules.compares_values:
            part._repetitions = parts.select_variant(self._repetitions, name)
            return part._judge()
        part.limits = self.by_value.get(name, NO_LIMITS)
        part.reference, *_ = self._list_values()
        part._repetitions = parts.select_pair(
            self._repetitions, self.rules.axis, (part.reference, name)
        )
        return parts.mark_void(part._judge())

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether a repetition has the conditions of the criterion."""
        if self.rules.axis:
            return run_repetition.has_axis(self.rules.axis)
        is_single = len(run_repetition.conditions) <= 1
        return is_single or run_repetition.has_axis(repetition.VARIANT)

    def figures(self, repetitions: Repetitions) -> list[result.Result]:
        """Return one row per judged figure, as a list without verdicts.

        :param repetitions: The repetitions in the order of their numbers.
        """
        if self.rules.compares_values and not self.part:
            return []
        return self.rules.build(self, repetitions)

    def find(
        self, repetitions: Repetitions, rows: Rows
    ) -> finding.Occurrences:
        """Return the findings on figures, without number of a repetition."""
        if self.rules.compares_values and not self.part:
            return
        yield from self.rules.find(self, repetitions, rows)
        for row in rows:
            if detail := row.describe_differing():
                where = f"{self.part}: " if self.rules.compares_values else ""
                if row.guests is not None:
                    where += f"with {units.number_of('guest', row.guests)}: "
                yield (
                    finding.Finding(
                        "guests_differ", row.metric.name, where + detail
                    ),
                    None,
                )

    def unmatched(self, rows: Rows) -> tuple[str, ...]:
        """Return the limit patterns that match no metric, as a tuple."""
        metrics = {row.metric for row in rows}
        patterns = [
            pattern
            for option_limits in self.limits.values()
            for pattern in option_limits.unmatched(
                option_limits.list_names(metrics)
            )
        ]
        return tuple(dict.fromkeys(patterns))

    def _list_voided(
        self,
        repetitions: Repetitions,
        findings: collections.abc.Sequence[finding.RunFinding],
    ) -> set[str]:
        """Return the names of metrics that findings on others void."""
        voids = [run_finding for run_finding in findings if run_finding.voids]
        names = gathering.metric_names(repetitions)
        if counting.select_run_wide(
            (run_finding.finding for run_finding in voids), repetitions
        ):
            return names
        return self.rules.list_voided(voids, names)
