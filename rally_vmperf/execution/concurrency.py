"""Several things at once: all are done, or none goes on."""

import asyncio
import collections.abc
import typing as t

T = t.TypeVar("T")


async def wait_for_all(
    work: collections.abc.Iterable[collections.abc.Coroutine[t.Any, t.Any, T]],
) -> list[T]:
    """Return what all gave, in their order.

    When one fails the others are ended before its error is raised, so that
    nobody goes on working on machines that are being given up.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
