"""How long a run will take, roughly."""

import collections.abc
import math

from rally_vmperf.execution import assignment
from rally_vmperf.workloads import base

#: Seconds until guests have booted and tools and data are in place.
_READY = 120
#: Seconds until guests that were stopped have booted anew, all at once.
_BOOT = 60
#: Seconds to start a command everywhere, collect it and look at machines.
_AROUND = 3
_ENDS = base.Ends(peer="192.0.2.1", partner="192.0.2.2")


def minutes(
    assignments: collections.abc.Iterable[assignment.Assignment],
    repetitions: int,
    levels: int = 1,
    boots: int = 0,
) -> int:
    """Return about how many minutes a run takes, from booting to its end.

    :param repetitions: those of the warm-up included
    :param levels: how many numbers of guests each repetition goes through
    :param boots: how often guests are started anew meanwhile
    """
    once = sum(_seconds(one) for one in assignments)
    seconds = _READY + boots * _BOOT + repetitions * levels * once
    return math.ceil(seconds / 60)


def _seconds(one: assignment.Assignment) -> float:
    commands = one.workload.commands(one.arguments, _ENDS)
    return sum(each.seconds + _AROUND for each in commands)
