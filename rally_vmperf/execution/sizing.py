"""Whether bare metal is large enough for what is to be measured on it."""

import asyncio
import collections.abc
import typing as t

from rally_vmperf.baseline import matching
from rally_vmperf.machines import base
from rally_vmperf.machines import shape as shapes


def too_small(
    connect: t.Callable[[], base.Machine],
    asked: collections.abc.Iterable[matching.Shape],
) -> dict[matching.Shape, shapes.TooSmall]:
    """Return which shapes the machine is too small for, and how.

    :raises MachineError: when the machine does not answer
    """

    async def look() -> dict[matching.Shape, shapes.TooSmall]:
        machine = connect()
        found = {}
        try:
            for shape in asked:
                try:
                    await shapes.check(
                        machine,
                        cpus=shape.vcpus,
                        memory_mib=shape.memory_mib,
                        copies=shape.copies,
                    )
                except shapes.TooSmall as error:
                    found[shape] = error
        finally:
            await machine.close()
        return found

    return asyncio.run(look())
