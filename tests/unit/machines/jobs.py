"""Jobs for tests, begun with one call."""

from rally_vmperf.machines import job


async def start(machine, folder, name, argv, **options):
    """Return a job that was started."""
    one = job.Job(
        machine=machine, folder=folder, name=name, argv=argv, **options
    )
    await one.start()
    return one


async def run(machine, folder, name, argv, *, finished, **options):
    """Return what a job left."""
    one = job.Job(
        machine=machine, folder=folder, name=name, argv=argv, **options
    )
    return await one.run(finished)


async def arm(
    machine, folder, name, argv, *, finished, keep_up=False, **options
):
    """Return a job that was armed."""
    one = job.Job(
        machine=machine, folder=folder, name=name, argv=argv, **options
    )
    await one.arm(finished, keep_up=keep_up)
    return one
