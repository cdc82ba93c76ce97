"""Send packages to a machine and have it install them, without a network."""

import collections.abc
import contextlib
import mmap
import pathlib

from rally_vmperf.machines import base
from rally_vmperf.machines import putting
from rally_vmperf.machines import reasons
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.machines import workfolder
from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import manifest

#: Where the folder is made that packages are sent to.
_PARENT = "/var/tmp"  # noqa: S108 - nobody can foresee what we make there
#: Package managers read as users of their own.
_READABLE = 0o755
#: Seconds to find out what is needed, and to install it.
_LOOK, _INSTALL = 300, 1800


async def from_toolbox(
    machine: base.Machine,
    manager: str,
    packages: collections.abc.Sequence[str],
    toolbox: folder.Toolbox,
    chosen: manifest.Set,
) -> str:
    """Send what a machine lacks for packages, and have it install them.

    The index goes first; the machine's package manager says which files it
    needs, and only these follow. Nothing of it stays on the machine.

    :param chosen: the packages for the machine's release
    :returns: why it did not work, or whatever was said last
    :raises MachineError: when files cannot be written there
    """
    superuser = await root.as_root(machine)
    async with _place(superuser) as place:
        sums = "".join(
            f"{one.sha256}  {one.target}\n"
            for one in (*chosen.index, *chosen.packages)
        )
        await superuser.put(sums.encode(), f"{place}/SHA256SUMS")
        for one in chosen.index:
            await _send(superuser, toolbox.file(one), f"{place}/{one.target}")
        words = (place, manager, *packages)
        asked = await _ask(superuser, _LOOK, "wanted", *words)
        if asked.exit_status:
            return reasons.reason(asked.stderr)
        wanted = set(asked.stdout.split())
        for one in chosen.packages:
            if one.target in wanted:
                path = toolbox.file(one)
                await _send(superuser, path, f"{place}/{one.target}")
        done = await _ask(superuser, _INSTALL, "install", *words)
        return reasons.reason(done.stderr)


@contextlib.asynccontextmanager
async def _place(
    superuser: base.Machine,
) -> collections.abc.AsyncIterator[str]:
    """Give a folder on the machine, and remove it."""
    place = await workfolder.make(superuser, _PARENT, _READABLE)
    try:
        yield place
    finally:
        await workfolder.remove(superuser, place)


async def _ask(
    superuser: base.Machine, seconds: float, *words: str
) -> base.Completed:
    return await superuser.run(
        scripts.argv("toolbox.sh", *words), timeout=seconds
    )


async def _send(
    superuser: base.Machine, path: pathlib.Path, target: str
) -> None:
    """Write a file there as it is read here, however many machines get it."""
    with path.open("rb") as stream:
        if not path.stat().st_size:
            await putting.put(superuser, b"", target, 0o644)
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            await putting.put(superuser, content, target, 0o644)
