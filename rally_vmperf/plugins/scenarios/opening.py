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

from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import comparison
from rally_vmperf.execution import differences
from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import credentials
from rally_vmperf.measurement import finding
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.records import build
from rally_vmperf.records import codec
from rally_vmperf.records import journal as journals

LOG = logging.getLogger(__name__)
CONF = cfg.CONF

Context = dict[str, t.Any]

_runs: dict[str, recording.Run] = {}


def open_run(
    context: Context,
    workloads: list[dict[str, t.Any]],
    warmup: int,
    peer: dict[str, t.Any] | None,
) -> recording.Run:
    """Return the run of this Rally workload, made ready if it is the first.

    :raises MachineError: when a guest or the peer cannot be made ready
    """
    owner = context["owner_id"]
    if owner not in _runs:
        _runs[owner] = _open(context, workloads, warmup, peer)
    return _runs[owner]


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
    session = sessions.open_session(
        assignment.assign(workloads),
        reach.guest_stations(guests, booted["client_key"]),
        reach.peer_station(peer) if peer else None,
        install=booted["config"].get("install", True),
        progress=LOG.info,
    )
    baseline = context["vmperf_baseline"]["document"]
    host = booted["config"].get("host")
    connection = cloud.connect(credentials.of_guests(context, host=host))
    context_findings = [finding.Finding(**one) for one in booted["findings"]]
    return recording.Run(
        task=context["task"]["uuid"],
        workload=owner,
        times=db.workload_get(owner)["runner"].get("times", 1),
        warmup=warmup,
        session=session,
        setting=_setting(session, baseline, guests, context_findings),
        journal=journals.Journal(CONF.vmperf.journal_dir, owner),
        watch=lambda: watching.changes(connection, guests),
    )


def shape_of(guests: collections.abc.Sequence[Context]) -> matching.Shape:
    """Return the shape that guests have by their flavor."""
    flavor = guests[0]["flavor"]
    return matching.Shape(
        vcpus=flavor["vcpus"],
        memory_mib=flavor["memory_mib"],
        copies=len(guests),
    )


def _setting(
    session: sessions.Session,
    baseline: dict[str, t.Any],
    guests: collections.abc.Sequence[Context],
    context_findings: list[finding.Finding],
) -> build.Setting:
    assignments = session.assignments
    shape = shape_of(guests)
    reference, metrics = comparison.reference(baseline, assignments, shape)
    expected = [m for one in assignments for m in one.metrics()]
    now = datetime.datetime.now(datetime.UTC)
    found = (
        context_findings
        + comparison.findings(baseline, assignments, shape, now)
        + differences.find(session, baseline, shape)
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
