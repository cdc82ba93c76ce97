"""Whether guests and bare metal can be compared at all."""

import collections.abc
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.workloads import tools

Json = collections.abc.Mapping[str, t.Any]

#: Metrics that a finding concerns: some, or where there are none all of them.
Metrics = tuple[str, ...]

#: Key of a fingerprint -> the finding that a difference in it raises.
_COMPARED = {
    "cpu_model": "cpu_model_differs",
    "microcode": "microcode_differs",
    "kernel": "kernel_differs",
    "mitigations": "mitigations_differ",
}


def compare_machines(
    bare_metal: Json,
    other: Json,
    subject: str,
    sensitive: collections.abc.Mapping[str, Metrics | None] | None = None,
) -> list[finding.Finding]:
    """Return what differs between the fingerprints of two machines.

    A key that either side does not know is not compared.

    :param subject: the name of the other machine
    :param sensitive: key -> the metrics to which it matters, None where it
        matters to none; a key that is not in it matters to all
    """
    found = []
    for key, kind in _COMPARED.items():
        ours, theirs = bare_metal.get(key), other.get(key)
        concerned = (sensitive or {}).get(key, ())
        if not ours or not theirs or ours == theirs or concerned is None:
            continue
        found += _found(
            kind,
            subject,
            f"bare metal: {_show(ours, theirs)}; {subject}: "
            f"{_show(theirs, ours)}",
            concerned,
        )
    return found


def compare_tools(
    bare_metal: Json,
    other: Json,
    subject: str,
    users: collections.abc.Mapping[str, Metrics] | None = None,
) -> list[finding.Finding]:
    """Return which tools differ in upstream version, or only in their build.

    :param users: tool -> the metrics that it is used for; a tool that is not
        in it is used for all
    """
    found = []
    for command in sorted(bare_metal.keys() & other.keys()):
        ours, theirs = bare_metal[command], other[command]
        for key, kind in (
            ("version", "tool_version_differs"),
            ("checksum", "tool_checksum_differs"),
        ):
            if _same(key, ours.get(key), theirs.get(key)):
                continue
            found += _found(
                kind,
                subject,
                f"{command}: bare metal {ours.get(key)}, "
                f"{subject} {theirs.get(key)}",
                (users or {}).get(command, ()),
            )
            break
    return found


def _same(key: str, ours: str | None, theirs: str | None) -> bool:
    """Return whether a tool is the same on both sides.

    A distribution's revision is not part of its version, but of its build.
    """
    if key == "version" and ours and theirs:
        versions = tools.upstream(ours), tools.upstream(theirs)
        if all(versions):
            return versions[0] == versions[1]
    return ours == theirs


def virtualisation(guest: Json, subject: str) -> list[finding.Finding]:
    """Return what a guest's own view says of its hypervisor."""
    kind = guest.get("virtualisation")
    if guest.get("tcg") or kind == "qemu":
        return _found(
            "emulated_guest",
            subject,
            f"{subject} runs under QEMU's emulation (TCG), not KVM",
        )
    if kind in (None, "", "unknown", "none"):
        return _found(
            "virtualisation_unknown",
            subject,
            f"{subject} does not tell what it runs under "
            f"({kind or 'nothing reported'})",
        )
    return []


def governor(
    bare_metal: Json, concerned: Metrics | None = ()
) -> list[finding.Finding]:
    """Return whether bare metal saved power while it was measured.

    :param concerned: the metrics to which it matters, None where there are
        none
    """
    name = bare_metal.get("governor")
    if not name or name == "performance" or concerned is None:
        return []
    return _found(
        "governor_not_performance",
        "baseline",
        f"the governor of bare metal was {name}",
        concerned,
    )


def nested(bare_metal: Json) -> list[finding.Finding]:
    """Return whether bare metal is itself a guest."""
    kind = bare_metal.get("virtualisation")
    if kind in (None, "", "none", "unknown"):
        return []
    return _found(
        "bare_metal_is_guest",
        "baseline",
        f"the machine of the baseline runs under {kind}",
    )


def host(
    machine: str, guest: str, hypervisor: str | None
) -> list[finding.Finding]:
    """Return whether a guest is known to run elsewhere.

    :param machine: host name of the machine of the baseline
    :param guest: its name
    :param hypervisor: what Nova calls its machine, None where that is hidden
    """
    if not hypervisor or _short(hypervisor) == _short(machine):
        return []
    return _found(
        "other_host",
        guest,
        f"{guest} runs on {hypervisor}, the baseline was recorded "
        f"on {machine}",
    )


def same_peer(recorded: Json, peer: Json) -> list[finding.Finding]:
    """Return whether the peer is another machine than the baseline's."""
    ours, theirs = recorded.get("machine_id"), peer.get("machine_id")
    if not ours or not theirs or ours == theirs:
        return []
    return _found(
        "other_peer",
        "peer",
        f"its machine-id is {theirs} (hashed), that of the "
        f"baseline's peer is {ours}",
    )


def peer_place(bare_metal: Json, peer: Json) -> list[finding.Finding]:
    """Return whether the peer is on the bare-metal machine itself."""
    boot = bare_metal.get("boot_id")
    if boot and boot == peer.get("boot_id"):
        return _found(
            "peer_on_host",
            "peer",
            "the peer runs on the bare-metal machine itself "
            "(same boot), for example in a network namespace",
        )
    return []


def _found(
    kind: str, subject: str, seen: str, metrics: Metrics = ()
) -> list[finding.Finding]:
    return [
        finding.Finding(kind=kind, subject=subject, seen=seen, metrics=metrics)
    ]


def _short(name: str) -> str:
    return name.split(".")[0].lower()


def _show(ours: t.Any, theirs: t.Any) -> str:
    if isinstance(ours, collections.abc.Mapping):
        other = theirs if isinstance(theirs, collections.abc.Mapping) else {}
        changed = [
            f"{key}={value}"
            for key, value in sorted(ours.items())
            if other.get(key) != value
        ]
        return ", ".join(changed)[:300] or "nothing more"
    return str(ours)[:200]
