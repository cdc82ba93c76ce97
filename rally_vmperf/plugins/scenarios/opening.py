"""Open a run: sessions with the guests, comparison, what never changes.

The run is opened by the first repetition and kept by the process, because
Rally makes a new scenario object for every iteration.
"""

import collections.abc
import dataclasses
import datetime
import typing as t

from rally.common import cfg
from rally.common import db
from rally.common import logging

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import comparison
from rally_vmperf.execution import differences
from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import credentials
from rally_vmperf.guests import errors
from rally_vmperf.machines import base as machines
from rally_vmperf.measurement import finding
from rally_vmperf.plugins import harmless
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import journal as journals
from rally_vmperf.workloads import base as workload_base

LOG = logging.getLogger(__name__)
CONF = cfg.CONF

Context = dict[str, t.Any]

#: What can keep guests from being ready, each in one line.
EXPECTED = (
    document.BaselineError,
    errors.GuestError,
    machines.MachineError,
    workload_base.WorkloadError,
)

_runs: dict[str, recording.Run] = {}
_failures: dict[str, str] = {}


def open_run(
    context: Context,
    workloads: list[dict[str, t.Any]],
    warmup: int,
    peer: dict[str, t.Any] | None,
) -> recording.Run:
    """Return the run of this Rally workload, made ready if it is the first.

    What could not be made ready once is not tried again.

    :raises Unready: in one line, why guests or peer are not ready
    """
    owner = context["owner_id"]
    if owner in _failures:
        raise recording.Unready(f"not tried again: {_failures[owner]}")
    if owner not in _runs:
        try:
            _runs[owner] = _open(context, workloads, warmup, peer)
        except EXPECTED as error:
            _failures[owner] = harmless.harmless(str(error))
            raise recording.Unready(_failures[owner]) from None
    return _runs[owner]


def close_run(owner: str) -> None:
    """Give up the connections of a workload; harmless if there are none."""
    run = _runs.pop(owner, None)
    if run is not None:
        run.session.close()


def _open(
    context: Context,
    workloads: list[dict[str, t.Any]],
    warmup: int,
    peer: dict[str, t.Any] | None,
) -> recording.Run:
    # Rally imports all plugins for a mere list, which needs no cloud, no SSH.
    from rally_vmperf.execution import reach
    from rally_vmperf.guests import cloud
    from rally_vmperf.guests import watching

    booted = context["vmperf_guests"]
    guests = booted["guests"]
    owner = context["owner_id"]
    owner_of_guests = credentials.of_guests(context, booted["config"])
    connection = cloud.connect(owner_of_guests)
    times = db.workload_get(owner)["runner"].get("times", 1)
    session = sessions.open_session(
        assignment.assign(workloads),
        reach.guest_stations(guests, booted["client_key"]),
        reach.peer_station(peer) if peer else None,
        install=booted["config"].get("install", True),
        progress=LOG.info,
    )
    try:
        return recording.Run(
            task=context["task"]["uuid"],
            workload=owner,
            times=times,
            warmup=warmup,
            session=session,
            setting=_setting(session, context),
            journal=journals.Journal(CONF.vmperf.journal_dir, owner),
            watch=lambda: watching.changes(connection, guests),
        )
    except BaseException:
        session.close()
        raise


def shape_of(guests: collections.abc.Sequence[Context]) -> matching.Shape:
    """Return the shape that guests have by their flavor."""
    flavor = guests[0]["flavor"]
    return matching.Shape(
        vcpus=flavor["vcpus"],
        memory_mib=flavor["memory_mib"],
        copies=len(guests),
    )


def _setting(session: sessions.Session, context: Context) -> build.Setting:
    booted = context["vmperf_guests"]
    guests = booted["guests"]
    baseline = context["vmperf_baseline"]["document"]
    assignments = session.assignments
    shape = shape_of(guests)
    reference, metrics = comparison.reference(baseline, assignments, shape)
    expected = [m for one in assignments for m in one.metrics()]
    now = datetime.datetime.now(datetime.UTC)
    found = (
        [finding.Finding(**one) for one in booted["findings"]]
        + comparison.findings(baseline, assignments, shape, now)
        + differences.find(session, baseline, shape)
        + differences.hosts(guests, baseline)
    )
    return build.Setting(
        shape=dataclasses.asdict(shape),
        machines=_machines(session, guests),
        workloads=[
            {
                "name": one.workload.name,
                "label": one.label,
                "arguments": one.arguments,
                "facts": {
                    name: facts.get(one.title, {})
                    for name, facts in session.facts.items()
                },
            }
            for one in assignments
        ],
        expected=[metric.name for metric in expected],
        metrics={**metrics, **codec.encode_metrics(expected)},
        reference=reference,
        findings=tuple(dict.fromkeys(found)),
    )


def _machines(
    session: sessions.Session, guests: collections.abc.Sequence[Context]
) -> list[dict[str, t.Any]]:
    nova = {
        guest["name"]: {
            key: value
            for key, value in guest.items()
            if key not in ("host_key", "name")
        }
        for guest in guests
    }
    return [
        {
            "name": place.name,
            "role": place.role,
            "nova": nova.get(place.name, {}),
            **session.describe(place.name),
        }
        for place in session.everyone()
    ]
