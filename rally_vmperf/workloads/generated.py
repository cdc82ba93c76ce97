"""Data that generate.py writes: the same on every machine, from a seed."""

from rally_vmperf.workloads import base
from rally_vmperf.workloads import files

#: The program; whoever has it needs Python.
FILE = files.script("generate.py")


def argv(arguments: base.Arguments) -> tuple[str, ...]:
    """Return the command that makes ``data`` of ``size_mib`` and ``seed``."""
    return base.argv(
        "python3 generate.py --size-mib={size_mib} --seed={seed} data",
        arguments,
    )
