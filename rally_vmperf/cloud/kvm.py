"""Find out whether guests really run under KVM here."""

import os
import pathlib
import subprocess
import tempfile

from rally_vmperf.cloud import commands

# A whole guest in one boot sector: hand 0x21 to QEMU's exit device.
#   mov dx, 0x501; mov al, 0x21; out dx, al; again: hlt; jmp again
CODE = bytes.fromhex("ba0105 b021 ee f4 ebfd")
SECTOR = CODE.ljust(510, b"\0") + b"\x55\xaa"
EXIT_CODE = 0x21 << 1 | 1
PATIENCE = 20.0


def works(accelerator: str = "kvm") -> bool:
    """Tell whether a tiny guest runs to its end.

    A device file proves nothing: KVM may be there and fail, or hang, as soon
    as a guest executes its first instruction.

    :param accelerator: QEMU's name of what to try
    """
    with tempfile.TemporaryDirectory() as folder:
        disk = pathlib.Path(folder, "sector")
        disk.write_bytes(SECTOR)
        try:
            done = subprocess.run(
                command(accelerator, disk),
                env=commands.plain_environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
            )
        except (subprocess.TimeoutExpired, FileNotFoundError):
            return False
    return done.returncode == EXIT_CODE


def command(accelerator: str, disk: "os.PathLike[str]") -> list[str]:
    """Return the command line that boots a disk and takes its exit code."""
    drive = f"file={os.fspath(disk)},format=raw,if=floppy,readonly=on"
    return [
        "qemu-system-x86_64", "-nodefaults", "-no-user-config",
        "-machine", "pc", "-accel", accelerator, "-m", "16",
        "-display", "none", "-boot", "a", "-drive", drive,
        "-device", "isa-debug-exit,iobase=0x501,iosize=0x01",
    ]  # fmt: skip
