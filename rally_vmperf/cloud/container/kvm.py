"""Find out whether guests run under KVM on this machine."""

import json
import os
import pathlib
import subprocess
import time

from rally_vmperf import atomic
from rally_vmperf import removal
from rally_vmperf.cloud.container import package_root
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import documents

DEVICE = pathlib.Path("/dev/kvm")
BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id")

# A whole guest in one boot sector: hand 0x21 to QEMU's exit device.
#   mov dx, 0x501; mov al, 0x21; out dx, al; again: hlt; jmp again
CODE = bytes.fromhex("ba0105 b021 ee f4 ebfd")
SECTOR = CODE.ljust(510, b"\0") + b"\x55\xaa"
EXIT_CODE = 0x21 << 1 | 1
SECTOR_PATIENCE = 20.0

# What the guest image's first program prints on the serial line.
SIGN_OF_LIFE = b"Cloud-init v."
GUEST_PATIENCE = 90.0
MACHINE = [
    "qemu-system-x86_64", "-nodefaults", "-no-user-config",
    "-machine", "pc", "-display", "none", "-no-reboot",
]  # fmt: skip


def works(
    image: pathlib.Path, verdict: pathlib.Path, root: pathlib.Path
) -> bool:
    """Return whether the guest image runs under KVM; try it once per boot.

    A device file proves nothing, and neither does a boot sector: there are
    machines whose KVM executes that, and stops at a kernel.

    :param image: the guest image
    :param verdict: file that keeps the answer
    :param root: the package root, which contains QEMU
    """
    boot_id = BOOT_ID.read_text().strip()
    known = documents.read(verdict) or {}
    if known.get("boot_id") == boot_id and "works" in known:
        return bool(known["works"])
    answer = (
        DEVICE.exists()
        and runs_sector(root, image.parent)
        and runs_guest(root, image)
    )
    atomic.write(
        verdict, json.dumps({"boot_id": boot_id, "works": answer}) + "\n"
    )
    return answer


def runs_sector(
    root: pathlib.Path, parent: pathlib.Path, accelerator: str = "kvm"
) -> bool:
    """Return whether a boot sector runs to its end.

    :param root: the package root, which contains QEMU
    :param parent: the folder of temporary files
    :param accelerator: QEMU's name of what to try
    """
    with removal.temporary(".vmperf-kvm-", parent) as folder:
        disk = folder / "sector"
        disk.write_bytes(SECTOR)
        try:
            done = subprocess.run(
                package_root.enter(
                    root, parent, sector_command(accelerator, disk)
                ),
                env=commands.plain_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECTOR_PATIENCE,
            )
        except (subprocess.TimeoutExpired, FileNotFoundError):
            return False
    return done.returncode == EXIT_CODE


def sector_command(accelerator: str, disk: "os.PathLike[str]") -> list[str]:
    """Return the command line that boots a sector; its exit code tells."""
    drive = f"file={os.fspath(disk)},format=raw,if=floppy,readonly=on"
    return [
        *MACHINE, "-accel", accelerator, "-m", "16",
        "-boot", "a", "-drive", drive,
        "-device", "isa-debug-exit,iobase=0x501,iosize=0x01",
    ]  # fmt: skip


def runs_guest(
    root: pathlib.Path,
    image: pathlib.Path,
    accelerator: str = "kvm",
    patience: float = GUEST_PATIENCE,
) -> bool:
    """Return whether the guest image boots up to its first program.

    :param root: the package root, which contains QEMU
    :param image: the guest image, which stays as it is
    :param accelerator: QEMU's name of what to try
    :param patience: seconds it may take
    """
    with removal.temporary(".vmperf-kvm-", image.parent) as folder:
        serial = folder / "serial"
        complaints = folder / "complaints"
        with complaints.open("wb") as stream:
            guest = subprocess.Popen(
                package_root.enter(
                    root,
                    image.parent,
                    guest_command(accelerator, image, serial),
                ),
                env=commands.plain_environment(),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
            )
        try:
            return speaks(guest, serial, complaints, patience)
        finally:
            guest.kill()
            guest.wait()


def guest_command(
    accelerator: str, image: pathlib.Path, serial: pathlib.Path
) -> list[str]:
    """Return the command line that boots the image without changing it."""
    return [
        *MACHINE, "-accel", accelerator, "-m", "512", "-snapshot",
        "-drive", f"file={image},format=qcow2,if=virtio",
        "-serial", f"file:{serial}",
    ]  # fmt: skip


def speaks(
    guest: "subprocess.Popen[bytes]",
    serial: pathlib.Path,
    complaints: pathlib.Path,
    patience: float,
) -> bool:
    """Wait for the guest's sign of life; return whether it came."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if serial.exists() and SIGN_OF_LIFE in serial.read_bytes():
            return True
        # A failed guest is left paused, with a dump of its registers.
        if guest.poll() is not None or b"KVM internal" in (
            complaints.read_bytes()
        ):
            return False
        time.sleep(0.2)
    return False
