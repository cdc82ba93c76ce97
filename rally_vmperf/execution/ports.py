# SPDX-License-Identifier: Apache-2.0
"""The ports at the endpoints, from one range for all workloads of a run.

The range begins with the ports that all machines share. The ports of the first
machine follow, workload by workload, then those of the second one, and so on.
"""

import collections.abc
import dataclasses

from rally_vmperf.execution import assignment
from rally_vmperf.execution.stations import roles
from rally_vmperf.workloads import base

#: Above the default port of iperf3, below the ephemeral ports of Linux.
FIRST, LAST = 5201, 32767

Assignments = collections.abc.Sequence[assignment.Assignment]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PortAllocation:
    """The ports of one workload.

    :param shared: The ports that all machines use.
    :param first: The ports of the first machine.
    :param stride: The distance to the ports of the next machine.
    """

    shared: range
    first: range
    stride: int

    def own(self, position: int) -> range:
        """Return the ports of a machine as a range.

        :param position: The index of the machine among the measured ones, from
            0.
        """
        offset = position * self.stride
        return range(self.first.start + offset, self.first.stop + offset)

    def endpoints(
        self,
        position: int,
        peer: str = "",
        partner: str = "",
        listen_address: str = "",
    ) -> base.Endpoints:
        """Return the endpoints of a machine, with its ports.

        :param position: The index of the machine, as for ``own``.
        :param peer: The address of the peer; empty for none.
        :param partner: The address of the partner; empty for none.
        :param listen_address: The address to which servers on the peer are
            bound; empty for all addresses.
        """
        return base.Endpoints(
            peer=peer,
            partner=partner,
            listen_address=listen_address,
            own_ports=self.own(position),
            shared_ports=self.shared,
        )

    def connect(
        self,
        position: int,
        peer: roles.Station | None,
        partner: roles.Station | None = None,
    ) -> base.Endpoints:
        """Return the endpoints of a machine with its peer and its partner.

        :param position: The index of the machine, as for ``own``.
        """
        return self.endpoints(
            position,
            peer.address if peer else "",
            partner.address if partner else "",
            peer.listen_address if peer else "",
        )


def allocate(
    assignments: Assignments, begin: int | None = None
) -> list[PortAllocation]:
    """Return the ports of each workload, in the order of assignments.

    :param begin: The first port of all; None means :data:`FIRST`.
    """
    counts = [
        assigned.workload.ports(assigned.arguments) for assigned in assignments
    ]
    stride = sum(count.own for count in counts)
    shared = FIRST if begin is None else begin
    own = shared + sum(count.shared for count in counts)
    allocations = []
    for count in counts:
        allocations.append(
            PortAllocation(
                shared=range(shared, shared + count.shared),
                first=range(own, own + count.own),
                stride=stride,
            )
        )
        shared += count.shared
        own += count.own
    return allocations


def used_ports(assignments: Assignments, machines: int) -> range:
    """Return all ports, as a range, that a number of machines use.

    :raises WorkloadError: If there are not enough ports for the machines.
    """
    allocations = allocate(assignments)
    shared = sum(len(allocation.shared) for allocation in allocations)
    stride = sum(len(allocation.first) for allocation in allocations)
    last = FIRST + shared + machines * stride - 1
    if last > LAST:
        limit = max(LAST - FIRST + 1 - shared, 0) // stride
        raise base.WorkloadError(
            f"count={machines}: must be at most {limit}, as network workloads "
            f"require {stride} ports for each machine, from {FIRST} to "
            f"{LAST}; reduce the count or the number of workloads"
        )
    return range(FIRST, last + 1)


def guest_ports(assignments: Assignments, machines: int) -> range:
    """Return the range of ports on which guests listen for other guests.

    :raises WorkloadError: If there are not enough ports for the machines.
    """
    ports = used_ports(assignments, machines)
    return (
        ports
        if "partner" in assignment.required_endpoints(assignments)
        else range(0)
    )
