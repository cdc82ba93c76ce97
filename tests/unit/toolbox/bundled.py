"""A bundle of real programs of this machine, for tests."""

import gzip
import io
import pathlib
import re
import shutil
import subprocess
import tarfile

from rally_vmperf.toolbox import bundle
from rally_vmperf.toolbox import bundling
from rally_vmperf.toolbox import folder
from rally_vmperf.toolbox import indexing
from tests.unit.toolbox import made as made_

#: A program with libraries of its own, and what it says of itself.
PROGRAM = "ls"
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


def toolbox(top):
    """Return a folder with a program, a script, and the C library."""
    program = pathlib.Path(shutil.which(PROGRAM)).resolve()
    script = top / "script"
    script.write_text("#!/bin/sh\necho script\n")
    made_.deb(
        *(top, "coreutils", "9.1-1"),
        files={f"usr/bin/{PROGRAM}": program, "usr/bin/shown": script},
    )
    script.unlink()
    said = subprocess.run(
        ["ldd", str(program)], capture_output=True, text=True, check=True
    )
    made_.deb(
        *(top, "libc6", "2.36-9"),
        files={
            f"usr/lib/x86_64-linux-gnu/{pathlib.Path(path).name}": path
            for path in _LIBRARY.findall(said.stdout)
        },
    )
    indexing.index(top, "", "bookworm")
    return folder.load(top)


def made(top):
    """Return a bundle of the program."""
    packages = top / "packages"
    packages.mkdir()
    tools = toolbox(packages)
    target = top / "tools.tar.gz"
    left_out = bundling.make(
        *(tools, tools.sets[0]),
        {PROGRAM: "coreutils", "shown": "coreutils"},
        target,
    )
    return bundle.load(target), left_out


def written(path, name, content):
    """Write a bundle whose first file is this."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    path.write_bytes(gzip.compress(packed.getvalue()))
