"""The criterion on which findings a run may have."""

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


def _check(asked: task.Task, limits: question.Json, baseline: t.Any) -> None:
    """Refuse findings that another SLA tolerates and this one does not."""
    for name, other in asked.criteria.items():
        if not name.startswith("vmperf_"):
            continue
        for kind in other.get("tolerate", ()):
            if kind not in limits.get("tolerate", ()):
                raise task.Refused(
                    f"sla {CRITERION.name}: {name} tolerates {kind}, which "
                    "still fails here; name it in tolerate of both, "
                    f"or leave {CRITERION.name} out"
                )


CRITERION = question.Criterion(
    name="vmperf_valid",
    title="Which findings a run may have, with or without limits.",
    heading="Validity",
    schema={
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "tolerate": {
                **_KINDS,
                "description": "Findings that void and that the run may "
                "have, including those that other SLAs "
                "tolerate.",
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
    check=_check,
)
