"""Do something on many machines at once."""

import asyncio
import collections.abc
import typing as t

from rally_vmperf.machines import base

T = t.TypeVar("T")


async def each(
    machines: collections.abc.Iterable[base.Machine],
    function: collections.abc.Callable[
        [base.Machine], collections.abc.Awaitable[T]
    ],
) -> dict[str, T | base.MachineError]:
    """Return, per machine's name, the result or the error of that machine.

    Only ``MachineError`` is an answer; any other exception is a defect, or
    a cancellation, which ends all the rest.
    """

    async def one(machine: base.Machine) -> T | base.MachineError:
        try:
            return await function(machine)
        except base.MachineError as error:
            return error

    tasks = {m.name: asyncio.ensure_future(one(m)) for m in machines}
    try:
        await asyncio.gather(*tasks.values())
    finally:
        for task in tasks.values():
            task.cancel()
    return {name: task.result() for name, task in tasks.items()}
