"""A question, and the criteria that its runs are judged by."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement.samples import sample
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
#: Absolute limits on what guests have, whatever the loss.
ABSOLUTE: dict[str, t.Any] = {
    "max": {
        **PER_METRIC,
        "description": "Metric or glob -> largest tolerated value in the "
        "guest, in the metric's own unit: of a count, such as retransmits, "
        "that of the worst guest in its worst repetition; of a rate or a "
        "time the mean.",
    },
    "min": {
        **PER_METRIC,
        "description": "Metric or glob -> smallest tolerated value, likewise.",
    },
}
#: The keys of a limit on a loss and of absolute ones, with their scales.
LOSS_AND_ABSOLUTE: dict[str, tuple[sample.Scale, ...]] = {
    "max_percent": ("ratio",),
    **dict.fromkeys(ABSOLUTE, ("ratio", "count")),
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
        "description": "Whether a task with an undecided limit passes or "
        "fails; default fail.",
    },
    "tolerate": {
        "type": "array",
        "uniqueItems": True,
        "items": {"enum": sorted(finding.KINDS)},
        "description": "Kinds of findings that do not make samples void.",
    },
}


def schema(properties: Json, **more: t.Any) -> dict[str, t.Any]:
    """Return the schema of a criterion, with the common properties."""
    return {
        "type": "object",
        "properties": {**properties, **_COMMON},
        "additionalProperties": False,
        **more,
    }


def no_bounds(name: str, given: Json, metrics: task.Metrics) -> None:
    """Accept any limits."""


def nothing_more(asked: task.Task, limits: Json, baseline: t.Any) -> None:
    """Accept any configuration of a criterion."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Criterion:
    """A limit that runs are judged by; Rally calls it an SLA.

    :param title: one line, for a list of SLAs
    :param schema: JSON Schema of its configuration
    :param heading: what is judged, in a word
    :param judge: makes the judge, of the keys of a configuration
    :param limits: keys that hold limits by metric, with the scales of the
        metrics that they apply to
    :param bounds: raises ``Refused`` for limits that cannot fail, or that
        cannot be kept, given the name, the configuration and the metrics
    :param check: raises ``Refused`` for what cannot be held in a task, given
        the configuration and the baseline, which is None without one
    """

    name: str
    title: str
    heading: str
    schema: Json
    judge: t.Callable[..., judge.Judge[t.Any]]
    limits: collections.abc.Mapping[str, tuple[sample.Scale, ...]]
    bounds: task.Bounds = no_bounds
    check: t.Callable[[task.Task, Json, t.Any], None] = nothing_more


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """A question that a task can ask of guests.

    :param name: in records
    :param scenario: of Rally, that asks it
    :param title: of a chart that answers it
    :param criteria: those that its runs can be judged by, the main one first
    :param contexts: names of those that it needs, without their platform
    :param check: raises ``Refused`` for a task that cannot be run; returns
        warnings for its user
    :param copies: numbers of guests of a host that measure at once, in order
    :param compared: numbers of copies in which the verdict needs bare metal
    :param minutes: about how many minutes a task takes, boot included
    :param run: makes a run of a front door's request and the question's own
        arguments of the scenario
    :param section: returns how a report shows its runs
    :param defaults: returns what a task leaves out of the scenario's arguments
        and what depends on others of them, or on the number of repetitions
    :param one_host: whether the guests of a task are to share a host, where
        it asks for no placement
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
    one_host: t.Callable[[task.Task], bool] = lambda asked: False
    defaults: task.Defaults = task.no_defaults
