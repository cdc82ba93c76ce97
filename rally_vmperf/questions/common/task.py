"""One workload of a task, without Rally."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.execution import assignment
from rally_vmperf.execution import neighbours
from rally_vmperf.execution import protocol as protocols
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.measurement.comparison import limits
from rally_vmperf.measurement.samples import sample

Json = collections.abc.Mapping[str, t.Any]
Metrics = collections.abc.Collection[sample.Metric]
#: Refuses limits of a criterion that a metric always keeps, or never.
Bounds = t.Callable[[str, Json, Metrics], None]
#: Returns arguments that a task leaves out, by the others and by the number
#: of repetitions.
Defaults = t.Callable[[Json, int], Json]

#: Other end of network workloads.
PEER: dict[str, t.Any] = {
    "type": ["object", "null"],
    "required": ["address"],
    "additionalProperties": False,
    "properties": {
        "address": {"type": "string", "minLength": 1},
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "user": {"type": "string", "minLength": 1},
        "key_file": {"type": "string", "minLength": 1},
        "known_hosts": {"type": "string", "minLength": 1},
        "name": {"type": "string", "pattern": r"^[A-Za-z0-9._-]{1,64}$(?!\n)"},
        "jump": schema.JUMP,
    },
}
#: Arguments that the scenarios of all questions have.
_ARGUMENTS: dict[str, t.Any] = {
    "type": "object",
    "required": ["workloads"],
    "properties": {
        "workloads": assignment.SCHEMA,
        "warmup": {"type": "integer", "minimum": 0},
        "peer": PEER,
        **protocols.SCHEMA,
    },
}
#: Their names.
COMMON = frozenset(_ARGUMENTS["properties"])


class Refused(errors.VMPerfError):
    """Something in a task is not allowed; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task:
    """A scenario with its arguments, contexts, SLAs and runner.

    :param title: of its subtask
    :param arguments: of the scenario
    :param contexts: their options, by their name without the platform
    :param criteria: the configuration of SLAs, by their name
    :param runner: name of the runner
    :param times: repetitions that the runner makes, warm-up included
    """

    title: str
    scenario: str
    arguments: Json
    contexts: Json
    criteria: Json
    runner: str
    times: int

    @functools.cached_property
    def assignments(self) -> tuple[assignment.Assignment, ...]:
        """The workloads with complete arguments.

        :raises WorkloadError: for arguments that are not allowed
        """
        return assignment.assign(self.arguments["workloads"], self.protocol)

    @functools.cached_property
    def neighbours(self) -> neighbours.Neighbours | None:
        """The guests that are not measured, and what they run.

        :raises Refused: for an argument of another form
        :raises WorkloadError: for a workload that they cannot run
        """
        given = self.arguments.get("neighbours")
        check_form(given, neighbours.SCHEMA, "neighbours")
        return neighbours.of_argument(given)

    @property
    def every_workload(self) -> tuple[assignment.Assignment, ...]:
        """The workloads, with those of neighbours."""
        beside = self.neighbours
        return (*self.assignments, *([beside.work] if beside else ()))

    @property
    def protocol(self) -> protocols.Protocol:
        """What precedes each command, workload and repetition."""
        return protocols.of_arguments(self.arguments)

    def boots(self, conditions: int = 1) -> int:
        """Return how often all guests are rebooted in the run.

        :param conditions: their number within a repetition
        """
        return self.protocol.reboots(
            len(self.assignments), conditions, self.times
        )

    @property
    def warmup(self) -> int:
        """How many of the first repetitions are not counted."""
        return t.cast(int, self.arguments.get("warmup", 0))

    @property
    def peer(self) -> dict[str, t.Any] | None:
        """The peer of network workloads; None without one."""
        return t.cast("dict[str, t.Any] | None", self.arguments.get("peer"))

    @property
    def guest_options(self) -> dict[str, t.Any]:
        """The options of the guests, with their groups."""
        return t.cast(dict[str, t.Any], self.contexts.get("vmperf_guests", {}))

    @property
    def guests(self) -> dict[str, t.Any]:
        """The options of the one group of guests that is measured.

        :raises GuestError: for several groups
        """
        return request.one_group(self.guest_options)

    @property
    def count(self) -> int:
        """How many guests are booted."""
        default = schema.DEFAULTS["count"]
        return t.cast(int, self.guests.get("count", default))

    @property
    def baseline(self) -> dict[str, str] | None:
        """The name or the class of the baseline; None for a task without one.

        :raises Refused: for a context that tells neither
        """
        if "vmperf_baseline" not in self.contexts:
            return None
        given = self.contexts["vmperf_baseline"] or {}
        for key in ("name", "class"):
            if isinstance(given.get(key), str):
                return {key: given[key]}
        raise Refused("vmperf_baseline: name is missing; or give a class")

    @functools.cached_property
    def metrics(self) -> tuple[sample.Metric, ...]:
        """What the workloads measure."""
        return tuple(x for one in self.assignments for x in one.metrics())

    def check_matches(
        self,
        what: str,
        given: collections.abc.Mapping[str, float],
        scales: collections.abc.Container[sample.Scale],
    ) -> None:
        """Refuse limits that match no metric of the task.

        :param what: names the limits in the message
        """
        names = [x.name for x in self.metrics if x.scale in scales]
        for pattern in limits.Limits(given).unmatched(names):
            raise Refused(
                f"{what}: {pattern!r} matches no metric of this task (it has: "
                f"{', '.join(sorted(names))})"
            )
        check_conflict(what, given, names)


def no_defaults(arguments: Json, times: int) -> Json:
    """Return nothing: all defaults stand in the scenario's signature."""
    return {}


def completed(
    arguments: Json, times: int, defaults: Defaults
) -> dict[str, t.Any]:
    """Return the arguments of a scenario with its question's defaults.

    :param times: repetitions that the runner makes, warm-up included
    """
    given = {k: v for k, v in arguments.items() if v is not None}
    return {**arguments, **defaults(arguments, times), **given}


def of_rally(
    workload: Json,
    scenario: str,
    title: str = "",
    defaults: Defaults = no_defaults,
) -> Task:
    """Return one of Rally's workloads as a task.

    :param workload: as Rally's engine and its reader of task files give it
    :param defaults: those of the question
    :raises Refused: for arguments that cannot be read
    """
    check_form(workload["args"], _ARGUMENTS)
    times = workload["runner"].get("times", 1)
    return Task(
        title=title,
        scenario=scenario,
        arguments=completed(workload["args"], times, defaults),
        contexts={
            name.partition("@")[0]: options
            for name, options in workload["contexts"].items()
        },
        criteria=workload["sla"],
        runner=workload["runner_type"],
        times=times,
    )


def check_conflict(
    what: str,
    given: collections.abc.Mapping[str, float],
    names: collections.abc.Collection[str],
) -> None:
    """Refuse patterns that give a metric different limits.

    :param what: names the limits in the message
    :param names: of the metrics that limits are put to
    :raises Refused: naming two patterns and a metric
    """
    if conflict := limits.Limits(given).conflict(names):
        name, one, other = conflict
        raise Refused(
            f"{what}: {one!r} is {given[one]:g} and {other!r} is "
            f"{given[other]:g}, and both match {name}; give a limit for "
            f"{name!r}, or narrow one of the patterns"
        )


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
                raise Refused(
                    f"sla {name} max_percent: {pattern!r} is {limit:g}, but "
                    f"{metric.name} is compared as a rate, which cannot lose "
                    "more than 100 %; give a smaller limit, or a pattern "
                    "that matches others only"
                )
        for key in ("max", "min"):
            for metric, limit, pattern in _limited(
                given.get(key, {}), ratios, metrics
            ):
                if limit <= 0:
                    raise Refused(
                        f"sla {name} {key}: {pattern!r} is {limit:g}, but "
                        f"{metric.name} is always above zero; give a larger "
                        "limit, or a pattern that matches counts only"
                    )

    return check


def _limited(
    given: Json, some: Metrics, among: Metrics
) -> collections.abc.Iterator[tuple[sample.Metric, float, str]]:
    """Return each of some metrics that has a limit, with its pattern."""
    held = limits.Limits(given)
    names = [one.name for one in among]
    for metric in some:
        if limit := held.for_metric(metric.name, names):
            yield metric, *limit


def check_form(value: t.Any, rule: Json, name: str = "") -> None:
    """Refuse a value that a JSON Schema does not allow, naming its path.

    :param name: of the value
    """
    error = documents.first_error(rule, value)
    if error is not None:
        place = (name + error.json_path.removeprefix("$")).removeprefix(".")
        words = f"{place}: {error.message}" if place else error.message
        closed = error.schema.get("additionalProperties") is False
        if closed and "properties" in error.schema:
            words += f"; allowed keys: {', '.join(error.schema['properties'])}"
        raise Refused(words)
