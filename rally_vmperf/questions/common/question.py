"""What a question is made of."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement import sample
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as reports
    from rally_vmperf.runs import opened
    from rally_vmperf.runs import run as runs

Json = collections.abc.Mapping[str, t.Any]
#: Limits by the name of their criterion.
Criteria = collections.abc.Mapping[str, Json]

#: Limits by metric.
PER_METRIC: dict[str, t.Any] = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {"type": "number"},
}
_COMMON: dict[str, t.Any] = {
    "confidence": {
        "type": "number",
        "minimum": 0.5,
        "exclusiveMaximum": 1,
        "description": "Confidence of the interval; default 0.95.",
    },
    "on_inconclusive": {
        "enum": ["fail", "pass"],
        "description": "What an undecided limit means in the end; "
        "default fail.",
    },
    "tolerate": {
        "type": "array",
        "uniqueItems": True,
        "items": {"enum": sorted(finding.KINDS)},
        "description": "Findings that shall not make samples void.",
    },
}


def schema(properties: Json, **more: t.Any) -> dict[str, t.Any]:
    """Return the schema of a criterion, with what all criteria have."""
    return {
        "type": "object",
        "properties": {**properties, **_COMMON},
        "additionalProperties": False,
        **more,
    }


def nothing_more(asked: task.Task, limits: Json, baseline: t.Any) -> None:
    """Find nothing wrong with a criterion."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Criterion:
    """What a run can be held to; Rally calls it an SLA.

    :param title: one line, for a list of SLAs
    :param schema: JSON Schema of its configuration
    :param heading: what is judged, in a word
    :param judge: makes the judge, of the keys of a configuration
    :param limits: keys that hold limits by metric, with the scales of the
        metrics that they go with
    :param check: raises ``Refused`` for what cannot be held in a task, given
        the configuration and the baseline, which is None without one
    """

    name: str
    title: str
    heading: str
    schema: Json
    judge: t.Callable[..., judge.Judge[t.Any]]
    limits: collections.abc.Mapping[str, tuple[sample.Scale, ...]]
    check: t.Callable[[task.Task, Json, t.Any], None] = nothing_more


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """A question that a task can ask of guests.

    :param name: in records
    :param scenario: of Rally, that asks it
    :param title: of a chart that answers it
    :param criteria: that its runs can be held to, the main one first
    :param contexts: without which it cannot be asked, without their platform
    :param check: raises ``Refused`` for a task that cannot be run; returns
        what its user is to know all the same
    :param copies: how many guests of a host measure at once, one number after
        another
    :param compared: in which numbers of copies bare metal is part of the
        verdict
    :param minutes: about how long a task takes, from booting to its end
    :param run: makes a run, given what a front door asks and the arguments
        of the scenario that are the question's own
    :param section: returns how a report shows its runs
    """

    name: str
    scenario: str
    title: str
    criteria: tuple[Criterion, ...]
    contexts: tuple[str, ...]
    check: t.Callable[[task.Task], list[str]]
    copies: t.Callable[[task.Task], tuple[int, ...]]
    compared: t.Callable[[task.Task], tuple[int, ...]]
    minutes: t.Callable[[task.Task], int]
    run: "t.Callable[[opened.Asked, Json], runs.Run]"
    section: "t.Callable[[], reports.Section[t.Any]]"
