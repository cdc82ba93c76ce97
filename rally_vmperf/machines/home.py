"""Where a user lives on a machine."""

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Characters; Linux has no longer paths.
_LONGEST = 4096


async def folder(machine: base.Machine) -> str:
    """Return the home directory of the user who runs our commands.

    :raises MachineError: when the machine names none that can be used
    """
    done = await machine.run(scripts.argv("home.sh"), output_limit=_LONGEST)
    path = done.stdout
    if done.exit_status or not path.startswith("/") or not path.isprintable():
        raise base.MachineError(
            f"{machine.name}: home directory {path[:100]!r} is no absolute "
            "path; give the user one in the machine's /etc/passwd"
        )
    return path
