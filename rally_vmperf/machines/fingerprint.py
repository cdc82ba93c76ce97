"""The fingerprint of a machine, by which machines are compared."""

import contextlib
import ipaddress
import json
import re
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Bytes of a fingerprint as JSON, so that many guests fit into one record.
LARGEST = 24 << 10


async def take(machine: base.Machine) -> dict[str, t.Any]:
    """Return a machine's fingerprint, a plain document.

    What is not known of a machine is None or empty, never guessed.

    :raises MachineError: when the machine cannot run a shell script, or
        tells more than one has to tell
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
            f"{machine.name} describes itself in {size} bytes, of which no "
            f"more than {LARGEST} are accepted; look at its lscpu, "
            "/proc/cpuinfo and devices"
        )
    return facts


_LONGEST = 200
_MAX_FIELDS = 64
_MAX_FLAGS = 512
_SECRET = re.compile(r"pass|secret|token|key|auth|cred|psk|iscsi", re.I)

#: User and password in a URL.
_PASSWORD = re.compile(r"([a-z][a-z0-9+.-]{0,20}://)[^/?#]*@", re.I)


def parse(text: str) -> dict[str, t.Any]:
    """Return the fingerprint in the script's output."""
    sections = _sections(text)
    one = {name: _clean(body) for name, body in sections.items()}
    cpu = _pairs(sections.get("cpuinfo", ""), ":")
    lscpu = _pairs(sections.get("lscpu", ""), ":")
    meminfo = _pairs(sections.get("meminfo", ""), ":")
    memory = _number(meminfo.get("MemTotal"))
    virtualisation = detect(
        detected=one.get("detect_virt", ""),
        cpu_flags=cpu.get("flags", ""),
        lscpu_vendor=lscpu.get("Hypervisor vendor", ""),
        clocksources=one.get("clocksources", ""),
        dmi=f"{one.get('dmi_vendor', '')} {one.get('dmi_product', '')}",
        hypervisor=one.get("hypervisor", ""),
    )
    sockets = _number(lscpu.get("Socket(s)"))
    cores = _number(lscpu.get("Core(s) per socket"))
    return {
        "cpu_model": lscpu.get("Model name") or cpu.get("model name"),
        "cpu_flags": sorted(_flags(sections.get("cpuinfo", ""))),
        "microcode": cpu.get("microcode"),
        "sockets": sockets,
        "cores": sockets * cores if sockets and cores else None,
        "threads": _number(lscpu.get("CPU(s)")),
        "smt": {"0": False, "1": True}.get(one.get("smt", "")),
        "isolated_cpus": _isolated(one.get("isolated", "")),
        "numa_nodes": len(
            set(re.findall(r"\bnode\d{1,5}\b", sections.get("nodes", "")))
        )
        or None,
        "memory_bytes": memory * 1024 if memory else None,
        "huge_pages": _number(meminfo.get("HugePages_Total")),
        "transparent_huge_pages": _chosen(
            one.get("transparent_huge_pages", "")
        ),
        "kernel": one.get("kernel") or None,
        "kernel_arguments": _arguments(sections.get("cmdline", "")),
        "mitigations": _pairs(sections.get("mitigations", ""), ":"),
        "governor": one.get("governor") or None,
        "turbo": {"0": "on", "1": "off"}.get(
            one.get("no_turbo", ""),
            {"0": "off", "1": "on"}.get(one.get("boost", "")),
        ),
        "virtualisation": virtualisation,
        "emulated": {"qemu": True, "unknown": None}.get(virtualisation, False),
        "disks": _table(sections.get("disks", "")),
        "network_interfaces": _table(sections.get("nets", "")),
        "boot_id": _digest(sections.get("boot_id", "")),
        "machine_id": _digest(sections.get("machine_id", "")),
        "hostname": one.get("node") or None,
        "connected_networks": _links(sections.get("routes", "")),
        "os": _pairs(sections.get("os", ""), "=").get("PRETTY_NAME"),
    }


def _sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in ("\n" + text).split("\n@@ ")[1:]:
        name, _, body = part.partition("\n")
        found.setdefault(name, body)
    return found


def _clean(value: str) -> str:
    bare = value[: 2 * _LONGEST].replace("\0", "").strip()[:_LONGEST]
    return sanitize.printable(re.sub(r"\s", " ", bare))


def _pairs(body: str, separator: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in body.splitlines():
        key, middle, value = line.partition(separator)
        if middle and len(found) < _MAX_FIELDS:
            found.setdefault(_clean(key), _clean(value).strip('"'))
    return found


def _links(body: str) -> list[str]:
    """Return the IPv4 networks that are reached without a router."""
    found = set()
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
                found.add(str(ipaddress.IPv4Network(f"{network}/{mask}")))
    return sorted(found)


def _flags(body: str) -> set[str]:
    listed = re.search(r"^(?:flags|Features)\s*:(.*)$", body, re.M)
    words = listed[1].split()[:_MAX_FLAGS] if listed else []
    return {clean for word in words if (clean := _clean(word))}


def _chosen(line: str) -> str | None:
    """Return the one in brackets of the words in a file of sysfs."""
    found = re.search(r"\[([\w-]{1,40})\]", line)
    return found[1] if found else None


def _isolated(line: str) -> str | None:
    """Return the CPUs that the kernel gives to nobody who does not ask."""
    found = re.fullmatch(r"cpus=([0-9,-]*)", line)
    return (found[1] or "none") if found else None


def _number(value: str | None) -> int | None:
    digits = re.match(r"\d{1,15}", value or "", re.A)
    return int(digits[0]) if digits else None


def _arguments(line: str) -> list[str]:
    """Return the kernel's arguments; values that may be secret are hidden."""
    found = []
    for word in line.split()[:_MAX_FIELDS]:
        if word == "--":  # the rest is for init
            break
        key, equals, _ = word.partition("=")
        hidden = equals and _SECRET.search(key)
        shown = f"{key}=(hidden)" if hidden else word
        found.append(_clean(_PASSWORD.sub(r"\1(hidden)@", shown)))
    return found


def _table(body: str) -> list[dict[str, str]]:
    return [
        row
        for line in body.splitlines()[:_MAX_FIELDS]
        if (row := _pairs(line.replace("\t", "\n"), "="))
    ]


def _digest(body: str) -> str | None:
    digest = re.match(r"[0-9a-f]{64}\b", body)
    return digest[0][:16] if digest else None


_KNOWN = {"none", "kvm", "qemu", "xen", "microsoft", "vmware", "oracle"}
_X86_CLOCKS = {"tsc", "hpet", "acpi_pm"}


def detect(
    *,
    detected: str,
    cpu_flags: str,
    lscpu_vendor: str,
    clocksources: str,
    dmi: str,
    hypervisor: str,
) -> str:
    """Return ``none``, ``kvm``, ``qemu`` (emulation) or another name.

    systemd-detect-virt knows best, for it reads the hypervisor's signature
    (CPUID leaf 0x40000000), of which TCG has its own.  Without it: only KVM
    offers its clock, and QEMU without any sign of KVM emulates.

    :param detected: what systemd-detect-virt says, empty if it is not there
    :param dmi: vendor and product; KVM's and TCG's guests both say QEMU
    :param hypervisor: /sys/hypervisor/type
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
        # Only x86 has KVM's clock; lscpu takes any QEMU for KVM.
        return "qemu" if _X86_CLOCKS & set(clocksources.split()) else "unknown"
    if lscpu_vendor:
        return lscpu_vendor.lower()
    if not cpu_flags:
        return "unknown"
    return "unknown" if "hypervisor" in cpu_flags.split() else "none"
