"""The rules of an axis, along which conditions are compared in pairs."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.judging import density_levels
from rally_vmperf.judging import gains
from rally_vmperf.judging import judge
from rally_vmperf.judging import parts
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.migration import figures
from rally_vmperf.measurement.migration import phases
from rally_vmperf.measurement.samples import sample

Row = result.Result


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
class Counts:
    """Counts that only one condition has, with absolute limits.

    :param axes: The axes of the condition, as in ``repetition.select``.
    :param metrics: The metrics of the counts.
    """

    axes: repetition.Axes
    metrics: tuple[sample.Metric, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis, along which the conditions of a repetition are compared.

    :param name: The name of the axis.
    :param limits: The options with limits; each with the factor that makes it
        a largest tolerated loss.
    :param no_pair: The reason why a metric has no pair.
    :param contrast: The only contrast of the axis; None if each value is
        compared with the first one.
    :param counts: The counts that have limits of their own; None for none.
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
    counts: Counts | None = None
    loss: str = "loss"
    conclude: t.Callable[[list[Row], float], list[str]] = (
        lambda rows, confidence: []
    )
    has_own_guests: bool = False

    @functools.cached_property
    def rules(self) -> judge.Rules:
        """What a judge asks of a run with this axis."""
        return judge.Rules(
            axis=self.name,
            compares_values=self.contrast is None,
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
        if self.contrast is None or not is_loss:
            return True
        return bool(repetition.select([condition], **self.contrast.other))

    def _find_contrast(self, repetitions: judge.Repetitions) -> Contrast:
        """Return the contrast of the axis, or of its two values."""
        if self.contrast is not None:
            return self.contrast
        reference, other = parts.list_values(repetitions, self.name)[:2]
        return Contrast(
            reference={self.name: reference},
            other={self.name: other},
            names=(reference, other, self.loss),
        )

    def _build(
        self, run_judge: judge.Judge, repetitions: judge.Repetitions
    ) -> list[Row]:
        """Return a row per rate or time and level on its loss, as a list."""
        contrast = self._find_contrast(repetitions)
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
        for metric in metrics:
            limit = self._find_limit(run_judge, metric.name, names)
            for guests in sorted(levels, key=lambda level: level or 0):
                void = ""
                if guests is not None:
                    void = density_levels.find_void_sentence(
                        metric.name,
                        repetitions,
                        levels[guests],
                        run_judge.tolerate,
                    )
                level = levels[guests]
                row = build.build_pairs(
                    metric,
                    (
                        repetition.select(level, **contrast.reference),
                        repetition.select(level, **contrast.other),
                    ),
                    contrast.names,
                    limit,
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
        rows = [
            row
            for metric in counts.metrics
            for row in build.build_absolute(
                metric,
                repetition.select(conditions, **counts.axes),
                repetition.NO_REFERENCE,
                run_judge.limits,
                [counted.name for counted in counts.metrics],
                run_judge.options.confidence,
            )
        ]
        return [row for row in rows if not row.reason or row.limit is not None]

    def _find_limit(
        self, run_judge: judge.Judge, metric: str, names: list[str]
    ) -> build.Limit:
        """Return the largest tolerated loss with its pattern, or None."""
        for option, factor in self.limits.items():
            if found := run_judge.limits[option].for_metric(metric, names):
                limit, pattern = found
                return factor * limit, pattern
        return None

    def _find(
        self,
        run_judge: judge.Judge,
        repetitions: judge.Repetitions,
        rows: judge.Rows,
    ) -> finding.Occurrences:
        """Yield the findings in the pairs of all repetitions."""
        where = f"{run_judge.part}: " if self.contrast is None else ""
        for row in rows:
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


#: The number of guests that run another workload.
NEIGHBOURS = Axis(
    name="neighbours",
    limits={"max_percent": 1},
    no_pair="no counted repetition has it with and without neighbours",
    contrast=Contrast(
        reference={"neighbours": False},
        other={"neighbours": True},
        names=("without neighbours", "with neighbours", "loss"),
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
#: The phases of a migration, whose figures belong to the phase during.
PHASES = Axis(
    name=phases.AXIS,
    limits={"max_percent": 1},
    no_pair="no counted repetition has it before and after the migration",
    contrast=Contrast(
        reference={phases.AXIS: "before"},
        other={phases.AXIS: "after"},
        names=("before", "after", "loss"),
    ),
    counts=Counts(axes={phases.AXIS: "during"}, metrics=figures.METRICS),
)
