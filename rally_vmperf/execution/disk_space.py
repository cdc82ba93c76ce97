# SPDX-License-Identifier: Apache-2.0
"""The disk space that the workloads of a run need on a machine."""

import collections.abc
import dataclasses

from rally_vmperf.execution import assignment
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.measurement.samples import units
from rally_vmperf.workloads import base as workloads

#: The smallest share of a need whose workload is named.
_NOTABLE = 0.01

#: The largest share of a disk that files can have: the tables and the journal
#: of a file system take the rest.
FILES_SHARE = 0.97

#: The way to more space, by the role of the machine.
_REMEDIES: dict[roles.Role, str] = {
    "guest": "use a flavor or boot_volume with a larger disk",
    "copy": "set --work-dir to a directory on a larger disk",
    "peer": "free space on it",
    "control": "free space on it",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpaceNeed:
    """The space that all workloads of a run need in a work directory.

    :param size: The number of bytes.
    :param titles: The titles of the workloads that need space.
    :param largest: The title of the workload that needs most of it.
    :param arguments: The names of its arguments that determine the size.
    """

    size: int = 0
    titles: tuple[str, ...] = ()
    largest: str = ""
    arguments: tuple[str, ...] = ()

    def describe_shortage(
        self, available: int, place: str, remedy: str
    ) -> str:
        """Return the reason and the solution if there is less space.

        :param available: The available bytes.
        :param place: The place of the available space, after its size.
        :param remedy: The way to more space.
        """
        need, limit = units.show_sizes(self.size, available)
        noun = "workload" if len(self.titles) == 1 else "workloads"
        verb = "needs" if len(self.titles) == 1 else "need"
        if self.arguments:
            owner = f" of {self.largest}" if len(self.titles) > 1 else ""
            remedy += f", or reduce {' or '.join(self.arguments)}{owner}"
        return (
            f"{noun} {', '.join(self.titles)} {verb} "
            f"{need} of disk: must be <= {limit}{place}; {remedy}"
        )


def find_need(
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> SpaceNeed:
    """Return the space that workloads need on a measured machine.

    Workloads run one after another: the files that remain add up, and only
    the largest temporary files of a workload are in addition.

    :raises WorkloadError: If a file of a workload cannot be read.
    """
    kept, temporary = 0, 0
    needs = []
    for assigned in assignment.merge_loads(assignments):
        space = _find_space(assigned)
        copied = sum(map(len, assigned.read_files().values()))
        kept += space.kept + copied
        temporary = max(temporary, space.temporary)
        size = space.kept + copied + space.temporary
        needs.append((size, assigned.title, space.arguments))
    return _create_need(kept + temporary, needs)


def find_peer_need(
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> SpaceNeed:
    """Return the space that workloads need on the peer."""
    needs = [
        (space.on_peer, assigned.title, space.arguments)
        for assigned in assignment.merge_loads(assignments)
        for space in [_find_space(assigned)]
    ]
    return _create_need(sum(size for size, _, _ in needs), needs)


def _find_space(assigned: assignment.Assignment) -> workloads.DiskSpace:
    """Return the space of a workload, which volumes have in its place."""
    if assigned.targets():
        return workloads.DiskSpace()
    return assigned.workload.disk_space(assigned.arguments)


def _create_need(
    size: int,
    needs: collections.abc.Collection[tuple[int, str, tuple[str, ...]]],
) -> SpaceNeed:
    """Return the need of workloads from sizes, titles and arguments."""
    if not size:
        return SpaceNeed()
    _, largest, arguments = max(needs)
    return SpaceNeed(
        size=size,
        titles=tuple(
            title for part, title, _ in needs if part >= size * _NOTABLE
        ),
        largest=largest,
        arguments=arguments,
    )


def check(
    stations: collections.abc.Iterable[roles.Station], need: SpaceNeed
) -> None:
    """Reject machines whose work directories have too little space.

    Stations on the same machine share its space.

    :param need: The need of each station.
    :raises MachineError: If the files do not fit; with the machines.
    """
    sharing: dict[base.Machine, list[roles.Station]] = {}
    for station in stations:
        if station.available_bytes is not None:
            sharing.setdefault(station.machine, []).append(station)
    names_by_shortage: dict[str, list[str]] = {}
    for machine, sharers in sharing.items():
        share = min(
            station.available_bytes or 0 for station in sharers
        ) // len(sharers)
        if need.size <= share:
            continue
        role, parent = sharers[0].role, sharers[0].parent
        place = ", which are free"
        if len(sharers) > 1:
            place += f" for each of {len(sharers)} copies"
        place += f" in {parent}" if parent else " in the home directory"
        shortage = need.describe_shortage(share, place, _REMEDIES[role])
        names_by_shortage.setdefault(shortage, []).append(machine.name)
    if names_by_shortage:
        raise base.MachineError(
            "; ".join(
                f"{', '.join(names)}: {shortage}"
                for shortage, names in names_by_shortage.items()
            )
        )
