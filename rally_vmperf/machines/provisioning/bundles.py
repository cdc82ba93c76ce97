# SPDX-License-Identifier: Apache-2.0
"""Bundles of tools on machines, which replace installed tools."""

import dataclasses
import mmap
import posixpath

from rally_vmperf.bundles import bundle
from rally_vmperf.machines import base
from rally_vmperf.machines import scripts

#: Timeout in seconds to send and unpack a bundle.
_TIMEOUT = 900
#: The directories of programs outside the bundle.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Unpacked:
    """A bundle on a machine.

    :param folder: The directory of its programs.
    """

    bundle: bundle.Bundle
    folder: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """The ``env`` words before commands that use the bundle."""
        return ("env", f"PATH={self.folder}:{_PATH}")


async def unpack(
    machine: base.Machine, archive: bundle.Bundle, folder: str
) -> Unpacked:
    """Send a bundle to a machine's directory; return it as Unpacked.

    :raises MachineError: If the bundle cannot be unpacked.
    """
    with (
        archive.path.open("rb") as stream,
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
            f"{machine.name}: cannot unpack the bundle {archive.path.name} in "
            f"{folder}: {base.last_line(done.stderr)}; it needs tar, gzip "
            "and free space"
        )
    return Unpacked(bundle=archive, folder=where)
