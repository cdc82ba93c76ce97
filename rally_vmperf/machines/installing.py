"""Install packages with a machine's own package manager."""

import collections.abc

from rally_vmperf.machines import base
from rally_vmperf.machines import reasons
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts

#: Seconds; a slow mirror is not an absent one.
_TIMEOUT = 1800


async def from_mirror(
    machine: base.Machine,
    manager: str,
    packages: collections.abc.Sequence[str],
    proxy: str,
) -> str:
    """Have packages installed from the machine's mirrors.

    :param proxy: URL by which the mirrors are reached, or empty; it is used
        this once and not kept
    :returns: why it did not work, or whatever was said last
    """
    superuser = await root.as_root(machine)
    try:
        done = await superuser.run(
            scripts.argv("install.sh", manager, proxy, *packages),
            timeout=_TIMEOUT,
        )
    except (base.TimedOut, base.OutputTooLong) as error:
        return str(error)
    return reasons.reason(done.stderr)
