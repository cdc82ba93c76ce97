"""The circumstances of a run, as text."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.measurement.samples import units
from rally_vmperf.records import flows
from rally_vmperf.report import run as runs
from rally_vmperf.report import text

Json = collections.abc.Mapping[str, t.Any]

#: Guests that have a line each.
_MOST_LINES = 6


def facts(run: runs.RunReport) -> runs.Facts:
    """Return the facts that a reader needs before the figures, in order."""
    if not run.records:
        return run.facts
    judgement = run.judgement
    record = run.last
    guests = run.of_role("guest")
    unknown = f"not known: {run.lacking}"
    described: runs.Facts = [
        ("Machines", [unknown] if run.lacking else []),
        ("Flavor", _once(_flavor(guest) for guest in guests)),
        ("Image", _once(_name(_nova(guest, "image")) for guest in guests)),
        ("Disk", _once(_disk(guest) for guest in guests)),
        ("Guests", _guests(guests)),
        ("Virtualisation", _virtualisation(run, guests)),
        *run.section.compared(run),
        ("Peer", [_peer(peer, run) for peer in run.of_role("peer")]),
        ("Network", _flows(run.records)),
        ("Repetitions", [_repetitions(run, judgement.missing.planned)]),
        ("Protocol", _protocol(record)),
        ("Confidence", [f"{judgement.confidence * 100:g} %"]),
        (
            "Measured",
            [
                f"{text.moment(run.records[0]['started_at'])} to "
                f"{text.moment(record['finished_at'])}"
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


def _once(lines: collections.abc.Iterable[str]) -> list[str]:
    return list(dict.fromkeys(line for line in lines if line))


def _name(thing: t.Any) -> str:
    if isinstance(thing, collections.abc.Mapping):
        return text.flat(thing.get("name") or thing.get("id") or "")
    return text.flat(thing) if thing else ""


def _flavor(guest: Json) -> str:
    flavor = _nova(guest, "flavor")
    words = _name(flavor)
    if not isinstance(flavor, collections.abc.Mapping):
        return words
    sizes = [
        f"{flavor[key]} {unit}"
        for key, unit in (
            ("vcpus", "vCPUs"),
            ("memory_mib", "MiB memory"),
            ("disk_gib", "GiB disk"),
        )
        if key in flavor
    ]
    words = f"{words} ({', '.join(sizes)})" if sizes else words
    specs = flavor.get("extra_specs")
    return f"{words}, {text.flat(specs)}" if specs else words


def _disk(guest: Json) -> str:
    """Return the volume a guest was booted from; the flavor names others."""
    disk = _nova(guest, "disk")
    if not disk or disk["source"] != "volume":
        return ""
    kind = f", type {text.flat(disk['type'])}" if disk.get("type") else ""
    return f"volume of {disk['size_gib']} GiB{kind}"


def _guests(guests: list[Json]) -> list[str]:
    """Return guests with their hosts; a line a host where there are many."""
    if len(guests) <= _MOST_LINES:
        return [f"{guest['name']} on {_host(guest)}" for guest in guests]
    hosts: dict[str, list[str]] = {}
    for guest in guests:
        hosts.setdefault(_host(guest), []).append(guest["name"])
    return [
        f"{len(names)} on {host}: {text.flat(names)}"
        for host, names in hosts.items()
    ]


def _host(guest: Json) -> str:
    host, known_as = _nova(guest, "host"), _nova(guest, "host_id")
    if host:
        return text.flat(host)
    if known_as:
        return f"host id {text.flat(known_as)[:12]}"
    return text.flat(guest["host"]) or "a host that is not known"


def _virtualisation(
    run: runs.RunReport, guests: collections.abc.Iterable[Json]
) -> list[str]:
    kinds = _once(
        text.flat(guest.get("fingerprint", {}).get("virtualisation") or "")
        for guest in guests
    )
    if run.emulated:
        return ["QEMU's emulation (TCG), no KVM"]
    return kinds or ["not known"]


def reference(reference: Json) -> str:
    """Return a baseline in words."""
    number = max(
        (len(one["repetitions"]) for one in reference["copies"]), default=0
    )
    return (
        f"baseline {reference['name']}, machine {reference['machine']}, "
        f"recorded {text.moment(reference['recorded_at'])} in "
        f"{units.number_of('repetition', number)}"
    )


def _peer(peer: Json, run: runs.RunReport) -> str:
    if run.found("peer_on_host"):
        return f"{peer['name']}, on the bare-metal host itself"
    return str(peer["name"])


def _flows(records: collections.abc.Iterable[Json]) -> list[str]:
    """Return between whom network workloads measured, and by which path."""
    return _once(
        flows.describe(one)
        for one in flows.of_records(records, ("peer", "partner"))
    )


def _protocol(record: Json) -> list[str]:
    """Return what preceded each command, with the workloads concerned."""
    titles: dict[str, list[str]] = {}
    for one in record["workloads"]:
        title = "-".join(filter(None, (one["name"], one["label"])))
        if one.get("cooldown"):
            rest = f"{one['cooldown']:g} s of rest before each command"
            titles.setdefault(rest, []).append(title)
        if one.get("drop_caches"):
            dropped = "caches dropped before each command"
            titles.setdefault(dropped, []).append(title)
    every = len(record["workloads"])
    reboot = str(record["options"].get("reboot", "")).replace("_", " ")
    return [
        *([f"guests stopped and started {reboot}"] if reboot else []),
        *(
            words if len(names) == every else f"{words} of {text.flat(names)}"
            for words, names in titles.items()
        ),
    ]


def _repetitions(run: runs.RunReport, planned: int) -> str:
    counted = sum(1 for record in run.records if record["counted"])
    warm = len(run.records) - counted
    words = f"{counted} counted of {planned} planned"
    if not warm:
        return f"{words}, no warm-up"
    return f"{words}, and {warm} as warm-up"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Machines:
    """The facts of each machine.

    :param names: bare metal, guests and the peer
    :param lines: a fact's name with one text per machine
    """

    names: tuple[str, ...]
    lines: tuple[tuple[str, tuple[str, ...]], ...]


def side_by_side(
    described: collections.abc.Iterable[Json], reference: Json | None
) -> Machines:
    """Return facts that any machine has; a dash where one lacks it.

    Bare metal is first, where there is any.
    """
    machines = [*described]
    if reference is not None:
        metal = {"name": reference["machine"], "role": "bare metal"}
        machines.insert(0, {**reference, **metal})
    known = [_described(machine) for machine in machines]
    names = dict.fromkeys(name for facts in known for name in facts)
    return Machines(
        names=tuple(f"{one['name']} ({one['role']})" for one in machines),
        lines=tuple(
            (name, tuple(facts.get(name, "-") for facts in known))
            for name in names
        ),
    )


def _described(machine: Json) -> dict[str, str]:
    facts = {
        key.replace("_", " "): text.flat(value)
        for key, value in machine.get("fingerprint", {}).items()
    }
    for command, tool in machine.get("tools", {}).items():
        if isinstance(tool, collections.abc.Mapping):
            version = text.flat(tool.get("version"))
            checksum = text.flat(tool.get("checksum") or "")[:12]
            tool = f"{version} {checksum}".strip()
        facts[f"tool {command}"] = text.flat(tool)
    return facts
