# SPDX-License-Identifier: Apache-2.0
"""The container of the embedded cloud: start, end, and what runs in it.

A process on the host, ``enter.sh``, waits for the end of the container. The
first process of the container is supervisord, and its end ends all others,
with their mounts, namespaces, devices and rules.
"""

import collections.abc
import contextlib
import fcntl
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import typing as t
import xmlrpc.client

from rally_vmperf import removal
from rally_vmperf.image import commands
from tests.cloud.resources import services
from tests.cloud.system import layout

#: The name of the files of a supervisord, by hypervisor.
SUPERVISORS = dict(
    zip(layout.HYPERVISORS, ("supervisord", "supervisord-2"), strict=True)
)
#: The file with the number of the first process, while the container runs.
PID_FILE = "container.pid"
_MODULES = pathlib.Path("/proc/modules")
_START_TIMEOUT = 60.0
_END_TIMEOUT = 60.0


class Container:
    """The container of one cloud.

    :param folders: The paths of the cloud.
    """

    def __init__(self, folders: layout.Layout) -> None:
        self._folders = folders

    @property
    def pid(self) -> int | None:
        """The process number of its first process; None if it has ended."""
        try:
            text = (self._folders.root / PID_FILE).read_text()
            number, namespace = text.split()
            process_namespace = os.readlink(f"/proc/{number}/ns/pid")
        except (OSError, ValueError):
            return None
        return int(number) if process_namespace == namespace else None

    def start(self) -> None:
        """Start it, and wait until supervisord answers.

        :raises errors.HostError: If it does not start.
        """
        for entry in self._folders.run.iterdir():
            removal.remove(entry, self._folders.root)
        self._folders.make_directories()
        if self._folders.used:
            self._folders.guests_gone.touch()
        self._folders.modules.write_text("\n".join(_list_modules()))
        log = self._folders.log / "container.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                ["bash", self._folders.scripts / "enter.sh",
                 self._folders.root],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                env=commands.plain_environment(),
                start_new_session=True,
            )  # fmt: skip

        def ready() -> bool:
            if process.poll() is not None:
                lines = log.read_text().splitlines() or ["it printed nothing"]
                raise commands.HostError(
                    f"the container has ended: {lines[-1]} (see {log})"
                )
            return bool(self.processes())

        services.wait("supervisord", ready, _START_TIMEOUT, 0.1)

    def end(self) -> None:
        """End it with all that runs in it; nothing if it has ended.

        :raises errors.HostError: If a process does not end.
        """
        services.wait(
            "the end of the container", self._try_to_end, _END_TIMEOUT
        )
        script = self._folders.scripts / "enter.sh"
        if script.exists() and (self._folders.etc / "container.env").exists():
            # The process that waited on the host may have been killed.
            commands.run(["bash", script, self._folders.root, "clean"])

    def _try_to_end(self) -> bool:
        """End it; return whether the process on the host has ended, too.

        An interrupted command may have started it just now.
        """
        pid = self.pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            return False
        path = self._folders.root / "container.lock"
        with path.open("w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return self.pid is None

    def command(
        self, argv: collections.abc.Iterable[str | os.PathLike[str]]
    ) -> list[str]:
        """Return the command that runs a program in the container.

        :param argv: The program and its arguments.
        :raises errors.HostError: If the container does not run.
        """
        pid = self.pid
        if pid is None:
            raise commands.HostError(
                f"the cloud in {self._folders.root} does not run; start it: "
                "python -m tests.cloud up"
            )
        return [
            *("nsenter", "--target", str(pid), "--all", "--root", "--wd"),
            *("env", "-i", "LANG=C.UTF-8"),
            f"PATH={self._folders.scripts}:{commands.SYSTEM_PATH}",
            f"HOME={self._folders.data}",
            *(os.fspath(word) for word in argv),
        ]

    def run(self, *argv: str | os.PathLike[str], **options: t.Any) -> str:
        """Run a program in the container as ``commands.run`` does."""
        return commands.run(self.command(argv), **options)

    def update(self) -> None:
        """Start the programs whose configuration files have changed."""
        for name in SUPERVISORS.values():
            path = self._folders.etc / f"{name}.conf"
            if self.processes(name):
                self.run("supervisorctl", "-c", path, "update", timeout=120)

    def processes(self, name: str = "supervisord") -> list[dict[str, t.Any]]:
        """Return the programs of a supervisord; none if it does not answer.

        Each has ``name``, ``statename``, ``pid`` in its namespace, ``start``
        in seconds since 1970, and ``spawnerr``.

        :param name: The name of the supervisord.
        """
        path = self._folders.run / f"{name}.sock"
        try:
            transport = _Transport(path)
            server = xmlrpc.client.ServerProxy("http://x", transport)
            processes = server.supervisor.getAllProcessInfo()
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return []
        return t.cast("list[dict[str, t.Any]]", processes)

    def new_modules(self) -> list[str]:
        """Return the kernel modules that were loaded since the start."""
        if not self._folders.modules.exists():
            return []
        before = self._folders.modules.read_text().splitlines()
        return sorted(set(_list_modules()) - set(before))


def _list_modules() -> list[str]:
    """Return the names of the kernel modules that are loaded."""
    if not _MODULES.exists():
        # A kernel without modules.
        return []
    return [line.split()[0] for line in _MODULES.read_text().splitlines()]


class _Transport(xmlrpc.client.Transport):
    """XML-RPC by a UNIX socket.

    :param path: The path of the socket.
    """

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self._path = path

    def make_connection(self, host: t.Any) -> http.client.HTTPConnection:
        """Return a new connection."""
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(10)
        connection.sock.connect(str(self._path))
        return connection
