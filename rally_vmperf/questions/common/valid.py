"""The criterion for the findings of a run."""

import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement import finding
from rally_vmperf.questions.common import question
from rally_vmperf.questions.common import task
from rally_vmperf.questions.common import validity_judge

_KINDS = {
    "type": "array",
    "uniqueItems": True,
    "items": {"enum": sorted(finding.KINDS)},
}


_SCHEMA: documents.Schema = {
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
        "physical_limit": question.build_limits(
            "largest value that the machine can reach, in base units; a "
            "larger value of a guest or of bare metal is the finding "
            "above_physical_limit.",
            exclusiveMinimum=0,
        ),
    },
}
_NAME = "vmperf_valid"


def _check_tolerated(
    subtask: task.Task, parsed: question.ParsedCriterion, baseline: t.Any
) -> None:
    """Reject tolerated findings of other SLAs that are not in this one."""
    for name, options in subtask.criteria.items():
        if not name.startswith("vmperf_"):
            continue
        for kind in options.get("tolerate", ()):
            if kind not in parsed.others.get("tolerate", ()):
                raise task.InvalidTask(
                    f"sla {_NAME}: {name} tolerates {kind}, which "
                    "still fails here; add it to tolerate of both, or "
                    f"remove {_NAME}"
                )


def create_criterion(
    criteria_of: validity_judge.CriteriaOf,
) -> question.Criterion:
    """Return the criterion on validity, for the runs of every question.

    :param criteria_of: A function that returns the other criteria of a
        question from its name, the main one first.
    """
    return question.Criterion(
        name=_NAME,
        title="Findings that a run may have, with or without limits.",
        heading="Validity",
        schema=_SCHEMA,
        judge=functools.partial(validity_judge.ValidityJudge, criteria_of),
        limits={"physical_limit": ("ratio", "count")},
        check=_check_tolerated,
        fewest_repetitions=1,
    )
