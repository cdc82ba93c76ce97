"""The criteria of tuning."""

import typing as t

from rally_vmperf import json_schema
from rally_vmperf.judging import axes
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import variants

_KEYS = {
    "min_gain_percent": "smallest tolerated gain over the reference in "
    "percent; positive if the variant is better",
    "max_loss_percent": "largest tolerated loss against the reference in "
    "percent; positive if the variant is worse",
}


def _check_variants(
    subtask: variants.Task, parsed: question.ParsedCriterion, baseline: t.Any
) -> None:
    """Reject limits for unknown variants or for the reference."""
    reference = subtask.arguments.get_reference()
    names = variants.list_names(subtask.arguments.variants)
    for variant, by_option in parsed.by_variant.items():
        for option in by_option:
            key_path = f"sla {TUNING.name} {option}"
            if variant not in names:
                raise task.InvalidTask(
                    f"{key_path}: {variant!r} is not a variant of this task "
                    f"({', '.join(names)})"
                )
            if variant == reference:
                raise task.InvalidTask(
                    f"{key_path}: {variant!r} is the reference, which has no "
                    "gain over itself; set a limit for another variant"
                )


def _check_bounds(
    parsed: question.ParsedCriterion, metrics: task.Metrics
) -> None:
    """Reject limits that every figure, or no figure, would exceed."""
    for variant, by_option in parsed.by_variant.items():
        for metric in metrics:
            if metric.scale == "ratio":
                _check_bound(variant, by_option, metric, metrics)


def _check_bound(
    variant: str,
    by_option: limits.LimitsByOption,
    metric: sample.Metric,
    metrics: task.Metrics,
) -> None:
    """Reject the limits of a variant that a metric always or never meets."""
    names = [metric.name for metric in metrics if metric.scale == "ratio"]
    matches = {
        option: match
        for option in _KEYS
        if (match := by_option[option].for_metric(metric.name, names))
    }
    if len(matches) > 1:
        pairs = [f"{option} {matches[option][1]!r}" for option in matches]
        raise task.InvalidTask(
            f"sla {TUNING.name}: {variant} has {' and '.join(pairs)} for "
            f"{metric.name}; remove one of them"
        )
    for option, (limit, pattern) in matches.items():
        change = "gain" if option.startswith("min") else "lose"
        # A rate cannot lose all, a time cannot become less than zero.
        is_bounded = (metric.better == "higher") == (change == "lose")
        if limit >= 100 and is_bounded:
            raise task.InvalidTask(
                f"sla {TUNING.name} {option} {variant}: {pattern!r} is "
                f"{limit:g}, but {metric.name} cannot {change} 100 % or "
                "more; set a smaller limit"
            )


TUNING = question.Criterion(
    name="vmperf_tuning",
    title="Limits on the gain of variants over their reference, in percent.",
    heading="Tuning",
    schema=question.build_schema(
        {
            **{
                key: json_schema.values(
                    question.build_limits(description),
                    f"Variant -> metric or glob -> {description}.",
                    minProperties=1,
                )
                for key, description in _KEYS.items()
            },
            **question.STATISTIC,
        },
        anyOf=[{"required": [key]} for key in _KEYS],
    ),
    rules=axes.VARIANTS.rules,
    limits=dict.fromkeys(_KEYS, ("ratio",)),
    is_by_variant=True,
    bounds=_check_bounds,
    check=_check_variants,
)

CRITERIA = (TUNING, overhead.OVERHEAD, overhead.SPREAD)
