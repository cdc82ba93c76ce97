"""The setting of a run as text."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement.samples import units
from rally_vmperf.records import flows
from rally_vmperf.report import reports
from rally_vmperf.report import text

Json = collections.abc.Mapping[str, t.Any]

#: The maximum number of guests with one line each.
_MOST_LINES = 6


def facts(run: reports.RunReport) -> reports.Facts:
    """Return the facts that precede the figures, in order."""
    if not run.records:
        return run.facts
    judgement = run.judgement
    record = run.last
    guests = run.of_role("guest")
    unknown = f"not known: {run.machines_error}"
    described: reports.Facts = [
        ("Machines", [unknown] if run.machines_error else []),
        ("Flavor", _unique_lines(_flavor(guest) for guest in guests)),
        (
            "Image",
            _unique_lines(_name(_nova(guest, "image")) for guest in guests),
        ),
        ("Disk", _unique_lines(_disk(guest) for guest in guests)),
        ("Guests", _guests(guests)),
        ("Virtualisation", _virtualisation(run, guests)),
        *run.section.comparison_facts(run),
        ("Peer", [_peer(peer, run) for peer in run.of_role("peer")]),
        ("Network", _flows(run.records)),
        ("Repetitions", [_repetitions(run, judgement.missing.planned)]),
        ("Protocol", _protocol(record)),
        ("Confidence", [f"{judgement.confidence * 100:g} %"]),
        (
            "Measured",
            [
                f"{text.format_time(run.records[0]['started_at'])} to "
                f"{text.format_time(record['finished_at'])}"
            ],
        ),
        (
            "Rally",
            [f"task {record['task']}, workload {record['rally_workload']}"],
        ),
    ]
    return [(name, lines) for name, lines in described if lines]


def _nova(guest: Json, key: str) -> t.Any:
    return guest.get("nova", {}).get(key)


def _unique_lines(lines: collections.abc.Iterable[str]) -> list[str]:
    return list(dict.fromkeys(line for line in lines if line))


def _name(reference: t.Any) -> str:
    if isinstance(reference, collections.abc.Mapping):
        return text.flatten(reference.get("name") or reference.get("id") or "")
    return text.flatten(reference) if reference else ""


def _flavor(guest: Json) -> str:
    flavor = _nova(guest, "flavor")
    text_ = _name(flavor)
    if not isinstance(flavor, collections.abc.Mapping):
        return text_
    sizes = [
        f"{flavor[key]} {unit}"
        for key, unit in (
            ("vcpus", "vCPUs"),
            ("memory_mib", "MiB memory"),
            ("disk_gib", "GiB disk"),
        )
        if key in flavor
    ]
    text_ = f"{text_} ({', '.join(sizes)})" if sizes else text_
    specs = flavor.get("extra_specs")
    return f"{text_}, {text.flatten(specs)}" if specs else text_


def _disk(guest: Json) -> str:
    """Return the boot volume of a guest, or an empty string."""
    disk = _nova(guest, "disk")
    if not disk or disk["source"] != "volume":
        return ""
    kind = f", type {text.flatten(disk['type'])}" if disk.get("type") else ""
    return f"volume of {disk['size_gib']} GiB{kind}"


def _guests(guests: list[Json]) -> list[str]:
    """Return the guests with their hosts; one line per host if many."""
    if len(guests) <= _MOST_LINES:
        return [f"{guest['name']} on {_host(guest)}" for guest in guests]
    hosts: dict[str, list[str]] = {}
    for guest in guests:
        hosts.setdefault(_host(guest), []).append(guest["name"])
    return [
        f"{len(names)} on {host}: {text.flatten(names)}"
        for host, names in hosts.items()
    ]


def _host(guest: Json) -> str:
    host, host_id = _nova(guest, "host"), _nova(guest, "host_id")
    if host:
        return text.flatten(host)
    if host_id:
        return f"host id {text.flatten(host_id)[:12]}"
    return text.flatten(guest["host"]) or "an unknown host"


def _virtualisation(
    run: reports.RunReport, guests: collections.abc.Iterable[Json]
) -> list[str]:
    kinds = _unique_lines(
        text.flatten(guest.get("fingerprint", {}).get("virtualisation") or "")
        for guest in guests
    )
    if run.emulated:
        return ["QEMU emulation (TCG), without KVM"]
    return kinds or ["not known"]


def reference(reference: Json) -> str:
    """Return the description of a baseline."""
    number = max(
        (len(copies["repetitions"]) for copies in reference["copies"]),
        default=0,
    )
    return (
        f"baseline {reference['name']}, machine {reference['machine']}, "
        f"recorded {text.format_time(reference['recorded_at'])} in "
        f"{units.number_of('repetition', number)}"
    )


def _peer(peer: Json, run: reports.RunReport) -> str:
    if run.has_finding("peer_on_host"):
        return f"{peer['name']}, on the bare-metal host"
    return str(peer["name"])


def _flows(records: collections.abc.Iterable[Json]) -> list[str]:
    """Return the endpoints and the path of network workloads."""
    return _unique_lines(
        flows.describe(flow)
        for flow in flows.of_records(records, ("peer", "partner"))
    )


def _protocol(record: Json) -> list[str]:
    """Return the preparation of commands with the affected workloads."""
    titles: dict[str, list[str]] = {}
    for workload in record["workloads"]:
        title = "-".join(filter(None, (workload["name"], workload["label"])))
        if workload.get("cooldown"):
            step = f"{workload['cooldown']:g} s of rest before each command"
            titles.setdefault(step, []).append(title)
        if workload.get("drop_caches"):
            step = "caches dropped before each command"
            titles.setdefault(step, []).append(title)
    total = len(record["workloads"])
    reboot = str(record["options"].get("reboot", "")).replace("_", " ")
    return [
        *([f"guests stopped and started {reboot}"] if reboot else []),
        *(
            step if len(names) == total else f"{step} of {text.flatten(names)}"
            for step, names in titles.items()
        ),
    ]


def _repetitions(run: reports.RunReport, planned: int) -> str:
    counted = sum(1 for record in run.records if record["counted"])
    warm = len(run.records) - counted
    text_ = f"{counted} counted of {planned} planned"
    if not warm:
        return f"{text_}, no warm-up"
    return f"{text_}, and {warm} as warm-up"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machines:
    """The facts of each machine.

    :param names: The names of bare metal, the guests and the peer.
    :param lines: The name of each fact with one text per machine.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def compare_machines(
    described: collections.abc.Iterable[Json], reference: Json | None
) -> Machines:
    """Return the facts of all machines; a dash for missing facts.

    Bare metal is first if there is a baseline.
    """
    machines = [*described]
    if reference is not None:
        metal = {"name": reference["machine"], "role": "bare metal"}
        machines.insert(0, {**reference, **metal})
    machine_facts = [_describe_machine(machine) for machine in machines]
    names = dict.fromkeys(name for facts in machine_facts for name in facts)
    return Machines(
        names=tuple(
            f"{machine['name']} ({machine['role']})" for machine in machines
        ),
        rows=tuple(
            (name, tuple(facts.get(name, "-") for facts in machine_facts))
            for name in names
        ),
    )


def _describe_machine(machine: Json) -> dict[str, str]:
    facts = {
        key.replace("_", " "): text.flatten(fact)
        for key, fact in machine.get("fingerprint", {}).items()
    }
    for command, tool in machine.get("tools", {}).items():
        if isinstance(tool, collections.abc.Mapping):
            version = text.flatten(tool.get("version"))
            checksum = text.flatten(tool.get("checksum") or "")[:12]
            tool = f"{version} {checksum}".strip()
        facts[f"tool {command}"] = text.flatten(tool)
    return facts
