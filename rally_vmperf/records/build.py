"""Build the record of a repetition from its results."""

import collections.abc
import dataclasses
import datetime
import importlib.metadata
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import caps as caps_
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import codec
from rally_vmperf.records import flows
from rally_vmperf.records import merged as merged_

#: Packages whose versions stand in every record.
SOFTWARE = ("rally-vmperf", "rally", "rally-openstack", "openstacksdk")

OrderKind = t.Literal["listed", "shuffled", "blocks"]
Json = collections.abc.Mapping[str, t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Identity:
    """The identity of a repetition: task, workload, number.

    :param question: name of an entry of the table of questions, or
        ``recording``
    :param planned_repetitions: how many counted repetitions the task asks for
    """

    question: str
    task: str
    rally_workload: str
    repetition: int
    planned_repetitions: int
    counted: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine as the record itself names it; its details are in a file.

    :param host: where a guest runs, as far as the cloud tells
    :param boot_id: which start of a guest this is: ``<server id>#<count>``; of
        bare metal the session of the recording
    """

    name: str
    role: t.Literal["guest", "copy", "peer"]
    host: str = ""
    boot_id: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Host:
    """The size of a host of guests; None where the cloud does not tell."""

    name: str
    vcpus: int | None
    memory_mib: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """What stays the same over all repetitions of a run.

    :param details: by machine what Nova, the machine itself and the
        workloads report of it; for the file beside the journal
    :param metrics: of the reference and of the workloads, encoded
    :param reference: as ``execution.comparison.reference`` gives it
    :param rate_limits: links and policies that may hold rates
    :param ends: the other ends of network workloads
    :param hosts: of the guests, those whose size is known
    """

    shape: dict[str, int]
    machines: collections.abc.Sequence[Machine]
    details: dict[str, dict[str, t.Any]]
    workloads: list[dict[str, t.Any]]
    expected_metrics: list[str]
    metrics: dict[str, dict[str, t.Any]]
    reference: dict[str, t.Any] | None
    findings: tuple[finding.Finding, ...]
    rate_limits: tuple[caps_.Cap, ...] = ()
    ends: flows.Ends = dataclasses.field(default_factory=flows.Ends)
    hosts: tuple[Host, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Order:
    """The order in which the conditions of a repetition ran.

    :param seed: of the generator that shuffles; the repetition's number is
        added
    """

    kind: OrderKind = "listed"
    seed: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Taken:
    """The results of one condition.

    :param position: place in the order in which the conditions ran, from 1
    :param skip_reason: why it was not run at all, or nothing
    :param machines: names of the guests that were to take part
    :param batches: in how many groups, one after another, they ran
    :param reference_copies: The number of bare-metal copies that it is
        compared with; None if the reference has no such number.
    :param command_usage: what the runs of commands took
    :param distributions: of all machines together
    :param time_series: likewise, values over time
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
    """Return the versions of the packages that measured."""
    return {name: importlib.metadata.version(name) for name in SOFTWARE}


def now() -> str:
    """Return the present moment, UTC, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def build(
    identity: Identity,
    setting: Setting,
    conditions: collections.abc.Sequence[Taken],
    *,
    state: repetition.State,
    started_at: str,
    order: Order = Order(),
    options: Json | None = None,
    missing: collections.abc.Iterable[repetition.Missing] = (),
    findings: collections.abc.Iterable[finding.Finding] = (),
    files: collections.abc.Mapping[str, Json | None] | None = None,
) -> dict[str, t.Any]:
    """Return the record.

    :param conditions: in the order of the task
    :param options: of the question, such as what idle guests did
    :param missing: metrics that are missing in no particular condition
    :param findings: likewise
    :param files: ``raw`` and ``machines``: name and checksum of each file, or
        None where it could not be written
    """
    metrics = codec.encode_metrics(
        metric
        for one in conditions
        for metric in (
            *(each.sample.metric for each in one.observations),
            *(each.metric for each in one.distributions),
            *(each.metric for each in one.time_series),
        )
    )
    whole = {
        "version": codec.VERSION,
        **dataclasses.asdict(identity),
        "state": state,
        "started_at": started_at,
        "finished_at": now(),
        "software": software(),
        "shape": setting.shape,
        "machines": _plain(setting.machines),
        "workloads": setting.workloads,
        "metrics": {**setting.metrics, **metrics},
        "expected_metrics": setting.expected_metrics,
        "reference": setting.reference,
        "order": dataclasses.asdict(order),
        "options": dict(options or {}),
        "conditions": [_condition(one, setting) for one in conditions],
        "missing": _plain(missing),
        "findings": codec.encode_findings((*setting.findings, *findings)),
        **(
            {"rate_limits": _plain(setting.rate_limits)}
            if setting.rate_limits
            else {}
        ),
        **({"hosts": _plain(setting.hosts)} if setting.hosts else {}),
        "files": {"raw": None, "machines": None, **(files or {})},
    }
    return codec.pack(whole)


def _condition(one: Taken, setting: Setting) -> dict[str, t.Any]:
    sources = [each.source for each in one.observations]
    machines = list(dict.fromkeys((*one.machines, *sources)))
    kinds = flows.of_condition(
        () if one.skip_reason else machines,
        one.batches,
        setting.ends,
        setting.details,
    )
    return {
        "axes": dict(one.axes),
        "position": one.position,
        "state": one.state,
        "skip_reason": one.skip_reason,
        "machines": machines,
        **({"batches": one.batches} if one.batches > 1 else {}),
        **({"flows": kinds} if kinds else {}),
        "samples": codec.encode_samples(one.observations, machines),
        "reference_copies": one.reference_copies,
        "missing": _plain(one.missing),
        "findings": codec.encode_findings(one.findings),
        "synchronisation": _plain(one.synchronisation),
        "command_usage": codec.encode_commands(one.command_usage),
        "distributions": merged_.encode_distributions(one.distributions),
        "time_series": merged_.encode_time_series(one.time_series),
    }


def _plain(parts: collections.abc.Iterable[t.Any]) -> list[dict[str, t.Any]]:
    """Return dataclasses as JSON documents, in their order."""
    return [dataclasses.asdict(one) for one in parts]
