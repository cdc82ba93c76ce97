"""What makes two machines comparable, asked of a machine in one go."""

import json
import re
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Bytes of a fingerprint as JSON, so that 32 guests fit into one record.
LARGEST = 24 << 10


async def take(machine: base.Machine) -> dict[str, t.Any]:
    """Return a machine's fingerprint, a plain document.

    What a machine does not tell is None or empty, never guessed.

    :raises MachineError: when the machine cannot run a shell script, or
        tells more than one has to tell
    """
    done = await machine.run(scripts.argv("fingerprint.sh"), timeout=120)
    if "@@ cpuinfo" not in done.stdout:
        raise base.MachineError(
            f"{machine.name} does not tell what it is: "
            f"{base.last_line(done.stderr)}; it needs a POSIX shell and /proc"
        )
    facts = parse(done.stdout)
    size = len(json.dumps(facts))
    if size > LARGEST:
        raise base.MachineError(
            f"{machine.name} describes itself in {size} bytes, of which no "
            f"more than {LARGEST} are believed; look at its lscpu, "
            "/proc/cpuinfo and devices"
        )
    return facts


_LONGEST = 200
_MOST = 64
_MOST_FLAGS = 512
_SECRET = re.compile(r"pass|secret|token|key|auth|cred|psk|iscsi", re.I)


def parse(text: str) -> dict[str, t.Any]:
    """Return the fingerprint in the script's output."""
    sections = _sections(text)
    one = {name: _clean(body) for name, body in sections.items()}
    cpu = _pairs(sections.get("cpuinfo", ""), ":")
    lscpu = _pairs(sections.get("lscpu", ""), ":")
    memory = _number(_pairs(sections.get("meminfo", ""), ":").get("MemTotal"))
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
        "numa_nodes": len(
            set(re.findall(r"\bnode\d{1,5}\b", sections.get("nodes", "")))
        )
        or None,
        "memory_bytes": memory * 1024 if memory else None,
        "kernel": one.get("kernel") or None,
        "kernel_arguments": _arguments(sections.get("cmdline", "")),
        "mitigations": _pairs(sections.get("mitigations", ""), ":"),
        "governor": one.get("governor") or None,
        "virtualisation": virtualisation,
        "tcg": {"qemu": True, "unknown": None}.get(virtualisation, False),
        "disks": _table(sections.get("disks", "")),
        "nets": _table(sections.get("nets", "")),
        "boot_id": _digest(sections.get("boot_id", "")),
        "machine_id": _digest(sections.get("machine_id", "")),
        "os": _pairs(sections.get("os", ""), "=").get("PRETTY_NAME"),
    }


def _sections(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in ("\n" + text).split("\n@@ ")[1:]:
        name, _, body = part.partition("\n")
        found.setdefault(name, body)
    return found


def _clean(value: str) -> str:
    return "".join(filter(str.isprintable, value[: 2 * _LONGEST])).strip()[
        :_LONGEST
    ]


def _pairs(body: str, separator: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in body.splitlines():
        key, middle, value = line.partition(separator)
        if middle and len(found) < _MOST:
            found.setdefault(_clean(key), _clean(value).strip('"'))
    return found


def _flags(body: str) -> set[str]:
    listed = re.search(r"^(?:flags|Features)\s*:(.*)$", body, re.M)
    words = listed[1].split()[:_MOST_FLAGS] if listed else []
    return {clean for word in words if (clean := _clean(word))}


def _number(value: str | None) -> int | None:
    digits = re.match(r"\d{1,15}", value or "", re.A)
    return int(digits[0]) if digits else None


def _arguments(line: str) -> list[str]:
    """Return the kernel's arguments; values that may be secret are hidden."""
    found = []
    for word in line.split()[:_MOST]:
        if word == "--":  # the rest is for init
            break
        key, equals, _ = word.partition("=")
        hidden = equals and _SECRET.search(key)
        found.append(_clean(f"{key}=(hidden)" if hidden else word))
    return found


def _table(body: str) -> list[dict[str, str]]:
    return [
        row
        for line in body.splitlines()[:_MOST]
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
