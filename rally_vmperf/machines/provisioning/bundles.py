"""Send a bundle of tools to a machine, which then runs these and no others."""

import dataclasses
import mmap
import posixpath

from rally_vmperf.machines import base
from rally_vmperf.machines import scripts
from rally_vmperf.toolbox import bundle

#: Seconds to send and unpack one.
_TIMEOUT = 900
#: Where machines have programs that are not of the bundle.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unpacked:
    """A bundle on a machine.

    :param folder: where its programs are
    """

    bundle: bundle.Bundle
    folder: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """Words put before a command that is to find the programs."""
        return ("env", f"PATH={self.folder}:{_PATH}")


async def unpack(
    machine: base.Machine, one: bundle.Bundle, folder: str
) -> Unpacked:
    """Send a bundle into a folder on a machine.

    :raises MachineError: when it cannot be unpacked there
    """
    with (
        one.path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        done = await machine.run(
            scripts.argv("unpack.sh", folder),
            timeout=_TIMEOUT,
            input_bytes=content,
        )
    where = done.stdout.removesuffix("\n")
    if done.exit_status or where != posixpath.join(folder, "bundle/bin"):
        raise base.MachineError(
            f"{machine.name}: cannot unpack the bundle {one.path.name} in "
            f"{folder}: {base.last_line(done.stderr)}; it needs tar, gzip "
            "and room"
        )
    return Unpacked(bundle=one, folder=where)
