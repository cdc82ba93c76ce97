"""What makes two machines comparable, asked of a machine in one go."""

import json
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import fingerprint_parse
from rally_vmperf.machines import scripts

#: Bytes of a fingerprint as JSON, so that 32 guests fit into one record.
LARGEST = 24 << 10


async def take(machine: base.Machine) -> dict[str, t.Any]:
    """Return a machine's fingerprint, a plain document.

    What a machine does not tell is None or empty, never guessed.

    :raises MachineError: when the machine cannot run a shell script, or
        tells more than one has to tell
    """
    done = await machine.run(scripts.argv("fingerprint.sh"), timeout=120)
    if "@@ cpuinfo" not in done.stdout:
        raise base.MachineError(
            f"{machine.name} does not tell what it is: "
            f"{base.last_line(done.stderr)}; it needs a POSIX shell and /proc"
        )
    facts = fingerprint_parse.parse(done.stdout)
    size = len(json.dumps(facts))
    if size > LARGEST:
        raise base.MachineError(
            f"{machine.name} describes itself in {size} bytes, of which no "
            f"more than {LARGEST} are believed; look at its lscpu, "
            "/proc/cpuinfo and devices"
        )
    return facts
