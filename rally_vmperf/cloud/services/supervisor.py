"""Start services, wait until they are ready, stop them."""

import os
import pathlib
import signal
import subprocess
import time

from rally_vmperf.cloud.services import leftovers
from rally_vmperf.cloud.services import probes
from rally_vmperf.cloud.services import service_health
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.state import records
from rally_vmperf.cloud.system import commands
from rally_vmperf.cloud.system import errors
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs

STOP_PATIENCE = 10.0
POLL = 0.2


class Supervisor:
    """Keeps each service in a process session of its own.

    :param folders: the state root's folders
    :param processes: the machine's process table
    """

    def __init__(
        self,
        folders: layout.Layout,
        processes: procfs.ProcessTable | None = None,
    ) -> None:
        self._folders = folders
        self.processes = processes or procfs.ProcessTable()
        self.records = records.Records(folders)
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def running(self, name: str) -> records.Record | None:
        """Return the record of a service whose process lives."""
        record = self.records.read(name)
        if record and self.processes.alive(record.identity):
            return record
        return None

    def ensure(self, service: services.Service) -> str | None:
        """Start a service, or restart one whose configuration has changed.

        :param service: what to run
        :return: what was wrong with it, when it was restarted
        """
        digest = self.digest(service)
        trouble = self.trouble(service, digest)
        if trouble:
            self.stop(service.name)
            self._start(service, digest)
        self._wait(service)
        return trouble

    def digest(self, service: services.Service) -> str:
        """Return the digest of what a service would be started with now."""
        leaders = (self.running(name) for name in service.follows)
        return service.digest(
            self._folders.etc, [str(leader) for leader in leaders]
        )

    def trouble(
        self,
        service: services.Service,
        digest: str,
        patience: float = service_health.SILENCE,
    ) -> str | None:
        """Return why a service must be started or restarted; None if not.

        :param service: what should run
        :param digest: what it would be started with now
        :param patience: seconds in which it must answer
        """
        record = self.records.read(service.name)
        wrong = service_health.of_process(service, record, self.processes)
        if wrong or record is None:
            return wrong
        changed = service_health.of_digest(digest, record.digest)
        if changed or not self.records.was_ready(record):
            return changed
        return service_health.of_answers(service, patience)

    def _start(self, service: services.Service, digest: str) -> None:
        argv = service.argv
        leftovers.check_addresses(service, self.processes)
        with self.log(service.name).open("ab") as log:
            try:
                child = subprocess.Popen(
                    argv,
                    env=commands.environment(
                        self._folders, service.environment
                    ),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    cwd="/",
                    start_new_session=True,
                    umask=0o022,
                )
            except FileNotFoundError as missing:
                raise errors.CloudError(
                    f"{service.name} cannot start: no program {argv[0]}; "
                    "see whether its Debian package is installed"
                ) from missing
        self._children[service.name] = child
        identity = self.processes.identify(child.pid)
        if identity is None:
            raise errors.CloudError(self._end_message(service.name))
        self.records.write(service.name, identity, digest)

    def _wait(self, service: services.Service) -> None:
        deadline = time.monotonic() + service.patience
        while True:
            record = self.running(service.name)
            if record is None:
                raise errors.CloudError(self._end_message(service.name))
            if probes.ready(service.ready):
                self.records.note_ready(record)
                return
            if time.monotonic() > deadline:
                asked = " ".join(service.ready.values())
                raise errors.CloudError(
                    f"{service.name} is not ready after {service.patience} s "
                    f"({asked} does not answer); see "
                    f"{self.log(service.name)}"
                )
            time.sleep(POLL)

    def log(self, name: str) -> pathlib.Path:
        """Return the file that a service prints into."""
        return self._folders.log / f"{name}.log"

    def _end_message(self, name: str) -> str:
        lines = self.log(name).read_text(errors="replace").splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "")
        return f"{name} ended: {last.strip()} (more in {self.log(name)})"

    def stop(self, name: str) -> None:
        """End a service with all processes of its session.

        :param name: the service; what a killed one left is ended too
        """
        record = self.records.read(name)
        if record and self.processes.alive(record.identity):
            pid = record.identity.pid
            send(pid, signal.SIGTERM)
            # One that was told to stop hears nothing before this.
            send(pid, signal.SIGCONT)
            deadline = time.monotonic() + STOP_PATIENCE
            while self.running(name) and time.monotonic() < deadline:
                self._reap(name)
                time.sleep(POLL / 4)
            for other in self.processes.pids():
                if self.processes.session(other) == pid:
                    send(other, signal.SIGKILL)
        deadline = time.monotonic() + STOP_PATIENCE
        while left := leftovers.of(
            name, record, self._folders, self.processes
        ):
            for pid in left:
                send(pid, signal.SIGKILL)
            self._reap(name)
            if time.monotonic() > deadline:
                break
            time.sleep(POLL / 4)
        self._reap(name)
        self.records.forget(name)

    def _reap(self, name: str) -> None:
        if name in self._children:
            self._children[name].poll()


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
