"""Findings on whether guests and bare metal can be compared."""

import collections.abc
import re
import typing as t

from rally_vmperf import documents
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


def _create_view(key: str) -> "_View":
    """Return a function that gets a value from a fingerprint."""
    return lambda facts: facts.get(key)


def _list_instructions(facts: documents.Facts) -> frozenset[str]:
    """Return the CPU flags in a fingerprint that name instructions."""
    flags = map(str, _get_list(facts, "cpu_flags"))
    return frozenset(flag for flag in flags if _INSTRUCTIONS.match(flag))


def _get_list(facts: documents.Facts, key: str) -> list[t.Any]:
    """Return the list under a key of a fingerprint; [] if it is not one."""
    items = facts.get(key)
    return items if isinstance(items, list) else []


def _create_device_view(table: str, *keys: str) -> "_View":
    """Return a function: fingerprint -> settings all devices share.

    It is unknown which device is used, so settings that differ between devices
    are not compared.
    """

    def view(facts: documents.Facts) -> dict[str, str]:
        """Return the settings in a fingerprint that all devices share."""
        common = {}
        for key in keys:
            texts = [
                str(device.get(key) or "")
                for device in _get_list(facts, table)
                if isinstance(device, collections.abc.Mapping)
            ]
            values = set(map(_extract_scheduler, texts))
            if len(values) == 1 and "" not in values:
                common[key] = values.pop()
        return common

    return view


def _extract_scheduler(text: str) -> str:
    """Return the scheduler in brackets (the selected one) of a text."""
    match = re.search(r"\[([^][]*)\]", text)
    return match[1] if match else text


_View = collections.abc.Callable[[documents.Facts], t.Any]
#: The comparisons: the sensitivity of workloads, the finding for a difference,
#: and the view of the fingerprint.
_COMPARED: tuple[tuple[str, str, _View], ...] = (
    ("cpu_model", "cpu_model_differs", _create_view("cpu_model")),
    ("instructions", "instructions_differ", _list_instructions),
    ("microcode", "microcode_differs", _create_view("microcode")),
    ("turbo", "turbo_differs", _create_view("turbo")),
    ("kernel", "kernel_differs", _create_view("kernel")),
    ("mitigations", "mitigations_differ", _create_view("mitigations")),
    (
        "huge_pages",
        "huge_pages_differ",
        _create_view("transparent_huge_pages"),
    ),
    (
        "disks",
        "disk_settings_differ",
        _create_device_view("disks", "scheduler", "write_cache"),
    ),
    (
        "network_interfaces",
        "nic_settings_differ",
        _create_device_view("network_interfaces", "mtu", "offloads"),
    ),
    ("disks", "queues_differ", _create_device_view("disks", "queues")),
    (
        "network_interfaces",
        "queues_differ",
        _create_device_view("network_interfaces", "queues"),
    ),
)


def compare_machines(
    bare_metal: documents.Facts,
    facts: documents.Facts,
    subject: str,
    sensitive: collections.abc.Mapping[str, Metrics | None] | None = None,
) -> list[finding.Finding]:
    """Return findings on differences between two fingerprints.

    Properties that are unknown on one side are not compared.

    :param subject: The name of the other machine.
    :param sensitive: Property -> the metrics that depend on it; None if none
        does. Properties that are not in it affect all metrics.
    """
    findings = []
    for key, kind, view in _COMPARED:
        recorded, reported = view(bare_metal), view(facts)
        if isinstance(recorded, dict) and isinstance(reported, dict):
            recorded, reported = _select_comparable(kind, recorded, reported)
        metrics = (sensitive or {}).get(key, ())
        is_known = recorded and reported
        if not is_known or recorded == reported or metrics is None:
            continue
        findings += _create_findings(
            kind,
            subject,
            f"bare metal: {_format_facts(recorded, reported)}; {subject}: "
            f"{_format_facts(reported, recorded)}",
            metrics,
        )
    return findings


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
    if not name or name == "performance" or metrics is None:
        return []
    if driver in _AUTONOMOUS_DRIVERS:
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
    baseline: documents.Facts, guest: str, hypervisor: str | None
) -> list[finding.Finding]:
    """Return a finding if a guest is known to run on another host.

    A baseline of a class applies to all its machines.

    :param baseline: The baseline.
    :param guest: The name of the guest.
    :param hypervisor: The name of its host in Nova; None if hidden.
    """
    machine = baseline["machine"]["name"]
    if not hypervisor or host_names.same(hypervisor, machine):
        return []
    if "class" in baseline:
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
    recorded = {
        _normalise_name(str(flag))
        for flag in _get_list(bare_metal, "cpu_flags")
    }
    reported = {_normalise_name(flag) for flag in features}
    differ = {flag for flag in recorded ^ reported if _OF_BOTH.fullmatch(flag)}
    if _ALWAYS not in recorded & reported or not differ:
        return []
    on_bare_metal, on_host = (
        _format_facts(frozenset(flags & differ), frozenset())
        for flags in (recorded, reported)
    )
    return _create_findings(
        "host_cpu_differs",
        guest,
        f"bare metal: {on_bare_metal}; host of {guest}: {on_host}",
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
    if boot and boot == peer.get("boot_id"):
        return _create_findings(
            "peer_on_host",
            "peer",
            "the peer runs on the bare-metal machine itself "
            "(same boot), for example in a network namespace",
        )
    return []


def _create_findings(
    kind: str, subject: str, detail: str, metrics: Metrics = ()
) -> list[finding.Finding]:
    """Return a list of one finding."""
    return [finding.Finding(kind, subject, detail, metrics=metrics)]


def _format_facts(facts: t.Any, other_facts: t.Any) -> str:
    """Return as text what a value has and the other value does not."""
    if isinstance(facts, collections.abc.Mapping):
        other_mapping = (
            other_facts
            if isinstance(other_facts, collections.abc.Mapping)
            else {}
        )
        changed = [
            f"{key}={value}"
            for key, value in sorted(facts.items())
            if other_mapping.get(key) != value
        ]
        return ", ".join(changed)[:300] or "nothing more"
    if isinstance(facts, frozenset):
        return " ".join(sorted(facts - other_facts))[:300] or "nothing more"
    return str(facts)[:200]
