"""What is to be run: workloads with complete arguments, in their order."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import labels
from rally_vmperf.workloads import registry

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
            "name": {
                "type": "string",
                "description": "Name of the workload, such as fio.",
            },
            "arguments": {
                "type": "object",
                "description": "Arguments of the workload; see its page.",
            },
            "label": {
                "type": "string",
                "pattern": labels.PATTERN,
                "description": "Tells two entries of one workload apart; "
                "becomes part of their metrics' names.",
            },
        },
    },
}


@dataclasses.dataclass(frozen=True)
class Assignment:
    """A workload with complete arguments and, where needed, a label."""

    workload: base.Workload
    arguments: dict[str, t.Any]
    label: str = ""

    @property
    def title(self) -> str:
        """The name that messages and folders use."""
        name = self.workload.name
        return f"{name}-{self.label}" if self.label else name

    def metrics(self) -> tuple[sample.Metric, ...]:
        """Return the metrics of a complete run, labelled."""
        return tuple(
            self.relabel(metric)
            for metric in self.workload.metrics(self.arguments)
        )

    def narrowed(self, ends: base.Ends) -> "Assignment":
        """Return the part that a machine with these other ends takes."""
        arguments = self.workload.narrowed(self.arguments, ends)
        return dataclasses.replace(self, arguments=arguments)

    def rename(self, metric: str) -> str:
        """Return the name that a metric has in this task."""
        return labels.relabel_name(metric, self.label)

    def relabel(self, metric: sample.Metric) -> sample.Metric:
        """Return the metric under the name that it has in this task."""
        return labels.relabel(metric, self.label)


def assign(
    entries: collections.abc.Iterable[collections.abc.Mapping[str, t.Any]],
) -> tuple[Assignment, ...]:
    """Return the assignments that a task's list of workloads asks for.

    :raises WorkloadError: for an unknown workload, a wrong argument, or two
        entries whose metrics have the same names
    """
    assignments = []
    owners: dict[str, str] = {}
    for entry in entries:
        workload = registry.get(entry["name"])
        arguments = workload.complete(entry.get("arguments", {}))
        one = Assignment(workload, arguments, entry.get("label", ""))
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
    """Return which other ends the workloads need: ``peer``, ``partner``."""
    ends: frozenset[str] = frozenset()
    for one in assignments:
        ends |= one.workload.needs(one.arguments)
    return ends
