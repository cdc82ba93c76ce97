"""Let a machine that has just started come to rest before it measures."""

import math

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: What still works, by the exit status of the script.
_BUSY = {3: "cloud-init", 4: "systemd"}
#: Seconds beyond the script's own time in which its answer must arrive.
_SPARE = 60


async def settle(machine: base.Machine, seconds: float) -> str | None:
    """Wait until cloud-init and systemd have finished the boot.

    An SSH server answers long before; cloud-init, which nearly always
    restarts that server, shares the processor with what would be measured.

    :param seconds: how long to wait at most
    :returns: what is still at work after that, or None
    :raises MachineError: when the machine does not answer
    """
    done = await machine.run(
        scripts.argv("settle.sh", str(math.ceil(max(seconds, 0)))),
        timeout=max(seconds, 0) + _SPARE,
    )
    return _BUSY.get(done.exit_status)
