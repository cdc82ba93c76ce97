"""Whether guests and bare metal can be compared at all."""

import collections.abc
import re
import typing as t

from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import host_names
from rally_vmperf.workloads import tools

Json = collections.abc.Mapping[str, t.Any]

#: Metrics that a finding concerns: some, or where there are none all of them.
Metrics = tuple[str, ...]

#: Instructions that programs choose their code by, of x86 and of ARM; other
#: flags tell what a kernel can do, and guests lack many of them on purpose.
_INSTRUCTIONS = re.compile(
    r"(avx|sse|ssse|fma|f16c|amx|aes|vaes|sha|pclmul|vpclmul|gfni|popcnt|bmi|"
    r"abm|adx|erms|fsrm|asimd|sve|sme|pmull|crc32|atomics)"
)


def _of(key: str) -> "_View":
    return lambda facts: facts.get(key)


def _instructions(facts: Json) -> frozenset[str]:
    flags = map(str, _list(facts, "cpu_flags"))
    return frozenset(one for one in flags if _INSTRUCTIONS.match(one))


def _list(facts: Json, key: str) -> list[t.Any]:
    """Return a list of a fingerprint that may be anybody's document."""
    value = facts.get(key)
    return value if isinstance(value, list) else []


def _devices(table: str, *keys: str) -> "_View":
    """Return a view of what all devices have in common.

    Nobody knows which of several is worked on, so that what they do not agree
    on is not compared.
    """

    def view(facts: Json) -> dict[str, str]:
        found = {}
        for key in keys:
            told = [
                str(one.get(key) or "")
                for one in _list(facts, table)
                if isinstance(one, collections.abc.Mapping)
            ]
            values = set(map(_chosen, told))
            if len(values) == 1 and "" not in values:
                found[key] = values.pop()
        return found

    return view


def _chosen(text: str) -> str:
    """Return of schedulers the one in brackets; others could be chosen."""
    found = re.search(r"\[([^][]*)\]", text)
    return found[1] if found else text


_View = collections.abc.Callable[[Json], t.Any]
#: What is compared: to what workloads may be sensitive, the finding that a
#: difference raises, and what of a fingerprint it is about.
_COMPARED: tuple[tuple[str, str, _View], ...] = (
    ("cpu_model", "cpu_model_differs", _of("cpu_model")),
    ("instructions", "instructions_differ", _instructions),
    ("microcode", "microcode_differs", _of("microcode")),
    ("turbo", "turbo_differs", _of("turbo")),
    ("kernel", "kernel_differs", _of("kernel")),
    ("mitigations", "mitigations_differ", _of("mitigations")),
    ("huge_pages", "huge_pages_differ", _of("transparent_huge_pages")),
    (
        "disks",
        "disk_settings_differ",
        _devices("disks", "scheduler", "write_cache"),
    ),
    (
        "network_interfaces",
        "nic_settings_differ",
        _devices("network_interfaces", "mtu", "offloads"),
    ),
    ("disks", "queues_differ", _devices("disks", "queues")),
    (
        "network_interfaces",
        "queues_differ",
        _devices("network_interfaces", "queues"),
    ),
)


def compare_machines(
    bare_metal: Json,
    other: Json,
    subject: str,
    sensitive: collections.abc.Mapping[str, Metrics | None] | None = None,
) -> list[finding.Finding]:
    """Return what differs between the fingerprints of two machines.

    What either side does not know is not compared.

    :param subject: the name of the other machine
    :param sensitive: what may differ -> the metrics to which it matters, None
        where it matters to none; what is not in it matters to all
    """
    found = []
    for key, kind, view in _COMPARED:
        ours, theirs = view(bare_metal), view(other)
        if isinstance(ours, dict) and kind != "mitigations_differ":
            theirs = {one: theirs[one] for one in ours if one in theirs}
            ours = {one: ours[one] for one in theirs}
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
    if guest.get("emulated") or kind == "qemu":
        return _found(
            "emulated_guest",
            subject,
            f"{subject} runs under QEMU's emulation (TCG), not KVM",
        )
    if kind in (None, "", "unknown", "none"):
        return _found(
            "virtualisation_unknown",
            subject,
            f"{subject} does not report its hypervisor "
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
    baseline: Json, guest: str, hypervisor: str | None
) -> list[finding.Finding]:
    """Return whether a guest is known to run elsewhere.

    A baseline of a class is of all its machines, whatever their names.

    :param guest: its name
    :param hypervisor: what Nova calls its machine, None where that is hidden
    """
    machine = baseline["machine"]["name"]
    if not hypervisor or host_names.same(hypervisor, machine):
        return []
    if "class" in baseline:
        return []
    return _found(
        "host_differs",
        guest,
        f"{guest} runs on {hypervisor}, the baseline was recorded "
        f"on {machine}",
    )


#: What both libvirt and Linux tell of processors since long, without dots,
#: dashes and lines; newer instructions old versions of libvirt do not know.
_OF_BOTH = re.compile(
    "ssse3|sse4[12a]|popcnt|aes|pclmulqdq|abm|bmi[12]|adx|fma4?|xop|f16c|"
    "shani|avx2?|avx512(f|dq|cd|bw|vl|vnni)"
)
#: Every processor has it of which the list can be compared.
_ALWAYS = "sse2"


def host_cpu(
    bare_metal: Json, guest: str, features: collections.abc.Iterable[str]
) -> list[finding.Finding]:
    """Return whether a guest's host has other processors than bare metal.

    The names of models cannot be compared: libvirt's are of families, and
    Linux shows the maker's. Processors with other instructions are others;
    those with the same ones may be.

    :param guest: its name
    :param features: of its host's processors, by libvirt's names
    """
    ours = {_plain(str(one)) for one in _list(bare_metal, "cpu_flags")}
    theirs = {_plain(one) for one in features}
    differ = {one for one in ours ^ theirs if _OF_BOTH.fullmatch(one)}
    if _ALWAYS not in ours & theirs or not differ:
        return []
    return _found(
        "host_cpu_differs",
        guest,
        f"bare metal: {_show(frozenset(ours & differ), frozenset())}; host of "
        f"{guest}: {_show(frozenset(theirs & differ), frozenset())}",
    )


def _plain(name: str) -> str:
    bare = re.sub("[^a-z0-9]", "", name.lower())
    return "pclmulqdq" if bare == "pclmuldq" else bare


def same_peer(recorded: Json, peer: Json) -> list[finding.Finding]:
    """Return whether the peer is another machine than the baseline's."""
    ours, theirs = recorded.get("machine_id"), peer.get("machine_id")
    if not ours or not theirs or ours == theirs:
        return []
    return _found(
        "peer_differs",
        "peer",
        f"its machine-id is {theirs} (hashed), that of the "
        f"baseline's peer is {ours}",
    )


def peer_on_host(bare_metal: Json, peer: Json) -> list[finding.Finding]:
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
    kind: str, subject: str, detail: str, metrics: Metrics = ()
) -> list[finding.Finding]:
    return [finding.Finding(kind, subject, detail, metrics=metrics)]


def _show(ours: t.Any, theirs: t.Any) -> str:
    if isinstance(ours, collections.abc.Mapping):
        other = theirs if isinstance(theirs, collections.abc.Mapping) else {}
        changed = [
            f"{key}={value}"
            for key, value in sorted(ours.items())
            if other.get(key) != value
        ]
        return ", ".join(changed)[:300] or "nothing more"
    if isinstance(ours, frozenset):
        return " ".join(sorted(ours - theirs))[:300] or "nothing more"
    return str(ours)[:200]
