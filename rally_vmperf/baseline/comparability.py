# SPDX-License-Identifier: Apache-2.0
"""Findings on whether guests and bare metal can be compared."""

import collections.abc
import re
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import host_names

#: The metrics that a finding concerns; an empty tuple means all of them.
Metrics = tuple[str, ...]

#: Instructions on x86 and ARM by which programs select their code. Other flags
#: describe kernel features, many of which guests lack on purpose.
_INSTRUCTIONS = re.compile(
    r"(avx|sse|ssse|fma|f16c|amx|aes|vaes|sha|pclmul|vpclmul|gfni|popcnt|bmi|"
    r"abm|adx|erms|fsrm|asimd|sve|sme|pmull|crc32|atomics)"
)


#: The frequency drivers, in active mode, that ignore the governor under load.
_AUTONOMOUS_DRIVERS = ("intel_pstate", "amd-pstate-epp")


def _list_properties(facts: documents.Facts) -> list[tuple[str, str, t.Any]]:
    """Return the properties in a fingerprint that are compared, as tuples.

    :returns: The sensitivity of workloads, the kind of finding for a
        difference, and the value of each property.
    """
    flags = map(str, _get_list(facts, "cpu_flags"))
    instructions = frozenset(filter(_INSTRUCTIONS.match, flags))
    pages = facts.get("transparent_huge_pages")
    nics = "network_interfaces"
    disk_settings = _find_common(facts, "disks", "scheduler", "write_cache")
    nic_settings = _find_common(facts, nics, "mtu", "offloads")
    return [
        ("cpu_model", "cpu_model_differs", facts.get("cpu_model")),
        ("instructions", "instructions_differ", instructions),
        ("microcode", "microcode_differs", facts.get("microcode")),
        ("turbo", "turbo_differs", facts.get("turbo")),
        ("kernel", "kernel_differs", facts.get("kernel")),
        ("mitigations", "mitigations_differ", facts.get("mitigations")),
        ("huge_pages", "huge_pages_differ", pages),
        ("disks", "disk_settings_differ", disk_settings),
        (nics, "nic_settings_differ", nic_settings),
        ("disks", "queues_differ", _find_common(facts, "disks", "queues")),
        (nics, "queues_differ", _find_common(facts, nics, "queues")),
    ]


def find_write_cache(facts: documents.Facts) -> str:
    """Return the write cache that all disks in a fingerprint share, or ""."""
    return _find_common(facts, "disks", "write_cache").get("write_cache", "")


def _get_list(facts: documents.Facts, key: str) -> list[t.Any]:
    """Return the list under a key of a fingerprint; [] if it is not one."""
    items = facts.get(key)
    return items if isinstance(items, list) else []


def _find_common(
    facts: documents.Facts, table: str, *keys: str
) -> dict[str, str]:
    """Return the settings that all devices of a table share, as a dict.

    It is unknown which device is used, so settings that differ between devices
    are not compared.
    """
    devices = _get_list(facts, table)
    common = {}
    for key in keys:
        settings = {
            _extract_scheduler(str(device.get(key) or ""))
            for device in devices
            if isinstance(device, collections.abc.Mapping)
        }
        if len(settings) == 1 and "" not in settings:
            common[key] = settings.pop()
    return common


def _extract_scheduler(text: str) -> str:
    """Return the scheduler in brackets (the selected one) of a text."""
    match = re.search(r"\[([^][]*)\]", text)
    return match[1] if match else text


def compare_machines(
    bare_metal: documents.Facts,
    facts: documents.Facts,
    subject: str,
    sensitive: collections.abc.Mapping[str, Metrics | None] | None = None,
    reference: str = "bare metal",
) -> list[finding.Finding]:
    """Return findings on differences between two fingerprints.

    Properties that are unknown on one side are not compared.

    :param subject: The name of the other machine.
    :param sensitive: Property -> the metrics that depend on it; None if none
        does. Properties that are not in it affect all metrics.
    :param reference: The name of the first machine.
    """
    findings = []
    for key, kind, recorded, reported in _find_differences(bare_metal, facts):
        metrics = (sensitive or {}).get(key, ())
        if metrics is None:
            continue
        detail = (
            f"{reference}: {_format_facts(recorded, reported)}; {subject}: "
            f"{_format_facts(reported, recorded)}"
        )
        findings.append(
            finding.Finding(kind, subject, detail, metrics=metrics)
        )
    return findings


#: Property -> its key in a fingerprint, if that differs.
_FACTS = {
    "instructions": "cpu_flags",
    "huge_pages": "transparent_huge_pages",
}


def list_differing_facts(
    bare_metal: documents.Facts, facts: documents.Facts
) -> dict[str, str]:
    """Return the kind of finding for each differing fact, by its key."""
    return {
        _FACTS.get(key, key): kind
        for key, kind, _, _ in _find_differences(bare_metal, facts)
    }


def _find_differences(
    bare_metal: documents.Facts, facts: documents.Facts
) -> collections.abc.Iterator[tuple[str, str, t.Any, t.Any]]:
    """Yield property, kind of finding and both values of each difference."""
    pairs = zip(
        _list_properties(bare_metal), _list_properties(facts), strict=True
    )
    for (key, kind, recorded), (_, _, reported) in pairs:
        if isinstance(recorded, dict) and isinstance(reported, dict):
            recorded, reported = _select_comparable(kind, recorded, reported)
        if recorded and reported and recorded != reported:
            yield key, kind, recorded, reported


def _select_comparable(
    kind: str, recorded: dict[str, str], reported: dict[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the comparable settings of two machines, as a pair.

    A mitigation that a kernel lacks is a difference, but a guest does not
    know the state of one that depends on its hypervisor.
    """
    ignored = recorded.keys() ^ reported.keys()
    if kind == "mitigations_differ":
        ignored = {
            name
            for name, state in (*recorded.items(), *reported.items())
            if str(state).startswith("Unknown")
        }
    return (
        {name: recorded[name] for name in recorded if name not in ignored},
        {name: reported[name] for name in reported if name not in ignored},
    )


def virtualisation(
    guest: documents.Facts, subject: str
) -> list[finding.Finding]:
    """Return findings on the hypervisor, as the guest reports it."""
    kind = guest.get("virtualisation")
    if guest.get("emulated") or kind == "qemu":
        return _create_findings(
            "emulated_guest",
            subject,
            f"{subject} runs under QEMU's emulation (TCG), not KVM",
        )
    if kind in (None, "", "unknown", "none"):
        return _create_findings(
            "virtualisation_unknown",
            subject,
            f"{subject} does not report its hypervisor "
            f"({kind or 'nothing reported'})",
        )
    return []


def governor(
    bare_metal: documents.Facts, metrics: Metrics | None = ()
) -> list[finding.Finding]:
    """Return a finding if bare metal saved power during the measurement.

    Drivers that raise the frequency with any governor save none under load.

    :param metrics: The metrics that depend on it; None if none does.
    """
    name = bare_metal.get("governor")
    driver = bare_metal.get("scaling_driver")
    saves_power = name and name != "performance"
    if not saves_power or driver in _AUTONOMOUS_DRIVERS or metrics is None:
        return []
    return _create_findings(
        "governor_not_performance",
        "baseline",
        f"the governor of bare metal was {name} "
        f"(driver: {driver or 'unknown'})",
        metrics,
    )


def nested(bare_metal: documents.Facts) -> list[finding.Finding]:
    """Return a finding if bare metal is itself a guest."""
    kind = bare_metal.get("virtualisation")
    if kind in (None, "", "none", "unknown"):
        return []
    return _create_findings(
        "bare_metal_is_guest",
        "baseline",
        f"the machine of the baseline runs under {kind}",
    )


def host(
    baseline: document.Baseline, guest: str, hypervisor: str | None
) -> list[finding.Finding]:
    """Return a finding if a guest is known to run on another host.

    A baseline of a class applies to all its machines.

    :param baseline: The baseline.
    :param guest: The name of the guest.
    :param hypervisor: The name of its host in Nova; None if hidden.
    """
    machine = baseline.machine.name
    is_same = not hypervisor or host_names.same(hypervisor, machine)
    if is_same or baseline.machine_class:
        return []
    return _create_findings(
        "host_differs",
        guest,
        f"{guest} runs on {hypervisor}, the baseline was recorded "
        f"on {machine}",
    )


#: Instructions that both libvirt and Linux have long reported, without
#: punctuation; old versions of libvirt do not report newer ones.
_OF_BOTH = re.compile(
    "ssse3|sse4[12a]|popcnt|aes|pclmulqdq|abm|bmi[12]|adx|fma4?|xop|f16c|"
    "shani|avx2?|avx512(f|dq|cd|bw|vl|vnni)"
)
#: An instruction that each comparable processor has.
_ALWAYS = "sse2"


def host_cpu(
    bare_metal: documents.Facts,
    guest: str,
    features: collections.abc.Iterable[str],
) -> list[finding.Finding]:
    """Return a finding if a guest's host has other processor features.

    Model names cannot be compared: libvirt reports families, and Linux the
    name of the vendor. Processors with different instructions differ; those
    with the same instructions can differ.

    :param bare_metal: The fingerprint of bare metal.
    :param guest: The name of the guest.
    :param features: The processor features of its host, as libvirt names them.
    """
    flags = map(str, _get_list(bare_metal, "cpu_flags"))
    recorded = frozenset(map(_normalise_name, flags))
    reported = frozenset(map(_normalise_name, features))
    differ = set(filter(_OF_BOTH.fullmatch, recorded ^ reported))
    if _ALWAYS not in recorded & reported or not differ:
        return []
    return _create_findings(
        "host_cpu_differs",
        guest,
        f"bare metal: {_format_facts(recorded & differ, reported)}; "
        f"host of {guest}: {_format_facts(reported & differ, recorded)}",
    )


def _normalise_name(name: str) -> str:
    """Return a CPU flag in lower case, without punctuation."""
    bare = re.sub("[^a-z0-9]", "", name.lower())
    return "pclmulqdq" if bare == "pclmuldq" else bare


def same_peer(
    recorded: documents.Facts, peer: documents.Facts
) -> list[finding.Finding]:
    """Return a finding if the peer differs from that of the baseline."""
    recorded_id = recorded.get("machine_id")
    reported_id = peer.get("machine_id")
    if not recorded_id or not reported_id or recorded_id == reported_id:
        return []
    return _create_findings(
        "peer_differs",
        "peer",
        f"its machine-id is {reported_id} (hashed), that of the "
        f"baseline's peer is {recorded_id}",
    )


def peer_on_host(
    bare_metal: documents.Facts, peer: documents.Facts
) -> list[finding.Finding]:
    """Return a finding if the peer runs on the bare-metal machine itself."""
    boot = bare_metal.get("boot_id")
    if not boot or boot != peer.get("boot_id"):
        return []
    return _create_findings(
        "peer_on_host",
        "peer",
        "the peer runs on the bare-metal machine itself (same boot), for "
        "example in a network namespace",
    )


def _create_findings(
    kind: str, subject: str, detail: str, metrics: Metrics = ()
) -> list[finding.Finding]:
    """Return a list of one finding."""
    return [finding.Finding(kind, subject, detail, metrics=metrics)]


def _format_facts(facts: t.Any, other_facts: t.Any) -> str:
    """Return as text what a value has and the other value does not."""
    if isinstance(facts, frozenset):
        return " ".join(sorted(facts - other_facts))[:300] or "nothing more"
    if not isinstance(facts, dict):
        return str(facts)[:200]
    other_settings = other_facts if isinstance(other_facts, dict) else {}
    changed = [
        f"{key}={value}"
        for key, value in sorted(facts.items())
        if other_settings.get(key) != value
    ]
    return ", ".join(changed)[:300] or "nothing more"
