# SPDX-License-Identifier: Apache-2.0
"""A bundle of real programs of this machine, for tests."""

import gzip
import io
import pathlib
import re
import shutil
import subprocess
import tarfile

from rally_vmperf.bundles import bundling
from tests.unit.bundles import made as made_

#: A program with libraries of its own, and what it says of itself.
PROGRAM = "ls"
#: The programs of a bundle: one, a script, and one that nobody packages.
WANTED = {PROGRAM: "coreutils", "shown": "coreutils", "bmkrun": ""}
RELEASE = "bookworm"
#: A description of one.
GOOD = {
    "version": 1,
    "distribution": "bookworm",
    "architecture": "amd64",
    "programs": {
        "fio": {"package": "fio", "version": "3.33-3", "sha256": "0" * 64}
    },
}
_LIBRARY = re.compile(r"(/\S+) \(0x")


def packages(folder, name=PROGRAM):
    """Make packages of a program, a script, and the C library."""
    program = pathlib.Path(shutil.which(name)).resolve()
    script = folder / "script"
    script.write_text("#!/bin/sh\necho script\n")
    coreutils = made_.deb(
        *(folder, "coreutils", "9.1-1"),
        depends="Depends: libc6\n",
        files={f"usr/bin/{name}": program, "usr/bin/shown": script},
    )
    script.unlink()
    process = subprocess.run(
        ["ldd", str(program)], capture_output=True, text=True, check=True
    )
    library = made_.deb(
        *(folder, "libc6", "1:2.36-9"),
        files={
            f"usr/lib/x86_64-linux-gnu/{pathlib.Path(path).name}": path
            for path in _LIBRARY.findall(process.stdout)
        },
    )
    return [coreutils, library]


def made(top, wanted_packages=WANTED):
    """Return the path of a bundle and what it does not hold."""
    folder = top / "packages"
    folder.mkdir()
    target = top / "tools.tar.gz"
    left_out = bundling.create_bundle(
        *(target, wanted_packages, packages(folder), RELEASE, top / "tree")
    )
    return target, left_out


def written(path, name, content):
    """Write a bundle whose first file is this."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    path.write_bytes(gzip.compress(packed.getvalue()))
