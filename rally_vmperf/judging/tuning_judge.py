"""The judge of tuning: gains and losses of variants of a guest."""

import collections.abc
import dataclasses
import itertools
import typing as t

from rally_vmperf.judging import judge
from rally_vmperf.judging import level
from rally_vmperf.judging import plausibility
from rally_vmperf.judging import rows
from rally_vmperf.judging import summary
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The axis of the names of variants.
VARIANT = "variant"
#: Limits by variant, then by metric or glob.
ByVariant = collections.abc.Mapping[str, judge.Given]
Conditions = list[repetition.Condition]
_NO_PAIR = "no counted repetition has it in both variants"


@dataclasses.dataclass(frozen=True, kw_only=True)
class TuningResult(rows.FigureResult):
    """A loss of one variant in one metric, compared with the reference.

    Both sides are from the same repetitions: ``bare`` is the reference.

    :param variant: The name of the variant.
    :param reference: The name of the reference.
    :param void_variant: The reason why one of them is void, or "".
    """

    NAMES = ("reference", "variant", "loss")
    PAIRED = True

    variant: str
    reference: str
    void_variant: str = ""

    @property
    def level_suffix(self) -> str:
        """The variant and its reference, as text."""
        return f" in {self.variant} instead of {self.reference}"

    @property
    def gain(self) -> tuple[float, float, float] | None:
        """The gain in percent with the ends of its interval, or None."""
        comparison = self.comparison
        if comparison is None or comparison.low is None:
            return None
        high = t.cast(float, comparison.high)
        return -comparison.overhead_percent, -high, -comparison.low

    def void_reasons(self) -> list[str]:
        """Return the reasons why this variant is void, a list of texts."""
        return [self.void_variant] if self.void_variant else []

    def with_verdict(
        self, findings: tuple[finding.RunFinding, ...], void: bool
    ) -> t.Self:
        """Return a copy of the row with findings and status.

        A finding that voids another variant does not void this one.
        """
        status = None if self.limit is None else self._status(self.limit)
        if status is not None and (void or self.void_variant):
            status = "void"
        return dataclasses.replace(self, status=status, findings=findings)

    def describe_gain(self) -> str:
        """Return the metric's gain with its interval as text."""
        if self.gain is None:
            return f"{self.metric.name}: {self.reason or 'no interval'}"
        value, low, high = self.gain
        if low <= 0 <= high:
            return (
                f"{self.metric.name} no significant difference ({value:+.1f} "
                f"%, {low:.1f} to {high:.1f})"
            )
        return f"{self.metric.name} {value:+.1f} % ({low:.1f} to {high:.1f} %)"


class TuningJudgement(summary.Judgement[TuningResult]):
    """A verdict on the variants of a run."""

    def reasons(self) -> list[str]:
        """Return the reasons, and a sentence on each variant, as a list."""
        return [*dict.fromkeys(super().reasons()), *self.describe_variants()]

    def describe_variants(self) -> list[str]:
        """Return a sentence on each variant, the largest gain first."""
        by_variant: dict[str, dict[sample.Metric, TuningResult]] = {}
        for row in self.rows:
            by_variant.setdefault(row.variant, {})[row.metric] = row
        sentences = []
        for variant, results in by_variant.items():
            first, *_ = results.values()
            gains = [row.gain[0] for row in results.values() if row.gain]
            text = "; ".join(row.describe_gain() for row in results.values())
            if not any(row.comparison for row in results.values()):
                text = first.reason
            void = first.void_variant
            text = f"{variant} instead of {first.reference}: {void or text}"
            rank = sum(gains) / len(gains) if gains and not void else -1e9
            sentences.append((rank, text))
        return [text for _, text in sorted(sentences, reverse=True)]


class TuningJudge(judge.Judge[TuningResult]):
    """A judge of variants, each paired with the reference.

    The reference is the first condition of a record. The confidence of each
    interval is corrected for the number of variants that are compared with it
    (Bonferroni), so that equal variants rarely seem to differ.

    :param min_gain_percent: The smallest required gain by variant, then by
        metric or glob.
    :param max_loss_percent: The largest tolerated loss in the same form.
    :param strictness: The arguments ``confidence``, ``on_inconclusive`` and
        ``tolerate`` of the base class.
    :raises ValueError: If an argument is invalid.
    """

    judgement_class = TuningJudgement

    def __init__(
        self,
        min_gain_percent: ByVariant | None = None,
        max_loss_percent: ByVariant | None = None,
        **strictness: t.Any,
    ) -> None:
        super().__init__(**strictness)
        self.tolerate = {*self.tolerate, *finding.ABOUT_BARE_METAL}
        #: A gain is a negative loss.
        self.limits: list[tuple[str, limits.Limits]] = [
            (
                variant,
                limits.Limits(
                    {name: sign * limit for name, limit in given.items()}
                ),
            )
            for sign, by_variant in (
                (-1, min_gain_percent),
                (1, max_loss_percent),
            )
            for variant, given in (by_variant or {}).items()
        ]

    def accepts(self, repetition_: repetition.Repetition) -> bool:
        """Return whether each condition has a variant."""
        return repetition_.has_axis(VARIANT)

    def figures(self, repetitions: judge.Repetitions) -> list[TuningResult]:
        """Return a row per variant, metric and limit, as a list."""
        by_variant: dict[str, list[repetition.Condition]] = {}
        for repetition_ in repetitions:
            for condition in repetition_.conditions:
                name = str(condition.axes[VARIANT])
                by_variant.setdefault(name, []).append(condition)
        if len(by_variant) < 2:
            return []
        reference, *others = by_variant
        confidence = 1 - (1 - self.confidence) / len(others)
        metrics = [
            metric
            for metric in gathering.metrics(
                [*itertools.chain(*by_variant.values())]
            )
            if metric.scale == "ratio"
        ]
        results = []
        for variant in others:
            sides = by_variant[reference], by_variant[variant]
            for metric in metrics:
                void = self._find_void(metric.name, repetitions, sides)
                for limit in self._find_limits(variant, metric, metrics):
                    results.append(
                        self._create_row(
                            metric, sides, limit, confidence, void
                        )
                    )
        return results

    def _find_void(
        self,
        metric: str,
        repetitions: judge.Repetitions,
        sides: tuple[Conditions, Conditions],
    ) -> str:
        """Return which finding voids a metric of a variant, or ""."""
        findings = [
            finding_
            for repetition_ in repetitions
            if repetition_.counted
            for finding_ in repetition_.findings
        ]
        for side in sides:
            for condition in side:
                if condition.counted:
                    findings += _list_findings(condition)
        return level.first_void_sentence(
            (each for each in findings if each.concerns(metric)), self.tolerate
        )

    def _find_limits(
        self,
        variant: str,
        metric: sample.Metric,
        metrics: collections.abc.Iterable[sample.Metric],
    ) -> list[tuple[float, str] | None]:
        """Return the limits of a metric with their patterns, or [None]."""
        names = [each.name for each in metrics]
        found = [
            limits_.for_metric(metric.name, names)
            for name, limits_ in self.limits
            if name == variant
        ]
        return [*filter(None, found)] or [None]

    def _create_row(
        self,
        metric: sample.Metric,
        sides: tuple[list[repetition.Condition], list[repetition.Condition]],
        limit: tuple[float, str] | None,
        confidence: float,
        void: str,
    ) -> TuningResult:
        """Return the row of a metric's loss, from both sides."""
        before, after = (
            gathering.guest_samples(metric, conditions) for conditions in sides
        )
        numbers = {samples.number for samples in before}
        numbers &= {samples.number for samples in after}
        reference, variant = (str(side[0].axes[VARIANT]) for side in sides)
        return TuningResult(
            metric=metric,
            figure="overhead",
            reason="" if numbers else _NO_PAIR,
            limit=limit and limit[0],
            pattern=limit and limit[1],
            bare=tuple(each for each in before if each.number in numbers),
            guest=tuple(each for each in after if each.number in numbers),
            confidence=confidence,
            variant=variant,
            reference=reference,
            void_variant=void,
        )

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[TuningResult],
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        for repetition_ in repetitions:
            for finding_ in repetition_.findings:
                yield finding_, repetition_.number
            for condition in repetition_.conditions:
                for finding_ in _list_findings(condition):
                    yield finding_, repetition_.number
        for row in rows:
            comparison = row.comparison
            if comparison is None:
                continue
            where = f"{row.level_suffix.lstrip()}: "
            if comparison.low is None:
                number = units.number_of("pair", comparison.guest_repetitions)
                name = row.metric.name
                yield (
                    finding.Finding(
                        "too_few_repetitions", name, where + number
                    ),
                    None,
                )
            for finding_ in plausibility.of_values(comparison, where):
                yield finding_, None

    def run_wide_findings(
        self,
        findings: collections.abc.Iterable[finding.Finding],
        repetitions: judge.Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about whole repetitions, as a set."""
        return level.repetition_wide_findings(findings, repetitions)

    def unmatched(
        self, rows: collections.abc.Iterable[TuningResult]
    ) -> tuple[str, ...]:
        """Return the limit patterns that match no metric, as a tuple."""
        names = {row.metric.name for row in rows}
        return tuple(
            pattern
            for _, limits_ in self.limits
            for pattern in limits_.unmatched(names)
        )


def _list_findings(condition: repetition.Condition) -> list[finding.Finding]:
    """Return the findings of a condition, with the variant in the detail."""
    return [
        dataclasses.replace(
            finding_, detail=f"{condition.axes[VARIANT]}: {finding_.detail}"
        )
        for finding_ in condition.findings
    ]
