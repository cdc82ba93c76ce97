# SPDX-License-Identifier: Apache-2.0
"""The rules of an axis, along which conditions are compared in pairs."""

import collections.abc
import dataclasses
import functools
import itertools
import typing as t

from rally_vmperf.judging import counting
from rally_vmperf.judging import gains
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.event import figures as event_figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample

Row = result.Result


@dataclasses.dataclass(frozen=True, kw_only=True)
class AxisContrast:
    """Two conditions of the same repetitions.

    :param reference: The axes of the reference side, as in
        ``repetition.select``.
    :param other: The axes of the other side.
    :param names: The names of both sides and of the loss in sentences.
    :param limits: The options with limits; each with the factor that makes it
        a largest tolerated loss.
    :param is_expected: Whether the other side always loses, so that only a
        limit makes its noise worth a finding.
    """

    reference: repetition.Axes
    other: repetition.Axes
    names: tuple[str, str, str]
    limits: collections.abc.Mapping[str, int]
    is_expected: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Counts:
    """Counts that only one condition has, with absolute limits.

    :param axes: The axes of the condition, as in ``repetition.select``.
    :param metrics: The metrics that each run has.
    :param prefixes: The prefixes of metrics that only some runs have.
    """

    axes: repetition.Axes
    metrics: tuple[sample.Metric, ...]
    prefixes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis, along which the conditions of a repetition are compared.

    :param name: The name of the axis.
    :param no_pair: The reason why a metric has no pair.
    :param contrasts: The contrasts of the axis; none if each value is
        compared with the first one.
    :param limits: The limits of these comparisons, as in ``Contrast``.
    :param counts: The counts that have limits of their own; None for none.
    :param loss: The name of the loss if each value is compared.
    :param conclude: A function that returns sentences on all rows of several
        values.
    :param has_own_guests: Whether each value has guests of its own, which
        differ by their boots, too.
    :param select_guests: A function that returns conditions with the guests
        that are compared.
    """

    name: str
    no_pair: str
    contrasts: tuple[AxisContrast, ...] = ()
    limits: collections.abc.Mapping[str, int] = dataclasses.field(
        default_factory=dict
    )
    counts: Counts | None = None
    loss: str = "loss"
    conclude: t.Callable[[list[Row], float], list[str]] = (
        lambda rows, confidence: []
    )
    has_own_guests: bool = False
    select_guests: t.Callable[
        [list[repetition.Condition]], list[repetition.Condition]
    ] = lambda conditions: conditions

    @functools.cached_property
    def rules(self) -> judge.Rules:
        """What a judge asks of a run with this axis."""
        return judge.Rules(
            axis=self.name,
            compares_values=not self.contrasts,
            has_limit=self._has_limit,
            build=self._build,
            find=self._find,
            conclude=self.conclude,
        )

    def _has_limit(
        self,
        options: collections.abc.Mapping[str, t.Any],
        condition: repetition.Condition,
        is_loss: bool,
    ) -> bool:
        """Return whether a limit applies to a condition.

        The limit of a loss applies to the side that loses.
        """
        if not self.contrasts or not is_loss:
            return True
        return any(
            repetition.select([condition], **contrast.other)
            for contrast in self.contrasts
            if "max_percent" in contrast.limits
        )

    def _list_contrasts(
        self, run_judge: judge.Judge
    ) -> tuple[AxisContrast, ...]:
        """Return the contrasts of the axis, or that of the judged value."""
        if self.contrasts:
            return self.contrasts
        reference, other = run_judge.reference, run_judge.part
        contrast = AxisContrast(
            reference={self.name: reference},
            other={self.name: other},
            names=(reference, other, self.loss),
            limits=self.limits,
        )
        return (contrast,)

    def _build(
        self, run_judge: judge.Judge, repetitions: judge.Repetitions
    ) -> list[Row]:
        """Return a row per rate or time and level on its loss, as a list."""
        conditions = repetition.list_conditions(repetitions)
        levels: dict[int | None, list[repetition.Condition]] = {}
        for condition in conditions:
            if condition.guests is None or not condition.skip_reason:
                levels.setdefault(condition.guests, []).append(condition)
        metrics = [
            metric
            for metric in gathering.metrics(conditions)
            if metric.scale == "ratio"
        ]
        names = [metric.name for metric in metrics]
        rows = self._list_counts(run_judge, conditions)
        selected = {
            guests: self.select_guests(level)
            for guests, level in levels.items()
        }
        compared = itertools.product(
            metrics,
            self._list_contrasts(run_judge),
            sorted(levels, key=lambda level: level or 0),
        )
        for metric, contrast, guests in compared:
            void = ""
            if guests is not None:
                void = counting.find_void_sentence(
                    metric.name,
                    repetitions,
                    levels[guests],
                    run_judge.tolerate,
                )
            row = build.build_pairs(
                metric,
                (
                    repetition.select(selected[guests], **contrast.reference),
                    repetition.select(selected[guests], **contrast.other),
                ),
                contrast.names,
                _find_limit(run_judge, contrast, metric.name, names),
                run_judge.options.confidence,
                self.no_pair,
                run_judge.options.statistic,
                guests=guests,
                void=void,
                is_void=None if guests is None else bool(void),
            )
            rows.append(row)
        return rows

    def _list_counts(
        self, run_judge: judge.Judge, conditions: list[repetition.Condition]
    ) -> list[Row]:
        """Return a row for each count that is measured or has a limit."""
        counts = self.counts
        if counts is None:
            return []
        metrics = [
            *counts.metrics,
            *(
                metric
                for metric in gathering.metrics(conditions)
                if metric.name.startswith(counts.prefixes)
            ),
        ]
        names = [metric.name for metric in metrics]
        counted = repetition.select(conditions, **counts.axes)
        rows = [
            row
            for metric in metrics
            for row in build.build_absolute(
                metric,
                counted,
                repetition.NO_REFERENCE,
                run_judge.limits,
                names,
                run_judge.options.confidence,
            )
        ]
        return [row for row in rows if not row.reason or row.limit is not None]

    def _find(
        self,
        run_judge: judge.Judge,
        repetitions: judge.Repetitions,
        rows: judge.Rows,
    ) -> finding.Occurrences:
        """Yield the findings in the pairs of all repetitions."""
        where = "" if self.contrasts else f"{run_judge.part}: "
        expected = {
            contrast.names
            for contrast in self.contrasts
            if contrast.is_expected
        }
        for row in rows:
            figure = row.figure
            is_expected = (
                isinstance(figure, figures.Loss) and figure.names in expected
            )
            if is_expected and row.limit is None:
                continue
            if row.comparison is not None:
                level = row.level_suffix and f"{row.level_suffix.lstrip()}: "
                for found in plausibility.of_pairs(
                    row.comparison, row.limit, where or level
                ):
                    yield found, None
        if self.has_own_guests and any(
            row.comparison and row.comparison.low is not None for row in rows
        ):
            yield from plausibility.one_session(
                repetitions, repetition.NO_REFERENCE
            )


def _find_limit(
    run_judge: judge.Judge,
    contrast: AxisContrast,
    metric: str,
    names: list[str],
) -> build.Limit:
    """Return the largest tolerated loss with its pattern, or None."""
    for option, factor in contrast.limits.items():
        if found := run_judge.limits[option].for_metric(metric, names):
            limit, pattern = found
            return factor * limit, pattern
    return None


def _select_subject(
    conditions: list[repetition.Condition],
) -> list[repetition.Condition]:
    """Return conditions with the values of the guest of the event only.

    The other guests have figures of their own. Without an event, all
    guests remain.
    """
    subjects = {
        condition.phase.event.guest
        for condition in conditions
        if condition.phase and condition.phase.event
    }
    if not subjects:
        return conditions
    return [
        dataclasses.replace(
            condition,
            observations=tuple(
                observation
                for observation in condition.observations
                if observation.source in subjects
            ),
        )
        for condition in conditions
    ]


#: The number of guests that run another workload.
NEIGHBOURS = Axis(
    name="neighbours",
    no_pair="no counted repetition has it with and without neighbours",
    contrasts=(
        AxisContrast(
            reference={"neighbours": False},
            other={"neighbours": True},
            names=("without neighbours", "with neighbours", "loss"),
            limits={"max_percent": 1},
        ),
    ),
)
#: The settings of guests. A least gain is a largest loss below zero.
VARIANTS = Axis(
    name=repetition.VARIANT,
    limits={"min_gain_percent": -1, "max_loss_percent": 1},
    no_pair="no counted repetition has it of both variants",
    loss=verdict.GAIN,
    conclude=gains.conclude,
    has_own_guests=True,
)
#: The phases of an event, whose figures belong to the phase during.
PHASES = Axis(
    name=phases.AXIS,
    no_pair="no counted repetition has it in both phases",
    contrasts=(
        AxisContrast(
            reference={phases.AXIS: "before"},
            other={phases.AXIS: "during"},
            names=("before", "during", "loss during"),
            limits={"max_percent_during": 1},
            is_expected=True,
        ),
        AxisContrast(
            reference={phases.AXIS: "before"},
            other={phases.AXIS: "after"},
            names=("before", "after", "loss"),
            limits={"max_percent": 1},
        ),
    ),
    counts=Counts(
        axes={phases.AXIS: "during"},
        metrics=event_figures.METRICS,
        prefixes=(
            event_figures.NOT_RECOVERED.name,
            event_figures.PEAK_PREFIX,
            event_figures.SPIKE_PREFIX,
        ),
    ),
    select_guests=_select_subject,
)
