"""The record of a repetition, as it is written and read."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf import documents
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import flow
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import sample

#: The name and checksum of a file.
FileReference = collections.abc.Mapping[str, str]
OrderKind = t.Literal["listed", "shuffled", "blocks"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine in a record; its details are in a file.

    :param host: The host of a guest, as far as the cloud reports it.
    :param boot_id: The boot of a guest as ``<server id>#<count>``; for bare
        metal the session of the recording.
    """

    name: str
    role: t.Literal["guest", "copy", "peer"]
    host: str = ""
    boot_id: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DescribedMachine(Machine):
    """A machine with the facts from the file of machines.

    :param nova: The facts from Nova.
    :param fingerprint: The facts from the machine.
    :param tools: The version of each tool, with its checksum if known.
    """

    nova: documents.Facts
    fingerprint: documents.Facts
    tools: documents.Facts


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostCapacity:
    """The capacity of a host of guests; None if it is not reported."""

    name: str
    vcpus: int | None
    memory_mib: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Order:
    """The order in which the conditions of a repetition ran.

    :param seed: The seed of the random order; the number of the repetition is
        added.
    """

    kind: OrderKind = "listed"
    seed: int = 0


#: The default order.
AS_LISTED = Order()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shape:
    """The size of a guest or copy, and their number.

    :param requested_copies: The requested number of guests if some are
        unavailable.
    """

    vcpus: int
    memory_mib: int
    copies: int
    requested_copies: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Workload:
    """A workload with its complete arguments.

    :param cooldown: The pause before each command in seconds.
    :param drop_caches: Whether caches were dropped before each command.
    """

    name: str
    label: str
    arguments: documents.Arguments
    cooldown: float = 0
    drop_caches: bool = False

    @property
    def title(self) -> str:
        """The name of the workload with its label, as text."""
        return "-".join(filter(None, (self.name, self.label)))


@dataclasses.dataclass(frozen=True, kw_only=True)
class BareMetal:
    """The baseline of a record.

    :param digest: The SHA-256 of the baseline document.
    :param session: The identifier of the recording.
    :param references: The samples by number of copies.
    """

    name: str
    machine: str
    recorded_at: str
    digest: str
    session: str
    fingerprint: documents.Facts
    tools: documents.Facts
    references: collections.abc.Mapping[int, repetition.Reference]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
    """A repetition with the setting in which it was measured.

    :param task: The identifier of the task.
    :param software: The versions of the packages that measured.
    :param metrics: The metrics of the workloads and of bare metal, also those
        without samples.
    :param options: Other options of the question.
    :param bare_metal: The baseline; None without one.
    :param hosts: The hosts of the guests whose capacity is known.
    :param raw_file: The name and checksum of the file with the raw outputs;
        None if it could not be written.
    :param machines_file: The same of the file with the facts of the machines.
    """

    repetition: repetition.Repetition
    task: str
    started_at: str
    finished_at: str
    software: collections.abc.Mapping[str, str]
    shape: Shape
    machines: tuple[Machine, ...]
    workloads: tuple[Workload, ...]
    metrics: tuple[sample.Metric, ...]
    order: Order
    options: documents.Arguments
    bare_metal: BareMetal | None
    hosts: tuple[HostCapacity, ...]
    raw_file: FileReference | None
    machines_file: FileReference | None

    @property
    def flows(self) -> tuple[flow.Flow, ...]:
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

        The references of its conditions follow when it is read again.

        :param metrics: The metrics of the baseline.
        """
        return dataclasses.replace(
            self,
            repetition=dataclasses.replace(self.repetition, findings=findings),
            metrics=(*metrics, *self.metrics),
            bare_metal=bare_metal,
        )
