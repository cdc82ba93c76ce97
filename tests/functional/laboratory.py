# SPDX-License-Identifier: Apache-2.0
"""A Rally of its own on the embedded cloud, for functional tests."""

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import openstack
from openstack import exceptions as sdk_errors

from rally_vmperf.baseline import store
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.records import model
from tests import patience
from tests import signals
from tests.cloud.state import addresses
from tests.cloud.system import layout

CLOUD = os.environ.get("VMPERF_CLOUD", "")
TASKS = pathlib.Path(__file__).parent / "tasks"
TOP = pathlib.Path(__file__).parent.parent.parent
BIN = pathlib.Path(sys.executable).parent

#: What a cloud raises that is asked for what is not there yet.
REFUSALS = sdk_errors.SDKException

#: The lines of a long output that say why something went wrong.
PROBLEM = re.compile(r"error|fail|refuse|not |exceeded", re.IGNORECASE)


def _made_groups(connection):
    """Return the groups that users made.

    Neutron makes a default group for a project when it first sees it; it
    counts only where the project is gone.
    """
    projects = {project.id for project in connection.identity.projects()}
    return [
        group
        for group in connection.network.security_groups()
        if group.name != "default" or group.project_id not in projects
    ]


def _made_ports(connection):
    """Return the ports that Neutron does not keep for itself."""
    return [
        port
        for port in connection.network.ports()
        if not port.device_owner.startswith("network:")
    ]


def _keypairs(connection):
    """Return the key pairs of all users; each sees only their own."""
    return [
        pair
        for user in connection.identity.users()
        for pair in connection.compute.keypairs(user_id=user.id)
    ]


def _volumes(connection):
    """Return the volumes of all projects; none without Cinder."""
    if not connection.has_service("block-storage"):
        return ()
    return connection.block_storage.volumes(all_projects=True)


#: What a run may leave in the cloud: nothing.
COUNTED = {
    "servers": lambda c: c.compute.servers(all_projects=True),
    "keypairs": _keypairs,
    "ports": _made_ports,
    "floating IPs": lambda c: c.network.ips(),
    "security groups": _made_groups,
    "server groups": lambda c: c.compute.server_groups(all_projects=True),
    "aggregates": lambda c: c.compute.aggregates(),
    "networks": lambda c: c.network.networks(),
    "routers": lambda c: c.network.routers(),
    "users": lambda c: c.identity.users(),
    "projects": lambda c: c.identity.projects(),
    "flavors": lambda c: c.compute.flavors(is_public=None),
    "images": lambda c: c.image.images(),
    "volumes": _volumes,
}


@functools.cache
def laboratory() -> "Laboratory":
    """Return the laboratory of this process."""
    return Laboratory()


class Laboratory:
    """Rally with a database, journal and registry of its own.

    :param name: The name of its folder, which is recreated.
    """

    def __init__(self, name: str = "functional") -> None:
        self.folder = pathlib.Path(CLOUD, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        self._used = ""
        self.conf = self.folder / "rally.conf"
        self.journal_dir = self.folder / "journal"
        self.conf.write_text(
            "[database]\n"
            f"connection = sqlite:///{self.folder}/rally.sqlite\n"
            "[vmperf]\n"
            f"baseline_dir = {self.folder}/baselines\n"
            f"journal_dir = {self.journal_dir}\n"
        )
        self.rally("db", "create", check=True)
        for user in ("admin", "member"):
            self.rally(
                "env",
                "create",
                "--name",
                user,
                "--spec",
                f"{CLOUD}/rally-env-{user}.json",
                check=True,
            )
        self.admin = openstack.connect(
            load_envvars=False, **_cloud("vmperf-admin")
        )

    def rally(
        self, *arguments: str, check: bool = False, timeout: float = 900
    ):
        """Run rally in the environment in use; return what it printed."""
        command = self._rally(*arguments)
        return _run(command, self._environment(), check, timeout)

    def vmperf(
        self, *arguments: str, check: bool = False, timeout: float = 900
    ):
        """Run a command of rally-vmperf that reads rally.conf."""
        config = ("--config-file", str(self.conf))
        return self.plain_vmperf(
            *arguments, *config, check=check, timeout=timeout
        )

    def plain_vmperf(
        self, *arguments: str, check: bool = False, timeout: float = 900
    ):
        """Run a command of rally-vmperf that reads no settings."""
        command = [str(BIN / "rally-vmperf"), *arguments]
        return _run(command, self._environment(), check, timeout)

    def use(self, user: str) -> None:
        """Have Rally work in an environment from now on."""
        self._used = user

    def start(self, task: pathlib.Path, **arguments):
        """Run a task to its end."""
        return self.rally(*_start(task, arguments))

    @contextlib.contextmanager
    def started(self, task: pathlib.Path, **arguments):
        """Run a task in the background, in a session of its own."""
        log = self.folder / f"started-{time.monotonic_ns()}.log"
        with open(log, "wb") as stream:
            process = subprocess.Popen(
                [*signals.DEFAULT, *self._rally(*_start(task, arguments))],
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd=TOP,
                env=self._environment(),
                start_new_session=True,
            )
            process.log = log
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait(patience.seconds(300))

    def results(self) -> list[dict]:
        """Return the workloads of the last task, as Rally exports them."""
        report = self.rally("task", "results", check=True)
        return json.loads(report.stdout)

    def verdicts(self) -> list[dict]:
        """Return what the SLAs of the last task said."""
        return [
            verdict for result in self.results() for verdict in result["sla"]
        ]

    def journals(self) -> set[pathlib.Path]:
        """Return the journals that there are."""
        return set(self.journal_dir.glob("*.jsonl"))

    def records(self, path: pathlib.Path) -> list[model.Record]:
        """Return the records in a journal."""
        return journal.Journal(self.journal_dir, path.stem).read()

    def machines(self, record: model.Record) -> dict[str, dict]:
        """Return what is known of the machines of a record, by name."""
        return files.read(self.journal_dir, record.machines_file)["machines"]

    def check_reached(self, record: model.Record) -> None:
        """Fail where the guest had a floating IP, or its way is written."""
        nova = self.machines(record)["g1"]["nova"]
        if nova["reached_by"] != "fixed" or nova["floating_address"]:
            raise AssertionError(f"reached otherwise: {nova}")
        secrets = {"jump", "namespace", "login", "host_key"} & nova.keys()
        if secrets:
            raise AssertionError(f"in the record: {sorted(secrets)}")

    def count(self) -> dict[str, int]:
        """Return how many of each kind are in the whole cloud."""
        return {
            name: len(list(listing(self.admin)))
            for name, listing in COUNTED.items()
        }

    def record_baseline(self, name: str, *options: str) -> None:
        """Record bare metal, once, on this machine.

        It runs the cloud, and may be a guest.
        """
        if name in store.Store(self.folder / "baselines").names():
            return
        self.vmperf(
            *("baseline", "record", name, "--local", "--measure-anyway"),
            *options,
            check=True,
        )

    def pretend_shape(self, name: str, like: str, **shape: int) -> None:
        """Register a copy of a baseline as one of another shape."""
        self._pretend(
            name,
            like,
            lambda entry: dataclasses.replace(
                entry, shape=dataclasses.replace(entry.shape, **shape)
            ),
        )

    def pretend_arguments(
        self, name: str, like: str, workload: str, **arguments
    ) -> None:
        """Register a copy of a baseline as if a workload did other work."""

        def change(entry):
            if entry.workload != workload:
                return entry
            return dataclasses.replace(
                entry, arguments={**entry.arguments, **arguments}
            )

        self._pretend(name, like, change)

    def _pretend(self, name: str, like: str, change) -> None:
        registry = store.Store(self.folder / "baselines")
        content = registry.load(like)
        entries = tuple(change(entry) for entry in content.entries)
        registry.save(
            dataclasses.replace(content, name=name, entries=entries),
            replace=True,
        )

    def _environment(self) -> dict[str, str]:
        """Return an environment that names that of Rally's, if any is used."""
        used = {"RALLY_ENV": self._used} if self._used else {}
        return {**environment(self.folder), **used}

    def _rally(self, *arguments: str) -> list[str]:
        return [
            str(BIN / "rally"),
            "--config-file",
            str(self.conf),
            *arguments,
        ]


@unittest.skipUnless(CLOUD, "VMPERF_CLOUD names no embedded cloud")
class Case(unittest.TestCase):
    """A test on the embedded cloud that leaves it as it was."""

    def setUp(self):
        """Count what is there."""
        super().setUp()
        self.laboratory = laboratory()
        self.before = self.laboratory.count()
        self.addCleanup(self.check_nothing_left)

    def check_ended(self, code: int, process) -> None:
        """Fail with what a run said when it ended with another code."""
        if code != process.returncode:
            self.fail(
                f"{code} != {process.returncode}: {problem_lines(process)}\n"
                + "\n".join(self._not_passed())
            )

    def _not_passed(self) -> list[str]:
        """Return the SLAs of the last task that did not pass, with details."""
        with contextlib.suppress(subprocess.CalledProcessError, ValueError):
            return [
                f"{verdict['criterion']}: "
                + verdict["detail"].partition("passed: ")[0][:2000]
                for verdict in self.laboratory.verdicts()
                if not verdict["success"]
            ]
        return []

    def new_journal(self, before: set[pathlib.Path], process) -> pathlib.Path:
        """Return the one journal that a run has written."""
        new = self.laboratory.journals() - before
        self.assertEqual(1, len(new), problem_lines(process))
        return new.pop()

    def check_nothing_left(self):
        """Fail when the cloud holds more or less than before."""
        self.assertEqual(self.before, self.laboratory.count())


def wait_for(what: str, condition, seconds: float = 300) -> None:
    """Wait until something is so, longer on a slow machine."""
    seconds = patience.seconds(seconds)
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"no {what} within {seconds:.0f} s")
        time.sleep(0.2)


def problem_lines(process) -> str:
    """Return the last lines of an output that report a problem."""
    lines = f"{process.stdout}\n{process.stderr}".splitlines()
    reporting = [line[:400] for line in lines if PROBLEM.search(line)]
    return "\n".join(["", *reporting[-15:]])


def networks() -> addresses.Addresses:
    """Return the address ranges of the embedded cloud."""
    return addresses.load(layout.Layout(pathlib.Path(CLOUD)))


def peer() -> dict[str, str]:
    """Return the embedded cloud's peer, as tasks name it."""
    return {
        "address": networks().peer,
        "user": "root",
        "key_file": f"{CLOUD}/etc/id_ed25519",
        "known_hosts": f"{CLOUD}/known_hosts",
    }


def qemu(server):
    """Return the process of a guest's machine."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            arguments = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if server.encode() in arguments and b"qemu" in arguments[0]:
            return int(folder.name)
    raise AssertionError(f"no qemu of {server}")


def user_of(process: int) -> str:
    """Return the name in the container of the user of a process."""
    status = pathlib.Path("/proc", str(process), "status").read_text()
    _, effective, *_ = re.search(r"^Uid:(.*)$", status, re.M)[1].split()
    return name_of(int(effective), "passwd")


def name_of(number: int, database: str) -> str:
    """Return the name of a user or group of the container.

    :param number: its number
    :param database: passwd or group
    """
    lines = pathlib.Path(CLOUD, "root/etc", database).read_text().splitlines()
    (name,) = (
        entry[0]
        for entry in (line.split(":") for line in lines)
        if entry[2] == str(number)
    )
    return name


def _start(task: pathlib.Path, arguments: dict) -> list[str]:
    command = ["task", "start", str(task)]
    return [*command, "--task-args", json.dumps(arguments)]


def environment(home: pathlib.Path) -> dict[str, str]:
    """Return an environment in which Rally keeps its state to itself."""
    variables = {
        k: v for k, v in os.environ.items() if not k.startswith("RALLY_")
    }
    return {**variables, "HOME": str(home)}


def _run(
    argv: list[str], surroundings: dict[str, str], check: bool, timeout: float
):
    process = subprocess.run(
        argv,
        cwd=TOP,
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=patience.seconds(timeout),
        check=False,
    )
    if check and process.returncode:
        raise AssertionError(
            f"{' '.join(argv)} ended with {process.returncode}:\n"
            f"{process.stdout[-4000:]}\n{process.stderr[-4000:]}"
        )
    return process


def _cloud(name: str) -> dict:
    import yaml

    text = pathlib.Path(CLOUD, "clouds.yaml").read_text()
    return yaml.safe_load(text)["clouds"][name]
