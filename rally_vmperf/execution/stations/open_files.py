"""How many machines this process may have connections to."""

import resource

from rally_vmperf.machines import base

#: Beside the connections: libraries, logs, a database, sockets to the cloud.
_OTHERS = 200


class TooManyError(base.MachineError):
    """This process may not have as many connections; one line."""


def allow_files(machines: int) -> None:
    """Raise the limit of open files to so many connections.

    Many systems let a process have 1024 open files at first, and as many as
    it wants when it asks.

    :raises TooManyError: when this one may not have as many
    """
    # A machine that runs more than eight commands has a second connection.
    needed = 2 * machines + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise TooManyError(
            f"{machines} machines need {needed} open files and this process "
            f"may have {hard}, enough for {max(hard - _OTHERS, 0) // 2}; "
            f"raise the limit with: ulimit -Hn {needed}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
