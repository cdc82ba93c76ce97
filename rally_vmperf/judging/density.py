"""The rules of density: the loss of guests, and their fairness."""

import collections.abc
import typing as t

from rally_vmperf.judging import density_findings
from rally_vmperf.judging import density_levels
from rally_vmperf.judging import judge
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import result
from rally_vmperf.measurement import repetition


def _list_limited(
    run_judge: judge.Judge, present: collections.abc.Iterable[int]
) -> list[int]:
    """Return the numbers of guests to which a limit applies, sorted.

    The option ``levels`` has one number, several, or ``all``, the default.

    :param present: The numbers of guests of the run, ascending.
    """
    levels = run_judge.options.get("levels", "all")
    if levels == "all":
        return list(present)
    return [levels] if isinstance(levels, int) else sorted({*levels})


def _build_degradation(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[result.Result]:
    """Return the losses, then the absolute values, at each number of guests.

    The options with limits are ``max_percent``, ``max`` and ``min``.
    """
    present = density_levels.guest_counts(repetitions)
    compare_to = run_judge.options.get("compare_to", "solo_guest")
    first = 2 if compare_to == "solo_guest" else 1
    levels = _list_limited(run_judge, [n for n in present if n >= first])
    measured = density_levels.RunMetrics.collect(repetitions)
    names = [metric.name for metric in measured.ratios]
    losses = [
        row
        for metric in measured.ratios
        for row in build.build_degradation(
            density_levels.build_points(
                metric,
                measured,
                run_judge.confidence,
                run_judge.tolerate,
                levels,
            ),
            run_judge.limits["max_percent"].for_metric(metric.name, names),
            levels,
            run_judge.options.get("statistic", "mean"),
            compare_to,
            run_judge.tolerate,
        )
    ]
    return [*losses, *_build_absolute(run_judge, repetitions)]


def _build_absolute(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> build.Results:
    """Yield each absolute value with a limit, and each count."""
    metrics = density_levels.metrics(repetitions)
    names = [metric.name for metric in metrics]
    levels = _list_limited(run_judge, density_levels.guest_counts(repetitions))
    for metric in metrics:
        for guests in levels:
            conditions = density_levels.counted_conditions(repetitions, guests)
            void = density_levels.void_reason(
                metric, repetitions, conditions, run_judge.tolerate
            )
            executed = [each for each in conditions if not each.skip_reason]
            reference = repetition.NO_REFERENCE
            yield from build.build_absolute(
                metric,
                executed,
                executed[0].reference if executed else reference,
                run_judge.limits,
                names,
                run_judge.confidence,
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
    measured = density_levels.RunMetrics.collect(repetitions)
    names = [metric.name for metric in measured.ratios]
    for metric in measured.ratios:
        all_points = density_levels.build_points(
            metric,
            measured,
            run_judge.confidence,
            run_judge.tolerate,
            _list_limited(run_judge, ()),
        )
        shared = _list_limited(
            run_judge,
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


def _uses_bare_metal(options: collections.abc.Mapping[str, t.Any]) -> bool:
    """Return whether losses are compared with bare metal."""
    return options.get("compare_to") == "bare_metal"


#: The loss of guests as their number grows.
DEGRADATION = judge.Rules(
    axis=repetition.GUESTS,
    build=_build_degradation,
    find=density_findings.find,
    uses_bare_metal=_uses_bare_metal,
)
#: The fairness between guests.
FAIRNESS = judge.Rules(
    axis=repetition.GUESTS, build=_build_fairness, find=density_findings.find
)
