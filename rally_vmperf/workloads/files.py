# SPDX-License-Identifier: Apache-2.0
"""Files that workloads copy to every machine, or generate there."""

import hashlib
import importlib.resources

from rally_vmperf import documents
from rally_vmperf.workloads import base


def script(name: str) -> base.File:
    """Return a script of rally_vmperf as a file of a workload.

    :param name: The file name of the script.
    """
    return base.File(
        name=name,
        package="rally_vmperf.workloads.scripts",
        path=name,
        mode=0o755,
    )


def read(file: base.File) -> bytes:
    """Return the content of a workload's file as bytes.

    :raises base.WorkloadError: If it cannot be read, or its checksum is not
        the expected one.
    """
    try:
        if file.package:
            directory = importlib.resources.files(file.package)
            content = directory.joinpath(file.path).read_bytes()
        else:
            with open(
                file.path, "rb", opener=documents.open_regular
            ) as stream:
                content = stream.read()
    except (OSError, ImportError) as error:
        location, remedy = f"package {file.package}", "reinstall the package"
        if not file.package:
            location = "this machine"
            remedy = (
                "specify its absolute path on the machine that runs "
                "rally-vmperf"
            )
        raise base.WorkloadError(
            f"file {file.path} of {location} cannot be read: "
            f"{getattr(error, 'strerror', None) or error}; {remedy}"
        ) from error
    actual_checksum = checksum(content)
    if file.sha256 and actual_checksum != file.sha256:
        raise base.WorkloadError(
            f"file {file.path} has the SHA-256 {actual_checksum} instead of "
            f"{file.sha256}; download it again, or correct the checksum"
        )
    return content


def checksum(content: bytes) -> str:
    """Return the SHA-256 of a content as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()


#: The script; it requires Python on the machine.
GENERATE = script("generate.py")


def generate_argv(arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command line words that write ``data`` from a seed."""
    return base.argv(
        "python3 generate.py --size-mib={size_mib} --seed={seed} data",
        arguments,
    )
