"""Find out whether guests run under KVM on this host."""

import json
import pathlib
import subprocess
import threading

from rally_vmperf import atomic
from rally_vmperf.cloud.container import package_root
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import documents

DEVICE = pathlib.Path("/dev/kvm")
BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id")
# The line that the guest image prints on the serial console.
_BOOTED = b"Cloud-init v."
# A guest that has failed is paused.
_FAILED = b"KVM internal"
_TIMEOUT = 30.0


def works(
    image: pathlib.Path, verdict: pathlib.Path, root: pathlib.Path
) -> bool:
    """Return whether the guest image boots under KVM; try once per boot.

    The device proves nothing: there are hosts whose KVM executes a boot
    sector, and stops at a kernel.

    :param image: The guest image, which is not changed.
    :param verdict: The file that keeps the answer.
    :param root: The package root, which contains QEMU.
    """
    boot_id = BOOT_ID.read_text().strip()
    known = documents.read(verdict) or {}
    if known.get("boot_id") == boot_id and "works" in known:
        return bool(known["works"])
    answer = DEVICE.exists() and boots(image, root, "kvm", _TIMEOUT)
    atomic.write(
        verdict, json.dumps({"boot_id": boot_id, "works": answer}) + "\n"
    )
    return answer


def boots(
    image: pathlib.Path, root: pathlib.Path, accelerator: str, timeout: float
) -> bool:
    """Return whether the guest image boots up to cloud-init.

    :param image: The guest image, which is not changed.
    :param root: The package root, which contains QEMU.
    :param accelerator: QEMU's name of an accelerator.
    :param timeout: The time limit in seconds.
    """
    guest = [
        *("qemu-system-x86_64", "-nodefaults", "-no-user-config"),
        *("-machine", "pc", "-display", "none", "-no-reboot"),
        *("-accel", accelerator, "-m", "512", "-snapshot"),
        *("-drive", f"file={image},format=qcow2,if=virtio"),
        *("-serial", "stdio"),
    ]
    with subprocess.Popen(
        package_root.enter(root, image.parent, guest),
        env=commands.plain_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        try:
            for line in process.stdout or ():
                if _BOOTED in line or _FAILED in line:
                    return _BOOTED in line
        finally:
            timer.cancel()
            process.kill()
    return False
