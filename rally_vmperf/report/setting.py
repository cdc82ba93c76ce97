"""Under which circumstances a run measured, in words."""

import collections.abc
import typing as t

from rally_vmperf.report import run as runs
from rally_vmperf.report import text

Json = collections.abc.Mapping[str, t.Any]
Facts = list[tuple[str, list[str]]]


def facts(run: runs.Run) -> Facts:
    """Return what a reader must know before the figures, in order."""
    if not run.records:
        return []
    record = run.last
    guests = [one for one in record["machines"] if one["role"] == "guest"]
    peers = [one for one in record["machines"] if one["role"] == "peer"]
    described: Facts = [
        ("Flavor", _once(_flavor(guest) for guest in guests)),
        ("Image", _once(_name(_nova(guest, "image")) for guest in guests)),
        ("Disk", _once(_disk(guest) for guest in guests)),
        ("Guests", [_guest(guest) for guest in guests]),
        ("Virtualisation", _virtualisation(run, guests)),
        ("Bare metal", [_reference(record["reference"])]),
        ("Shape of bare metal", [_shape(record["shape"])]),
        ("Peer", [_peer(peer, run) for peer in peers]),
        ("Repetitions", [_repetitions(run)]),
        ("Confidence", [f"{run.judgement.confidence * 100:g} %"]),
        (
            "Measured",
            [
                f"{text.moment(run.records[0]['started_at'])} to "
                f"{text.moment(record['finished_at'])}"
            ],
        ),
        ("Rally", [f"task {record['task']}, workload {record['workload']}"]),
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
    kind = f", type {text.flat(disk['type'])}" if disk["type"] else ""
    return f"volume of {disk['size_gib']} GiB{kind}"


def _guest(guest: Json) -> str:
    host, known_as = _nova(guest, "host"), _nova(guest, "host_id")
    if host:
        return f"{guest['name']} on {text.flat(host)}"
    if known_as:
        return f"{guest['name']} on host id {text.flat(known_as)[:12]}"
    return f"{guest['name']} on a host that is not known"


def _virtualisation(
    run: runs.Run, guests: collections.abc.Iterable[Json]
) -> list[str]:
    kinds = _once(
        text.flat(guest.get("fingerprint", {}).get("virtualisation") or "")
        for guest in guests
    )
    if run.emulated:
        return ["QEMU's emulation (TCG), no KVM"]
    return kinds or ["not known"]


def _reference(reference: Json) -> str:
    number = len(reference["repetitions"])
    return (
        f"baseline {reference['name']}, machine {reference['machine']}, "
        f"recorded {text.moment(reference['recorded_at'])} in {number} "
        f"{'repetition' if number == 1 else 'repetitions'}"
    )


def _shape(shape: Json) -> str:
    copies = shape["copies"]
    return (
        f"{shape['vcpus']} CPUs and {shape['memory_mib']} MiB for each of "
        f"{copies} {'copy' if copies == 1 else 'copies'}"
    )


def _peer(peer: Json, run: runs.Run) -> str:
    if run.found("peer_on_host"):
        return f"{peer['name']}, on the bare-metal host itself"
    return str(peer["name"])


def _repetitions(run: runs.Run) -> str:
    counted = sum(1 for record in run.records if record["counted"])
    warm = len(run.records) - counted
    words = f"{counted} counted of {run.judgement.missing.planned} planned"
    if not warm:
        return f"{words}, no warm-up"
    return f"{words}, and {warm} as warm-up"
