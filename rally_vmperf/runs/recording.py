"""Recording of bare metal: a run of copies that are held to a shape."""

import asyncio
import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf.baseline import likeness
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import session as sessions
from rally_vmperf.execution import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import provision
from rally_vmperf.machines import shape as shapes
from rally_vmperf.measurement import finding
from rally_vmperf.records import build
from rally_vmperf.records import journal as journals
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting

Json = dict[str, t.Any]

QUESTION = "recording"


class OtherMachine(Exception):
    """A recording is to go on on a machine that is not the same; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """How bare metal is to be measured in one shape.

    :param baseline: name that it is to be registered under
    :param session: identifier of the recording
    :param repetitions: counted ones
    :param folder: in which each copy gets a folder of its own; on the disk
        that guests use
    :param held: hold the machine to the shape, or leave it whole
    :param options: all of that as a plain document, for the records
    """

    baseline: str
    session: str
    assignments: tuple[assignment.Assignment, ...]
    shape: matching.Shape
    repetitions: int
    warmup: int
    folder: str
    held: bool
    options: Json


def measure(
    plan: Plan,
    journal: journals.Journal,
    connect: t.Callable[[], base.Machine],
    peer: stations.Station | None,
    *,
    after: int,
    known: collections.abc.Mapping[str, Json],
    keep: t.Callable[[Json, dict[str, Json]], None],
    progress: runs.Progress,
    warn: runs.Progress,
) -> None:
    """Measure bare metal, repetition by repetition, each on disk at once.

    A repetition that fails does not keep the next from being tried.

    :param connect: makes the machine
    :param after: number of the last repetition that there is already
    :param known: details of machines from earlier repetitions
    :param keep: gets each record, and the details of its machines
    :raises MachineError: when the machine cannot be made ready
    :raises WorkloadError: when a workload cannot be prepared
    :raises OtherMachine: when the earlier repetitions are of another one
    """
    machine = connect()
    with asyncio.Runner() as runner:
        hold = runner.run(_hold(machine, plan))
        session: sessions.Session | None = None
        try:
            session = sessions.open_session(
                plan.assignments,
                _copies(machine, plan, hold, peer),
                peer,
                supply=provision.NOTHING,
                progress=progress,
                runner=runner,
            )
            _check_same(session, known)
            node = runner.run(_node(machine))
            ready = attempt.Ready(
                session=session,
                setting=_setting(plan, session, hold, node),
                actions=(),
            )
            # Numbers go on, so that every record keeps its own files.
            first = after + 1
            run = runs.Run(
                question=QUESTION,
                task=plan.baseline,
                workload=journal.path.stem,
                times=after + plan.warmup + plan.repetitions,
                warmup=after + plan.warmup,
                conditions=(conditions.Condition(),),
                journal=journal,
                unready=ready.setting,
                open=lambda: ready,
                options=plan.options,
                progress=progress,
                warn=warn,
            )
            for number in range(first, run.times + 1):
                record = run.repeat(number)
                keep(record, ready.setting.details)
                if record["state"] == "interrupted":
                    raise KeyboardInterrupt
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
    copies = [
        stations.Station(
            name=f"copy-{number}",
            machine=machine,
            role="copy",
            parent=plan.folder,
            prefix=hold.prefixes[number - 1],
        )
        for number in range(1, plan.shape.copies + 1)
    ]
    stations.number_ports(copies)
    for client, _ in zip(copies[::2], copies[1::2], strict=False):
        client.partner = peer
    return copies


async def _node(machine: base.Machine) -> str:
    """Return the machine's own host name, as Nova calls it too."""
    answer = await machine.run(["uname", "-n"])
    # Whatever else it says is no host name, and is shown in tables.
    return re.sub(r"[^\w.-]", "?", answer.stdout.strip()[:255], flags=re.A)


def _check_same(
    session: sessions.Session, known: collections.abc.Mapping[str, Json]
) -> None:
    """Refuse to go on on a machine that is another one, or was changed."""
    for one in session.everyone():
        if one.name not in known:
            continue
        old, new = known[one.name], session.describe(one.name)
        ours, theirs = old["fingerprint"], new["fingerprint"]
        found = (
            likeness.same_peer(ours, theirs)
            + likeness.compare_machines(ours, theirs, "now")
            + likeness.compare_tools(old["tools"], new["tools"], "now")
        )
        if found:
            raise OtherMachine(
                f"{one.name} is not what it was when the recording began "
                f"({found[0].kind}): {found[0].seen}; record anew, without "
                "--continue"
            )


def _setting(
    plan: Plan, session: sessions.Session, hold: shapes.Hold, node: str
) -> build.Setting:
    details = {
        one.name: {**setting.described(session, one.name), "held": hold.held}
        for one in session.everyone()
    }
    machines = [
        build.Machine(name=one.name, role="copy", host=node, boot=plan.session)
        for one in session.places
    ]
    if session.peer:
        machines.append(build.Machine(name=session.peer.name, role="peer"))
    return build.Setting(
        shape=dataclasses.asdict(plan.shape),
        machines=machines,
        details=details,
        workloads=setting.workloads(plan.assignments),
        expected=setting.expected(plan.assignments),
        metrics=setting.meanings(plan.assignments),
        reference=None,
        findings=tuple(_findings(plan, hold)),
    )


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
