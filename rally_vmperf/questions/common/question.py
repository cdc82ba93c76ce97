"""A question, and the criteria that its runs are judged by."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import judge
from rally_vmperf.measurement.comparison import limits as limits_
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.common import task

if t.TYPE_CHECKING:
    from rally_vmperf.report import run as reports
    from rally_vmperf.runs import opened
    from rally_vmperf.runs import run as runs

Json = collections.abc.Mapping[str, t.Any]
Metrics = collections.abc.Collection[sample.Metric]
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


#: Refuses limits of a criterion that a metric always keeps, or never.
Bounds = t.Callable[[str, Json, Metrics], None]


def bounds(
    cannot_lose_all: t.Callable[[sample.Metric], bool] = (
        lambda metric: metric.better == "higher"
    ),
) -> Bounds:
    """Return what refuses limits on losses and absolute ones.

    :param cannot_lose_all: whether a metric loses less than 100 %, whatever
        becomes of it; rates do
    """

    def check(name: str, given: Json, metrics: Metrics) -> None:
        ratios = [one for one in metrics if one.scale == "ratio"]
        for metric, limit, pattern in _limited(
            given.get("max_percent", {}), ratios, ratios
        ):
            if limit >= 100 and cannot_lose_all(metric):
                raise task.Refused(
                    f"sla {name} max_percent: {pattern!r} is {limit:g}, but "
                    f"{metric.name} is compared as a rate, which cannot lose "
                    "more than 100 %; give a smaller limit, or a pattern "
                    "that matches others only"
                )
        for key in ABSOLUTE:
            for metric, limit, pattern in _limited(
                given.get(key, {}), ratios, metrics
            ):
                if limit <= 0:
                    raise task.Refused(
                        f"sla {name} {key}: {pattern!r} is {limit:g}, but "
                        f"{metric.name} is always above zero; give a larger "
                        "limit, or a pattern that matches counts only"
                    )

    return check


def _limited(
    given: Json, some: Metrics, among: Metrics
) -> collections.abc.Iterator[tuple[sample.Metric, float, str]]:
    """Return each of some metrics that has a limit, with its pattern."""
    held = limits_.Limits(given)
    names = [one.name for one in among]
    for metric in some:
        if limit := held.for_metric(metric.name, names):
            yield metric, *limit


def no_bounds(name: str, given: Json, metrics: Metrics) -> None:
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
    bounds: Bounds = no_bounds
    check: t.Callable[[task.Task, Json, t.Any], None] = nothing_more

    def check_limits(self, given: Json, metrics: Metrics) -> None:
        """Refuse limits that contradict one another or that cannot fail.

        :param given: its configuration, in a task or in a file of limits
        :param metrics: those that it is put to
        :raises Refused: naming the limit and a metric
        """
        for key, scales in self.limits.items():
            names = [one.name for one in metrics if one.scale in scales]
            what = f"sla {self.name} {key}"
            task.check_conflict(what, given.get(key, {}), names)
        self.bounds(self.name, given, metrics)


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
    defaults: t.Callable[[Json, int], Json] = lambda arguments, times: {}

    def completed(self, arguments: Json, times: int) -> dict[str, t.Any]:
        """Return the arguments of the scenario with its defaults.

        :param times: repetitions that the runner makes, warm-up included
        """
        given = {k: v for k, v in arguments.items() if v is not None}
        return {**arguments, **self.defaults(arguments, times), **given}

    def asked(self, workload: Json, title: str = "") -> task.Task:
        """Return one of Rally's workloads as a task, defaults included.

        :param workload: as Rally's engine and its reader of task files give it
        :raises Refused: for arguments that cannot be read
        """
        found = task.of_rally(workload, self.scenario, title)
        return dataclasses.replace(
            found, arguments=self.completed(found.arguments, found.times)
        )
