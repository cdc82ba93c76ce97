"""Read the files that workloads bring to every machine."""

import hashlib
import importlib.resources
import pathlib

from rally_vmperf.workloads import base


def script(name: str) -> base.File:
    """Return a program of rally_vmperf that workloads bring to machines."""
    return base.File(
        name=name,
        package="rally_vmperf.workloads.scripts",
        path=name,
        mode=0o755,
    )


def read(file: base.File) -> bytes:
    """Return the content of a file.

    :raises base.WorkloadError: when it cannot be read, or has another
        checksum than expected
    """
    try:
        if file.package:
            folder = importlib.resources.files(file.package)
            content = folder.joinpath(file.path).read_bytes()
        else:
            content = pathlib.Path(file.path).read_bytes()
    except (OSError, ImportError) as error:
        where = f"package {file.package}" if file.package else "this machine"
        raise base.WorkloadError(
            f"file {file.path} of {where} cannot be read: "
            f"{getattr(error, 'strerror', None) or error}; "
            + (
                "install the package again"
                if file.package
                else "give its absolute path on the machine that runs this"
            )
        ) from error
    found = checksum(content)
    if file.sha256 and found != file.sha256:
        raise base.WorkloadError(
            f"file {file.path} has the SHA-256 {found} instead of "
            f"{file.sha256}; get it again, or correct the checksum"
        )
    return content


def checksum(content: bytes) -> str:
    """Return the SHA-256 by which two machines' files are compared."""
    return hashlib.sha256(content).hexdigest()
