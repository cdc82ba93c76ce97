"""From what a repetition left to its record."""

import collections.abc
import dataclasses
import datetime
import importlib.metadata
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement import sample
from rally_vmperf.measurement.density import curve
from rally_vmperf.records import codec

#: Packages whose versions stand in every record.
SOFTWARE = ("rally-vmperf", "rally", "rally-openstack", "openstacksdk")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Identity:
    """Which repetition of what this is.

    :param planned: how many counted repetitions the task asks for
    """

    task: str
    workload: str
    repetition: int
    planned: int
    counted: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
    """What stays the same over all repetitions of a run.

    :param reference: as ``execution.comparison.reference`` gives it; None
        where levels have references of their own, or there is none
    :param metrics: of the reference and of the workloads, encoded
    """

    shape: dict[str, int]
    machines: list[dict[str, t.Any]]
    workloads: list[dict[str, t.Any]]
    expected: list[str]
    metrics: dict[str, dict[str, str]]
    reference: dict[str, t.Any] | None
    findings: tuple[finding.Finding, ...]


def software() -> dict[str, str]:
    """Return the versions of the packages that measured."""
    return {name: importlib.metadata.version(name) for name in SOFTWARE}


def now() -> str:
    """Return the present moment, UTC, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def build(
    identity: Identity,
    setting: Setting,
    *,
    state: repetition.State,
    started_at: str,
    observations: collections.abc.Sequence[sample.Observation],
    runs: collections.abc.Iterable[t.Any],
    missing: collections.abc.Iterable[repetition.Missing],
    findings: collections.abc.Iterable[finding.Finding],
    raw: str,
    starts: collections.abc.Iterable[curve.Start] = (),
) -> dict[str, t.Any]:
    """Return the record; ``runs`` are dataclasses with the schema's keys."""
    return {
        **frame(identity, setting, observations),
        "kind": "overhead",
        "state": state,
        "started_at": started_at,
        "runs": plain(runs),
        "samples": codec.encode_observations(observations),
        "missing": plain(missing),
        "findings": plain(dict.fromkeys((*setting.findings, *findings))),
        "starts": plain(starts),
        "reference": setting.reference,
        "raw": raw,
    }


def frame(
    identity: Identity,
    setting: Setting,
    observations: collections.abc.Iterable[sample.Observation],
) -> dict[str, t.Any]:
    """Return what records of all kinds hold alike.

    :param observations: all in the record, whose metrics are to be named
    """
    metrics = codec.encode_metrics(one.sample.metric for one in observations)
    return {
        "version": 1,
        **dataclasses.asdict(identity),
        "finished_at": now(),
        "software": software(),
        "shape": setting.shape,
        "machines": setting.machines,
        "workloads": setting.workloads,
        "metrics": {**setting.metrics, **metrics},
        "expected": setting.expected,
    }


def plain(parts: collections.abc.Iterable[t.Any]) -> list[dict[str, t.Any]]:
    """Return dataclasses as plain documents, in their order."""
    return [dataclasses.asdict(one) for one in parts]
