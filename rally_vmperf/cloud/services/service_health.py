"""Check a service that should be running."""

import time

from rally_vmperf.cloud.services import probes
from rally_vmperf.cloud.services import services
from rally_vmperf.cloud.state import records
from rally_vmperf.cloud.system import procfs

# What is no damage.
NEW = "was not started"
REBOOTED = "ended with the machine"
SILENCE = 10.0
POLL = 0.5


def of_process(
    service: services.Service,
    record: records.Record | None,
    processes: procfs.ProcessTable,
) -> str | None:
    """Return what is wrong with a service's process; None when nothing is.

    :param service: as it should be
    :param record: what was started, if anything
    :param processes: the machine's process table
    """
    if record is None:
        return NEW
    pid = record.identity.pid
    if record.identity.boot_id != processes.boot_id():
        return REBOOTED
    if not processes.alive(record.identity):
        return "has ended"
    if processes.stopped(pid):
        return "is stopped by a signal"
    lost = sorted(set(service.mounts) - processes.mounts(pid))
    if lost:
        return f"has lost its mount on {lost[0]}"
    return None


def of_digest(digest: str, started_with: str) -> str | None:
    """Return what has changed since a service was started.

    :param digest: of what it would be started with now
    :param started_with: the digest on record
    """
    settings, *ground = digest.split("+")
    before, *stood_on = started_with.split("+")
    if settings != before or len(ground) != len(stood_on):
        return "was started with what has changed since"
    if ground != stood_on:
        return "depends on what has ended since"
    return None


def of_answers(
    service: services.Service, patience: float = SILENCE
) -> str | None:
    """Return whether a service that has answered before no longer does.

    :param service: whom to ask
    :param patience: seconds it may take to answer
    """
    deadline = time.monotonic() + patience
    while not probes.ready(service.ready):
        if time.monotonic() > deadline:
            asked = " ".join(service.ready.values())
            return f"does not answer at {asked}"
        time.sleep(POLL)
    return None
