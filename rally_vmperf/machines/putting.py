"""Write a file on a machine with nothing but its shell."""

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts
from rally_vmperf.machines import streams


async def put(
    machine: base.Machine, content: streams.Content, path: str, mode: int
) -> None:
    """Write a file, whole or not at all, creating its folder.

    Not by SFTP: not every guest's SSH server has it.

    :raises MachineError: with what the machine said
    """
    done = await machine.run(
        scripts.argv("put.sh", path, f"{mode:o}"),
        timeout=60 + len(content) / 100_000,
        input_bytes=content,
    )
    if done.exit_status:
        raise base.MachineError(
            f"{machine.name}: cannot write {path}: "
            f"{base.last_line(done.stderr)}; "
            "check the folder's owner and the free space"
        )
