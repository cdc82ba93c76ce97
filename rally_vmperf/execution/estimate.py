"""An estimate of how long a run takes."""

import collections.abc
import math

from rally_vmperf.execution import assignment
from rally_vmperf.execution import ports
from rally_vmperf.workloads import base

#: Seconds until guests have booted and tools and data are in place.
_READY = 120
#: Seconds until guests that were stopped have booted anew, all at once.
_BOOT = 60
#: Seconds to write what is dirty to disk, and to drop caches.
_DROP = 2
#: Seconds to start a command everywhere, collect it and look at machines.
_AROUND = 3


def minutes(
    assignments: collections.abc.Iterable[assignment.Assignment],
    repetitions: int,
    levels: int = 1,
    boots: int = 0,
) -> int:
    """Return about how many minutes a run takes, from booting to its end.

    :param repetitions: those of the warm-up included
    :param levels: how many numbers of guests each repetition goes through
    :param boots: how often guests are started again meanwhile
    """
    once = sum(_seconds(one) for one in assignments)
    seconds = _READY + boots * _BOOT + repetitions * levels * once
    return math.ceil(seconds / 60)


def commands(one: assignment.Assignment) -> tuple[base.Command, ...]:
    """Return the commands of a workload, with other ends that stand for any.

    They tell how long it takes, and are not to be run.
    """
    (allotment,) = ports.allot([one])
    ends = base.Ends(
        peer="192.0.2.1",
        partner="192.0.2.2",
        own_ports=allotment.own(0),
        shared_ports=allotment.shared,
    )
    return one.workload.commands(one.arguments, ends)


def _seconds(one: assignment.Assignment) -> float:
    before = one.cooldown + (_DROP if one.drop_caches else 0)
    return sum(before + each.seconds + _AROUND for each in commands(one))
