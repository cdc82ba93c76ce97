# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of a machine, for comparisons of machines."""

import contextlib
import ipaddress
import json
import re

from rally_vmperf import documents
from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import cpus
from rally_vmperf.machines import scripts

#: Bytes of a fingerprint as JSON, so that many guests fit into one record.
LARGEST = 24 << 10


async def collect(machine: base.Machine) -> documents.Facts:
    """Run a script on a machine; return its fingerprint as a dict.

    Unknown properties are None or empty.

    :raises MachineError: If the machine cannot run a shell script, or if its
        fingerprint is too large.
    """
    done = await machine.run(scripts.argv("fingerprint.sh"), timeout=120)
    if "@@ cpuinfo" not in done.stdout:
        raise base.MachineError(
            f"{machine.name} cannot describe itself: "
            f"{base.last_line(done.stderr)}; it needs a POSIX shell and /proc"
        )
    facts = parse(done.stdout)
    size = len(json.dumps(facts))
    if size > LARGEST:
        raise base.MachineError(
            f"{machine.name}: the fingerprint has {size} bytes: must be at "
            f"most {LARGEST}; check its lscpu, /proc/cpuinfo and devices"
        )
    return facts


#: Maximum characters of a key or value; longer ones are shortened.
_MAX_FACT_CHARACTERS = 200
_MAX_FIELDS = 64
_MAX_FLAGS = 512
#: Maximum characters of the lines of zones; a NUMA node has up to five zones.
_MAX_ZONES = 64 << 10
_SECRET = re.compile(r"pass|secret|token|key|auth|cred|psk|iscsi", re.I)

#: The first 16 digits of a SHA-256 digest.
_DIGEST = r"\A([0-9a-f]{16})[0-9a-f]{48}\b"
#: User and password in a URL.
_PASSWORD = re.compile(r"([a-z][a-z0-9+.-]{0,20}://)[^/?#]*@", re.I)


def parse(text: str) -> documents.Facts:
    """Parse the output of the fingerprint script into a dict."""
    sections = _split_sections(text)
    lines = {name: _clean_line(body) for name, body in sections.items()}
    cpuinfo = sections.get("cpuinfo", "")
    cpu = _parse_pairs(cpuinfo, ":")
    lscpu = _parse_pairs(sections.get("lscpu", ""), ":")
    virtualisation = detect_hypervisor(
        detected=lines.get("detect_virt", ""),
        cpu_flags=cpu.get("flags", ""),
        lscpu_vendor=lscpu.get("Hypervisor vendor", ""),
        clocksources=lines.get("clocksources", ""),
        dmi=f"{lines.get('dmi_vendor', '')} {lines.get('dmi_product', '')}",
        hypervisor=lines.get("hypervisor", ""),
    )
    isolated = _search(r"\Acpus=([0-9,-]*)\Z", lines.get("isolated", ""))
    return {
        "cpu_model": lscpu.get("Model name") or cpu.get("model name"),
        "cpu_flags": sorted(_parse_flags(cpuinfo)),
        "microcode": cpu.get("microcode"),
        **_count_processors(lscpu, lines.get("online_cpus", "")),
        "smt": {"0": False, "1": True}.get(lines.get("smt", "")),
        "isolated_cpus": "none" if isolated == "" else isolated,
        "numa_nodes": len(
            set(re.findall(r"\bnode\d{1,5}\b", sections.get("nodes", "")))
        )
        or None,
        **_measure_memory(sections, lines),
        # sysfs puts the selected word in brackets.
        "transparent_huge_pages": _search(
            r"\[([\w-]{1,40})\]", lines.get("transparent_huge_pages", "")
        ),
        "kernel": lines.get("kernel") or None,
        "kernel_arguments": _parse_arguments(sections.get("cmdline", "")),
        "mitigations": _parse_pairs(sections.get("mitigations", ""), ":"),
        "governor": lines.get("governor") or None,
        "scaling_driver": lines.get("scaling_driver") or None,
        "turbo": {"0": "on", "1": "off"}.get(
            lines.get("no_turbo", ""),
            {"0": "off", "1": "on"}.get(lines.get("boost", "")),
        ),
        "virtualisation": virtualisation,
        # QEMU reports the name of its machine type, such as pc-q35-7.2.
        "machine_type": _search(
            r"\A((?:pc|virt|pseries)\b[\w.-]{1,40})\Z",
            lines.get("dmi_chassis", ""),
        ),
        "emulated": {"qemu": True, "unknown": None}.get(virtualisation, False),
        "disks": _parse_table(sections.get("disks", "")),
        "root_disk": lines.get("root_disk") or None,
        "network_interfaces": _parse_table(sections.get("nets", "")),
        "boot_id": _search(_DIGEST, sections.get("boot_id", "")),
        "machine_id": _search(_DIGEST, sections.get("machine_id", "")),
        "hostname": lines.get("node") or None,
        "connected_networks": _parse_networks(sections.get("routes", "")),
        "os": _parse_pairs(sections.get("os", ""), "=").get("PRETTY_NAME"),
    }


def _count_processors(
    lscpu: dict[str, str], online: str
) -> dict[str, int | None]:
    """Return the numbers of sockets, cores, threads and online CPUs.

    :param online: The list of online CPUs, such as ``0-3``.
    """
    sockets = _parse_number(lscpu.get("Socket(s)"))
    cores = _parse_number(lscpu.get("Core(s) per socket"))
    return {
        "sockets": sockets,
        "cores": sockets * cores if sockets and cores else None,
        "threads": _parse_number(lscpu.get("CPU(s)")),
        "online_cpus": len(cpus.parse_ranges(online)) or None,
    }


def _measure_memory(
    sections: dict[str, str], lines: dict[str, str]
) -> dict[str, int | None]:
    """Return the bytes of memory, and the number of huge pages.

    The memory of the firmware is that of all present pages: MemTotal and what
    the kernel reserves, whatever a balloon takes.
    """
    meminfo = _parse_pairs(sections.get("meminfo", ""), ":")
    memory = _parse_number(meminfo.get("MemTotal"))
    zones = sections.get("zoneinfo", "")
    pages = re.findall(r"\bpresent +([0-9]{1,15})\b", zones[:_MAX_ZONES])
    page_kib = _parse_number(lines.get("page_kib")) or 0
    return {
        "memory_bytes": memory * 1024 if memory else None,
        "firmware_memory_bytes": sum(map(int, pages)) * page_kib * 1024
        or None,
        "huge_pages": _parse_number(meminfo.get("HugePages_Total")),
    }


def _split_sections(text: str) -> dict[str, str]:
    """Return the sections of the script's output as texts by name."""
    sections: dict[str, str] = {}
    for section in ("\n" + text).split("\n@@ ")[1:]:
        name, _, body = section.partition("\n")
        sections.setdefault(name, body)
    return sections


def _clean_line(text: str) -> str:
    """Return a text as one short printable line."""
    bare = (
        text[: 2 * _MAX_FACT_CHARACTERS]
        .replace("\0", "")
        .strip()[:_MAX_FACT_CHARACTERS]
    )
    return sanitize.printable(re.sub(r"\s", " ", bare))


def _parse_pairs(body: str, separator: str) -> dict[str, str]:
    """Return the key-value lines of a text as a dict."""
    pairs: dict[str, str] = {}
    for line in body.splitlines():
        key, middle, text = line.partition(separator)
        if middle and len(pairs) < _MAX_FIELDS:
            pairs.setdefault(_clean_line(key), _clean_line(text).strip('"'))
    return pairs


def _parse_networks(body: str) -> list[str]:
    """Return the directly connected IPv4 networks as a list of texts."""
    networks = set()
    for row in body.splitlines()[1:_MAX_FIELDS]:
        cells = row.split()
        if len(cells) < 8 or cells[2] != "00000000":
            continue
        with contextlib.suppress(ValueError):
            network, mask = (
                ipaddress.IPv4Address(bytes.fromhex(cells[place])[::-1])
                for place in (1, 7)
            )
            if int(mask):
                networks.add(str(ipaddress.IPv4Network(f"{network}/{mask}")))
    return sorted(networks)


def _parse_flags(body: str) -> set[str]:
    """Return the set of the CPU flags in the text of /proc/cpuinfo."""
    listed = re.search(r"^(?:flags|Features)\s*:(.*)$", body, re.M)
    flags = listed[1].split()[:_MAX_FLAGS] if listed else []
    return {clean for flag in flags if (clean := _clean_line(flag))}


def _search(pattern: str, text: str) -> str | None:
    """Return the group of a pattern in a text, or None without a match."""
    match = re.search(pattern, text)
    return match[1] if match else None


def _parse_number(text: str | None) -> int | None:
    """Return the integer at the start of a text, or None if there is none."""
    digits = _search(r"\A([0-9]{1,15})", text or "")
    return int(digits) if digits else None


def _parse_arguments(line: str) -> list[str]:
    """Return the list of kernel arguments; possible secrets are hidden."""
    arguments = []
    for word in line.split()[:_MAX_FIELDS]:
        if word == "--":  # the rest is for init
            break
        key, equals, _ = word.partition("=")
        hidden = equals and _SECRET.search(key)
        shown = f"{key}=(hidden)" if hidden else word
        arguments.append(_clean_line(_PASSWORD.sub(r"\1(hidden)@", shown)))
    return arguments


def _parse_table(body: str) -> list[dict[str, str]]:
    """Return the key=value pairs of each line, as one dict per line."""
    return [
        row
        for line in body.splitlines()[:_MAX_FIELDS]
        if (row := _parse_pairs(line.replace("\t", "\n"), "="))
    ]


_KNOWN = {"none", "kvm", "qemu", "xen", "microsoft", "vmware", "oracle"}
_X86_CLOCKS = {"tsc", "hpet", "acpi_pm"}


def detect_hypervisor(
    *,
    detected: str,
    cpu_flags: str,
    lscpu_vendor: str,
    clocksources: str,
    dmi: str,
    hypervisor: str,
) -> str:
    """Return the hypervisor's name: ``none``, ``kvm``, ``qemu`` or other.

    systemd-detect-virt is preferred, because it reads the signature of the
    hypervisor (CPUID leaf 0x40000000), which differs for TCG.  Without it,
    kvm-clock indicates KVM, and QEMU without signs of KVM is an emulation.

    :param detected: The output of systemd-detect-virt; empty if it is not
        installed.
    :param dmi: The vendor and product, which are the same for KVM and TCG.
    :param hypervisor: The content of /sys/hypervisor/type.
    """
    if detected in _KNOWN:
        return detected
    if detected:
        return "other"
    if hypervisor == "xen":
        return "xen"
    if "kvm-clock" in clocksources:
        return "kvm"
    if any(name in dmi for name in ("QEMU", "OpenStack", "Bochs")):
        # Only x86 has kvm-clock; lscpu reports KVM for any QEMU.
        return "qemu" if _X86_CLOCKS & set(clocksources.split()) else "unknown"
    if lscpu_vendor:
        return lscpu_vendor.lower()
    if not cpu_flags:
        return "unknown"
    return "unknown" if "hypervisor" in cpu_flags.split() else "none"
