"""The criteria of tuning."""

import typing as t

from rally_vmperf import documents
from rally_vmperf.judging import tuning_judge
from rally_vmperf.measurement.comparison import limits as limits_
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


def _check_limits(
    subtask: task.Task, config: documents.Arguments, baseline: t.Any
) -> None:
    """Reject limits for unknown variants or metrics, or that cannot fail."""
    reference = variants.get_reference(subtask.arguments)
    names = variants.list_names(subtask.arguments["variants"])
    for key in _KEYS:
        for variant, patterns in config.get(key, {}).items():
            key_path = f"sla {TUNING.name} {key}"
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
            subtask.check_matches(
                f"{key_path} {variant}", patterns, ("ratio",)
            )
    _check_bounds(TUNING.name, config, subtask.metrics)


def _check_bounds(
    name: str, config: documents.Arguments, metrics: task.Metrics
) -> None:
    """Reject limits that every figure, or no figure, would exceed."""
    ratios = [metric for metric in metrics if metric.scale == "ratio"]
    names = [metric.name for metric in ratios]
    for variant in {
        variant: None for key in _KEYS for variant in config.get(key, {})
    }:
        gain, loss = (
            limits_.Limits(config.get(key, {}).get(variant, {}))
            for key in _KEYS
        )
        for metric in ratios:
            least = gain.for_metric(metric.name, names)
            largest = loss.for_metric(metric.name, names)
            if least and largest:
                raise task.InvalidTask(
                    f"sla {name}: {variant} has min_gain_percent "
                    f"{least[1]!r} and max_loss_percent {largest[1]!r} for "
                    f"{metric.name}; remove one of them"
                )
            is_rate = metric.better == "higher"
            for key, limit, is_bounded in (
                ("min_gain_percent", least, not is_rate),
                ("max_loss_percent", largest, is_rate),
            ):
                if limit and limit[0] >= 100 and is_bounded:
                    change = "gain" if key.startswith("min") else "lose"
                    raise task.InvalidTask(
                        f"sla {name} {key} {variant}: {limit[1]!r} is "
                        f"{limit[0]:g}, but {metric.name} cannot {change} "
                        "100 % or more; set a smaller limit"
                    )


TUNING = question.Criterion(
    name="vmperf_tuning",
    title="Limits on the gain of variants over their reference, in percent.",
    heading="Tuning",
    schema=question.build_schema(
        {
            key: {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": question.build_limits(description),
                "description": f"Variant -> metric or glob -> {description}.",
            }
            for key, description in _KEYS.items()
        },
        anyOf=[{"required": [key]} for key in _KEYS],
    ),
    judge=tuning_judge.TuningJudge,
    limits={},
    bounds=_check_bounds,
    check=_check_limits,
)

CRITERIA = (TUNING, overhead.OVERHEAD, overhead.SPREAD)
