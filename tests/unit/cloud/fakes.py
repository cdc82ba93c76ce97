"""A process table made of files, in place of the machine's /proc."""

import pathlib
import shutil

BOOT_ID = "6b1c7c9e-0000-4000-8000-000000000001"


class FakeProc:
    """Writes what the kernel would show below /proc.

    :param root: folder in place of /proc
    """

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.reboot(BOOT_ID)

    def reboot(self, boot_id: str) -> None:
        """Change what tells one boot from another."""
        path = self.root / "sys/kernel/random/boot_id"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{boot_id}\n")

    def add(
        self,
        pid: int,
        *,
        argv: list[str],
        start_time: int = 100,
        state: str = "S",
        session: int | None = None,
        environment: dict[str, str] | None = None,
        output: pathlib.Path | None = None,
        sockets: tuple[str, ...] = (),
        mounts: tuple[str, ...] = (),
    ) -> None:
        """Add a process, or put another one in the place of its number."""
        folder = self.root / str(pid)
        folder.mkdir(exist_ok=True)
        fields = [state, "1", str(pid), str(session or pid)]
        fields += ["0"] * 15 + [str(start_time)] + ["0"] * 30
        # a name may hold brackets and blanks
        (folder / "stat").write_text(f"{pid} (a) b) {' '.join(fields)}\n")
        (folder / "cmdline").write_text("".join(f"{w}\0" for w in argv))
        pairs = (environment or {}).items()
        (folder / "environ").write_text(
            "".join(f"{name}={value}\0" for name, value in pairs)
        )
        (folder / "mounts").write_text(
            "".join(f"/dev/x {target} ext4 rw 0 0\n" for target in mounts)
        )
        shutil.rmtree(folder / "fd", ignore_errors=True)
        (folder / "fd").mkdir()
        if output:
            (folder / "fd" / "1").symlink_to(output)
        for number, name in enumerate(sockets, start=3):
            (folder / "fd" / str(number)).symlink_to(f"socket:[{name}]")
