"""Ports at the other ends, out of one range for all workloads of a run.

First come those that all machines share, then those of the first machine,
workload by workload, then those of the second, and so on.
"""

import collections.abc
import dataclasses

from rally_vmperf.execution import assignment
from rally_vmperf.workloads import base

#: Above those of iperf3's own default, below those that Linux gives to
#: clients.
FIRST, LAST = 5201, 32767

Assignments = collections.abc.Sequence[assignment.Assignment]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Allotment:
    """The ports of one workload.

    :param shared: those that all machines use
    :param first: those that the first machine has for itself
    :param stride: how much further on those of the next machine are
    """

    shared: range
    first: range
    stride: int

    def own(self, position: int) -> range:
        """Return the ports of one of the machines.

        :param position: of the machine among those that measure, from 0
        """
        further = position * self.stride
        return range(self.first.start + further, self.first.stop + further)


def allot(
    assignments: Assignments, begin: int | None = None
) -> list[Allotment]:
    """Return the ports of each workload.

    :param begin: the first of all, :data:`FIRST` where it is None
    """
    begin = FIRST if begin is None else begin
    asked = [one.workload.ports(one.arguments) for one in assignments]
    stride = sum(one.own for one in asked)
    shared, own = begin, begin + sum(one.shared for one in asked)
    found = []
    for one in asked:
        found.append(
            Allotment(
                shared=range(shared, shared + one.shared),
                first=range(own, own + one.own),
                stride=stride,
            )
        )
        shared, own = shared + one.shared, own + one.own
    return found


def used(assignments: Assignments, machines: int) -> range:
    """Return all ports that so many machines use.

    :raises WorkloadError: for more machines than there are ports for
    """
    asked = [one.workload.ports(one.arguments) for one in assignments]
    shared = sum(one.shared for one in asked)
    stride = sum(one.own for one in asked)
    last = FIRST + shared + machines * stride - 1
    if last > LAST:
        room = max(LAST - FIRST + 1 - shared, 0) // stride
        raise base.WorkloadError(
            f"count {machines}: network workloads need {stride} ports for "
            f"each machine, and those from {FIRST} to {LAST} are enough for "
            f"{room}; measure {room} at most, or fewer workloads"
        )
    return range(FIRST, last + 1)


def of_guests(assignments: Assignments, machines: int) -> range:
    """Return the ports at which guests listen for one another.

    :raises WorkloadError: as ``used`` does
    """
    found = used(assignments, machines)
    return found if "partner" in assignment.needs(assignments) else range(0)
