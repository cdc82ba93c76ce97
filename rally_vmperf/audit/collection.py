# SPDX-License-Identifier: Apache-2.0
"""The results of hosts, collected from the records of runs."""

import collections.abc
import dataclasses
import json
import sys
import typing as t

from rally_vmperf import errors
from rally_vmperf.audit import hosts
from rally_vmperf.judging import judged_run
from rally_vmperf.judging import run_capacity
from rally_vmperf.measurement import promises
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import medians
from rally_vmperf.questions import compared_run
from rally_vmperf.questions import run_limits
from rally_vmperf.questions import source_judge
from rally_vmperf.questions.common import question
from rally_vmperf.records import model
from rally_vmperf.records import sources

#: The facts from Nova that may explain a change since an earlier audit.
_VERSIONS = {
    "hypervisor_version": "hypervisor",
    "nova_microversion": "Nova microversion",
}

#: The results of a host in one run.
_Part = hosts.Host


def collect(
    run_sources: collections.abc.Iterable[sources.Source],
    failures: collections.abc.Mapping[str, str] | None = None,
) -> list[hosts.Host]:
    """Return the results of each host in runs, by name.

    Of several runs of one test on a host, the newest one counts.

    :param failures: The reasons why requested hosts have no records.
    """
    parts: dict[str, dict[str, _Part]] = {}
    for source in run_sources:
        for host_source, name in _split_by_host(source):
            measured_host = _read_part(host_source, name)
            of_host = parts.setdefault(name, {})
            (setting,) = {
                figure.setting for figure in measured_host.means
            } or {""}
            earlier = of_host.get(setting)
            if (
                earlier is None
                or earlier.measured_at < measured_host.measured_at
            ):
                of_host[setting] = measured_host
    for name, reason in (failures or {}).items():
        parts.setdefault(name, {"": hosts.Host(name=name, reason=reason)})
    return [
        _merge([*of_host.values()]) for _, of_host in sorted(parts.items())
    ]


def _merge(parts: list[_Part]) -> hosts.Host:
    """Return the results of a host from its runs; the newest is the last."""
    measured = [
        host_part for host_part in parts if not host_part.reason
    ] or parts
    measured.sort(key=lambda host_part: host_part.measured_at)
    newest = measured[-1]
    if len(measured) == 1:
        return newest
    merged: dict[str, t.Any] = {}
    for field in ("expected", "limited"):
        merged[field] = frozenset().union(
            *(getattr(host_part, field) for host_part in measured)
        )
    for field in ("means", "absences", "capacities", "verdicts"):
        merged[field] = {}
        for host_part in measured:
            merged[field] |= getattr(host_part, field)
    return dataclasses.replace(newest, **merged)


def _split_by_host(
    source: sources.Source,
) -> collections.abc.Iterator[tuple[sources.Source, str]]:
    """Yield the part of a run on each host, with the name of the host."""
    names = dict.fromkeys(
        name
        for record in source.readable
        for name in record.repetition.hosts.values()
    )
    for name in names:
        if len(names) == 1:
            yield source, name
            continue
        records = [
            _select_host(record, name) if record else None
            for record in source.records
        ]
        yield dataclasses.replace(source, records=records), name


def _select_host(record: model.Record, name: str) -> model.Record:
    """Return a record with the guests of one host only.

    Percentiles of all guests together are no longer known.
    """
    measured = record.repetition
    guests = {guest for guest, host in measured.hosts.items() if host == name}
    others = measured.hosts.keys() - guests

    def is_shown(subject: str) -> bool:
        """Return whether a machine or another subject is on the host."""
        return subject not in others

    conditions = tuple(
        _select_guests(condition, is_shown)
        for condition in measured.conditions
    )
    return dataclasses.replace(
        record,
        machines=tuple(
            machine for machine in record.machines if is_shown(machine.name)
        ),
        repetition=dataclasses.replace(
            measured,
            conditions=conditions,
            hosts=dict.fromkeys(guests, name),
            missing=tuple(
                gap for gap in measured.missing if is_shown(gap.machine)
            ),
            findings=tuple(
                host_finding
                for host_finding in measured.findings
                if is_shown(host_finding.subject)
            ),
        ),
    )


def _select_guests(
    condition: repetition.Condition,
    is_shown: collections.abc.Callable[[str], bool],
) -> repetition.Condition:
    """Return a condition with some of its guests only."""
    missing = tuple(gap for gap in condition.missing if is_shown(gap.machine))
    is_complete = condition.state == "incomplete" and not missing
    return dataclasses.replace(
        condition,
        state="complete" if is_complete else condition.state,
        machines=tuple(filter(is_shown, condition.machines)),
        observations=tuple(
            observation
            for observation in condition.observations
            if is_shown(observation.source)
        ),
        missing=missing,
        findings=tuple(
            guest_finding
            for guest_finding in condition.findings
            if is_shown(guest_finding.subject)
        ),
        distributions=(),
        time_series=(),
    )


def _read_part(source: sources.Source, name: str) -> _Part:
    """Return the results of a host in a run; without samples the reason."""
    last = max(source.readable, key=lambda record: record.finished_at)
    measured_host = _Part(
        name=name, run=last.repetition.run, measured_at=last.finished_at
    )
    try:
        run = compared_run.create_run(name, source)
    except errors.VMPerfError as error:
        return dataclasses.replace(
            measured_host, reason=str(error).removeprefix(f"{name}: ")
        )
    guests = [machine for machine in run.machines if machine.role == "guest"]
    facts = guests[0].nova if guests else {}
    flavor = str((facts.get("flavor") or {}).get("name") or "")
    setting = sys.intern(json.dumps(_list_setting(run), sort_keys=True))

    def name_figure(key: t.Any) -> hosts.HostFigure:
        """Return a condition and metric as a figure of this run."""
        return hosts.HostFigure(setting, flavor, *key)

    measured_host = dataclasses.replace(
        measured_host,
        cpu_model=", ".join(
            sorted(
                {guest.fingerprint.get("cpu_model") or "" for guest in guests}
            )
        ),
        cpus=facts.get("host_vcpus") or 0,
        memory_mib=facts.get("host_memory_mib") or 0,
        means={
            name_figure(key): medians.average(
                key[1], [samples.values for samples in repetitions]
            )
            for key, repetitions in run.samples.items()
            if key[1].scale == "ratio"
        },
        absences={
            name_figure(key): reason for key, reason in run.absences.items()
        },
        limited=_list_limited(run, source.criteria),
        expected=frozenset(
            name_figure((condition.title, metric))
            for record in source.readable
            for condition in record.repetition.conditions
            if not condition.skip_reason
            for metric in record.repetition.expected_metrics
        ),
        versions={
            title: str(facts[fact])
            for fact, title in _VERSIONS.items()
            if facts.get(fact)
        }
        | dict(last.software),
    )
    if not measured_host.means:
        reason = next(iter(run.absences.values()), "no rates and times")
        return dataclasses.replace(measured_host, reason=reason)
    return _judge(measured_host, source, facts)


def _list_setting(run: compared_run.ComparedRun) -> dict[str, t.Any]:
    """Return the question, arguments and size of guests of a run."""
    shape = {key: run.setting["shape"][key] for key in ("vcpus", "memory_mib")}
    return {
        **run.setting["question"],
        **shape,
        "arguments": dict(run.setting["arguments"]),
    }


def _list_limited(
    run: compared_run.ComparedRun, criteria: question.Criteria
) -> frozenset[str]:
    """Return the names of the metrics that the SLAs of a run limit."""
    slas = run_limits.RunLimits(
        criteria, {metric.name for _, metric in run.samples}
    )
    return frozenset(
        metric.name
        for title, metric in run.samples
        if any(slas.list_slas(run.conditions.get(title), metric))
    )


def _judge(part: _Part, source: sources.Source, facts: t.Any) -> _Part:
    """Return results with the verdict on limits, and the guests within."""
    if not source.criteria:
        return part
    judged = source_judge.judge_source(source)
    needs = _list_needs(facts, judged)
    capacities = {
        f"{judged.size} at {load}" if load else judged.size: (
            hosts.GuestCapacity(
                vcpus=judged.last.shape.vcpus,
                needs=needs,
                found=found,
                load=load,
            )
        )
        for load, found in run_capacity.find_capacities(judged).items()
    }
    return dataclasses.replace(
        part,
        capacities=capacities,
        verdicts={judged.title: judged.status},
    )


def _list_needs(facts: t.Any, judged: judged_run.JudgedRun) -> dict[str, int]:
    """Return the needs of a guest by resource class of Placement.

    :param facts: The facts from Nova about the guest.
    """
    shape = judged.last.shape
    flavor = facts.get("flavor") or {}
    dedicated = promises.count_recorded_dedicated(facts, shape.vcpus) or 0
    disks = [guest.nova.get("disk") or {} for guest in judged.of_role("guest")]
    is_local = all(disk.get("source") != "volume" for disk in disks)
    return promises.list_needs(
        shape.vcpus,
        dedicated,
        shape.memory_mib,
        promises.count_local_gib(
            (flavor.get("disk_gib") or 0) if is_local else 0,
            # Records of earlier versions do not have them.
            flavor.get("ephemeral_gib") or 0,
            flavor.get("swap_mib") or 0,
        ),
    )
