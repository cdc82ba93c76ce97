# SPDX-License-Identifier: Apache-2.0
"""An estimate of the duration of a run."""

import collections.abc
import math

from rally_vmperf.execution import assignment
from rally_vmperf.execution import ports
from rally_vmperf.workloads import base

#: Seconds until guests have booted and tools and data are in place.
_READY = 120
#: Seconds until stopped guests have booted again, all at once.
_BOOT = 60
#: Seconds to write dirty pages to disk, and to drop caches.
_DROP = 2
#: Seconds to start a command on all machines, collect its output and check the
#: machines.
_AROUND = 3
#: Seconds after the longest duration of the measured commands at which a load
#: next to them ends by itself: machines are checked, rebooted, or slow.
_SLACK = 3600.0


def estimate_minutes(
    assignments: collections.abc.Iterable[assignment.Assignment],
    repetitions: int,
    levels: int = 1,
    boots: int = 0,
    new_guests: int = 0,
    *,
    is_ready: bool = False,
) -> int:
    """Return the approximate duration of a run in minutes, boot included.

    :param repetitions: The number of repetitions, warm-up included.
    :param levels: The number of levels in each repetition.
    :param boots: The number of reboots during the run.
    :param new_guests: The number of times that guests are replaced by others.
    :param is_ready: Whether the guests have booted.
    """
    once = estimate_seconds(assignments)
    starts = new_guests + (not is_ready)
    ready = starts * _READY + boots * _BOOT
    seconds = ready + repetitions * levels * once
    return math.ceil(seconds / 60)


def planned_commands(
    assignment: assignment.Assignment,
) -> tuple[base.Command, ...]:
    """Return the commands of a workload, with placeholders as endpoints.

    The commands are for estimates of their duration only. Guests have one
    vCPU if their number of vCPUs is not known.
    """
    assignment = assignment.for_vcpus(1)
    (allotment,) = ports.allocate([assignment])
    endpoints = allotment.endpoints(0, "192.0.2.1", "192.0.2.2")
    return assignment.workload.commands(assignment.arguments, endpoints)


def get_longest_seconds(
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> float:
    """Return the seconds after which a load next to workloads ends itself."""
    return _SLACK + sum(
        assigned.cooldown + 2 * command.timeout
        for assigned in assignments
        for command in planned_commands(assigned)
    )


def estimate_seconds(
    assignments: collections.abc.Iterable[assignment.Assignment],
) -> float:
    """Return the approximate duration of workloads in seconds, each once."""
    return sum(
        assigned.cooldown
        + (_DROP if assigned.drop_caches else 0)
        + command.seconds
        + _AROUND
        for assigned in assignments
        for command in planned_commands(assigned)
    )
