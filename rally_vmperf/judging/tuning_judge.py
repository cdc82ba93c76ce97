"""The judge of tuning: gains of variants over their reference."""

import collections
import collections.abc
import dataclasses
import types
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import figure_result
from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import changes
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

Judgement = summary.Judgement[figure_result.FigureResult]
ByVariant = collections.abc.Mapping[str, limits.LimitsByOption]

_NO_DIFFERENCE = "no significant difference"
_FEW = f"fewer than {statistics.FEWEST} repetitions"
#: The reason why there is no pair.
_NO_PAIR = "no counted repetition has it of both variants"


class TuningJudge(judge.Judge[figure_result.FigureResult]):
    """A judge of the gain of each variant over the reference.

    The gain is the negative loss: it is positive if the variant is better.
    Both are measured in each repetition and compared in pairs. The reference
    is the first variant of the records.

    :param limits: The limits ``min_gain_percent`` and ``max_loss_percent`` by
        variant.
    :param options: The other arguments of the base class.
    """

    def __init__(
        self,
        limits: ByVariant = types.MappingProxyType({}),
        **options: t.Any,
    ) -> None:
        super().__init__(**options)
        self.tolerate = {*self.tolerate, *finding.ABOUT_BARE_METAL}
        self._by_variant = limits

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether each condition is a variant."""
        return run_repetition.has_axis(repetition.VARIANT)

    def _judge(self) -> Judgement:
        """Return the verdict computed from the repetitions so far."""
        variants = gathering.list_variants(self._repetitions)
        if not variants:
            return super()._judge()
        reference, *others = variants
        judgements: dict[str, Judgement] = {}
        for variant in others:
            judgement = self._create_pair_judge(reference, variant)._judge()
            judgements[variant] = dataclasses.replace(
                judgement, rows=_mark_void(judgement)
            )
        conclusions = describe_gains(
            reference,
            list_changes(
                [row for pair in judgements.values() for row in pair.rows],
                self.confidence,
            ),
        )
        merged = self._merge_judgements(judgements, tuple(conclusions))
        unmatched = [
            f"{variant}: {pattern}"
            for variant, by_option in self._by_variant.items()
            if variant not in others
            for option_limits in by_option.values()
            for pattern in option_limits.unmatched(())
        ]
        return dataclasses.replace(
            merged, unmatched=(*merged.unmatched, *unmatched)
        )

    def _create_pair_judge(self, reference: str, variant: str) -> "_PairJudge":
        """Return a judge with the repetitions of two variants."""
        pair_judge = _PairJudge(
            reference,
            variant,
            limits=self._by_variant.get(variant, limits.LimitsByOption()),
            confidence=self.confidence,
            on_inconclusive=self.on_inconclusive,
            tolerate=self.tolerate,
        )
        pair_judge.extend(
            (
                gathering.isolate(
                    run_repetition,
                    [
                        condition
                        for condition in run_repetition.conditions
                        if condition.axes[repetition.VARIANT]
                        in (reference, variant)
                    ],
                )
                for run_repetition in self._repetitions
            ),
            self._unreadable,
        )
        return pair_judge

    @staticmethod
    def _name_variant(
        run_finding: finding.RunFinding, variant: str
    ) -> finding.RunFinding:
        """Return the finding, which names its variant already."""
        return run_finding

    def figures(
        self, repetitions: judge.Repetitions
    ) -> list[figure_result.FigureResult]:
        """Return an empty list: pairs of variants have figures."""
        return []

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[figure_result.FigureResult],
    ) -> finding.Occurrences:
        """Return no findings: pairs of variants have findings."""
        return ()


class _PairJudge(judge.Judge[figure_result.FigureResult]):
    """A judge of one variant against the reference."""

    def __init__(self, reference: str, variant: str, **options: t.Any) -> None:
        super().__init__(**options)
        self.reference = reference
        self.variant = variant
        self.names = (reference, variant, verdict.GAIN)

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return True: the judge of all variants selects repetitions."""
        return True

    def _list_parts(self) -> list[str]:
        """Return no variants: a pair is judged as a whole."""
        return []

    def figures(
        self, repetitions: judge.Repetitions
    ) -> list[figure_result.FigureResult]:
        """Return a row per rate or time on its gain, as a list."""
        conditions = repetition.list_conditions(repetitions)
        metrics = [
            metric
            for metric in gathering.metrics(conditions)
            if metric.scale == "ratio"
        ]
        names = [metric.name for metric in metrics]
        return [
            self._create_row(metric, conditions, names) for metric in metrics
        ]

    def _create_row(
        self,
        metric: sample.Metric,
        conditions: list[repetition.Condition],
        names: list[str],
    ) -> figure_result.FigureResult:
        """Return the row of the gain in one metric."""
        bare, guest = gathering.pair_samples(
            metric,
            repetition.select(conditions, variant=self.reference),
            repetition.select(conditions, variant=self.variant),
        )
        limit, pattern = self._find_limit(metric.name, names)
        return figure_result.FigureResult(
            metric=metric,
            figure="overhead",
            reason="" if bare else _NO_PAIR,
            limit=limit,
            pattern=pattern,
            bare=bare,
            guest=guest,
            names=self.names,
            paired=True,
            confidence=self.confidence,
        )

    def _find_limit(
        self, metric: str, names: list[str]
    ) -> tuple[float | None, str | None]:
        """Return the largest tolerated loss with its pattern, or None each.

        A least gain is a largest loss below zero.
        """
        for option, sign in (
            ("min_gain_percent", -1),
            ("max_loss_percent", 1),
        ):
            found = self.limits[option].for_metric(metric, names)
            if found:
                limit, pattern = found
                return sign * limit, pattern
        return None, None

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[figure_result.FigureResult],
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        for run_repetition in repetitions:
            for reported_finding in run_repetition.findings:
                yield reported_finding, run_repetition.number
            for condition in run_repetition.conditions:
                prefix = f"{condition.axes[repetition.VARIANT]}: "
                for reported_finding in condition.findings:
                    yield (
                        reported_finding.with_prefix(prefix),
                        run_repetition.number,
                    )
        for row in rows:
            if row.comparison is not None:
                prefix = f"{self.variant}: "
                for reported_finding in plausibility.of_pairs(
                    row.comparison, row.limit, prefix
                ):
                    yield reported_finding, None


def _mark_void(
    judgement: Judgement,
) -> tuple[figure_result.FigureResult, ...]:
    """Return the rows of a pair, with the reason why the pair is void."""
    reasons = finding.sentences(
        run_finding
        for run_finding in judgement.findings
        if run_finding.voids and run_finding.finding.is_run_wide
    )
    return tuple(
        dataclasses.replace(row, void_level="; ".join(reasons))
        for row in judgement.rows
    )


def list_changes(
    rows: collections.abc.Iterable[figure_result.FigureResult],
    confidence: float,
) -> list[changes.Change]:
    """Return the change of each metric and variant, as a list.

    The confidence is that of all statuses together: the correction of Holm is
    over variants and metrics. A void variant has no comparison.
    """
    compared: list[changes.Change] = []
    sides = {}
    for row in rows:
        if not row.is_gain:
            continue
        reason = row.reason or row.void_level or "; ".join(row.void_reasons())
        if not reason:
            sides[len(compared)] = (
                [samples.values for samples in row.bare],
                [samples.values for samples in row.guest],
            )
        compared.append(
            changes.Change(
                run=row.names[1],
                condition="",
                metric=row.metric,
                margin=0.0,
                reason=reason,
            )
        )
    changes.decide_all(compared, sides, confidence, paired=True)
    return compared


def describe_gains(
    reference: str, compared: collections.abc.Iterable[changes.Change]
) -> list[str]:
    """Return one sentence for each variant, as a list.

    Significant gains and losses have the intervals that decided.
    """
    by_variant: dict[str, list[changes.Change]] = {}
    for change in compared:
        by_variant.setdefault(change.run, []).append(change)
    sentences = []
    for variant, variant_changes in by_variant.items():
        reasons = [change.reason for change in variant_changes]
        if all(reasons):
            text = f"not compared: {'; '.join(dict.fromkeys(reasons))}"
        else:
            text = "; ".join(_list_gains(variant_changes))
        sentences.append(f"{variant} instead of {reference}: {text}")
    return sentences


def _list_gains(
    compared: collections.abc.Sequence[changes.Change],
) -> list[str]:
    """Return clauses on the largest significant changes and numbers of others.

    If all would be too many, the largest ones are first.
    """
    significant: list[tuple[float, str, str]] = []
    others: collections.Counter[str] = collections.Counter()
    for change in compared:
        comparison = change.comparison
        if comparison is None or comparison.low is None:
            others[change.reason or _FEW] += 1
            continue
        if change.status not in ("better", "worse"):
            others[""] += 1
            continue
        gain = verdict.figure(comparison, None, is_gain=True)
        sign = "" if gain.startswith("-") else "+"
        ends = verdict.ends(comparison, is_gain=True)
        clause = f"{change.metric.name} {sign}{gain} ({ends})"
        size = abs(comparison.overhead_percent)
        significant.append((size, clause, change.status))
    if len(significant) > finding.DETAILS_SHOWN:
        significant.sort(reverse=True)
    shown = significant[: finding.DETAILS_SHOWN]
    clauses = [clause for _, clause, _ in shown]
    hidden = collections.Counter(
        status for _, _, status in significant[finding.DETAILS_SHOWN :]
    )
    clauses += [
        f"{status} in {units.number_of('other metric', number)}"
        for status, number in hidden.items()
    ]
    for reason, number in others.items():
        text = f"no result ({reason})" if reason else _NO_DIFFERENCE
        clauses.append(f"{text} in {units.number_of('metric', number)}")
    return clauses
