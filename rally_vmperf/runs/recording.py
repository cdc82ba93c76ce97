"""A recording of bare metal: a run of copies that are limited to a shape.

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
Findings = list[finding.Finding]

QUESTION = "recording"


class OtherMachine(errors.VMPerfError):
    """A recording cannot be continued on another machine; one line."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan for the measurement of bare metal in one shape.

    :param baseline: The name of the baseline.
    :param session: The identifier of the recording.
    :param repetitions: The number of counted repetitions.
    :param folder: The parent of the directories of the copies, on the disk
        that guests use.
    :param is_limited: Whether the machine is limited to the shape.
    :param cpus: The list of permitted CPUs; empty for all.
    :param reboot: The time of reboots of the machine in the run.
    :param supply: The permitted methods to supply tools.
    :param options: The plan as a plain document, for the records.
    """

    baseline: str
    session: str
    assignments: tuple[assignment.Assignment, ...]
    shape: matching.Shape
    repetitions: int
    warmup: int
    folder: str
    is_limited: bool
    reboot: protocol.Reboot = "never"
    options: Json
    cpus: str = ""
    supply: provision.Supply = provision.NOTHING


class ShapeRecording:
    """The recording of one shape: its plan, and its records so far.

    :param plan: The plan.
    :param journal: The journal with the repetitions so far.
    :raises BaselineError: If they have another plan, or cannot be read.
    """

    def __init__(self, plan: Plan, journal: journals.Journal) -> None:
        self.plan = plan
        self.records: list[Json] = []
        #: The newest details by machine.
        self.details: dict[str, dict[str, t.Any]] = {}
        #: The reason why it could not be measured; empty if it could.
        self.error = ""
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
        """Measure the missing repetitions, and store each immediately.

        If a repetition fails, the next one is still tried.

        :param connect: A function that returns the machine.
        :raises MachineError: If the machine cannot be prepared.
        :raises WorkloadError: If a workload cannot be prepared.
        :raises OtherMachine: If the earlier repetitions are from another
            machine.
        """
        incomplete = self._incomplete()
        if not incomplete:
            return
        plan = dataclasses.replace(
            self.plan,
            assignments=tuple(incomplete),
            repetitions=max(map(self._lacks, incomplete)),
        )
        numbers = (record["repetition"] for record in self.records)
        after = max(numbers, default=0)
        machine = connect()
        with asyncio.Runner() as runner:
            if plan.reboot != "never":
                runner.run(host_reboot.check(machine))
            hold = runner.run(_hold(machine, plan))
            progress(hold.describe())
            session: sessions.Session | None = None
            alone = actions.BackgroundLoadCheck(machine, runner, warn)

            async def hold_again() -> shapes.ResourceLimits:
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
                reboot = host_reboot.HostReboot(
                    machine=machine,
                    session=session,
                    hold=hold_again,
                    progress=session.progress,
                )
                reboots = () if plan.reboot == "never" else (reboot,)
                ready = attempt.Ready(
                    session=session,
                    setting=_setting(
                        plan, session, hold, node, alone.findings
                    ),
                    actions=(*reboots, alone),
                )
                # Numbers continue, so that every record keeps its own files.
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
        """Return the missing repetitions, one line for each workload."""
        required = self.plan.repetitions
        return [
            f"{self.plan.shape}: {assignment.title} has {required - lacks} of "
            f"{required} repetitions: {self._why(assignment)}"
            for assignment in self.plan.assignments
            if (lacks := self._lacks(assignment)) > 0
        ]

    def worth_a_retry(self) -> bool:
        """Return whether other repetitions have the missing results.

        A workload that fails every time would fail again.
        """
        incomplete = self._incomplete()
        return bool(incomplete) and all(map(self.of, incomplete))

    def _incomplete(self) -> list[assignment.Assignment]:
        return list(filter(self._lacks, self.plan.assignments))

    def _keep(
        self, record: Json, details: collections.abc.Mapping[str, t.Any]
    ) -> None:
        self.records.append(record)
        for name, new in details.items():
            old = self.details.get(name, {"tools": {}, "facts": {}})
            self.details[name] = {
                **new,
                "tools": {**old["tools"], **new["tools"]},
                "facts": {**old["facts"], **new["facts"]},
            }

    def of(self, assignment: assignment.Assignment) -> list[Json]:
        """Return the counted repetitions that are complete for a workload."""
        names = set(setting.expected([assignment]))
        return [
            record
            for record in self.records
            if record["counted"] and _has(record, names)
        ]

    def _lacks(self, assignment: assignment.Assignment) -> int:
        """Return the number of missing counted repetitions of a workload."""
        return max(0, self.plan.repetitions - len(self.of(assignment)))

    def _why(self, assignment: assignment.Assignment) -> str:
        """Return the reason why the last repetition lacks a workload."""
        names = set(setting.expected([assignment]))
        for record in reversed(self.records):
            for gap in _gaps(record):
                if gap["name"] in names or gap["name"] == "repetition":
                    return f"{gap['machine']}: {gap['reason']}"
        return self.error or "it was not measured"


async def _hold(machine: base.Machine, plan: Plan) -> shapes.ResourceLimits:
    if not plan.is_limited:
        return shapes.unlimited(plan.shape.copies)
    return await shapes.apply_limits(
        machine,
        cpus=plan.shape.vcpus,
        memory_mib=plan.shape.memory_mib,
        copies=plan.shape.copies,
        allowed=plan.cpus,
    )


async def _release(machine: base.Machine, hold: shapes.ResourceLimits) -> None:
    await hold.release()
    await machine.close()


def _copies(
    machine: base.Machine,
    plan: Plan,
    hold: shapes.ResourceLimits,
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
    """Return the hostname of the machine, which Nova uses, too."""
    answer = await machine.run(["uname", "-n"])
    # Other characters are not valid in a hostname, which tables show.
    return re.sub(r"[^\w.-]", "?", answer.stdout.strip()[:255], flags=re.A)


def _check_same(
    session: sessions.Session, details: collections.abc.Mapping[str, Json]
) -> None:
    """Reject the continuation on another or a changed machine."""
    for station in session.everyone():
        if station.name not in details:
            continue
        old, new = details[station.name], session.describe(station.name)
        recorded, current = old["fingerprint"], new["fingerprint"]
        findings = (
            comparability.same_peer(recorded, current)
            + comparability.compare_machines(recorded, current, "now")
            + comparability.compare_tools(old["tools"], new["tools"], "now")
        )
        if findings:
            raise OtherMachine(
                f"{station.name} is not what it was when the recording began "
                f"({findings[0].kind}): {findings[0].detail}; record again "
                "without --continue"
            )


def _setting(
    plan: Plan,
    session: sessions.Session,
    hold: shapes.ResourceLimits,
    node: str,
    findings: tuple[finding.Finding, ...],
) -> build.Setting:
    details = {
        station.name: {
            **setting.described(session, station.name),
            **hold.document(),
        }
        for station in session.everyone()
    }
    machines = [
        build.Machine(
            name=station.name, role="copy", host=node, boot_id=plan.session
        )
        for station in session.stations
    ]
    if session.peer:
        machines.append(build.Machine(name=session.peer.name, role="peer"))
    return build.Setting(
        shape=dataclasses.asdict(plan.shape),
        machines=machines,
        details=details,
        workloads=setting.workloads(plan.assignments),
        expected_metrics=setting.expected(plan.assignments),
        metrics=setting.metric_definitions(plan.assignments),
        reference=None,
        findings=(*_findings(plan, hold), *findings),
        ends=setting.ends(plan.assignments, session),
    )


def _findings(plan: Plan, hold: shapes.ResourceLimits) -> Findings:
    if plan.is_limited:
        return list(hold.findings)
    return [
        finding.Finding(
            kind="bare_metal_unrestricted",
            subject="baseline",
            detail=f"bare metal was not limited, but guests are {plan.shape}",
        )
    ]


def _check_options(record: Json, plan: Plan) -> None:
    """Reject the continuation with other arguments."""
    recorded, planned = record["options"], plan.options
    for key in sorted({*recorded, *planned}):
        if recorded.get(key) != planned.get(key):
            raise document.BaselineError(
                f"recording {plan.session} was begun with {key} "
                f"{recorded.get(key)!r:.200}, not {planned.get(key)!r:.200}; "
                "use the same arguments, or record again without --continue"
            )


def _has(record: Json, names: collections.abc.Set[str]) -> bool:
    """Return whether a repetition has all metrics of a workload."""
    gaps = {gap["name"] for gap in _gaps(record)}
    if gaps & names or not names <= set(record["expected_metrics"]):
        return False
    if not record["missing"]:
        return True
    # It was interrupted: earlier metrics are complete if all copies have them.
    samples = [condition["samples"] for condition in record["conditions"]]
    return bool(samples) and all(
        None not in samples[0].get(name, [None]) for name in names
    )


def _gaps(record: Json) -> list[Json]:
    parts = (*record["conditions"], record)
    return [gap for document in parts for gap in document["missing"]]
