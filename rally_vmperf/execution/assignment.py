"""Assignments: workloads with complete arguments, in order."""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf.execution import protocol as protocols
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import registry

#: What a label looks like, for JSON Schema and for messages.
_LABEL = r"^[a-z][a-z0-9_-]{0,31}$(?!\n)"

#: JSON Schema of what names a workload, and says what it is to do.
WORKLOAD: dict[str, t.Any] = {
    "name": {
        "type": "string",
        "description": "Name of the workload, such as fio.",
    },
    "arguments": {
        "type": "object",
        "description": "Arguments of the workload; see its page.",
    },
}
#: JSON Schema of a list of workloads, as tasks give it.
SCHEMA: dict[str, t.Any] = {
    "type": "array",
    "minItems": 1,
    "description": "Workloads, run one after another in the same machines.",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            **WORKLOAD,
            "label": {
                "type": "string",
                "pattern": _LABEL,
                "description": "Tells two entries of one workload apart; "
                "becomes part of their metrics' names.",
            },
            **protocols.OF_WORKLOADS,
        },
    },
}


@dataclasses.dataclass(frozen=True)
class Assignment:
    """A workload with complete arguments and, where needed, a label.

    :param cooldown: seconds of rest before each command
    :param drop_caches: whether caches are dropped before each command
    """

    workload: base.Workload
    arguments: dict[str, t.Any]
    label: str = ""
    cooldown: float = 0
    drop_caches: bool = False

    @property
    def title(self) -> str:
        """The name that messages and folders use."""
        name = self.workload.name
        return f"{name}-{self.label}" if self.label else name

    def protocol(self) -> dict[str, t.Any]:
        """Return what precedes its commands, where it is not nothing."""
        found = {"cooldown": self.cooldown, "drop_caches": self.drop_caches}
        return {key: value for key, value in found.items() if value}

    def conditions(self) -> dict[str, t.Any]:
        """Return all that bare metal has to agree on to be compared with."""
        return {**self.arguments, **self.protocol()}

    def metrics(self) -> tuple[sample.Metric, ...]:
        """Return the metrics of a complete run, labelled."""
        return tuple(
            self.relabel(metric)
            for metric in self.workload.metrics(self.arguments)
        )

    def read_files(self) -> dict[base.File, bytes]:
        """Return what is in the files that the workload brings.

        :raises WorkloadError: for one that cannot be read, has another
            checksum, or is not what the workload runs with
        """
        try:
            found = {
                file: files.read(file)
                for file in self.workload.files(self.arguments)
            }
            contents = {file.name: text for file, text in found.items()}
            self.workload.check_files(self.arguments, contents)
            return found
        except base.WorkloadError as error:
            raise base.WorkloadError(
                f"workload {self.title}: {error}"
            ) from error

    def narrowed(self, ends: base.Ends) -> "Assignment":
        """Return the part that a machine with these other ends takes."""
        arguments = self.workload.narrowed(self.arguments, ends)
        return dataclasses.replace(self, arguments=arguments)

    def rename(self, metric: str) -> str:
        """Return the name that a metric has in this task."""
        return relabel(metric, self.label)

    def relabel(self, metric: sample.Metric) -> sample.Metric:
        """Return the metric under the name that it has in this task."""
        return dataclasses.replace(metric, name=self.rename(metric.name))


def relabel(name: str, label: str) -> str:
    """Insert a label behind the tool in a metric's name.

    A task may run fio twice, once as a database and once as a log would; with
    the labels ``db`` and ``log`` the metrics are ``disk.fio.db.randread.iops``
    and ``disk.fio.log.write.iops``, and no limit can mean the wrong one.

    :param label: an empty one leaves the name as it is
    :raises WorkloadError: for a label that is not allowed
    """
    if not label:
        return name
    if not re.fullmatch(_LABEL, label):
        raise base.WorkloadError(
            f"label {label!r} is not allowed; use a lower-case letter, then "
            "up to 31 of a-z, 0-9, _ and -"
        )
    part, tool, *what = name.split(".")
    return ".".join([part, tool, label, *what])


def assign(
    entries: collections.abc.Iterable[collections.abc.Mapping[str, t.Any]],
    protocol: protocols.Protocol = protocols.DEFAULT,
) -> tuple[Assignment, ...]:
    """Return the assignments that a task's list of workloads asks for.

    :param protocol: of the task, for workloads that say nothing else
    :raises WorkloadError: for an unknown workload, a wrong argument, or two
        entries whose metrics have the same names
    """
    assignments = []
    owners: dict[str, str] = {}
    for entry in entries:
        workload = registry.get(entry["name"])
        arguments = workload.complete(entry.get("arguments", {}))
        one = Assignment(
            workload,
            arguments,
            entry.get("label", ""),
            cooldown=entry.get("cooldown", protocol.cooldown),
            drop_caches=entry.get("drop_caches", protocol.drop_caches),
        )
        for metric in one.metrics():
            if metric.name in owners:
                raise base.WorkloadError(
                    f"workloads {owners[metric.name]} and {one.title} both "
                    f"yield {metric.name}; give one of them a label"
                )
            owners[metric.name] = one.title
        assignments.append(one)
    return tuple(assignments)


def needs(
    assignments: collections.abc.Iterable[Assignment],
) -> frozenset[str]:
    """Return which other ends are needed: ``peer``, ``partner``."""
    ends: frozenset[str] = frozenset()
    for one in assignments:
        ends |= one.workload.needs(one.arguments)
    return ends
