"""Recording of bare metal: a run of copies that are held to a shape.

Each shape has a journal of its own, named after the recording's session.
"""

import asyncio
import collections.abc
import dataclasses
import re
import typing as t

from rally_vmperf import errors
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocol
from rally_vmperf.execution import session as sessions
from rally_vmperf.execution.stations import station as stations
from rally_vmperf.machines import base
from rally_vmperf.machines import shape as shapes
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.measurement import finding
from rally_vmperf.records import build
from rally_vmperf.records import files
from rally_vmperf.records import journal as journals
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import host_reboot
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting

Json = collections.abc.Mapping[str, t.Any]

QUESTION = "recording"


class OtherMachine(errors.VMPerfError):
    """A recording cannot be continued on another machine; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """How bare metal is to be measured in one shape.

    :param baseline: name that it is to be registered under
    :param session: identifier of the recording
    :param repetitions: counted ones
    :param folder: in which each copy gets a folder of its own; on the disk
        that guests use
    :param held: hold the machine to the shape, or leave it whole
    :param cpus: list of the CPUs to choose from, empty for all
    :param reboot: between which parts the machine is rebooted
    :param supply: how tools may come to the machine; nothing is installed
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
    reboot: protocol.Reboot = "never"
    options: Json
    cpus: str = ""
    supply: provision.Supply = provision.NOTHING


class Part:
    """One shape of a recording: its plan, and its records so far.

    :param journal: with the repetitions so far, if there are any
    :raises BaselineError: when these were made by another plan, or cannot be
        read
    """

    def __init__(self, plan: Plan, journal: journals.Journal) -> None:
        self.plan = plan
        self.records: list[Json] = []
        #: By machine; of the newest repetition that has them.
        self.details: dict[str, dict[str, t.Any]] = {}
        #: Why it could not be measured at all, or nothing.
        self.trouble = ""
        self._journal = journal
        if journal.path.exists():
            self._read()

    def _read(self) -> None:
        try:
            for record in self._journal.read():
                _check_options(record, self.plan)
                read = files.read(
                    self._journal.folder, record["files"]["machines"]
                )
                self._keep(record, read["machines"])
        except (files.FileError, journals.JournalError) as error:
            raise document.BaselineError(
                f"recording {self.plan.session} cannot be continued: {error}"
            ) from error

    def measure(
        self,
        connect: t.Callable[[], base.Machine],
        peer: stations.Station | None,
        progress: runs.Progress,
        warn: runs.Progress,
    ) -> None:
        """Measure what is missing, each repetition on disk at once.

        A repetition that fails does not keep the next from being tried.

        :param connect: makes the machine
        :raises MachineError: when the machine cannot be made ready
        :raises WorkloadError: when a workload cannot be prepared
        :raises OtherMachine: when the earlier repetitions are of another one
        """
        lacking = [one for one in self.plan.assignments if self._lacks(one)]
        if not lacking:
            return
        plan = dataclasses.replace(
            self.plan,
            assignments=tuple(lacking),
            repetitions=max(map(self._lacks, lacking)),
        )
        after = max((one["repetition"] for one in self.records), default=0)
        machine = connect()
        with asyncio.Runner() as runner:
            if plan.reboot != "never":
                runner.run(host_reboot.check(machine))
            hold = runner.run(_hold(machine, plan))
            progress(hold.said())
            session: sessions.Session | None = None
            alone = actions.Alone(machine, runner, warn)

            async def hold_again() -> shapes.Hold:
                nonlocal hold
                hold = await _hold(machine, plan)
                return hold

            try:
                alone.watch_quiet()
                session = sessions.open_session(
                    plan.assignments,
                    _copies(machine, plan, hold, peer),
                    peer,
                    supply=plan.supply,
                    progress=progress,
                    runner=runner,
                )
                _check_same(session, self.details)
                node = runner.run(_node(machine))
                ready = attempt.Ready(
                    session=session,
                    setting=_setting(
                        plan, session, hold, node, alone.findings
                    ),
                    actions=(
                        *_reboots(plan, session, machine, hold_again),
                        alone,
                    ),
                )
                # Numbers go on, so that every record keeps its own files.
                first = after + 1
                run = runs.Run(
                    question=QUESTION,
                    task=plan.baseline,
                    workload=self._journal.path.stem,
                    times=after + plan.warmup + plan.repetitions,
                    warmup=after + plan.warmup,
                    conditions=(conditions.Condition(),),
                    journal=self._journal,
                    unready=ready.setting,
                    open=lambda: ready,
                    options=plan.options,
                    progress=progress,
                    warn=warn,
                )
                for number in range(first, run.times + 1):
                    record = run.repeat(number)
                    self._keep(record, ready.setting.details)
                    if record["state"] == "interrupted":
                        raise KeyboardInterrupt
            finally:
                if session is not None:
                    session.close()
                runner.run(_release(machine, hold))

    def missing(self) -> list[str]:
        """Return what is missing, a line for each workload."""
        asked = self.plan.repetitions
        return [
            f"{self.plan.shape}: {one.title} has {asked - lacks} of {asked} "
            f"repetitions: {self._why(one)}"
            for one in self.plan.assignments
            if (lacks := self._lacks(one)) > 0
        ]

    def worth_a_retry(self) -> bool:
        """Return whether what is missing was there in other repetitions.

        What fails every time would only fail again.
        """
        lacking = [one for one in self.plan.assignments if self._lacks(one)]
        return bool(lacking) and all(map(self.of, lacking))

    def _keep(
        self,
        record: Json,
        details: collections.abc.Mapping[str, dict[str, t.Any]],
    ) -> None:
        self.records.append(record)
        for name, new in details.items():
            old = self.details.get(name, {"tools": {}, "facts": {}})
            self.details[name] = {
                **new,
                "tools": {**old["tools"], **new["tools"]},
                "facts": {**old["facts"], **new["facts"]},
            }

    def of(self, one: assignment.Assignment) -> list[Json]:
        """Return the counted repetitions that are complete for a workload."""
        names = set(setting.expected([one]))
        return [
            record
            for record in self.records
            if record["counted"] and _has(record, names)
        ]

    def _lacks(self, one: assignment.Assignment) -> int:
        """Return how many counted repetitions of a workload are missing."""
        return max(0, self.plan.repetitions - len(self.of(one)))

    def _why(self, one: assignment.Assignment) -> str:
        """Return why the last repetition lacks a workload."""
        names = set(setting.expected([one]))
        for record in reversed(self.records):
            for gap in _gaps(record):
                if gap["name"] in names or gap["name"] == "repetition":
                    return f"{gap['machine']}: {gap['reason']}"
        return self.trouble or "it was not measured"


async def _hold(machine: base.Machine, plan: Plan) -> shapes.Hold:
    if not plan.held:
        return shapes.whole(plan.shape.copies)
    return await shapes.hold(
        machine,
        cpus=plan.shape.vcpus,
        memory_mib=plan.shape.memory_mib,
        copies=plan.shape.copies,
        allowed=plan.cpus,
    )


async def _release(machine: base.Machine, hold: shapes.Hold) -> None:
    await hold.release()
    await machine.close()


def _reboots(
    plan: Plan,
    session: sessions.Session,
    machine: base.Machine,
    hold: host_reboot.HoldAgain,
) -> collections.abc.Iterator[actions.Action]:
    if plan.reboot != "never":
        yield host_reboot.HostReboot(
            machine=machine,
            session=session,
            hold=hold,
            progress=session.progress,
        )


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
    """Refuse to continue on another machine, or on one that was changed."""
    for one in session.everyone():
        if one.name not in known:
            continue
        old, new = known[one.name], session.describe(one.name)
        ours, theirs = old["fingerprint"], new["fingerprint"]
        found = (
            comparability.same_peer(ours, theirs)
            + comparability.compare_machines(ours, theirs, "now")
            + comparability.compare_tools(old["tools"], new["tools"], "now")
        )
        if found:
            raise OtherMachine(
                f"{one.name} is not what it was when the recording began "
                f"({found[0].kind}): {found[0].detail}; record anew, without "
                "--continue"
            )


def _setting(
    plan: Plan,
    session: sessions.Session,
    hold: shapes.Hold,
    node: str,
    findings: tuple[finding.Finding, ...],
) -> build.Setting:
    details = {
        one.name: {**setting.described(session, one.name), **hold.document()}
        for one in session.everyone()
    }
    machines = [
        build.Machine(
            name=one.name, role="copy", host=node, boot_id=plan.session
        )
        for one in session.stations
    ]
    if session.peer:
        machines.append(build.Machine(name=session.peer.name, role="peer"))
    return build.Setting(
        shape=dataclasses.asdict(plan.shape),
        machines=machines,
        details=details,
        workloads=setting.workloads(plan.assignments),
        expected_metrics=setting.expected(plan.assignments),
        metrics=setting.meanings(plan.assignments),
        reference=None,
        findings=(*_findings(plan, hold), *findings),
        ends=setting.ends(plan.assignments, session),
    )


def _findings(plan: Plan, hold: shapes.Hold) -> list[finding.Finding]:
    if plan.held:
        return list(hold.findings)
    return [
        finding.Finding(
            kind="bare_metal_unrestricted",
            subject="baseline",
            detail=f"bare metal was left whole while guests are {plan.shape}",
        )
    ]


def _check_options(record: Json, plan: Plan) -> None:
    """Refuse to continue with other arguments."""
    given, wanted = record["options"], plan.options
    for key in sorted({*given, *wanted}):
        if given.get(key) != wanted.get(key):
            raise document.BaselineError(
                f"recording {plan.session} was begun with {key} "
                f"{given.get(key)!r:.200}, not {wanted.get(key)!r:.200}; give "
                "the same arguments, or record anew without --continue"
            )


def _has(record: Json, names: collections.abc.Set[str]) -> bool:
    """Tell whether a repetition has all of a workload's metrics."""
    gaps = {gap["name"] for gap in _gaps(record)}
    if gaps & names or not names <= set(record["expected_metrics"]):
        return False
    if not record["missing"]:
        return True
    # It was cut off: what came before is whole if all copies have it.
    samples = [one["samples"] for one in record["conditions"]]
    return bool(samples) and all(
        None not in samples[0].get(name, [None]) for name in names
    )


def _gaps(record: Json) -> list[Json]:
    parts = (*record["conditions"], record)
    return [gap for part in parts for gap in part["missing"]]
