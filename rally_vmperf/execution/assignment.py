# SPDX-License-Identifier: Apache-2.0
"""Assignments: workloads with complete arguments, in order."""

import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf import json_schema
from rally_vmperf.execution import protocols
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from rally_vmperf.workloads import files
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import schemas

#: The pattern of a label, for JSON Schema and for messages.
_LABEL = r"^[a-z][a-z0-9_-]{0,31}$(?!\n)"

#: JSON Schema of the name and the arguments of a workload.
WORKLOAD = {
    "name": json_schema.text("Name of the workload, such as fio."),
    "arguments": json_schema.mapping(
        {}, description="Arguments of the workload; see its page."
    ),
}
#: JSON Schema of the list of workloads in a task.
SCHEMA = json_schema.array(
    json_schema.closed_mapping(
        {
            **WORKLOAD,
            "label": json_schema.text(
                "Distinguishes two entries of one workload; part of the names "
                "of their metrics.",
                pattern=_LABEL,
            ),
            **protocols.OF_WORKLOADS,
        },
        "name",
    ),
    "Workloads, run one after another on the same machines.",
    minItems=1,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Load:
    """The rates at which a workload runs, below those that it reaches alone.

    :param label: The label of its metrics, such as ``load-30``.
    :param title: The load as text, such as ``30 % load``.
    :param share: The share of the rates at full speed; None for rates.
    :param rates: The rates by the name of the command; that of an empty name
        applies to all others.
    """

    label: str
    title: str
    share: float | None = None
    rates: collections.abc.Mapping[str, float] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True)
class Assignment:
    """A workload with complete arguments and, where needed, a label.

    :param label: The label, which ends with that of the offered load.
    :param cooldown: The pause before each command in seconds.
    :param drop_caches: Whether caches are dropped before each command.
    :param load: The offered load; None at full speed.
    """

    workload: base.Workload
    arguments: dict[str, t.Any]
    label: str = ""
    cooldown: float = 0
    drop_caches: bool = False
    load: Load | None = None

    @property
    def title(self) -> str:
        """The name in messages."""
        return "-".join(filter(None, (self.workload.name, self.label)))

    @property
    def directory(self) -> str:
        """The name of the work directory, which all loads share."""
        return self.without_load().title

    def without_load(self) -> "Assignment":
        """Return a copy without the offered load, with the same arguments.

        It runs at full speed if no rates were applied to the arguments.
        """
        if self.load is None:
            return self
        label = self.label.removesuffix(self.load.label).removesuffix("-")
        return dataclasses.replace(self, label=label, load=None)

    def at_rates(
        self, rates: collections.abc.Mapping[str, float]
    ) -> "Assignment":
        """Return a copy of the assignment that offers rates.

        :param rates: The rates by the name of the command.
        :raises WorkloadError: If the workload cannot offer them.
        """
        arguments = self.workload.at_rates(self.arguments, rates)
        return dataclasses.replace(self, arguments=arguments)

    def protocol(self) -> dict[str, t.Any]:
        """Return those options of the protocol, as a dict, that are set."""
        settings = {"cooldown": self.cooldown, "drop_caches": self.drop_caches}
        return {key: setting for key, setting in settings.items() if setting}

    def conditions(self) -> dict[str, t.Any]:
        """Return what bare metal must share with the guest, as a dict."""
        return {**self.arguments, **self.protocol()}

    def metrics(self) -> tuple[sample.Metric, ...]:
        """Return the metrics of a complete run as a tuple, labelled."""
        return tuple(
            self.relabel(metric)
            for metric in self.workload.metrics(self.arguments)
        )

    def targets(self) -> tuple[base.Target, ...]:
        """Return the volumes that the workload uses."""
        return self.workload.targets(self.arguments)

    def read_files(self) -> dict[base.File, bytes]:
        """Return the content of each file that the workload supplies.

        :raises WorkloadError: If a file cannot be read, has another checksum,
            or is not suitable for the workload.
        """
        try:
            contents = {
                file: files.read(file)
                for file in self.workload.files(self.arguments)
            }
            contents_by_name = {
                file.name: text for file, text in contents.items()
            }
            self.workload.check_files(self.arguments, contents_by_name)
            return contents
        except base.WorkloadError as error:
            raise base.WorkloadError(
                f"workload {self.title}: {error}"
            ) from error

    def find_in_files(self) -> list[finding.Finding]:
        """Return the findings that the supplied files cause.

        :raises WorkloadError: If a file is not suitable for the workload.
        """
        contents = {
            file.name: content for file, content in self.read_files().items()
        }
        return [
            finding.Finding(
                kind=kind,
                subject=self.title,
                detail=detail,
                metrics=tuple(map(self.rename, names)),
            )
            for kind, detail, names in self.workload.file_findings(
                self.arguments, contents
            )
        ]

    def for_endpoints(self, endpoints: base.Endpoints) -> "Assignment":
        """Return a copy of the assignment for a machine's endpoints."""
        arguments = self.workload.for_endpoints(self.arguments, endpoints)
        return dataclasses.replace(self, arguments=arguments)

    def for_vcpus(self, vcpus: int) -> "Assignment":
        """Return a copy of the assignment for guests with some vCPUs.

        :raises WorkloadError: If an argument does not permit the number.
        """
        try:
            arguments = schemas.resolve_vcpus(
                self.workload.ARGUMENTS, self.arguments, vcpus
            )
        except ValueError as error:
            raise base.WorkloadError(
                f"workload {self.title}: {error}"
            ) from None
        assigned = dataclasses.replace(self, arguments=arguments)
        if self.load is None or not self.load.rates:
            return assigned
        return assigned.at_rates(
            {
                offer.command: self.load.rates.get(
                    offer.command, self.load.rates.get("", 0)
                )
                for offer in self.workload.offers(arguments)
            }
        )

    def rename(self, metric: str) -> str:
        """Return the name of a metric in this task."""
        plain = self.without_load().label
        return relabel(metric, plain, self.load.label if self.load else "")

    def relabel(self, metric: sample.Metric) -> sample.Metric:
        """Return the metric with its name in this task."""
        return dataclasses.replace(metric, name=self.rename(metric.name))


def relabel(name: str, label: str, load: str = "") -> str:
    """Return a metric's name with a label inserted after the tool.

    A task can run fio twice, for example with the pattern of a database and
    with that of a log. With the labels ``db`` and ``log`` the metrics are
    ``disk.fio.db.randread.iops`` and ``disk.fio.log.write.iops``, so that each
    limit refers to one of them.

    :param label: The label; an empty label does not change the name.
    :param load: The label of the offered load, which follows.
    :raises WorkloadError: If the label is not valid.
    """
    if label and not re.fullmatch(_LABEL, label):
        raise base.WorkloadError(
            f"label={label!r}: must be a lower-case letter, followed by "
            "at most 31 of a-z, 0-9, _ and -"
        )
    if not label and not load:
        return name
    component, tool, *rest = name.split(".")
    joined = "-".join(filter(None, (label, load)))
    return ".".join([component, tool, joined, *rest])


def create_assignment(
    document: collections.abc.Mapping[str, t.Any],
    protocol: protocols.Protocol = protocols.DEFAULT,
) -> Assignment:
    """Return the assignment for a workload, measured or not.

    :param document: The workload, as a task names it.
    :param protocol: The protocol of the task; a workload can override it.
    :raises WorkloadError: If the workload is unknown or an argument is wrong.
    """
    workload = registry.get_workload(document["name"])
    return Assignment(
        workload,
        workload.complete(document.get("arguments", {})),
        document.get("label", ""),
        cooldown=document.get("cooldown", protocol.cooldown),
        drop_caches=document.get("drop_caches", protocol.drop_caches),
        load=document.get("load"),
    )


def assign(
    workload_documents: collections.abc.Iterable[
        collections.abc.Mapping[str, t.Any]
    ],
    protocol: protocols.Protocol = protocols.DEFAULT,
) -> tuple[Assignment, ...]:
    """Return the assignments for the list of measured workloads in a task.

    :param workload_documents: The workloads, as the task lists them.
    :param protocol: The protocol of the task; a workload can override it.
    :raises WorkloadError: If a workload is unknown or has no metrics, an
        argument is wrong, or two workloads have metrics of the same names.
    """
    assignments = []
    owners: dict[str, str] = {}
    for document in workload_documents:
        assigned = create_assignment(document, protocol)
        metrics = assigned.metrics()
        if not metrics:
            raise base.WorkloadError(
                f"workload {assigned.title} has no metrics: it is a load of "
                "guests that are not measured; measure another workload"
            )
        for metric in metrics:
            if metric.name in owners:
                raise base.WorkloadError(
                    f"workloads {owners[metric.name]} and "
                    f"{assigned.title} both yield {metric.name}; give "
                    "one of them a label"
                )
            owners[metric.name] = assigned.title
        assignments.append(assigned)
    return tuple(assignments)


def merge_loads(
    assignments: collections.abc.Iterable[Assignment],
) -> tuple[Assignment, ...]:
    """Return each workload once, without its loads.

    All loads of a workload share its directory and the files in it.
    """
    by_directory: dict[str, Assignment] = {}
    for assigned in assignments:
        by_directory.setdefault(assigned.directory, assigned.without_load())
    return tuple(by_directory.values())


def find_per_vcpu(
    name: str,
    recorded: collections.abc.Collection[
        tuple[collections.abc.Mapping[str, t.Any], int | None]
    ],
) -> dict[str, str]:
    """Return the arguments that follow the vCPUs of several shapes, a dict.

    :param name: The name of the workload.
    :param recorded: The arguments and the vCPUs of its measurements.
    """
    if len({vcpus for _, vcpus in recorded}) == 1:
        return {}
    rules = registry.get_workload(name).ARGUMENTS["properties"]
    return {
        key: schemas.VCPUS
        for key, rule in rules.items()
        if schemas.accepts_vcpus(rule)
        and all(arguments.get(key) == vcpus for arguments, vcpus in recorded)
    }


def required_endpoints(
    assignments: collections.abc.Iterable[Assignment],
) -> frozenset[str]:
    """Return the endpoints that are required: ``peer``, ``partner``."""
    endpoints: frozenset[str] = frozenset()
    for assigned in assignments:
        endpoints |= assigned.workload.needs(assigned.arguments)
    return endpoints
