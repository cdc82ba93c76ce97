"""Jobs that have everything ready and wait for an instant of the clock.

So many machines start at once: what differs between them is then how each
wakes up, and not how long it took to tell them.
"""

import asyncio
import collections.abc
import contextlib

from rally_vmperf.machines import account
from rally_vmperf.machines import base
from rally_vmperf.machines import job
from rally_vmperf.machines import job_asking
from rally_vmperf.machines import job_handle
from rally_vmperf.machines import job_result


async def arm(
    machine: base.Machine,
    folder: str,
    name: str,
    argv: collections.abc.Sequence[str],
    *,
    timeout: float,
    output_limit: int = 1 << 20,
    prefix: collections.abc.Sequence[str] = (),
    keep_up: bool = False,
    spent: list[str],
) -> job_handle.Handle:
    """Have a command ready in a folder, which is made.

    One that is never released goes away by itself after ten minutes.

    :param timeout: seconds after its release; the machine itself ends it
    :param output_limit: bytes per stream; a program that prints more is ended
    :param prefix: as for ``job.start``
    :param keep_up: when it has ended, repeat it, uncounted, until ``enough``
        is called or ``timeout`` has passed once more
    :param spent: places of earlier jobs, cleared away before
    :raises MachineError: when it cannot be started; nothing is left then
    """
    handle = job_handle.new(folder, name, timeout, output_limit)
    words = job_handle.words(
        handle, folder, argv, prefix, armed=True, keep_up=keep_up
    )
    try:
        done = await job_asking.persist(
            machine,
            name,
            ("arm", str(len(spent)), *spent, *words),
            job.REQUEST,
            0,
            job.PATIENCE,
        )
        if done.exit_status:
            raise job_result.not_started(machine, name, folder, done)
    except BaseException:
        with contextlib.suppress(base.MachineError):
            await asyncio.shield(job.cancel(machine, handle))
        raise
    spent.clear()
    return handle


async def release(
    machine: base.Machine, handle: job_handle.Handle, at: float
) -> job_result.JobResult:
    """Let an armed job begin, wait for its end and return what it left.

    Its place is left as it is; what is kept up goes on.

    :param at: seconds since the epoch on the machine's own clock
    :raises MachineError: as ``job.finish`` does
    """
    words = ("release", handle.place, f"{at:.6f}")
    done = await job.wait(machine, handle, words)
    return job_result.read(machine, handle, done)


async def enough(
    machine: base.Machine, handle: job_handle.Handle
) -> float | None:
    """End what a job keeps up.

    :returns: until when it did, on the machine's own clock; None when the
        machine does not know
    :raises MachineError: when the machine cannot be asked
    """
    done = await job_asking.persist(
        machine,
        handle.name,
        ("enough", handle.place),
        job.REQUEST,
        0,
        job.PATIENCE,
    )
    try:
        return account.moment(account.words(done.stdout)["kept"])
    except (KeyError, ValueError):
        return None
