# SPDX-License-Identifier: Apache-2.0
"""Data from generate.py, equal on all machines for the same seed."""

from rally_vmperf.workloads import base
from rally_vmperf.workloads import files

#: The script; it requires Python on the machine.
FILE = files.script("generate.py")


def argv(arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command line words that write ``data`` from a seed."""
    return base.argv(
        "python3 generate.py --size-mib={size_mib} --seed={seed} data",
        arguments,
    )
