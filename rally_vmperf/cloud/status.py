"""The status of the embedded cloud: what runs and what is damaged."""

import collections.abc
import dataclasses
import datetime
import shutil

from rally_vmperf.cloud import preflight
from rally_vmperf.cloud.network import network_check
from rally_vmperf.cloud.network import paths
from rally_vmperf.cloud.resources import fernet
from rally_vmperf.cloud.resources import image_store
from rally_vmperf.cloud.services import database
from rally_vmperf.cloud.services import schema
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.services import supervisor
from rally_vmperf.cloud.services import templates
from rally_vmperf.cloud.state import addresses
from rally_vmperf.cloud.state import credentials
from rally_vmperf.cloud.system import documents
from rally_vmperf.cloud.system import layout
from rally_vmperf.cloud.system import procfs

COLUMNS = ("Service", "State", "PID", "Since", "Address", "Trouble")


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the table: a service, or another part that is damaged."""

    service: str
    state: str
    pid: int | None
    since: str
    address: str = ""
    trouble: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        pid = "" if self.pid is None else str(self.pid)
        return (
            self.service,
            self.state,
            pid,
            self.since,
            self.address,
            self.trouble,
        )


def describe(
    known: collections.abc.Iterable[services.Service],
    keeper: supervisor.Supervisor,
) -> list[Line]:
    """Return a line for each service, in the order of the data file.

    :param known: the services there should be
    :param keeper: tells which of them run
    """
    return [of_service(service, keeper) for service in known]


def of_service(
    service: services.Service, keeper: supervisor.Supervisor
) -> Line:
    """Return the line of one service.

    :param service: as it should be
    :param keeper: tells whether it runs
    """
    record = keeper.running(service.name)
    if record is None:
        known = keeper.records.read(service.name) is not None
        state = "dead" if known else "stopped"
        trouble = "has ended" if known else ""
        return Line(service.name, state, None, "", service.address, trouble)
    since = datetime.datetime.fromtimestamp(int(record.since))
    return Line(
        service.name,
        "running",
        record.identity.pid,
        since.isoformat(" "),
        service.address,
        keeper.trouble(service, keeper.digest(service), patience=0) or "",
    )


def of_cloud(folders: layout.Layout) -> list[Line]:
    """Return the lines of the cloud in a state root.

    :param folders: its folders
    """
    keeper = supervisor.Supervisor(folders)
    lines = describe(services.shipped(folders), keeper)
    return lines + [
        Line(part, "damaged", None, "", "", trouble)
        for part, trouble in damage(folders, keeper.processes)
    ]


def damage(
    folders: layout.Layout, processes: procfs.ProcessTable
) -> list[tuple[str, str]]:
    """Return each damaged part of a cloud, with what is wrong with it.

    :param folders: the state root's folders
    :param processes: the machine's process table
    """
    if not schema.any_filled(folders):
        return []
    wrong = [("files", trouble) for trouble in damaged_files(folders)]
    broken = database.damage(
        folders.data / "mysql", schema.known_tables(folders)
    )
    if broken:
        wrong.append(("databases", broken))
    if network_check.expected(folders, processes.boot_id()):
        here = network_check.troubles(addresses.load(folders))
        # Without the bridges nothing can be said of what joins them.
        here = here or paths.troubles(paths.saved(folders))
        wrong += [("network", trouble) for trouble in here]
    return wrong


def damaged_files(folders: layout.Layout) -> list[str]:
    """Return what is wrong with the configuration files of services.

    :param folders: the state root's folders
    """
    wrong = [f"folder {name} is gone" for name in folders.missing_folders()]
    wrong += [f"{name} is gone or empty" for name in templates.gone(folders)]
    secrets = folders.etc / "secrets.json"
    lost = len(credentials.PURPOSES) - len(credentials.known(secrets))
    if lost:
        wrong.append(f"{lost} secrets are lost from {secrets.name}")
    for path in (folders.settings, folders.before, folders.addresses):
        if documents.broken(path):
            wrong.append(f"{path.name} cannot be read")
    for name in fernet.broken(folders):
        wrong.append(f"Keystone's keys ({name}) cannot be used")
    if folders.image.exists() and not image_store.readable(folders.image):
        wrong.append(f"{folders.image.name} is not a complete image")
    free = shutil.disk_usage(folders.root).free
    if free < preflight.DISK_OF_RUNNING:
        wrong.append(f"only {free / preflight.GIB:.1f} GiB of disk are free")
    return wrong
