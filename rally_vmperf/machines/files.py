"""Files that this process may have open: each connection is one."""

import resource

from rally_vmperf.machines import base

#: Beside the connections: libraries, logs, a database, sockets to the cloud.
_OTHERS = 200


def allow(machines: int) -> None:
    """See that so many machines can be connected to at once.

    Many systems let a process have 1024 open files at first, and as many as
    it wants when it asks.

    :raises MachineError: when this one may not have as many
    """
    # A machine that runs more than eight commands has a second connection.
    needed = 2 * machines + _OTHERS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise base.MachineError(
            f"{machines} machines need {needed} open files and this process "
            f"may have {hard}; raise the limit with: ulimit -Hn {needed}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
