"""Measure bare metal: the entries of a baseline."""

import asyncio
import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution import session as sessions
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import shape as shapes
from rally_vmperf.machines import supply
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import sample
from rally_vmperf.records import codec


class RecordingFailed(Exception):
    """Bare metal could not be measured completely; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recording:
    """What recording one shape yields.

    :param entries: for the baseline document
    :param machine: name, fingerprint and tools of bare metal
    :param peer: the same of the peer, if there is one
    """

    entries: list[dict[str, t.Any]]
    machine: dict[str, t.Any]
    peer: dict[str, t.Any] | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """How bare metal is to be measured.

    :param folder: in which each copy gets a folder of its own; on the disk
        that guests use
    :param held: hold the machine to the shape, or leave it whole
    """

    assignments: tuple[assignment.Assignment, ...]
    shape: matching.Shape
    repetitions: int
    warmup: int
    folder: str
    held: bool
    progress: measure.Progress


def record(
    plan: Plan,
    connect: t.Callable[[], base.Machine],
    peer: stations.Station | None,
) -> Recording:
    """Measure bare metal in copies of one shape.

    :param connect: makes the machine
    :raises MachineError: when the machine cannot do it
    :raises RecordingFailed: when a measurement is missing
    """
    machine = connect()
    with asyncio.Runner() as runner:
        hold = runner.run(_hold(machine, plan))
        session = None
        try:
            session = sessions.open_session(
                plan.assignments,
                _copies(machine, plan, hold, peer),
                peer,
                supply=supply.NOTHING,
                progress=plan.progress,
                runner=runner,
            )
            return _measure(plan, session, hold)
        finally:
            if session is not None:
                session.close()
            runner.run(_release(machine, hold))


async def _hold(machine: base.Machine, plan: Plan) -> shapes.Hold:
    if not plan.held:
        return shapes.whole(plan.shape.copies)
    return await shapes.hold(
        machine,
        cpus=plan.shape.vcpus,
        memory_mib=plan.shape.memory_mib,
        copies=plan.shape.copies,
    )


async def _release(machine: base.Machine, hold: shapes.Hold) -> None:
    await hold.release()
    await machine.close()


def _copies(
    machine: base.Machine,
    plan: Plan,
    hold: shapes.Hold,
    peer: stations.Station | None,
) -> list[stations.Station]:
    places = [
        stations.Station(
            name=f"copy-{number}",
            machine=machine,
            role="copy",
            parent=plan.folder,
            prefix=hold.prefixes[number - 1],
        )
        for number in range(1, plan.shape.copies + 1)
    ]
    stations.number_ports(places)
    for client, _ in zip(places[::2], places[1::2], strict=False):
        client.partner = peer
    return places


def _measure(
    plan: Plan, session: sessions.Session, hold: shapes.Hold
) -> Recording:
    rounds: list[measured.Measured] = []
    found = _findings(plan, hold)
    for number in range(1, plan.warmup + plan.repetitions + 1):
        kind = " (warm-up)" if number <= plan.warmup else ""
        total = plan.warmup + plan.repetitions
        plan.progress(f"repetition {number} of {total}{kind}")
        result = measured.Measured()
        seen = session.repeat(result)
        if result.missing:
            first = result.missing[0]
            raise RecordingFailed(
                f"bare metal, repetition {number}: {first.what} of "
                f"{first.source} is missing: {first.reason}"
            )
        if number > plan.warmup:
            rounds.append(result)
            found += seen
    first_place = session.places[0]
    return Recording(
        entries=[
            _entry(plan, session, hold, one, rounds, found)
            for one in plan.assignments
        ],
        machine={
            "name": session.runner.run(_node(first_place.machine)),
            **session.describe(first_place.name),
        },
        peer={
            "name": session.peer.name,
            **session.describe(session.peer.name),
        }
        if session.peer
        else None,
    )


async def _node(machine: base.Machine) -> str:
    """Return the machine's own host name, as Nova calls it too."""
    answer = await machine.run(["uname", "-n"])
    # Whatever else it says is no host name, and is shown in tables.
    return re.sub(r"[^\w.-]", "?", answer.stdout.strip()[:255], flags=re.A)


def _entry(
    plan: Plan,
    session: sessions.Session,
    hold: shapes.Hold,
    one: assignment.Assignment,
    rounds: collections.abc.Iterable[measured.Measured],
    found: collections.abc.Iterable[finding.Finding],
) -> dict[str, t.Any]:
    own = {one.relabel(m).name: m for m in one.workload.metrics(one.arguments)}
    facts: dict[str, str] = {}
    for place in session.places:
        facts.update(session.facts[place.name].get(one.title, {}))
    return {
        "workload": one.workload.name,
        "arguments": one.arguments,
        "shape": dataclasses.asdict(plan.shape),
        "held": hold.held,
        "facts": facts,
        "metrics": codec.encode_metrics(own.values()),
        "repetitions": [
            codec.encode_observations(_unlabelled(result, own))
            for result in rounds
        ],
        "findings": [dataclasses.asdict(one) for one in dict.fromkeys(found)],
    }


def _findings(plan: Plan, hold: shapes.Hold) -> list[finding.Finding]:
    if plan.held:
        return list(hold.findings)
    return [
        finding.Finding(
            kind="shape_whole",
            subject="baseline",
            seen=f"bare metal was left whole while guests are {plan.shape}",
        )
    ]


def _unlabelled(
    result: measured.Measured,
    own: collections.abc.Mapping[str, sample.Metric],
) -> list[sample.Observation]:
    return [
        sample.Observation(
            source=one.source,
            sample=sample.Sample(
                metric=own[one.sample.metric.name], value=one.sample.value
            ),
        )
        for one in result.observations
        if one.sample.metric.name in own
    ]
