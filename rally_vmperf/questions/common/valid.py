"""The criterion for the findings of a run."""

import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.common import validity_judge

_KINDS = {
    "type": "array",
    "uniqueItems": True,
    "items": {"enum": sorted(finding.KINDS)},
}


def _check_tolerated(
    subtask: task.Task, limits: question.Json, baseline: t.Any
) -> None:
    """Reject tolerated findings of other SLAs that are not in this one."""
    for name, other_limits in subtask.criteria.items():
        if not name.startswith("vmperf_"):
            continue
        for kind in other_limits.get("tolerate", ()):
            if kind not in limits.get("tolerate", ()):
                raise task.InvalidTask(
                    f"sla {CRITERION.name}: {name} tolerates {kind}, which "
                    "still fails here; add it to tolerate of both, or "
                    f"remove {CRITERION.name}"
                )


CRITERION = question.Criterion(
    name="vmperf_valid",
    title="Findings that a run may have, with or without limits.",
    heading="Validity",
    schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "tolerate": {
                **_KINDS,
                "description": "Voiding findings that the run may have, "
                "including those that other SLAs tolerate.",
            },
            "refuse": {
                **_KINDS,
                "description": "Warnings and notes that the run may not have.",
            },
            "physical_limit": {
                **question.PER_METRIC,
                "additionalProperties": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                },
                "description": "Metric or glob -> largest value that the "
                "machine can reach, in base units; a larger value of a guest "
                "or of bare metal is the finding above_physical_limit.",
            },
        },
    },
    judge=validity_judge.ValidityJudge,
    limits={"physical_limit": ("ratio", "count")},
    check=_check_tolerated,
)
