# SPDX-License-Identifier: Apache-2.0
"""The rules of overhead, and of the spread of its repetitions."""

import collections.abc

from rally_vmperf.judging import judge
from rally_vmperf.judging.results import absolute_value
from rally_vmperf.judging.results import build
from rally_vmperf.judging.results import figure as figures
from rally_vmperf.judging.results import plausibility
from rally_vmperf.judging.results import result
from rally_vmperf.judging.results import spreads
from rally_vmperf.measurement import capped_metrics
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import gathering
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.comparison import verdict

#: The heading of the verdict on overhead.
HEADING = "Overhead"
#: Components whose figures represent the machine as a whole.
_WHOLE_MACHINE = ("cpu", "memory")


def _build(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[result.Result]:
    """Return the overheads, then the absolute values, as a list.

    The options with limits are ``max_percent``, ``max`` and ``min``.
    """
    conditions = [run_repetition.condition for run_repetition in repetitions]
    metrics = gathering.metrics(conditions)
    names = [metric.name for metric in metrics]
    max_percent = run_judge.limits["max_percent"]
    reference = _find_reference(conditions)
    has_reference = reference != repetition.NO_REFERENCE or not any(
        condition.observations for condition in conditions
    )
    caps = gathering.list_rate_limits(repetitions)
    capped = capped_metrics.CappedMetrics(metrics, conditions)
    losses = [
        build.build_overhead(
            metric,
            conditions,
            reference,
            limit,
            run_judge.options.confidence,
            run_judge.options.statistic,
            capped.list_caps(metric, caps),
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
            run_judge.limits,
            names,
            run_judge.options.confidence,
            has_reference=has_reference,
            statistic=run_judge.options.statistic,
        )
    ]
    return [*losses, *values]


def find(
    run_judge: judge.Judge, repetitions: judge.Repetitions, rows: judge.Rows
) -> finding.Occurrences:
    """Yield the findings in the figures of all repetitions."""
    conditions = [run_repetition.condition for run_repetition in repetitions]
    offered = plausibility.fixed_rate_metrics(
        reported_finding
        for condition in conditions
        for reported_finding in condition.findings
    )
    has_interval = False
    number = sum(isinstance(row.figure, figures.Loss) for row in rows)
    capped = rate_caps.count_capped(
        row.metric for row in rows if isinstance(row.figure, figures.Loss)
    )
    limited = sum(row.limit is not None for row in rows)
    undecided: list[loss.Comparison] = []
    for row in rows:
        comparison, limit = _find_comparison(row)
        if comparison is None:
            continue
        has_interval |= comparison.low is not None
        bottleneck = ""
        if (
            isinstance(row.figure, figures.Loss)
            and row.metric.name not in offered
        ):
            bottleneck = row.figure.describe_bottleneck(capped)
        if row.limit is not None and row.decide(row.limit) == "inconclusive":
            undecided.append(comparison)
        drifts = verdict.list_drifts_across(comparison, limit)
        for reported_finding in plausibility.of_comparison(
            comparison,
            drifts,
            bottleneck,
            max(1, number),
            row.limit is not None or not limited,
        ):
            yield reported_finding, None
    for reported_finding in plausibility.find_unstable(undecided, limited):
        yield reported_finding, None
    if has_interval:
        yield from plausibility.one_session(
            repetitions, _find_reference(conditions)
        )
    yield from plausibility.baseline_changed(conditions)
    losses = [
        row.metric for row in rows if isinstance(row.figure, figures.Loss)
    ]
    for reported_finding in plausibility.find_uncounted(
        losses, conditions, gathering.list_rate_limits(repetitions)
    ):
        yield reported_finding, None


def _list_voided(
    findings: collections.abc.Sequence[finding.RunFinding], names: set[str]
) -> set[str]:
    """Return the names of metrics that are not comparable, a set.

    A guest cannot be far faster than bare metal. If it is in CPU or memory,
    the machines are not comparable. If it is on the disk or the network, the
    two sides did not measure the same.
    """
    parts = {
        run_finding.finding.subject.partition(".")[0]
        for run_finding in findings
        if run_finding.finding.kind == "guest_faster"
    }
    is_whole_machine = not parts.isdisjoint(_WHOLE_MACHINE)
    return {
        name
        for name in names
        if is_whole_machine or name.partition(".")[0] in parts
    }


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
    limit = None
    if row.limit is not None:
        _, limit = figure.find_contrast(row.limit)
    return figure.contrast.mean, limit


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


def _uses_bare_metal(run_judge: judge.Judge) -> bool:
    """Return whether losses are judged; limits on values alone are not."""
    has_values = run_judge.limits["max"] or run_judge.limits["min"]
    return bool(run_judge.limits["max_percent"]) or not has_values


#: The loss of guests against bare metal, and their absolute values.
RULES = judge.Rules(
    build=_build,
    find=find,
    uses_bare_metal=_uses_bare_metal,
    list_voided=_list_voided,
    is_void_by_any=True,
    bare_metal_option="max_percent",
)


def _build_spread(
    run_judge: judge.Judge, repetitions: judge.Repetitions
) -> list[result.Result]:
    """Return the spread of each rate and time, as a list.

    An option with limits is ``max_`` and the name of a figure.
    """
    compared = judge.Judge(
        RULES,
        options=judge.GuestOptions(confidence=run_judge.options.confidence),
    ).figures(repetitions)
    ratios = [row for row in compared if row.metric.scale == "ratio"]
    names = {row.metric.name for row in ratios}
    return [
        build.build_spread(
            row,
            kind,
            run_judge.limits[f"max_{kind}"].for_metric(row.metric.name, names),
            run_judge.options.statistic,
        )
        for row in ratios
        for kind in spreads.NAMES
    ]


def _find_in_spread(
    run_judge: judge.Judge, repetitions: judge.Repetitions, rows: judge.Rows
) -> finding.Occurrences:
    """Yield the findings that void samples, and so their spread as well."""
    compared = {
        id(row.figure.compared): row.figure.compared
        for row in rows
        if isinstance(row.figure, spreads.SpreadFigure)
    }
    return find(run_judge, repetitions, [*compared.values()])


SPREAD_RULES = judge.Rules(
    build=_build_spread,
    find=_find_in_spread,
)
