"""One workload of a task, without Rally."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.execution import assignment
from rally_vmperf.guests import request
from rally_vmperf.guests import schema
from rally_vmperf.measurement import limits
from rally_vmperf.measurement import sample

Json = collections.abc.Mapping[str, t.Any]

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
        "name": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
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
    },
}


class Refused(Exception):
    """Something in a task is not allowed; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Task:
    """A scenario with its arguments, and all that a task says around it.

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

        :raises WorkloadError: for those that cannot be
        """
        return assignment.assign(self.arguments["workloads"])

    @property
    def warmup(self) -> int:
        """How many of the first repetitions are not counted."""
        return t.cast(int, self.arguments.get("warmup", 0))

    @property
    def peer(self) -> dict[str, t.Any] | None:
        """The other end of network workloads."""
        return t.cast("dict[str, t.Any] | None", self.arguments.get("peer"))

    @property
    def guest_options(self) -> dict[str, t.Any]:
        """The options of the guests, groups as they stand."""
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
    def baseline(self) -> str | None:
        """The name of the baseline; None for a task without one.

        :raises Refused: for a context that names none
        """
        if "vmperf_baseline" not in self.contexts:
            return None
        name = (self.contexts["vmperf_baseline"] or {}).get("name")
        if not isinstance(name, str):
            raise Refused("vmperf_baseline: name is missing")
        return name

    def check_matches(
        self,
        what: str,
        given: collections.abc.Mapping[str, float],
        scales: collections.abc.Container[sample.Scale],
    ) -> None:
        """Refuse limits that go with no metric of the task.

        :param what: names the limits in the message
        """
        names = [
            metric.name
            for one in self.assignments
            for metric in one.metrics()
            if metric.scale in scales
        ]
        patterns = limits.Limits(given)
        for pattern in patterns.unmatched(names):
            raise Refused(
                f"{what}: {pattern!r} matches no metric of this task (it has: "
                f"{', '.join(sorted(names))})"
            )
        if conflict := patterns.conflict(names):
            name, one, other = conflict
            raise Refused(
                f"{what}: {one!r} is {given[one]:g} and {other!r} is "
                f"{given[other]:g}, and both match {name}; give a limit for "
                f"{name!r}, or narrow one of the patterns"
            )


def of_rally(workload: Json, scenario: str, title: str = "") -> Task:
    """Return the task that one of Rally's workloads is.

    :param workload: as Rally's engine and its reader of task files give it
    :raises Refused: for arguments without which nothing can be checked
    """
    check_form(workload["args"], _ARGUMENTS)
    return Task(
        title=title,
        scenario=scenario,
        arguments=workload["args"],
        contexts={
            name.partition("@")[0]: options
            for name, options in workload["contexts"].items()
        },
        criteria=workload["sla"],
        runner=workload["runner_type"],
        times=workload["runner"].get("times", 1),
    )


def check_form(value: t.Any, rule: Json, name: str = "") -> None:
    """Refuse what a JSON Schema does not allow, naming the place.

    :param name: of the value
    """
    import jsonschema

    for error in jsonschema.Draft7Validator(rule).iter_errors(value):
        place = (name + error.json_path.removeprefix("$")).removeprefix(".")
        words = f"{place}: {error.message}" if place else error.message
        closed = error.schema.get("additionalProperties") is False
        if closed and "properties" in error.schema:
            words += f"; allowed keys: {', '.join(error.schema['properties'])}"
        raise Refused(words)
