"""The container of the embedded cloud, and damages to what runs in it."""

import collections.abc
import contextlib
import fcntl
import os
import pathlib
import re
import signal
import subprocess
import time
import typing as t

import psutil

from tests import patience
from tests.cloud.container import container
from tests.cloud.system import layout
from tests.functional import laboratory

PLACE = layout.Layout(pathlib.Path(laboratory.CLOUD or "/nonexistent"))
CONTAINER = container.Container(PLACE)
COMMAND = [str(laboratory.BIN / "python"), "-m", "tests.cloud"]
ROOT = ["--root", str(PLACE.root)]


def run(*words: str, check: bool = True) -> str:
    """Run a program on the host and return what it printed."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


@contextlib.contextmanager
def running(*words: str) -> collections.abc.Iterator[subprocess.Popen]:
    """Run a program in the container while the block runs."""
    process = subprocess.Popen(
        CONTAINER.command(words),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        # nsenter waits for a child, and does not end it.
        for child in psutil.Process(process.pid).children(recursive=True):
            child.kill()
        process.wait()


@contextlib.contextmanager
def attached(namespace: str) -> collections.abc.Iterator[str]:
    """Give the host a network namespace of the container, by its name."""
    path = pathlib.Path("/run/netns", namespace)
    path.parent.mkdir(exist_ok=True)
    path.touch(exist_ok=False)
    source = f"/proc/{CONTAINER.pid}/root{path}"
    try:
        # mount would take the link to another root for one to /.
        run("mount", "--no-canonicalize", "--bind", source, str(path))
        yield namespace
    finally:
        run("ip", "netns", "delete", namespace)


def processes() -> dict[int, list[int]]:
    """Return the processes of the container by their numbers on the host.

    The values are their numbers in the container, and for those of the second
    hypervisor also in its namespace.
    """
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            groups = (folder / "cgroup").read_text()
            status = (folder / "status").read_text()
        except OSError:
            continue
        numbers = re.search(r"^NSpid:(.*)$", status, re.M)[1].split()
        if f"/{layout.CGROUP}" in groups and len(numbers) > 1:
            found[int(folder.name)] = [int(one) for one in numbers[1:]]
    return found


def host_pid(pid: int) -> int:
    """Return the number on the host of a process of the first hypervisor."""
    (found,) = (
        outside for outside, inside in processes().items() if inside == [pid]
    )
    return found


def guests() -> set[int]:
    """Return the processes of the cloud's guests."""
    found = set()
    for pid in processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            line = " ".join(psutil.Process(pid).cmdline())
            # libvirtd starts others for a moment, to see what QEMU can do.
            if "qemu-system" in line and "-name guest=" in line:
                found.add(pid)
    return found


def waiting_process() -> int:
    """Return the process on the host that waits for the container's end."""
    argv = ["bash", str(PLACE.scripts / "enter.sh"), str(PLACE.root)]
    (found,) = (
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == argv
    )
    return found


def program(name: str) -> dict[str, t.Any]:
    """Return what supervisord knows of a program."""
    (found,) = (one for one in CONTAINER.processes() if one["name"] == name)
    return found


def ready(name: str) -> bool:
    """Return whether a program runs, and waits for no other."""
    waiting = PLACE.run / "waiting" / f"supervisord.sock-{name}"
    return program(name)["statename"] == "RUNNING" and not waiting.exists()


def end(name: str) -> int:
    """End a service by SIGKILL; return its number in its namespace."""
    pid = program(name)["pid"]
    os.kill(host_pid(pid), signal.SIGKILL)
    return pid


def end_container() -> None:
    """End the first process of the container, and wait for the rest."""
    os.kill(CONTAINER.pid, signal.SIGKILL)
    with (PLACE.root / "container.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)


def interrupt(words: list[str], sign: str, *, seconds: float = 300) -> None:
    """Start a command, and kill it when it has printed a sign.

    :param words: of ``python -m tests.cloud``
    :param sign: what to wait for
    :param seconds: the time limit
    """
    process = subprocess.Popen(
        [*COMMAND, *words, *ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + patience.seconds(seconds)
    said = []
    for line in process.stdout:
        said.append(line)
        if sign in line or time.monotonic() > deadline:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    if sign not in said[-1]:
        raise AssertionError(f"it did not say {sign!r}: {''.join(said)}")
