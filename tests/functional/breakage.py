"""Damages to the embedded cloud, each done by hand as it were."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from rally_vmperf.cloud.services import leftovers
from rally_vmperf.cloud.state import ownership
from rally_vmperf.cloud.state import records
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs
from tests import patience
from tests.functional import laboratory

PLACE = layout.Layout(pathlib.Path(laboratory.CLOUD or "/nonexistent"))
COMMAND = [str(laboratory.BIN / "rally-vmperf"), "cloud"]
ROOT = ["--root", str(PLACE.root)]


def run(*words: str, check: bool = True) -> str:
    """Run a program and return what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


def sql(text: str) -> None:
    """Have MariaDB do something as its administrator."""
    run("mariadb", f"--socket={PLACE.run}/mariadb/mysql.sock", "-uroot",
        "-e", text)  # fmt: skip


def end(*names: str) -> None:
    """End services at once, by their recorded numbers."""
    for name in names:
        record = records.Records(PLACE).read(name)
        if record and procfs.ProcessTable().alive(record.identity):
            os.kill(record.identity.pid, signal.SIGKILL)


def end_wholly(name: str) -> None:
    """End a service with its workers, which outlive it for a moment."""
    end(name)
    table = procfs.ProcessTable()
    while left := leftovers.of(name, None, PLACE, table):
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


def guests() -> set[int]:
    """Return the processes of the cloud's guests."""
    table = procfs.ProcessTable()
    owner = ownership.Ownership(PLACE, table)
    return {pid for pid in table.pids() if owner.guest(pid)}


def end_all() -> None:
    """End every process of the cloud at once."""
    table = procfs.ProcessTable()
    for pid in ownership.Ownership(PLACE, table).all():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def tell_to_stop(name: str) -> None:
    """Leave a service alive and deaf."""
    os.kill(records.Records(PLACE).read(name).identity.pid, signal.SIGSTOP)


def remove(*names: str) -> None:
    """Remove files and folders below the state root."""
    for name in names:
        path = PLACE.root / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def cut(name: str, size: int = 0) -> None:
    """Truncate a file below the state root."""
    os.truncate(PLACE.root / name, size)


def spoil(name: str, begin: int, size: int) -> None:
    """Overwrite a part of a file below the state root, and keep its size."""
    with (PLACE.root / name).open("r+b") as stream:
        stream.seek(begin)
        stream.write(b"\xff" * size)


def overwrite_middle(path: pathlib.Path) -> None:
    """Change a few bytes and neither size nor time."""
    before = path.stat()
    with path.open("r+b") as stream:
        stream.seek(before.st_size // 2)
        stream.write(b"damaged")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def glance_file() -> pathlib.Path:
    """Return Glance's file of the guest image."""
    return next((PLACE.data / "glance" / "images").iterdir())


def namespaces(prefix: str) -> list[str]:
    """Return the namespaces whose names begin so."""
    names = (line.split()[0] for line in run("ip", "netns").splitlines())
    return [name for name in names if name.startswith(prefix)]


def lose_namespaces() -> None:
    """Remove the agents' namespaces."""
    for name in namespaces("q"):
        run("ip", "netns", "delete", name)


def flush_rules() -> None:
    """Flush the firewalls of the machine and of the routers."""
    for table in ("raw", "filter"):
        run("iptables", "-t", table, "-F")
        run("iptables", "-t", table, "-X")
    for name in namespaces("qrouter"):
        run("ip", "netns", "exec", name, "iptables", "-t", "nat", "-F")


def lose_mount() -> None:
    """Unmount what libvirtd sees in place of /etc/libvirt."""
    pid = str(records.Records(PLACE).read("libvirtd").identity.pid)
    run("nsenter", "-t", pid, "--mount", "umount", "/etc/libvirt")


def interrupt(words: list[str], sign: str, *, seconds: float = 60) -> None:
    """Start a command, and kill it when it has printed a sign.

    :param words: of ``rally-vmperf cloud``
    :param sign: what to wait for
    :param seconds: after which it is killed in any case
    """
    process = subprocess.Popen(
        [*COMMAND, *words, *ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + patience.seconds(seconds)
    for line in process.stdout:
        if sign in line or time.monotonic() > deadline:
            break
    process.kill()
    process.wait()
    process.stdout.close()


def listen(address: str, port: int) -> subprocess.Popen:
    """Have a foreign process at an address, and return it."""
    code = (
        "import socket, time; s = socket.socket();"
        " s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1);"
        f" s.bind(('{address}', {port})); s.listen(); print('here', flush=1);"
        " time.sleep(600)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    )
    if process.stdout.readline() != "here\n":
        raise AssertionError(f"{address}:{port} is not free")
    return process
