# SPDX-License-Identifier: Apache-2.0
"""Run coroutines concurrently."""

import asyncio
import collections.abc
import typing as t

T = t.TypeVar("T")


async def wait_for_all(
    work: collections.abc.Iterable[collections.abc.Coroutine[t.Any, t.Any, T]],
) -> list[T]:
    """Run coroutines concurrently and return their results in order.

    If one fails, the other ones are cancelled before its error is raised, so
    that none of them uses machines whose connections are being closed.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in work]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]
