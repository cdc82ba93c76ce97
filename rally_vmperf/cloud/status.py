"""What of the embedded cloud is running."""

import collections.abc
import dataclasses
import datetime

from rally_vmperf.cloud import layout
from rally_vmperf.cloud import services
from rally_vmperf.cloud import state_checks
from rally_vmperf.cloud import supervisor

COLUMNS = ("Service", "State", "PID", "Since", "Address", "Trouble")


@dataclasses.dataclass(frozen=True)
class Line:
    """One service in the table, or another part that is damaged."""

    service: str
    state: str
    pid: int | None
    since: str
    address: str = ""
    trouble: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return what the table shows."""
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
    :param keeper: knows which of them run
    """
    return [of_service(service, keeper) for service in known]


def of_service(
    service: services.Service, keeper: supervisor.Supervisor
) -> Line:
    """Return the line of one service.

    :param service: as it should be
    :param keeper: knows whether it runs
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


def of_cloud(place: layout.Layout) -> list[Line]:
    """Return the lines of the cloud in a state root.

    :param place: its folders
    """
    keeper = supervisor.Supervisor(place)
    lines = describe(services.shipped(place), keeper)
    return lines + [
        Line(part, "damaged", None, "", "", trouble)
        for part, trouble in state_checks.of_parts(place, keeper.processes)
    ]
