# SPDX-License-Identifier: Apache-2.0
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


def run(*arguments: str, check: bool = True) -> str:
    """Run a program on the host and return what it printed."""
    process = subprocess.run(
        arguments, capture_output=True, text=True, check=False
    )
    if check and process.returncode:
        raise AssertionError(f"{arguments}: {process.stdout}{process.stderr}")
    return process.stdout


@contextlib.contextmanager
def running(*arguments: str) -> collections.abc.Iterator[subprocess.Popen]:
    """Run a program in the container while the block runs."""
    process = subprocess.Popen(
        CONTAINER.command(arguments),
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
    namespaces = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            groups = (folder / "cgroup").read_text()
            status = (folder / "status").read_text()
        except OSError:
            continue
        numbers = re.search(r"^NSpid:(.*)$", status, re.M)[1].split()
        if f"/{layout.CGROUP}" in groups and len(numbers) > 1:
            namespaces[int(folder.name)] = [
                int(number) for number in numbers[1:]
            ]
    return namespaces


def host_pid(pid: int) -> int:
    """Return the number on the host of a process of the first hypervisor."""
    (outside_pid,) = (
        outside for outside, inside in processes().items() if inside == [pid]
    )
    return outside_pid


def guests() -> set[int]:
    """Return the processes of the cloud's guests."""
    pids = set()
    for pid in processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            line = " ".join(psutil.Process(pid).cmdline())
            # libvirtd starts others for a moment, to see what QEMU can do.
            if "qemu-system" in line and "-name guest=" in line:
                pids.add(pid)
    return pids


def waiting_process() -> int:
    """Return the process on the host that waits for the container's end."""
    argv = ["bash", str(PLACE.scripts / "enter.sh"), str(PLACE.root)]
    (pid,) = (
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if process.info["cmdline"] == argv
    )
    return pid


def program(name: str) -> dict[str, t.Any]:
    """Return what supervisord knows of a program."""
    (process,) = (
        process for process in CONTAINER.processes() if process["name"] == name
    )
    return process


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


def interrupt(
    arguments: list[str], sign: str, *, seconds: float = 300
) -> None:
    """Start a command, and kill it when it has printed a sign.

    :param arguments: The arguments of ``python -m tests.cloud``.
    :param sign: The text to wait for.
    :param seconds: The time limit.
    """
    process = subprocess.Popen(
        [*COMMAND, *arguments, *ROOT],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + patience.seconds(seconds)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if sign in line or time.monotonic() > deadline:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    if sign not in lines[-1]:
        raise AssertionError(f"it did not say {sign!r}: {''.join(lines)}")
