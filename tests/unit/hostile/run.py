# SPDX-License-Identifier: Apache-2.0
"""A whole run against a hostile guest, by the code that Rally calls."""

from rally_vmperf.execution import assignment
from rally_vmperf.guests import models
from rally_vmperf.questions.overhead import run as overhead
from rally_vmperf.records import journal
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs
from tests.unit import made
from tests.unit.guests import testing

WORKLOADS = [
    {"name": "sysbench", "arguments": {"time": 1}},
    {"name": "bzip2", "arguments": {"size_mib": 1}},
    {"name": "mbw", "arguments": {"size_mib": 1, "runs": 1}},
    {
        "name": "fio",
        "arguments": {"size_mib": 16, "runtime": 1, "ramp_time": 0},
    },
]
#: What a record tells in one line.
EXPECTED = runs.RECORDED_ERRORS
LIMITS = {"max_percent": {"*": 50}}


def baseline():
    """Return a baseline for the workloads: every figure is 1."""
    return made.baseline(
        entries=tuple(_entry(assignment) for assignment in _assignments())
    )


def run(guest, folder, progress=lambda line: None):
    """Measure a guest in three repetitions; return records and journal."""
    cloud = testing.FakeCloud()
    server = cloud.compute.create_server(name="g1", networks=[{"uuid": "n1"}])
    server.status, server.host_id = "ACTIVE", "h"
    run_cache = run_request.RunCache()
    request = run_request.RunRequest(
        run_cache=run_cache,
        question="overhead",
        task="task-1",
        owner="hostile",
        times=3,
        warmup=0,
        workloads=WORKLOADS,
        peer=None,
        booted=models.BootedGuests(
            guests=(guest.booted(server.id),),
            client_key=guest.server.client_pair.private,
        ),
        options={"install": False, "ssh_timeout": 300},
        baseline=baseline(),
        journal=journal.Journal(folder, "hostile"),
        connect=lambda: cloud,
        progress=progress,
        warn=progress,
    )
    whole = run_cache.get_run("hostile", lambda: overhead.create_run(request))
    try:
        return [whole.repeat(number) for number in (1, 2, 3)], request.journal
    finally:
        run_cache.close("hostile")


def _assignments():
    return assignment.assign(WORKLOADS)


def _entry(assignment):
    metrics = assignment.workload.metrics(assignment.arguments)
    return made.entry(
        dict.fromkeys(metrics, (1.0,) * 3),
        workload=assignment.workload.name,
        arguments=assignment.arguments,
    )
