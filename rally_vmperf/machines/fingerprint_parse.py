"""Read what scripts/fingerprint.sh prints; pure.

The text comes from guests and is trusted in nothing: every value is short
and printable, every list bounded.
"""

import re
import typing as t

from rally_vmperf.machines import fingerprint_virt

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
    virtualisation = fingerprint_virt.detect(
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
