"""The criterion for the gain or loss of variants of a guest."""

from rally_vmperf import documents
from rally_vmperf.judging import tuning_judge
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.tuning import variants

_KEYS = ("min_gain_percent", "max_loss_percent")


def _build_limits(description: str) -> documents.Schema:
    """Return the JSON Schema of limits by variant, then by metric."""
    return {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {
            **question.PER_METRIC,
            "additionalProperties": {"type": "number", "minimum": 0},
        },
        "description": f"Variant -> metric or glob -> {description}",
    }


def _check_variants(
    subtask: task.Task, limits: documents.Arguments, baseline: object
) -> None:
    """Reject limits on variants or metrics that the task does not have."""
    arguments = subtask.arguments
    reference = variants.get_reference(arguments)
    others = [
        name
        for name in variants.list_names(arguments["variants"])
        if name != reference
    ]
    for key in _KEYS:
        for name, given in limits.get(key, {}).items():
            key_path = f"sla {TUNING.name} {key}"
            if name not in others:
                raise task.InvalidTask(
                    f"{key_path}: {name!r} is no variant that is compared "
                    f"with {reference} ({', '.join(others)})"
                )
            subtask.check_matches(f"{key_path} {name}", given, ["ratio"])


TUNING = question.Criterion(
    name="vmperf_tuning",
    title="Limits on the gain or loss of variants against their reference.",
    heading="Tuning",
    schema=question.build_schema(
        {
            "min_gain_percent": _build_limits(
                "smallest required gain in percent of the reference."
            ),
            "max_loss_percent": _build_limits(
                "largest tolerated loss in percent of the reference."
            ),
        },
        anyOf=[{"required": [key]} for key in _KEYS],
    ),
    judge=tuning_judge.TuningJudge,
    limits={},
    check=_check_variants,
)
CRITERIA = (TUNING,)
