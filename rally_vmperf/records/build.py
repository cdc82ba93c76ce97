"""Build the record of a repetition from its results."""

import collections.abc
import dataclasses
import datetime
import importlib.metadata
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import codec
from rally_vmperf.records import flows
from rally_vmperf.records import merged as merged_
from rally_vmperf.records import model
from rally_vmperf.records import packing

#: The packages whose versions are in every record.
SOFTWARE = ("rally-vmperf", "rally", "rally-openstack", "openstacksdk")

Json = collections.abc.Mapping[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Identity:
    """The identity of a repetition: task, workload, number.

    :param question: The name of a question, or ``recording``.
    :param planned_repetitions: The number of counted repetitions in the task.
    """

    question: str
    task: str
    rally_workload: str
    repetition: int
    planned_repetitions: int
    counted: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class HostCapacity:
    """The capacity of a host of guests; None if it is not reported."""

    name: str
    vcpus: int | None
    memory_mib: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """The properties that all repetitions of a run share.

    :param details: The reports of Nova, the machine and the workloads by
        machine, for the file next to the journal.
    :param metrics: The encoded metrics of the reference and the workloads.
    :param reference: The bare-metal samples, as ``runs.reference`` returns
        them.
    :param rate_limits: The links and policies that can limit rates.
    :param ends: The other ends of network workloads.
    :param hosts: The hosts of the guests whose capacity is known.
    """

    shape: dict[str, int]
    machines: collections.abc.Sequence[model.Machine]
    details: dict[str, dict[str, t.Any]]
    workloads: list[dict[str, t.Any]]
    expected_metrics: list[str]
    metrics: dict[str, dict[str, t.Any]]
    reference: dict[str, t.Any] | None
    findings: tuple[finding.Finding, ...]
    rate_limits: tuple[rate_caps.Cap, ...] = ()
    ends: flows.Endpoints = dataclasses.field(default_factory=flows.Endpoints)
    hosts: tuple[HostCapacity, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class ConditionResult:
    """The results of one condition.

    :param position: The position in the order of the conditions, from 1.
    :param skip_reason: The reason why it was skipped; empty if it was not.
    :param machines: The names of the guests that should participate.
    :param batches: The number of groups in which they ran one after another.
    :param reference_copies: The number of bare-metal copies that it is
        compared with; None if the reference has no such number.
    :param command_usage: The resource usage of the commands.
    :param distributions: The distributions of all machines together.
    :param time_series: The values of all machines together over time.
    """

    axes: repetition.Axes
    position: int
    state: repetition.State
    skip_reason: str = ""
    machines: tuple[str, ...] = ()
    batches: int = 1
    observations: tuple[sample.Observation, ...] = ()
    missing: tuple[repetition.Missing, ...] = ()
    findings: tuple[finding.Finding, ...] = ()
    synchronisation: tuple[repetition.Synchronisation, ...] = ()
    reference_copies: int | None = None
    command_usage: tuple[cpu_seconds.Usage, ...] = ()
    distributions: tuple[merged.Distribution, ...] = ()
    time_series: tuple[merged.TimeSeries, ...] = ()


def software() -> dict[str, str]:
    """Return the versions of the measuring packages, a dict by name."""
    return {name: importlib.metadata.version(name) for name in SOFTWARE}


def now() -> str:
    """Return the current UTC time as ISO 8601 text."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def build(
    identity: Identity,
    setting: Setting,
    conditions: collections.abc.Sequence[ConditionResult],
    *,
    state: repetition.State,
    started_at: str,
    order: model.Order = model.AS_LISTED,
    options: Json | None = None,
    missing: collections.abc.Iterable[repetition.Missing] = (),
    findings: collections.abc.Iterable[finding.Finding] = (),
    files: collections.abc.Mapping[str, Json | None] | None = None,
) -> dict[str, t.Any]:
    """Return the record of a repetition as a JSON document.

    :param conditions: The results in the order of the task.
    :param options: The options of the question, such as the state of idle
        guests.
    :param missing: The missing metrics that belong to no single condition.
    :param findings: The findings that belong to no single condition.
    :param files: The name and checksum of the files ``raw`` and ``machines``;
        None for a file that could not be written.
    """
    metrics = codec.encode_metrics(
        metric
        for condition in conditions
        for metric in (
            *(
                observation.sample.metric
                for observation in condition.observations
            ),
            *(observation.metric for observation in condition.distributions),
            *(observation.metric for observation in condition.time_series),
        )
    )
    record = {
        "version": codec.VERSION,
        **dataclasses.asdict(identity),
        "state": state,
        "started_at": started_at,
        "finished_at": now(),
        "software": software(),
        "shape": setting.shape,
        "machines": _encode_all(setting.machines),
        "workloads": setting.workloads,
        "metrics": {**setting.metrics, **metrics},
        "expected_metrics": setting.expected_metrics,
        "reference": setting.reference,
        "order": dataclasses.asdict(order),
        "options": dict(options or {}),
        "conditions": [
            _encode_condition(condition, setting) for condition in conditions
        ],
        "missing": _encode_all(missing),
        "findings": codec.encode_findings((*setting.findings, *findings)),
        **(
            {"rate_limits": _encode_all(setting.rate_limits)}
            if setting.rate_limits
            else {}
        ),
        **({"hosts": _encode_all(setting.hosts)} if setting.hosts else {}),
        "files": {"raw": None, "machines": None, **(files or {})},
    }
    return packing.pack(record)


def _encode_condition(
    condition: ConditionResult, setting: Setting
) -> dict[str, t.Any]:
    """Return a condition with its results as a JSON document."""
    sources = [observation.source for observation in condition.observations]
    machines = list(dict.fromkeys((*condition.machines, *sources)))
    kinds = flows.of_condition(
        () if condition.skip_reason else machines,
        condition.batches,
        setting.ends,
        setting.details,
    )
    return {
        "axes": dict(condition.axes),
        "position": condition.position,
        "state": condition.state,
        "skip_reason": condition.skip_reason,
        "machines": machines,
        **({"batches": condition.batches} if condition.batches > 1 else {}),
        **({"flows": _encode_all(kinds)} if kinds else {}),
        "samples": codec.encode_samples(condition.observations, machines),
        "reference_copies": condition.reference_copies,
        "missing": _encode_all(condition.missing),
        "findings": codec.encode_findings(condition.findings),
        "synchronisation": _encode_all(condition.synchronisation),
        "command_usage": codec.encode_commands(condition.command_usage),
        "distributions": merged_.encode_distributions(condition.distributions),
        "time_series": merged_.encode_time_series(condition.time_series),
    }


def _encode_all(
    instances: collections.abc.Iterable[t.Any],
) -> list[dict[str, t.Any]]:
    """Return dataclass instances as a list of JSON documents."""
    return [dataclasses.asdict(instance) for instance in instances]
