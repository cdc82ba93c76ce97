"""What of the embedded cloud is running."""

import collections.abc
import dataclasses
import datetime

from rally_vmperf.cloud import layout
from rally_vmperf.cloud import services
from rally_vmperf.cloud import supervisor
from rally_vmperf.cloud import templates

COLUMNS = ("Service", "State", "PID", "Since", "Address")


@dataclasses.dataclass(frozen=True)
class Line:
    """One service in the table."""

    service: str
    state: str
    pid: int | None
    since: str
    address: str

    def cells(self) -> tuple[str, ...]:
        """Return what the table shows."""
        pid = "" if self.pid is None else str(self.pid)
        return self.service, self.state, pid, self.since, self.address


def describe(
    known: collections.abc.Iterable[services.Service],
    keeper: supervisor.Supervisor,
) -> list[Line]:
    """Return a line for each service, in the order of the data file.

    :param known: the services there should be
    :param keeper: knows which of them run
    """
    lines = []
    for service in known:
        record = keeper.running(service.name)
        if record:
            since = datetime.datetime.fromtimestamp(int(record.since))
            lines.append(
                Line(
                    service.name,
                    "running",
                    record.identity.pid,
                    since.isoformat(" "),
                    service.address,
                )
            )
            continue
        state = "dead" if keeper.records.read(service.name) else "stopped"
        lines.append(Line(service.name, state, None, "", service.address))
    return lines


def of_cloud(place: layout.Layout) -> list[Line]:
    """Return the lines of the cloud in a state root.

    :param place: its folders
    """
    shipped = templates.Templates(place, {})
    known = services.parse(shipped.data("services.yaml.j2"))
    return describe(known, supervisor.Supervisor(place))
