# SPDX-License-Identifier: Apache-2.0
"""The baseline: bare-metal samples with their machine."""

import collections.abc
import dataclasses
import datetime
import hashlib
import json
import typing as t

import annotated_types

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf import facts
from rally_vmperf import formats
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.samples import encoding
from rally_vmperf.measurement.samples import sample


class BaselineError(errors.VMPerfError):
    """A baseline is missing, damaged or does not match the task; one line."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """The size of one guest or copy, and the number of concurrent ones.

    :param vcpus: The CPUs of one guest or copy.
    :param memory_mib: The memory of one guest or copy in MiB.
    :param copies: The number of concurrent guests or copies.
    """

    vcpus: formats.Positive
    memory_mib: formats.Positive
    copies: formats.Positive = 1

    def __str__(self) -> str:
        return f"{self.copies} x {self.vcpus} vCPU with {self.memory_mib} MiB"


@dataclasses.dataclass(frozen=True, kw_only=True)
class BaselineMachine:
    """Bare metal, or the other end of its network workloads.

    :param name: The name in reports.
    :param fingerprint: The facts from the machine.
    :param tools: The version of each tool, with its checksum if known.
    """

    name: str
    fingerprint: facts.Fingerprint
    tools: facts.Tools = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class BaselineEntry(encoding.Defining):
    """The samples of one workload with its arguments, in one shape.

    :param workload: The name in the registry of workloads.
    :param arguments: The complete arguments; only the known ones if it was
        imported.
    :param cooldown: The pause before each command in seconds.
    :param drop_caches: Whether caches were dropped before each command.
    :param shape: The size of one copy, and their number; None for one copy of
        unknown size, which was imported from raw outputs.
    :param limited_by: The method that limits CPUs and memory to the shape;
        ``none`` without limits, ``unknown`` for imported outputs.
    :param cpus: The CPUs of each copy, in the format of the kernel.
    :param numa_nodes: The NUMA nodes of these CPUs.
    :param flows: The flows of a network workload.
    :param facts: The facts from the preparation of the workload, such as the
        checksum of generated data.
    :param metrics: The metrics of the workload.
    :param findings: The findings on bare metal.
    :raises ValueError: If it has no sample, or samples of more copies than
        the shape has.
    """

    workload: str
    arguments: documents.Arguments
    cooldown: formats.Number = 0
    drop_caches: bool = False
    shape: Shape | None = None
    limited_by: str
    cpus: tuple[t.Annotated[str, formats.text_like("[0-9,]+")], ...] = ()
    numa_nodes: tuple[formats.Count, ...] = ()
    flows: tuple[repetition.Flow, ...] = ()
    facts: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict
    )
    metrics: encoding.Definitions
    reference: t.Annotated[repetition.Reference, formats.INLINE]
    findings: tuple[finding.Finding, ...] = ()

    def __post_init__(self) -> None:
        repetitions = self.reference.repetitions
        if not repetitions or not all(repetitions):
            raise ValueError(f"{self.workload}: a repetition has no samples")
        for observations in repetitions:
            sources = {observation.source for observation in observations}
            if len(sources) > self.copies:
                raise ValueError(
                    f"{self.workload}: samples of {len(sources)} copies, but "
                    f"the shape has {self.copies}"
                )

    @property
    def imported(self) -> bool:
        """Whether it was read from raw outputs."""
        return self.shape is None

    @property
    def copies(self) -> int:
        """The number of concurrent copies."""
        return self.shape.copies if self.shape else 1

    @property
    def protocol(self) -> dict[str, t.Any]:
        """Those options of the protocol, a dict, that are set."""
        settings = {"cooldown": self.cooldown, "drop_caches": self.drop_caches}
        return {key: setting for key, setting in settings.items() if setting}

    @property
    def conditions(self) -> dict[str, t.Any]:
        """What a guest must share with it, as in ``Assignment``."""
        return {**self.arguments, **self.protocol}

    def describe_shape(self) -> str:
        """Return the shape as text, also if it is unknown."""
        return str(self.shape or f"{self.copies} x unknown size")

    def collect_values(self) -> dict[sample.Metric, list[list[float]]]:
        """Return the values of each metric as one list per repetition."""
        repetitions: dict[sample.Metric, list[list[float]]] = {}
        for observations in self.reference.repetitions:
            values: dict[sample.Metric, list[float]] = {}
            for observation in observations:
                values.setdefault(observation.sample.metric, []).append(
                    observation.sample.value
                )
            for metric, metric_values in values.items():
                repetitions.setdefault(metric, []).append(metric_values)
        return repetitions


@dataclasses.dataclass(frozen=True, kw_only=True)
class Baseline:
    """A recording of bare metal under a name.

    :param name: The name that tasks refer to.
    :param machine_class: The class of machines that it represents; empty for
        only this machine.
    :param session: The identifier of the recording.
    :param recorded_at: The start of the recording in UTC, ISO 8601.
    :param software: The versions of the packages that measured.
    :param machine: The bare-metal machine.
    :param peer: The other end of network workloads; None without one.
    :param entries: One entry for each workload, arguments and shape.
    :raises ValueError: If the time has no zone.
    """

    name: formats.Name
    machine_class: formats.Name = ""
    session: t.Annotated[str, annotated_types.Len(1, 64)]
    recorded_at: formats.Time
    software: collections.abc.Mapping[str, str]
    machine: BaselineMachine
    peer: BaselineMachine | None = None
    entries: t.Annotated[tuple[BaselineEntry, ...], annotated_types.MinLen(1)]

    def __post_init__(self) -> None:
        if self.recording_time.tzinfo is None:
            raise ValueError(
                f"recorded_at {self.recorded_at!r}: must have a zone, such as "
                "2026-01-31T12:00:00+00:00"
            )

    @property
    def recording_time(self) -> datetime.datetime:
        """The start of the recording."""
        return datetime.datetime.fromisoformat(self.recorded_at)

    @property
    def digest(self) -> str:
        """The SHA-256 of the document in its canonical form."""
        canonical = json.dumps(
            FORMAT.encode(self), sort_keys=True, separators=(",", ":")
        )
        return hashlib.sha256(canonical.encode()).hexdigest()


def format_record_command(name: str = "NAME", options: str = "") -> str:
    """Return the command that records a baseline, for messages.

    :param name: The name of the baseline.
    :param options: Further options, with a space in front.
    """
    return (
        f"rally-vmperf baseline record {name}{options} --host USER@ADDRESS, "
        "in the directory of vmperf.yaml or with --task FILE"
    )


#: The format of a baseline; each file of the store is one.
FORMAT = formats.Format(
    Baseline,
    "baseline",
    4,
    "record it again: rally-vmperf baseline record NAME --task FILE --replace",
)


def decode(document: t.Any, origin: str) -> Baseline:
    """Return the baseline in a document; reject one that is no baseline.

    :param origin: The file name for messages.
    :raises BaselineError: If it is not valid; with file, position and reason.
    """
    try:
        return FORMAT.decode(document)
    except formats.FormatError as error:
        raise BaselineError(f"{origin}: {error}") from error
