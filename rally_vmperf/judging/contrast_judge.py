"""The judge of contrasts between the conditions of a repetition."""

import collections.abc
import copy
import dataclasses
import types
import typing as t

from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judge
from rally_vmperf.judging import summary
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import limits

Row = result.Result
Judgement = summary.Judgement
ByValue = collections.abc.Mapping[str, limits.LimitsByOption]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contrast:
    """Two conditions of the same repetitions.

    :param reference: The axes of the reference side, as in
        ``repetition.select``.
    :param other: The axes of the other side.
    :param names: The names of both sides and of the loss in sentences.
    """

    reference: repetition.Axes
    other: repetition.Axes
    names: tuple[str, str, str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis, along which the conditions of a repetition are compared.

    :param name: The name of the axis.
    :param limits: The options with limits; each with the factor that makes it
        a largest tolerated loss.
    :param no_pair: The reason why a metric has no pair.
    :param contrast: The only contrast of the axis; None if each value is
        compared with the first one.
    :param loss: The name of the loss if each value is compared.
    :param conclude: A function that returns sentences on all rows of several
        values.
    :param has_own_guests: Whether each value has guests of its own, which
        differ by their boots, too.
    """

    name: str
    limits: collections.abc.Mapping[str, int]
    no_pair: str
    contrast: Contrast | None = None
    loss: str = "loss"
    conclude: t.Callable[[list[Row], float], list[str]] = (
        lambda rows, confidence: []
    )
    has_own_guests: bool = False


class ContrastJudge(judge.Judge):
    """A judge of the loss under one condition against another, in pairs.

    Where each value of the axis is compared with the first one, each value is
    judged on its own.

    :param axis: The axis.
    :param limits: The limits by option; by value and option if each value is
        compared.
    :param options: The other arguments of the base class.
    """

    def __init__(
        self,
        axis: Axis,
        limits: t.Any = types.MappingProxyType({}),
        **options: t.Any,
    ) -> None:
        self.axis = axis
        self.contrast = axis.contrast
        self._by_value: ByValue = {}
        if axis.contrast:
            options["limits"] = limits or judge.NO_LIMITS
        else:
            self._by_value = limits
        super().__init__(**options)
        self.tolerate = {*self.tolerate, *finding.ABOUT_BARE_METAL}

    def accepts(self, run_repetition: repetition.Repetition) -> bool:
        """Return whether each condition has a value of the axis."""
        return run_repetition.has_axis(self.axis.name)

    def _list_values(self) -> list[str]:
        """Return the values of the axis, the reference first."""
        return [
            str(value)
            for value in dict.fromkeys(
                condition.axes[self.axis.name]
                for condition in repetition.list_conditions(self._repetitions)
            )
        ]

    def _list_parts(self) -> list[str]:
        """Return the values that are compared with the first one."""
        return [] if self.contrast else self._list_values()[1:]

    def _select_part(self, value: str) -> t.Self:
        """Return a copy of the judge for a value and the reference."""
        reference = self._list_values()[0]
        part = copy.copy(self)
        part.contrast = Contrast(
            reference={self.axis.name: reference},
            other={self.axis.name: value},
            names=(reference, value, self.axis.loss),
        )
        part.limits = self._by_value.get(value, judge.NO_LIMITS)
        part._repetitions = [
            gathering.isolate(
                run_repetition,
                [
                    condition
                    for condition in run_repetition.conditions
                    if condition.axes[self.axis.name] in (reference, value)
                ],
            )
            for run_repetition in self._repetitions
        ]
        return part

    def _judge(self) -> Judgement:
        """Return the verdict, with the conclusions on all values."""
        judgement = super()._judge()
        if self.axis.contrast:
            return judgement
        if self.contrast:
            return dataclasses.replace(judgement, rows=_mark_void(judgement))
        values = self._list_parts()
        if not values:
            return judgement
        unmatched = [
            f"{value}: {pattern}"
            for value, by_option in self._by_value.items()
            if value not in values
            for option_limits in by_option.values()
            for pattern in option_limits.unmatched(())
        ]
        rows = [dataclasses.replace(row, variant="") for row in judgement.rows]
        return dataclasses.replace(
            judgement,
            unmatched=(*judgement.unmatched, *unmatched),
            conclusions=tuple(self.axis.conclude(rows, self.confidence)),
        )

    @staticmethod
    def _name_variant(
        run_finding: finding.RunFinding, variant: str
    ) -> finding.RunFinding:
        """Return the finding, which names its value already."""
        return run_finding

    def figures(self, repetitions: judge.Repetitions) -> list[Row]:
        """Return a row per rate or time and level on its loss, as a list."""
        if self.contrast is None:
            return []
        conditions = repetition.list_conditions(repetitions)
        metrics = [
            metric
            for metric in gathering.metrics(conditions)
            if metric.scale == "ratio"
        ]
        names = [metric.name for metric in metrics]
        levels: dict[int | None, list[repetition.Condition]] = {}
        for condition in conditions:
            if condition.guests is None or not condition.skip_reason:
                levels.setdefault(condition.guests, []).append(condition)
        rows = []
        for metric in metrics:
            limit = self._find_limit(metric.name, names)
            for guests in sorted(levels, key=lambda level: level or 0):
                void = ""
                if guests is not None:
                    void = density_levels.find_void_sentence(
                        metric.name,
                        repetitions,
                        levels[guests],
                        self.tolerate,
                    )
                sides = (
                    repetition.select(levels[guests], **axes)
                    for axes in (self.contrast.reference, self.contrast.other)
                )
                row = build.build_pairs(
                    metric,
                    t.cast(build.Sides, tuple(sides)),
                    self.contrast.names,
                    limit,
                    self.confidence,
                    self.axis.no_pair,
                    guests=guests,
                    void=void,
                    is_void=None if guests is None else bool(void),
                )
                rows.append(row)
        return rows

    def _find_limit(self, metric: str, names: list[str]) -> build.Limit:
        """Return the largest tolerated loss with its pattern, or None."""
        for option, factor in self.axis.limits.items():
            if found := self.limits[option].for_metric(metric, names):
                limit, pattern = found
                return factor * limit, pattern
        return None

    def findings(
        self,
        repetitions: judge.Repetitions,
        rows: collections.abc.Sequence[Row],
    ) -> finding.Occurrences:
        """Return findings, each with the number of its repetition."""
        if self.contrast is None:
            return
        by_level = density_levels.has_levels(repetitions)
        for run_repetition in repetitions:
            number = run_repetition.number
            for found in run_repetition.findings:
                yield found, number
            for condition in () if by_level else run_repetition.conditions:
                prefix = self._format_prefix(condition.axes)
                for found in condition.findings:
                    yield found.with_prefix(prefix), number
        if by_level:
            yield from density_levels.findings(repetitions)
        where = self._format_prefix(self.contrast.other)
        for row in rows:
            if row.comparison is not None:
                level = row.level_suffix and f"{row.level_suffix.lstrip()}: "
                for found in plausibility.of_pairs(
                    row.comparison, row.limit, where or level
                ):
                    yield found, None
        if self.axis.has_own_guests and any(
            row.comparison and row.comparison.low is not None for row in rows
        ):
            yield from plausibility.one_session(
                repetitions, repetition.NO_REFERENCE
            )

    def _format_prefix(self, axes: repetition.Axes) -> str:
        """Return the value of the axis as a prefix of findings, or ""."""
        return "" if self.axis.contrast else f"{axes[self.axis.name]}: "

    def run_wide_findings(
        self,
        findings: collections.abc.Iterable[finding.Finding],
        repetitions: judge.Repetitions,
    ) -> frozenset[finding.Finding]:
        """Return the findings about a whole repetition, as a set.

        In a run with several numbers of guests, findings of a single number
        are omitted.
        """
        if density_levels.has_levels(repetitions):
            return density_levels.repetition_wide_findings(
                findings, repetitions
            )
        return super().run_wide_findings(findings, repetitions)


def _mark_void(judgement: Judgement) -> tuple[Row, ...]:
    """Return the rows of a value, with the reason why the value is void."""
    reasons = finding.sentences(
        run_finding
        for run_finding in judgement.findings
        if run_finding.voids and run_finding.finding.is_run_wide
    )
    return tuple(
        dataclasses.replace(row, void="; ".join(reasons))
        for row in judgement.rows
    )
