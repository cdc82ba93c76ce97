# SPDX-License-Identifier: Apache-2.0
"""Jobs for tests, started with one call."""

from rally_vmperf.machines import job


async def start(machine, folder, name, argv, **options):
    """Return a job that was started."""
    new_job = job.Job(
        machine=machine, folder=folder, name=name, argv=argv, **options
    )
    await new_job.start()
    return new_job


async def run(machine, folder, name, argv, *, finished, **options):
    """Return the result of a job."""
    new_job = job.Job(
        machine=machine, folder=folder, name=name, argv=argv, **options
    )
    return await new_job.run(finished)


async def arm(
    machine, folder, name, argv, *, finished, keep_up=False, **options
):
    """Return a job that was armed."""
    new_job = job.Job(
        machine=machine, folder=folder, name=name, argv=argv, **options
    )
    await new_job.arm(finished, keep_up=keep_up)
    return new_job
