# SPDX-License-Identifier: Apache-2.0
"""The setting of a run as text."""

import collections.abc
import dataclasses
import shlex
import typing as t

import yaml

from rally_vmperf import documents
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.measurement.comparison import host_names
from rally_vmperf.measurement.samples import units
from rally_vmperf.records import model
from rally_vmperf.report import reports
from rally_vmperf.report import text
from rally_vmperf.workloads import base
from rally_vmperf.workloads import registry
from rally_vmperf.workloads import schemas

#: The maximum number of guests with one line each.
_MOST_LINES = 6
#: The endpoints of network workloads in the command lines of a report.
_PORTS = t.cast(collections.abc.Sequence[int], ("PORT",) * 8)
_PLACEHOLDERS = base.Endpoints(
    peer="PEER",
    partner="PARTNER",
    listen_address="ADDRESS",
    own_ports=_PORTS,
    shared_ports=_PORTS,
)


def facts(run: reports.RunReport) -> reports.Facts:
    """Return the facts about a run, a list of titles with lines of text."""
    if not run.records:
        return run.facts
    record = run.last
    guests = run.of_role("guest")
    images = [_format_name(guest.nova.get("image")) for guest in guests]
    started = text.format_time(run.records[0].started_at)
    finished = text.format_time(record.finished_at)
    unknown = f"not known: {run.machines_error}"
    described: reports.Facts = [
        ("Machines", [unknown] if run.machines_error else []),
        ("Flavor", _unique_lines(_describe_flavor(guest) for guest in guests)),
        ("Image", _unique_lines(images)),
        ("Disk", _unique_lines(_disk(guest) for guest in guests)),
        (
            "Volumes",
            _unique_lines(
                _describe_volume(volume)
                for guest in guests
                for volume in guest.nova.get("volumes") or ()
            ),
        ),
        (
            "Write cache",
            _unique_lines(
                text.flatten(comparability.find_write_cache(guest.fingerprint))
                for guest in guests
            ),
        ),
        ("Guests", _list_guests(guests)),
        ("Virtualisation", _list_virtualisation(run, guests)),
        ("Hypervisor", _list_fact(guests, "hypervisor_version")),
        ("Nova API", _list_fact(guests, "nova_microversion")),
        *run.section.comparison_facts(run),
        ("Peer", [_describe_peer(peer, run) for peer in run.of_role("peer")]),
        ("Control", [machine.name for machine in run.of_role("control")]),
        ("Network", _flows(run.records)),
        ("Repetitions", [_describe_repetitions(run)]),
        ("Protocol", _protocol(record)),
        ("Confidence", [f"{run.judgement.confidence * 100:g} %"]),
        ("Measured", [f"{started} to {finished}"]),
        ("Rally", [f"task {record.task}, workload {record.repetition.run}"]),
    ]
    return [(name, lines) for name, lines in described if lines]


def _unique_lines(lines: collections.abc.Iterable[str]) -> list[str]:
    """Return the lines without empty and repeated ones, in order."""
    return list(dict.fromkeys(line for line in lines if line))


def _format_name(reference: t.Any) -> str:
    """Return the name or else the ID in a Nova reference as text, or ""."""
    if isinstance(reference, collections.abc.Mapping):
        return text.flatten(reference.get("name") or reference.get("id") or "")
    return text.flatten(reference) if reference else ""


def _describe_flavor(guest: model.DescribedMachine) -> str:
    """Return the flavor of a guest with its sizes as text."""
    flavor = guest.nova.get("flavor")
    description = _format_name(flavor)
    if not isinstance(flavor, collections.abc.Mapping):
        return description
    sizes = [
        f"{flavor[key]} {unit}"
        for key, unit in (
            ("vcpus", "vCPUs"),
            ("memory_mib", "MiB memory"),
            ("disk_gib", "GiB disk"),
            ("ephemeral_gib", "GiB ephemeral disk"),
            ("swap_mib", "MiB swap disk"),
        )
        # A boot disk of 0 GiB is as large as the image.
        if key in flavor and (flavor[key] or key == "disk_gib")
    ]
    description = (
        f"{description} ({', '.join(sizes)})" if sizes else description
    )
    specs = flavor.get("extra_specs")
    return f"{description}, {text.flatten(specs)}" if specs else description


def _disk(guest: model.DescribedMachine) -> str:
    """Return the description of a guest's boot volume as text, or ""."""
    disk = guest.nova.get("disk")
    if not disk or disk["source"] != "volume":
        return ""
    return _describe_volume(disk)


def _describe_volume(volume: documents.Facts) -> str:
    """Return the size, the type and the number of a volume as text."""
    kind = text.flatten(volume.get("type") or "")
    count = volume.get("count", 1)
    return (
        (f"{text.flatten(count)} x " if count != 1 else "")
        + f"volume of {text.flatten(volume['size_gib'])} GiB"
        + (f", type {kind}" if kind else "")
    )


def _list_guests(guests: list[model.DescribedMachine]) -> list[str]:
    """Return lines on the guests and their hosts, as a list."""
    if len(guests) <= _MOST_LINES:
        return [f"{guest.name} on {_describe_host(guest)}" for guest in guests]
    hosts: dict[str, list[str]] = {}
    for guest in guests:
        hosts.setdefault(_describe_host(guest), []).append(guest.name)
    return [
        f"{len(names)} on {host}: {text.flatten(names)}"
        for host, names in hosts.items()
    ]


def _describe_host(guest: model.DescribedMachine) -> str:
    """Return the host of a guest, or a shortened host ID, as text."""
    host, host_id = guest.nova.get("host"), guest.nova.get("host_id")
    if host:
        return text.flatten(host)
    if host_id:
        return f"host id {host_names.shorten(text.flatten(host_id))}"
    return host_names.shorten(text.flatten(guest.host)) or "an unknown host"


def _list_fact(
    guests: collections.abc.Iterable[model.DescribedMachine], key: str
) -> list[str]:
    """Return the values of a fact of guests from Nova, one per line."""
    return _unique_lines(
        text.flatten(guest.nova.get(key) or "") for guest in guests
    )


def _list_virtualisation(
    run: reports.RunReport,
    guests: collections.abc.Iterable[model.DescribedMachine],
) -> list[str]:
    """Return the kinds of virtualisation of the guests, one per line."""
    kinds = _unique_lines(
        text.flatten(guest.fingerprint.get("virtualisation") or "")
        for guest in guests
    )
    if run.emulated:
        return ["QEMU emulation (TCG), without KVM"]
    return kinds or ["not known"]


def describe_bare_metal(bare_metal: model.BareMetal) -> str:
    """Return the description of a baseline as text."""
    number = max(
        (
            len(reference.repetitions)
            for reference in bare_metal.references.values()
        ),
        default=0,
    )
    return (
        f"baseline {bare_metal.name}, machine {bare_metal.machine}, "
        f"recorded {text.format_time(bare_metal.recorded_at)} in "
        f"{units.number_of('repetition', number)}"
    )


def _describe_peer(peer: model.RecordedMachine, run: reports.RunReport) -> str:
    """Return the peer's name as text, with a note if bare metal runs it."""
    if run.has_finding("peer_on_host"):
        return f"{peer.name}, on the bare-metal host"
    return peer.name


def _flows(records: collections.abc.Iterable[model.Record]) -> list[str]:
    """Return lines on the endpoints and paths of network workloads."""
    return _unique_lines(
        flow.describe() for record in records for flow in record.flows
    )


def _protocol(record: model.Record) -> list[str]:
    """Return lines on the preparation of commands, by workload."""
    titles: dict[str, list[str]] = {}
    for workload in record.workloads:
        if workload.cooldown:
            step = f"{workload.cooldown:g} s of rest before each command"
            titles.setdefault(step, []).append(workload.title)
        if workload.drop_caches:
            step = "caches dropped before each command"
            titles.setdefault(step, []).append(workload.title)
    total = len(record.workloads)
    reboot = str(record.options.get("reboot", "")).replace("_", " ")
    boot = str(record.options.get("boot", "")).replace("_", " ")
    return [
        *([f"guests booted for {boot}, deleted after it"] if boot else []),
        *([f"guests stopped and started {reboot}"] if reboot else []),
        *(
            step if len(names) == total else f"{step} of {text.flatten(names)}"
            for step, names in titles.items()
        ),
    ]


def _describe_repetitions(run: reports.RunReport) -> str:
    """Return the numbers of counted and warm-up repetitions as text."""
    counted = sum(1 for record in run.records if record.repetition.counted)
    warm = len(run.records) - counted
    planned = run.judgement.missing.planned
    counts = f"{counted} counted of {planned} planned"
    if not warm:
        return f"{counts}, no warm-up"
    return f"{counts}, and {warm} as warm-up"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fact:
    """A fact of machines, next to each other.

    :param values: The text for each machine in the table.
    :param kind: The kind of finding if guests differ from bare metal; or "".
    """

    name: str
    values: tuple[str, ...]
    kind: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machines:
    """The facts of bare metal, of the guests and of the peer.

    :param names: The titles of the columns.
    :param facts: The facts, those that differ first.
    """

    names: tuple[str, ...]
    facts: tuple[Fact, ...]


def compare_machines(
    described: collections.abc.Iterable[model.DescribedMachine],
    bare_metal: model.BareMetal | None,
) -> Machines:
    """Return a table of the facts of all machines; a dash if missing.

    Bare metal is first if there is a baseline. All guests share a column.
    The functions that raise findings decide what differs.
    """
    machines = list(described)
    columns: dict[str, list[model.DescribedMachine | model.BareMetal]] = {}
    if bare_metal is not None:
        columns[f"{bare_metal.machine} (bare metal)"] = [bare_metal]
    for role in ("guest", "copy", "peer", "control"):
        alike = [machine for machine in machines if machine.role == role]
        if len(alike) > 1:
            columns[units.number_of(role, len(alike))] = [*alike]
        elif alike:
            columns[f"{alike[0].name} ({role})"] = [*alike]
    guests = [machine for machine in machines if machine.role == "guest"]
    kinds = _list_differences(guests, bare_metal) if bare_metal else {}
    facts = [[_list_facts(each) for each in side] for side in columns.values()]
    names = dict.fromkeys(
        name for side in facts for each in side for name in each
    )
    table = [
        Fact(
            name=name.replace("_", " "),
            values=tuple(
                " | ".join(_unique_lines(each.get(name, "") for each in side))
                or "-"
                for side in facts
            ),
            kind=kinds.get(name, ""),
        )
        for name in names
    ]
    return Machines(
        names=tuple(columns),
        facts=tuple(sorted(table, key=lambda fact: not fact.kind)),
    )


def _list_differences(
    guests: collections.abc.Iterable[model.DescribedMachine],
    bare_metal: model.BareMetal,
) -> dict[str, str]:
    """Return the kind of finding for each fact that differs in a guest."""
    kinds: dict[str, str] = {}
    for guest in guests:
        kinds |= comparability.list_differing_facts(
            bare_metal.fingerprint, guest.fingerprint
        )
        tools = tool_comparison.find_differences(bare_metal.tools, guest.tools)
        for command, key in tools.items():
            kinds[f"tool {command}"] = f"tool_{key}_differs"
    return kinds


def _list_facts(
    machine: model.DescribedMachine | model.BareMetal,
) -> dict[str, str]:
    """Return the facts and tool versions of a machine, text by key."""
    facts = {
        key: text.flatten(fact) for key, fact in machine.fingerprint.items()
    }
    for command, tool in machine.tools.items():
        if isinstance(tool, collections.abc.Mapping):
            version = text.flatten(tool.get("version"))
            checksum = text.flatten(tool.get("checksum") or "")[:12]
            tool = f"{version} {checksum}".strip()
        facts[f"tool {command}"] = text.flatten(tool)
    return facts


class CommandLine(t.NamedTuple):
    """A command of a workload.

    :param name: The name of the workload, and of the command in it.
    :param line: The command line with placeholders for what differs between
        machines.
    """

    name: str
    line: str


def list_commands(record: model.Record) -> list[CommandLine]:
    """Return the command lines that follow from the recorded arguments.

    Workloads that are not installed, or no longer accept the arguments, have
    none. Guests and bare metal run the same command lines.
    """
    lines = []
    for workload in record.workloads:
        try:
            tool = registry.get_workload(workload.name)
            arguments = tool.complete(workload.arguments)
            arguments = schemas.resolve_vcpus(
                tool.ARGUMENTS, arguments, record.shape.vcpus
            )
            arguments = tool.for_endpoints(arguments, _PLACEHOLDERS)
            commands = tool.commands(arguments, _PLACEHOLDERS)
        except (base.WorkloadError, ValueError):
            continue
        for command in commands:
            name = workload.title
            if command.name != workload.name:
                name += f" {command.name}"
            lines.append(CommandLine(name, shlex.join(command.argv)))
            if command.server is not None:
                line = shlex.join(command.server.argv)
                lines.append(CommandLine(f"{name}, server", line))
    return lines


def _list_levels(record: model.Record) -> dict[str, list[int]]:
    """Return the numbers of guests of a record as an argument, if any."""
    numbers = {
        condition.guests
        for condition in record.repetition.conditions
        if condition.guests is not None
    }
    return {"levels": sorted(numbers)} if numbers else {}


def format_task(run: reports.RunReport) -> str:
    """Return the task that repeats a run as YAML, as far as it is known.

    Records have no options of guests, which only Rally's results have.
    """
    record = run.last
    counted = sum(1 for each in run.records if each.repetition.counted)
    contexts = dict(run.contexts)
    if record.bare_metal and not contexts:
        contexts = {"vmperf_baseline": {"name": record.bare_metal.name}}
    return yaml.safe_dump(
        {
            "args": {
                **_list_levels(record),
                **record.options,
                "warmup": len(run.records) - counted,
                "workloads": [
                    {
                        "name": workload.name,
                        **(
                            {"label": workload.label} if workload.label else {}
                        ),
                        "arguments": workload.arguments,
                    }
                    for workload in record.workloads
                ],
            },
            "runner": {"serial": {"times": len(run.records)}},
            **({"contexts": contexts} if contexts else {}),
            **({"sla": dict(run.limits)} if run.limits else {}),
        },
        sort_keys=False,
        allow_unicode=True,
    )
