# SPDX-License-Identifier: Apache-2.0
"""The record of a repetition, as it is written and read."""

import collections.abc
import dataclasses
import importlib.metadata
import typing as t

from rally_vmperf import documents
from rally_vmperf import facts
from rally_vmperf import formats
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import encoding
from rally_vmperf.measurement.samples import sample

# A record has a property with the name of this module.
_Flow = repetition.Flow
#: The packages whose versions are in every record and baseline.
SOFTWARE = ("rally-vmperf", "rally", "rally-openstack", "openstacksdk")

OrderKind = t.Literal["listed", "shuffled", "blocks"]
#: Name of the chart that contains a record.
CHART = "VMPerfRecord"
#: Name of the chart that shows all repetitions of a run.
RUN_CHART = "VMPerfRun"
Iteration = collections.abc.Mapping[str, t.Any]


def software() -> dict[str, str]:
    """Return the versions of the measuring packages, a dict by name."""
    return {name: importlib.metadata.version(name) for name in SOFTWARE}


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedMachine:
    """A machine in a record; its details are in a file.

    :param name: The name in the conditions.
    :param role: The role in the run.
    :param host: The host of a guest, as far as the cloud reports it.
    :param boot_id: The boot of a guest as ``<server id>#<count>``; for bare
        metal the session of the recording.
    """

    name: str
    role: t.Literal["guest", "copy", "peer", "control"]
    host: str = ""
    boot_id: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DescribedMachine(RecordedMachine):
    """A machine with the facts from the file of machines.

    :param nova: The facts from Nova.
    :param fingerprint: The facts from the machine.
    :param tools: The version of each tool, with its checksum if known.
    """

    nova: documents.Facts
    fingerprint: documents.Facts
    tools: documents.Facts


@dataclasses.dataclass(frozen=True, kw_only=True)
class FileReference:
    """A file in the directory of the journal: a compressed JSON document.

    :param name: The name of the file.
    :param sha256: The SHA-256 of the file.
    """

    name: t.Annotated[str, formats.text_like("[A-Za-z0-9._-]+")]
    sha256: t.Annotated[str, formats.text_like("[0-9a-f]{64}")]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Order:
    """The order in which the conditions of a repetition ran.

    :param kind: As the task lists them, shuffled anew in each repetition, or
        interleaved in blocks.
    :param seed: The seed of the random order; the number of the repetition is
        added.
    """

    kind: OrderKind = "listed"
    seed: int = 0


#: The default order.
AS_LISTED = Order()


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedShape:
    """The size of a guest or copy, and their number.

    :param vcpus: The CPUs of one guest.
    :param memory_mib: The memory of one guest in MiB.
    :param copies: The number of concurrent guests or copies.
    :param requested_copies: The requested number of guests if some are
        unavailable.
    """

    vcpus: formats.Positive
    memory_mib: formats.Positive
    copies: formats.Positive
    requested_copies: formats.Positive | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedWorkload:
    """A workload with its complete arguments.

    :param name: The name in the registry.
    :param label: The label that distinguishes two entries of one workload.
    :param cooldown: The pause before each command in seconds.
    :param drop_caches: Whether caches were dropped before each command.
    :param offered_load: The load as text; empty at full speed.
    :param load_label: The label of the load, at the end of the label.
    """

    name: str
    label: str = ""
    arguments: documents.Arguments
    cooldown: formats.Number = 0
    drop_caches: bool = False
    offered_load: str = ""
    load_label: str = ""

    @property
    def title(self) -> str:
        """The name of the workload with its label, as text."""
        return "-".join(filter(None, (self.name, self.label)))

    def list_places(self) -> tuple[str, str]:
        """Return how names of metrics start at the load and at full speed.

        The part of the metric, such as ``disk``, precedes.
        """
        plain = self.label.removesuffix(self.load_label).removesuffix("-")
        full_speed = ".".join(filter(None, (self.name, plain)))
        return f"{self.name}.{self.label}.", f"{full_speed}."


@dataclasses.dataclass(frozen=True, kw_only=True)
class BareMetal:
    """The baseline of a record.

    :param digest: The SHA-256 of the baseline document.
    :param session: The identifier of the recording.
    :param references: The samples by number of copies.
    """

    name: str
    machine: str
    recorded_at: formats.Time
    digest: str
    session: str
    fingerprint: facts.Fingerprint
    tools: facts.Tools
    references: collections.abc.Mapping[formats.Positive, repetition.Reference]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record(encoding.Defining):
    """A repetition with the setting in which it was measured.

    :param task: The identifier of the task.
    :param started_at: The start in UTC, ISO 8601.
    :param finished_at: The end in UTC, ISO 8601.
    :param software: The versions of the packages that measured.
    :param metrics: The metrics of the workloads and of bare metal, also those
        without samples.
    :param options: Other options of the question.
    :param criteria: The limits of the subtask by the name of the SLA.
    :param bare_metal: The baseline; None without one.
    :param raw_file: The name and checksum of the file with the raw outputs;
        None if it could not be written.
    :param machines_file: The same of the file with the facts of the machines.
    """

    repetition: t.Annotated[repetition.Repetition, formats.INLINE]
    task: formats.Identifier
    started_at: formats.Time
    finished_at: formats.Time
    software: collections.abc.Mapping[str, str]
    shape: RecordedShape
    machines: tuple[RecordedMachine, ...]
    workloads: tuple[RecordedWorkload, ...]
    metrics: encoding.Definitions
    order: Order = AS_LISTED
    options: documents.Arguments = dataclasses.field(default_factory=dict)
    criteria: collections.abc.Mapping[str, documents.Arguments] = (
        dataclasses.field(default_factory=dict)
    )
    bare_metal: BareMetal | None = None
    raw_file: FileReference | None = None
    machines_file: FileReference | None = None

    def find_load(self, metric: str) -> str:
        """Return the offered load of a metric as text; "" at full speed.

        :param metric: The name of the metric.
        """
        return self.split_load(metric)[1]

    def split_load(self, metric: str) -> tuple[str, str]:
        """Return the name of a metric at full speed, and its load as text.

        :param metric: The name of the metric.
        """
        part, _, place = metric.partition(".")
        for workload in self.workloads:
            loaded, plain = workload.list_places()
            if workload.offered_load and place.startswith(loaded):
                rest = place.removeprefix(loaded)
                return f"{part}.{plain}{rest}", workload.offered_load
        return metric, ""

    @property
    def flows(self) -> tuple[_Flow, ...]:
        """The flows of all conditions, each once."""
        return tuple(
            dict.fromkeys(
                flow
                for condition in self.repetition.conditions
                for flow in condition.flows
            )
        )

    def with_baseline(
        self,
        bare_metal: BareMetal,
        metrics: tuple[sample.Metric, ...],
        findings: tuple[finding.Finding, ...],
    ) -> "Record":
        """Return a copy with another baseline and other findings.

        ``link`` adds the references of its conditions.

        :param metrics: The metrics of the baseline.
        """
        return dataclasses.replace(
            self,
            repetition=dataclasses.replace(self.repetition, findings=findings),
            metrics=(*metrics, *self.metrics),
            bare_metal=bare_metal,
        )


#: The format of a record; each line of a journal is one.
FORMAT = formats.Format(
    Record,
    "record",
    4,
    "run the task again, after: rally-vmperf baseline record NAME --task FILE "
    "--replace",
)


def decode(document: t.Any) -> Record:
    """Return the record in a document; reject one that is no record.

    :raises FormatError: If it is not valid; with the position and the reason.
    """
    return link(FORMAT.decode(document))


def decode_or_none(document: t.Any) -> Record | None:
    """Return the record in a document; None if it is not valid."""
    try:
        return decode(document)
    except formats.FormatError:
        return None


def shorten(record: Record) -> Record:
    """Return a record as it is read again: with numbers of few digits."""
    return link(FORMAT.decode(FORMAT.encode(record)))


def link(record: Record) -> Record:
    """Return a record whose parts know what the others contain.

    The conditions have the properties of their repetition, and the bare metal
    that they are compared with.
    """
    measured = record.repetition
    references: dict[int, repetition.Reference] = {}
    if record.bare_metal:
        references = {
            copies: dataclasses.replace(
                reference,
                name=record.bare_metal.name,
                machine=record.bare_metal.machine,
                recorded_at=record.bare_metal.recorded_at,
            )
            for copies, reference in record.bare_metal.references.items()
        }
        bare_metal = dataclasses.replace(
            record.bare_metal, references=references
        )
        record = dataclasses.replace(record, bare_metal=bare_metal)
    conditions = tuple(
        dataclasses.replace(
            condition,
            number=measured.number,
            planned_repetitions=measured.planned_repetitions,
            counted=measured.counted,
            # A skipped condition expects no metrics.
            expected_metrics=()
            if condition.skip_reason
            else measured.expected_metrics,
            reference=references.get(
                condition.reference_copies or 0, repetition.NO_REFERENCE
            ),
        )
        for condition in measured.conditions
    )
    return dataclasses.replace(
        record,
        repetition=dataclasses.replace(
            measured,
            conditions=conditions,
            hosts={
                machine.name: machine.host
                for machine in record.machines
                if machine.role == "guest" and machine.host
            },
            rebooted="boot" in record.options
            or record.options.get("reboot", "never") != "never",
            setting=_list_setting(record),
        ),
    )


def _list_setting(record: Record) -> documents.Facts:
    """Return the arguments and the shape that all records of a run share."""
    return {
        "vCPUs": record.shape.vcpus,
        "memory in MiB": record.shape.memory_mib,
        **{
            f"{workload.title} {key}": argument
            for workload in record.workloads
            for key, argument in workload.arguments.items()
        },
    }


def encode_output(record: Record) -> dict[str, t.Any]:
    """Return a complete output for Rally that contains a record, a dict."""
    return {
        "title": f"Record of repetition {record.repetition.number}",
        "chart_plugin": CHART,
        "data": FORMAT.encode(record),
    }


def request_chart(title: str, record: Record) -> dict[str, t.Any]:
    """Return an additive output for Rally that requests a run's chart.

    Rally adds additive outputs to a table, so the data must be pairs of name
    and number; the metrics are in the records.

    :param record: The record of the repetition.
    """
    measured = record.repetition
    gaps = [*measured.missing]
    for condition in measured.conditions:
        gaps += condition.missing
    return {
        "title": title,
        "chart_plugin": RUN_CHART,
        "data": [["missing measurements", len(gaps)]],
    }


def find_record(iteration: Iteration) -> Record | None:
    """Return the record in a Rally iteration; None without a valid one."""
    for document in list_output_documents(iteration):
        return decode_or_none(document)
    return None


def list_output_documents(iteration: Iteration) -> list[t.Any]:
    """Return the records in a Rally iteration as documents, valid or not."""
    return [
        chart["data"]
        for chart in iteration.get("output", {}).get("complete", ())
        if chart.get("chart_plugin") == CHART and "data" in chart
    ]


def decode_iteration(iteration: Iteration) -> repetition.Repetition | None:
    """Return the repetition in an iteration; None without a valid record."""
    record = find_record(iteration)
    return record.repetition if record else None
