# SPDX-License-Identifier: Apache-2.0
"""The limit of open files, which limits the number of connections."""

import resource

from rally_vmperf.machines import base

#: Other open files: libraries, logs, a database, sockets to the cloud.
_OTHERS = 200


class TooManyError(base.MachineError):
    """The limit of open files is too low; one line."""


def allow_files(machines: int) -> None:
    """Raise this process's limit of open files for a number of machines.

    Many systems have a soft limit of 1024, which a process can raise to the
    hard limit.

    :raises TooManyError: If the hard limit is too low.
    """
    # A machine that runs more than eight commands has a second connection.
    needed = 2 * machines + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise TooManyError(
            f"{machines} machines require {needed} open files, but the limit "
            f"of this process is {hard}, enough for "
            f"{max(hard - _OTHERS, 0) // 2}; "
            f"to raise it: ulimit -Hn {needed}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
