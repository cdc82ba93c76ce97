# SPDX-License-Identifier: Apache-2.0
"""Commands that read or write a number of bytes."""

from rally_vmperf.workloads import base

#: Bytes per second of the slowest supported disk, and of a usual one.
SLOWEST, USUAL = 2 * 10**6, 200 * 10**6


def create_command(
    name: str, argv: tuple[str, ...], size: int
) -> base.Command:
    """Return a Command with a timeout that suits the number of bytes.

    :param size: The number of bytes that the command reads or writes.
    """
    return base.Command(
        name=name,
        argv=argv,
        timeout=120 + size / SLOWEST,
        seconds=size / USUAL,
        bound="size",
    )
