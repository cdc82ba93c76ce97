"""A whole run against a hostile guest, by the code that Rally calls."""

from rally_vmperf.execution import assignment
from rally_vmperf.execution import reach
from rally_vmperf.execution import session
from rally_vmperf.machines import supply
from rally_vmperf.plugins.scenarios import opening
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.plugins.scenarios import settings
from rally_vmperf.records import journal
from tests.unit import made

WORKLOADS = [
    {"name": "sysbench", "arguments": {"time": 1}},
    {"name": "bzip2", "arguments": {"size_mib": 1}},
    {"name": "mbw", "arguments": {"size_mib": 1, "runs": 1}},
    {"name": "fio", "arguments": {"size_mib": 16, "runtime": 1, "ramp": 0}},
]
SHAPE = {"vcpus": 1, "memory_mib": 1024, "copies": 1}
#: What Rally is told of in one line.
EXPECTED = opening.EXPECTED
LIMITS = {"max_percent": {"*": 50}}


def baseline():
    """Return a baseline for the workloads: every figure is 1."""
    return made.baseline(entries=[_entry(one) for one in _assignments()])


def run(guest, folder, progress=lambda line: None):
    """Measure a guest in three repetitions; return records and journal."""
    guests = [guest.described()]
    opened = session.open_session(
        _assignments(),
        reach.guest_stations(
            [guest.target()], guest.server.client_pair.private
        ),
        None,
        supply=supply.NOTHING,
        progress=progress,
        runner=None,
    )
    try:
        context = {
            "vmperf_guests": {"guests": guests, "findings": []},
            "vmperf_baseline": {"document": baseline()},
        }
        kept = journal.Journal(folder, "hostile")
        whole = recording.Run(
            task="task-1",
            workload="hostile",
            times=3,
            warmup=0,
            session=opened,
            setting=settings.of_overhead(opened, context),
            journal=kept,
            watch=lambda names: [],
        )
        return [whole.repeat(number) for number in (1, 2, 3)], kept
    finally:
        opened.close()


def _assignments():
    return assignment.assign(WORKLOADS)


def _entry(one):
    metrics = one.workload.metrics(one.arguments)
    return made.entry(
        workload=one.workload.name,
        arguments=one.arguments,
        shape=SHAPE,
        metrics={
            m.name: {"unit": m.unit, "better": m.better, "scale": m.scale}
            for m in metrics
        },
        repetitions=[
            [made.observation("copy-1", m.name, 1.0) for m in metrics]
            for _ in range(3)
        ],
    )
