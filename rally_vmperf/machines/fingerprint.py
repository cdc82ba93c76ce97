"""What makes two machines comparable, asked of a machine in one go."""

import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint_parse
from rally_vmperf.machines import scripts


async def take(machine: base.Machine) -> dict[str, t.Any]:
    """Return a machine's fingerprint, a plain document.

    What a machine does not tell is None or empty, never guessed.

    :raises MachineError: when the machine cannot run a shell script
    """
    done = await machine.run(scripts.argv("fingerprint.sh"), timeout=120)
    if "@@ cpuinfo" not in done.stdout:
        raise base.MachineError(
            f"{machine.name} does not tell what it is: "
            f"{base.last_line(done.stderr)}; it needs a POSIX shell and /proc"
        )
    return fingerprint_parse.parse(done.stdout)
