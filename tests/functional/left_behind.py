# SPDX-License-Identifier: Apache-2.0
"""The remains of the embedded cloud on this host; none after `make down`.

Run it as a program: it names what it finds and exits with 1 if that is
anything at all. Kernel modules and the packages that ``cloud up`` installs
stay, and only a comparison with an earlier snapshot shows their origin.
"""

import os
import pathlib
import re
import subprocess
import sys

CLOUD = os.environ.get("VMPERF_CLOUD", "/var/lib/vmperf-cloud")

#: What has a name of the cloud, of Neutron or of libvirt, wherever it is.
_OURS = re.compile(
    r"(device|route|address|rule|namespace|chain|unit|control group) .*"
    r"(vmperf|br-ex|br-mgmt|brq|\btap|qr-|qg-|vxlan-|ext[12]\b|mgmt2|uplink"
    r"|\bpeer\b|neutron-|qdhcp-|qrouter-|hypervisor-2)"
)


def _lines(*command: str) -> list[str]:
    """Return what a program prints; nothing if it is not installed."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        return []
    # Counters of packets, the rest of a lifetime, and comments with a time.
    text = re.sub(r"\[\d+:\d+\]|expires \d+sec|(?m:^#.*)", "", process.stdout)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _read(path: pathlib.Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _mounts() -> list[str]:
    """Return what is mounted below the cloud's folder."""
    lines = pathlib.Path("/proc/mounts").read_text().splitlines()
    points = [line.split()[1] for line in lines]
    return [point for point in points if point.startswith(f"{CLOUD}/")]


def _processes() -> list[str]:
    """Return processes of the container, and those started for the cloud."""
    processes = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        if int(folder.name) in (os.getpid(), os.getppid()):
            continue
        line = _read(folder / "cmdline").replace("\0", " ").strip()
        inside = "/vmperf-cloud" in _read(folder / "cgroup")
        if inside or CLOUD in line or line.startswith("qemu-system"):
            processes.append(f"{folder.name}: {line[:100]}")
    return processes


def _control_groups() -> list[str]:
    """Return control groups of the cloud, and of bare metal in a shape."""
    names = ("**/vmperf-cloud", "**/rally-vmperf-*")
    root = pathlib.Path("/sys/fs/cgroup")
    paths = (path for name in names for path in root.glob(name))
    return [str(path) for path in paths if path.is_dir()]


def ours() -> set[str]:
    """Return what is only there for a cloud."""
    names = {
        "mount": _mounts(),
        "process": _processes(),
        "control group": _control_groups(),
    }
    return {f"{kind} {name}" for kind, all_ in names.items() for name in all_}


def snapshot() -> set[str]:
    """Return what a cloud may change on a host."""
    units = pathlib.Path("/etc/systemd/system")
    show = ("dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\n")
    modules = _read(pathlib.Path("/proc/modules")).splitlines()
    names = {
        "namespace": _lines("ip", "netns", "list"),
        "device": os.listdir("/sys/class/net"),
        "address": _lines("ip", "-brief", "address"),
        "route": _lines("ip", "route", "show", "table", "all"),
        "rule": _lines("ip", "rule"),
        "chain": [*_lines("iptables-save"), *_lines("nft", "list", "ruleset")],
        "unit": [str(path) for path in units.glob("**/*")],
        "module": [line.split()[0] for line in modules],
        "package": _lines(*show),
    }
    named = {f"{kind} {name}" for kind, all_ in names.items() for name in all_}
    return named | ours()


def main() -> int:
    """Name everything that is left."""
    left = ours() | {line for line in snapshot() if _OURS.match(line)}
    for line in sorted(left):
        print(f"left behind: {line}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
