"""What the embedded cloud left on this machine; nothing, after `make down`.

Run it as a program: it names what it finds and exits with 1 if that is
anything at all.
"""

import os
import pathlib
import re
import subprocess
import sys

CLOUD = os.environ.get("VMPERF_CLOUD", "/var/lib/vmperf-cloud")

_LINK = re.compile(r"^(br-ex|br-mgmt|brq|tap|qr-|qg-|vxlan-|ext1|peer)")
_NAMESPACE = re.compile(r"^(qdhcp|qrouter|vmperf)-")


def namespaces() -> list[str]:
    """Return network namespaces of ours."""
    listed = subprocess.run(
        ["ip", "netns", "list"], capture_output=True, text=True, check=True
    )
    return [
        f"namespace {line.split()[0]}"
        for line in listed.stdout.splitlines()
        if _NAMESPACE.match(line)
    ]


def links() -> list[str]:
    """Return network devices of ours."""
    names = sorted(os.listdir("/sys/class/net"))
    return [f"device {name}" for name in names if _LINK.match(name)]


def mounts() -> list[str]:
    """Return what is mounted below the cloud's folder."""
    lines = pathlib.Path("/proc/mounts").read_text().splitlines()
    points = [line.split()[1] for line in lines]
    return [f"mount {point}" for point in points if point.startswith(CLOUD)]


def processes() -> list[str]:
    """Return living processes that were started for the cloud."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        if folder.name == str(os.getpid()):
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        line = b" ".join(words).decode(errors="replace").strip()
        if CLOUD in line or line.startswith("qemu-system"):
            found.append(f"process {folder.name}: {line[:100]}")
    return found


def control_groups() -> list[str]:
    """Return control groups that held bare metal to a shape."""
    found = pathlib.Path("/sys/fs/cgroup").glob("**/rally-vmperf-*")
    return [f"control group {path}" for path in found if path.is_dir()]


def rules() -> list[str]:
    """Return chains of Neutron's agents and of ours in the firewall."""
    try:
        saved = subprocess.run(
            ["iptables-save"], capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        return []
    return [
        f"chain {line[1:]}"
        for line in saved.stdout.splitlines()
        if re.match(":(neutron-|vmperf-)", line)
    ]


def main() -> int:
    """Name everything that is left."""
    left = [
        *namespaces(),
        *links(),
        *rules(),
        *mounts(),
        *processes(),
        *control_groups(),
    ]
    for line in left:
        print(f"left behind: {line}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
