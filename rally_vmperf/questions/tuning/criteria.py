"""The criteria of tuning."""

import collections.abc
import dataclasses
import types
import typing as t

from rally_vmperf.judging import axes
from rally_vmperf.judging import judge
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import variants

_ByVariant = t.Annotated[
    collections.abc.Mapping[str, judge.ByPattern] | None,
    {
        "minProperties": 1,
        "additionalProperties": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"type": "string"},
            "additionalProperties": {"type": "number"},
        },
    },
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options(judge.GuestOptions):
    """The options of vmperf_tuning.

    :param min_gain_percent: Variant -> metric or glob -> smallest tolerated
        gain over the reference in percent; positive if the variant is better.
    :param max_loss_percent: Variant -> metric or glob -> largest tolerated
        loss against the reference in percent; positive if the variant is
        worse.
    """

    min_gain_percent: _ByVariant = None
    max_loss_percent: _ByVariant = None


class Criterion(question.Criterion):
    """Limits on the gain of variants over their reference, in percent."""

    name = "vmperf_tuning"
    heading = "Tuning"
    rules = axes.VARIANTS.rules
    options = Options
    limits = types.MappingProxyType(
        {"min_gain_percent": ("ratio",), "max_loss_percent": ("ratio",)}
    )
    is_by_variant = True

    def check(
        self,
        subtask: variants.Task,
        parsed: question.ParsedCriterion,
        baseline: t.Any,
    ) -> None:
        """Reject limits for unknown variants or for the reference."""
        reference = subtask.arguments.get_reference()
        names = variants.list_names(subtask.arguments.variants)
        for variant, by_option in parsed.by_variant.items():
            for option in by_option:
                key_path = f"sla {self.name} {option}"
                if variant not in names:
                    raise task.InvalidTask(
                        f"{key_path}: {variant!r} is not a variant of this "
                        f"task ({', '.join(names)})"
                    )
                if variant == reference:
                    raise task.InvalidTask(
                        f"{key_path}: {variant!r} is the reference, which has "
                        "no gain over itself; set a limit for another variant"
                    )

    def check_limits(
        self, parsed: question.ParsedCriterion, metrics: task.Metrics
    ) -> None:
        """Reject limits that every figure, or no figure, would exceed."""
        for variant, by_option in parsed.by_variant.items():
            for metric in metrics:
                if metric.scale == "ratio":
                    _check_bound(variant, by_option, metric, metrics)


TUNING = Criterion()


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
        for option in TUNING.limits
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


CRITERIA = (TUNING, overhead.OVERHEAD, overhead.SPREAD)
