# SPDX-License-Identifier: Apache-2.0
"""The rules of density: points, losses of guests, fairness, and findings."""

import collections
import collections.abc
import dataclasses
import typing as t

from rally_vmperf.judging import counting
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import capped_metrics
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import points
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import units

#: The finding that voids losses against a solo guest, and nothing else.
_NOT_REACHED = "offered_rate_not_reached"
#: The numbers of guests at which limits apply.
_Levels = t.Annotated[
    str | int | list[int],
    {
        "oneOf": [
            {"enum": ["all"]},
            {"type": "integer", "minimum": 1},
            {
                "type": "array",
                "items": {"type": "integer", "minimum": 1},
                "minItems": 1,
                "uniqueItems": True,
            },
        ],
    },
]


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
            metrics=tuple(_list_metrics(repetitions)),
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
    present = counting.guest_counts(repetitions)
    for guests in sorted({*present, *levels}):
        if guests not in present:
            all_points.append(
                points.Point(
                    metric=metric, guests=guests, samples=(), is_absent=True
                )
            )
            continue
        conditions = _select_counted(repetitions, guests)
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
                else capped_metrics.CappedMetrics(
                    measured.metrics, executed
                ).list_caps(metric, measured.caps),
                groups=max(
                    (condition.batches for condition in executed), default=1
                ),
                void=_find_void_reason(
                    metric, repetitions, conditions, tolerate
                ),
                bare_void=counting.first_void_sentence(changes, tolerate),
                reason=""
                if guest_samples
                else counting.explain_unmeasured(conditions),
            )
        )
    return tuple(all_points)


def _find_void_reason(
    metric: sample.Metric,
    repetitions: gathering.Repetitions,
    conditions: collections.abc.Sequence[repetition.Condition],
    tolerate: collections.abc.Collection[str],
) -> str:
    """Return why the samples of a level are void as text, or "".

    :param conditions: The level in each counted repetition.
    """
    finding_text = counting.find_void_sentence(
        metric.name, repetitions, conditions, tolerate
    )
    return finding_text or _describe_gap(
        condition for condition in conditions if not condition.skip_reason
    )


def _list_metrics(repetitions: gathering.Repetitions) -> list[sample.Metric]:
    """Return the metrics of a run as a list, the expected ones first."""
    return gathering.metrics(repetition.list_conditions(repetitions))


def _select_counted(
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class LevelOptions(judge.Options):
    """The options of a criterion for some numbers of guests.

    :param levels: Number of guests at which the limits apply, a list of
        numbers, or all.
    """

    levels: _Levels = "all"

    @property
    def is_against_bare_metal(self) -> bool:
        """Whether losses are compared with bare metal."""
        return False


@dataclasses.dataclass(frozen=True, kw_only=True)
class DegradationOptions(LevelOptions, judge.ValueOptions):
    """The options of the criterion of degradation.

    :param max_percent: Metric or glob -> largest tolerated loss of the rate in
        percent; the most specific match applies.
    :param compare_to: Reference of the loss: one guest, or the same number of
        bare-metal copies.
    """

    max_percent: judge.ByPattern = None
    compare_to: points.CompareTo = "solo_guest"

    @property
    def is_against_bare_metal(self) -> bool:
        """Whether losses are compared with bare metal."""
        return self.compare_to == "bare_metal"


@dataclasses.dataclass(frozen=True, kw_only=True)
class FairnessOptions(LevelOptions):
    """The options of the criterion of fairness.

    :param min_index: Metric or glob -> smallest tolerated Jain's index: 1 if
        all guests have equal rates, 1/n if one of n guests has the entire
        rate.
    :param max_spread_percent: Metric or glob -> largest tolerated spread
        between the guests in percent.
    """

    min_index: t.Annotated[
        judge.ByPattern,
        {
            "additionalProperties": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": 1,
            }
        },
    ] = None
    max_spread_percent: judge.ByPattern = None


def list_limited(
    options: LevelOptions,
    present: collections.abc.Iterable[int],
    is_loss: bool = False,
) -> list[int]:
    """Return the numbers of guests to which a limit applies, sorted.

    The solo guest loses nothing against itself.

    :param options: The options of the criterion.
    :param present: The numbers of guests of the run, ascending.
    :param is_loss: Whether it is a limit of the loss.
    """
    levels = options.levels
    if levels != "all":
        numbers = levels if isinstance(levels, list) else [levels]
        # JSON Schema accepts 4.0 as an integer.
        return sorted({*map(int, numbers)})
    has_solo = is_loss and not options.is_against_bare_metal
    return [guests for guests in present if guests > 1 or not has_solo]


def _has_limit(
    options: LevelOptions, condition: repetition.Condition, is_loss: bool
) -> bool:
    """Return whether a limit applies to the guests of a condition."""
    guests = counting.guests_of(condition)
    return guests in list_limited(options, [guests], is_loss)


def _build_degradation(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[result.Result]:
    """Return the losses, then the absolute values, at each number of guests.

    The options with limits are ``max_percent``, ``max`` and ``min``.
    """
    present = counting.guest_counts(repetitions)
    compare_to = run_judge.options.compare_to
    tolerate = {*run_judge.tolerate}
    if compare_to != "solo_guest":
        tolerate.add(_NOT_REACHED)
    levels = list_limited(run_judge.options, present, is_loss=True)
    measured = RunMetrics.collect(repetitions)
    names = [metric.name for metric in measured.ratios]
    losses = [
        row
        for metric in measured.ratios
        for row in build.build_degradation(
            build_points(
                metric,
                measured,
                run_judge.options.confidence,
                tolerate,
                levels,
            ),
            run_judge.limits["max_percent"].for_metric(metric.name, names),
            levels,
            run_judge.options.statistic,
            compare_to,
            tolerate,
            len(names),
        )
    ]
    return [*losses, *_build_absolute(run_judge, repetitions)]


def _build_absolute(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> build.Results:
    """Yield each absolute value with a limit, and each count."""
    metrics = _list_metrics(repetitions)
    names = [metric.name for metric in metrics]
    levels = list_limited(
        run_judge.options, counting.guest_counts(repetitions)
    )
    for metric in metrics:
        for guests in levels:
            conditions = _select_counted(repetitions, guests)
            void = _find_void_reason(
                metric,
                repetitions,
                conditions,
                {
                    *run_judge.tolerate,
                    *finding.ABOUT_BARE_METAL,
                    _NOT_REACHED,
                },
            )
            executed = [each for each in conditions if not each.skip_reason]
            reference = repetition.NO_REFERENCE
            yield from build.build_absolute(
                metric,
                executed,
                executed[0].reference if executed else reference,
                run_judge.limits,
                names,
                run_judge.options.confidence,
                statistic=run_judge.options.statistic,
                guests=guests,
                void=void,
                is_void=bool(void),
                skipped=len(conditions) - len(executed),
            )


def _build_fairness(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[result.Result]:
    """Return the fairness at each number of guests.

    The options with limits are ``min_index``, the smallest tolerated Jain
    index, and ``max_spread_percent``.
    """
    rows: list[result.Result] = []
    measured = RunMetrics.collect(repetitions)
    names = [metric.name for metric in measured.ratios]
    for metric in measured.ratios:
        all_points = build_points(
            metric,
            measured,
            run_judge.options.confidence,
            run_judge.tolerate,
            list_limited(run_judge.options, ()),
        )
        shared = list_limited(
            run_judge.options,
            [
                point.guests
                for point in all_points
                if point.guests > 1 or point.fairness is not None
            ],
        )
        index, spread = (
            run_judge.limits[option].for_metric(metric.name, names)
            for option in ("min_index", "max_spread_percent")
        )
        if index or not spread:
            rows += build.build_fairness(all_points, "index", index, shared)
        if spread:
            rows += build.build_fairness(all_points, "spread", spread, shared)
    return rows


def _find(
    run_judge: judge.Judge, repetitions: judge.Repetitions, rows: judge.Rows
) -> finding.Occurrences:
    """Yield the findings in the figures of all repetitions, without number."""
    curves = [each for each in result.group(rows) if each.points]
    if any(each.compare_to == "bare_metal" for each in curves):
        yield from _find_in_baseline(repetitions)
    # Each number of guests of a metric can be steady by chance.
    capped = rate_caps.count_capped(
        each.metric for each in curves for point in each.points if point.bare
    )
    losses = [each for each in curves if each.compare_to]
    for each in curves:
        for reported_finding in (
            *_find_in_rates(each),
            *_find_in_loss(each, capped, len(losses)),
        ):
            yield reported_finding, None
    for reported_finding in plausibility.find_uncounted(
        [each.metric for each in losses],
        repetition.list_conditions(repetitions),
        gathering.list_rate_limits(repetitions),
    ):
        yield reported_finding, None


def _find_in_baseline(repetitions: judge.Repetitions) -> finding.Occurrences:
    """Yield that the baseline is one session, and where it was replaced."""
    for guests in counting.guest_counts(repetitions):
        conditions = _select_counted(repetitions, guests)
        executed = [
            condition for condition in conditions if not condition.skip_reason
        ]
        if executed and executed[0].reference.repetitions:
            yield from plausibility.one_session(
                repetitions, executed[0].reference
            )
        yield from plausibility.baseline_changed(executed)


def _find_in_rates(
    shown: result.Curve,
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings about the rates of a metric."""
    name = shown.metric.name
    few: dict[int, set[int]] = collections.defaultdict(set)
    is_undecided = {
        judged.point.guests: judged.decide(judged.limit) == "inconclusive"
        for judged in shown.results
        if judged.point is not None and judged.limit is not None
    }
    for point in shown.points:
        if 0 < len(point.samples) < statistics.FEWEST:
            few[len(point.samples)].add(point.guests)
        if is_undecided.get(point.guests) and (
            spread := plausibility.find_instability(
                point.rates, len(is_undecided)
            )
        ):
            detail = (
                f"with {units.number_of('guest', point.guests)} they vary by "
                f"{units.show_percent(spread)} %"
            )
            yield finding.Finding("unstable", name, detail)
    for count, guests in sorted(few.items()):
        detail = f"{count} of {units.number_of('guest', *guests)}"
        yield finding.Finding("too_few_repetitions", name, detail)


def _find_in_loss(
    shown: result.Curve, capped: int, metrics: int
) -> collections.abc.Iterator[finding.Finding]:
    """Yield findings about the loss of a metric; none about fairness.

    :param capped: The number of comparisons with bare metal that can have a
        cap.
    :param metrics: The number of metrics of the run.
    """
    if not shown.compare_to:
        return
    name = shown.metric.name
    slow = points.describe_slow_solo(shown.points, metrics)
    if slow and shown.compare_to == "solo_guest":
        yield finding.Finding("solo_guest_slow", name, slow)
    yield from _find_bottlenecks(shown, capped)
    quantised = False
    for judged in shown.results:
        point = t.cast(points.Point, judged.point)
        compared = point.compared(judged.figure.statistic, shown.compare_to)
        if compared is None:
            continue
        where = f"with {units.number_of('guest', point.guests)}: "
        if shown.compare_to == "bare_metal":
            for found in plausibility.guest_faster(compared, metrics):
                yield found.with_prefix(where)
        drifts = verdict.list_drifts_across(compared, judged.limit)
        for found in plausibility.of_values(compared, drifts, where):
            if found.kind == "values_quantised":
                if quantised:
                    continue
                quantised = True
            yield found


def _find_bottlenecks(
    shown: result.Curve, capped: int
) -> collections.abc.Iterator[finding.Finding]:
    """Yield at most one finding, about bottlenecks outside the guest."""
    compare_to = shown.compare_to
    bottlenecks = {
        point.guests: bottleneck
        for point in shown.points
        if (bottleneck := point.describe_bottleneck(compare_to, capped))
    }
    if bottlenecks:
        guests = units.number_of("guest", *bottlenecks)
        detail = f"with {guests}: {bottlenecks[max(bottlenecks)]}"
        name = shown.metric.name
        yield finding.Finding("bottleneck_outside_guest", name, detail)


#: The loss of guests as their number grows.
DEGRADATION = judge.Rules(
    axis=repetition.GUESTS,
    build=_build_degradation,
    find=_find,
    has_limit=_has_limit,
    uses_bare_metal=lambda run_judge: run_judge.options.is_against_bare_metal,
)
#: The fairness between guests.
FAIRNESS = judge.Rules(
    axis=repetition.GUESTS, build=_build_fairness, find=_find
)
