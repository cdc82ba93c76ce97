# SPDX-License-Identifier: Apache-2.0
"""Find out whether guests run under KVM on this host."""

import json
import pathlib
import subprocess
import threading

from rally_vmperf import atomic
from rally_vmperf.image import commands
from tests.cloud.container import package_root
from tests.cloud.system import documents
from tests.cloud.system import layout

DEVICE = pathlib.Path("/dev/kvm")
BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id")
# The line that the guest image prints on the serial console.
_BOOTED = b"vmperf-guest: "
# A guest that has failed is paused.
_FAILED = b"KVM internal"
_TIMEOUT = 30.0


def works(folders: layout.Layout) -> bool:
    """Return whether the guest image boots under KVM; try once per boot.

    The device proves nothing: there are hosts whose KVM executes a boot
    sector, and stops at a kernel.
    """
    boot_id = BOOT_ID.read_text().strip()
    path = folders.data / "kvm.json"
    cached = documents.read(path) or {}
    if cached.get("boot_id") == boot_id and "works" in cached:
        return bool(cached["works"])
    answer = DEVICE.exists() and _boots(folders)
    content = {"boot_id": boot_id, "works": answer}
    atomic.write(path, json.dumps(content) + "\n")
    return answer


def _boots(folders: layout.Layout) -> bool:
    """Return whether the guest image boots up to its configuration."""
    guest = [
        *("qemu-system-x86_64", "-nodefaults", "-no-user-config"),
        *("-machine", "pc", "-display", "none", "-no-reboot"),
        *("-accel", "kvm", "-m", "512", "-snapshot", "-serial", "stdio"),
        *("-drive", f"file={folders.image},format=qcow2,if=virtio"),
    ]
    with subprocess.Popen(
        package_root.enter(folders.package_root, folders.root, guest),
        env=commands.plain_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        timer = threading.Timer(_TIMEOUT, process.kill)
        timer.start()
        try:
            for line in process.stdout or ():
                if _BOOTED in line or _FAILED in line:
                    return _BOOTED in line
        finally:
            timer.cancel()
            process.kill()
    return False
