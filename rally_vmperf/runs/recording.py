# SPDX-License-Identifier: Apache-2.0
"""A recording of bare metal: a run of copies that are limited to a shape.

Each shape has a journal of its own, named after the recording's session.
"""

import asyncio
import collections.abc
import contextlib
import dataclasses
import pathlib
import re
import time
import typing as t

from rally_vmperf import documents
from rally_vmperf import errors
from rally_vmperf.baseline import comparability
from rally_vmperf.baseline import document
from rally_vmperf.baseline import tool_comparison
from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocols
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import arrival
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import background_load
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.machines import shapes
from rally_vmperf.machines.provisioning import provision
from rally_vmperf.machines.provisioning import raw_devices
from rally_vmperf.measurement import finding
from rally_vmperf.records import files
from rally_vmperf.records import journal as journals
from rally_vmperf.records import model
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import reference
from rally_vmperf.runs import runs
from rally_vmperf.runs import setting

QUESTION = "recording"
#: A function that limits a machine to its shape again.
ReapplyLimits = t.Callable[
    [], collections.abc.Awaitable[shapes.ResourceLimits]
]
#: Seconds within which a server must have booted, firmware included.
TIMEOUT = 1800.0
_POLL = 5.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordingPlan:
    """A plan for the measurement of bare metal in one shape.

    :param directory: The parent of the copies' directories, on guests' disk.
    :param is_limited: Whether the machine is limited to the shape.
    :param cpus: The list of permitted CPUs; empty for all.
    :param reboot: The time of reboots of the machine in the run.
    :param options: The plan as a plain document, for the records.
    :param devices: The paths of the raw devices that workloads overwrite: as
        many for each copy as the workloads use.
    :param accepted: The kinds of findings that do not end the recording before
        its first repetition although they void each run.
    """

    baseline: str
    session: str
    assignments: tuple[assignment.Assignment, ...]
    shape: document.Shape
    repetitions: int
    warmup: int
    directory: str
    is_limited: bool
    reboot: protocols.Reboot = "never"
    options: documents.Arguments
    cpus: str = ""
    supply: provision.Supply = provision.NO_SUPPLY
    devices: tuple[str, ...] = ()
    accepted: frozenset[str] = frozenset()


class ShapeRecording:
    """The recording of one shape: its plan, and its records so far.

    :param journal: The journal with the repetitions so far.
    :raises BaselineError: If they have another plan, or cannot be read.
    """

    def __init__(self, plan: RecordingPlan, journal: journals.Journal) -> None:
        self.plan = plan
        self.records: list[model.Record] = []
        #: The newest details by machine.
        self.details: dict[str, documents.Facts] = {}
        #: The reason why the shape was not measured; empty if it was.
        self.error = ""
        self._journal = journal
        if journal.path.exists():
            self._read_journal()

    def _read_journal(self) -> None:
        """Load earlier records; reject those of another plan or damaged."""
        try:
            for record in self._journal.read():
                _check_options(record, self.plan)
                machine_file = files.read(
                    self._journal.folder, record.machines_file
                )
                self._add_record(record, machine_file["machines"])
        except (documents.DocumentError, journals.JournalError) as error:
            raise document.BaselineError(
                f"recording {self.plan.session} cannot be continued: {error}"
            ) from error

    def measure(
        self,
        connect: t.Callable[[], base.Machine],
        peer: roles.Station | None,
        progress: runs.Progress,
        warn: runs.Progress,
    ) -> None:
        """Measure and store the missing repetitions, also after a failure.

        :param connect: A function that returns the machine.
        :raises MachineError: If the machine cannot be prepared.
        :raises WorkloadError: If a workload cannot be prepared.
        :raises BaselineError: If the machine would void each run.
        :raises VMPerfError: If the machine has changed.
        """
        incomplete = self._list_incomplete()
        if not incomplete:
            return
        plan = dataclasses.replace(
            self.plan,
            assignments=tuple(incomplete),
            repetitions=max(map(self._count_missing, incomplete)),
        )
        machine = connect()
        with asyncio.Runner() as runner:
            if plan.reboot != "never":
                runner.run(check_permission(machine))
            limits = runner.run(_apply_limits(machine, plan))
            progress(limits.describe())
            session: sessions.Session | None = None
            load_check = actions.BackgroundLoadCheck(machine, runner, warn)
            run_actions: list[actions.Action] = [load_check]

            async def reapply_limits() -> shapes.ResourceLimits:
                """Limit the machine again, and return the new limits."""
                nonlocal limits
                limits = await _apply_limits(machine, plan)
                return limits

            try:
                load_check.check_before_session()
                session = sessions.open_session(
                    plan.assignments,
                    _create_stations(
                        machine,
                        plan,
                        limits,
                        peer,
                        runner.run(raw_devices.check(machine, plan.devices)),
                    ),
                    peer,
                    supply=plan.supply,
                    progress=progress,
                    runner=runner,
                )
                _check_same_machine(session, self.details)
                hostname = runner.run(_read_hostname(machine))
                if plan.reboot != "never":
                    reboot = HostReboot(
                        machine, session, reapply_limits, session.progress
                    )
                    run_actions.insert(0, reboot)
                ready = attempt.ReadySession(
                    session=session,
                    setting=_build_setting(
                        plan, session, limits, hostname, load_check.findings
                    ),
                    actions=tuple(run_actions),
                )
                _check_voiding(plan, ready.setting)
                self._repeat(plan, ready, progress, warn)
            finally:
                if session is not None:
                    session.close()
                runner.run(limits.release())
                runner.run(machine.close())

    def _repeat(
        self,
        plan: RecordingPlan,
        ready: attempt.ReadySession,
        progress: runs.Progress,
        warn: runs.Progress,
    ) -> None:
        """Measure and store the repetitions of a plan.

        :raises KeyboardInterrupt: If the user interrupts a repetition, after
            it was stored.
        """
        # Numbers continue, so that every record keeps its own files.
        numbers = (record.repetition.number for record in self.records)
        after = max(numbers, default=0)
        run = runs.Run(
            question=QUESTION,
            task=plan.baseline,
            workload=self._journal.path.stem,
            times=after + plan.warmup + plan.repetitions,
            warmup=after + plan.warmup,
            conditions=(conditions.PlannedCondition(),),
            journal=self._journal,
            fallback_setting=ready.setting,
            open=lambda: ready,
            options=plan.options,
            progress=progress,
            warn=warn,
        )
        for number in range(after + 1, run.times + 1):
            record = run.repeat(number)
            self._add_record(record, ready.setting.details)
            if record.repetition.state == "interrupted":
                raise KeyboardInterrupt

    def describe_missing(self) -> list[str]:
        """Return a line of text for each workload with missing repetitions."""
        required = self.plan.repetitions
        return [
            f"{self.plan.shape}: {assignment.title} has {required - missing} "
            f"of {required} repetitions: {self._find_reason(assignment)}"
            for assignment in self.plan.assignments
            if (missing := self._count_missing(assignment)) > 0
        ]

    def can_retry(self) -> bool:
        """Return whether a retry may help: none failed every time."""
        incomplete = self._list_incomplete()
        return bool(incomplete) and all(map(self.find_complete, incomplete))

    def _list_incomplete(self) -> list[assignment.Assignment]:
        """Return the workloads that lack counted repetitions."""
        return list(filter(self._count_missing, self.plan.assignments))

    def _add_record(
        self, record: model.Record, details: setting.Details
    ) -> None:
        """Add a record, and merge its details of machines."""
        self.records.append(record)
        for name, new in details.items():
            old = self.details.get(name, {"tools": {}, "facts": {}})
            self.details[name] = {
                **new,
                "tools": {**old["tools"], **new["tools"]},
                "facts": {**old["facts"], **new["facts"]},
            }

    def find_complete(
        self, assignment: assignment.Assignment
    ) -> list[model.Record]:
        """Return the counted records that have all metrics of a workload."""
        names = _list_expected_names(assignment)
        return [
            record
            for record in self.records
            if record.repetition.counted
            and record.repetition.has_metrics(names)
        ]

    def _count_missing(self, assignment: assignment.Assignment) -> int:
        """Return the number of missing counted repetitions of a workload."""
        complete = self.find_complete(assignment)
        return max(0, self.plan.repetitions - len(complete))

    def _find_reason(self, assignment: assignment.Assignment) -> str:
        """Return the reason, as text, why a workload was not measured."""
        names = _list_expected_names(assignment)
        for record in reversed(self.records):
            for gap in record.repetition.all_missing:
                if gap.name in names or gap.name == "repetition":
                    return f"{gap.machine}: {gap.reason}"
        return self.error or "it was not measured"


async def _apply_limits(
    machine: base.Machine, plan: RecordingPlan
) -> shapes.ResourceLimits:
    """Limit the machine to the shape of the plan, and return the limits."""
    if not plan.is_limited:
        return shapes.unlimited(plan.shape.copies)
    return await shapes.apply_limits(
        machine,
        cpus=plan.shape.vcpus,
        memory_mib=plan.shape.memory_mib,
        copies=plan.shape.copies,
        allowed=plan.cpus,
    )


def _create_stations(
    machine: base.Machine,
    plan: RecordingPlan,
    limits: shapes.ResourceLimits,
    peer: roles.Station | None,
    raw: list[raw_devices.RawDevice],
) -> list[roles.Station]:
    """Return one station per copy; every other copy has the peer.

    :param raw: The raw devices, in equal parts for all copies.
    """
    share = len(raw) // plan.shape.copies
    copies = [
        roles.Station(
            name=f"copy-{number}",
            machine=machine,
            role="copy",
            parent=plan.directory,
            prefix=limits.prefixes[number - 1],
            volumes=tuple(
                device.to_device()
                for device in raw[(number - 1) * share : number * share]
            ),
        )
        for number in range(1, plan.shape.copies + 1)
    ]
    for client, _ in zip(copies[::2], copies[1::2], strict=False):
        client.partner = peer
    return copies


async def _read_hostname(machine: base.Machine) -> str:
    """Return the hostname of the machine, which Nova uses, too."""
    outcome = await machine.run(["uname", "-n"])
    # Other characters are not valid in a hostname, which tables show.
    return re.sub(r"[^\w.-]", "?", outcome.stdout.strip()[:255], flags=re.A)


def _check_same_machine(
    session: sessions.Session, details: setting.Details
) -> None:
    """Reject the continuation on another or a changed machine."""
    for station in session.everyone():
        if station.name not in details:
            continue
        old, new = details[station.name], session.describe(station.name)
        machines = (old["fingerprint"], new["fingerprint"])
        findings = (
            comparability.same_peer(*machines)
            + comparability.compare_machines(*machines, "now")
            + tool_comparison.compare_tools(old["tools"], new["tools"], "now")
        )
        if findings:
            raise errors.VMPerfError(
                f"{station.name} has changed since the recording started "
                f"({findings[0].kind}): {findings[0].detail}; record again "
                "without --continue"
            )


#: The way to a machine without a finding, by kind.
_REMEDIES = {
    "bare_metal_busy": "move guests and services away from the machine",
    "bare_metal_is_guest": "record a physical machine",
    "shape_not_enforced": "record as root",
}


def _check_voiding(
    plan: RecordingPlan, recording_setting: setting.Setting
) -> None:
    """Reject a machine whose baseline would void each run.

    :raises BaselineError: If it does and the plan does not accept it.
    """
    findings = [
        reference.restrict_to_assignment(assigned, found)
        for assigned in plan.assignments
        for found in recording_setting.findings
        if found.kind != "bare_metal_busy"
        or background_load.concerns(found.subject, assigned.workload.part)
    ]
    for machine in recording_setting.machines:
        if machine.role == "copy":
            facts = recording_setting.details[machine.name]["fingerprint"]
            findings += comparability.nested(facts)
    # The same load concerns several workloads.
    voiding = {
        (found.kind, found.subject): found
        for found in findings
        if found.severity == "void" and found.kind not in plan.accepted
    }
    if not voiding:
        return
    reasons = finding.sentences(
        [finding.RunFinding(finding=found) for found in voiding.values()]
    )
    kinds = dict.fromkeys(kind for kind, _ in voiding)
    remedies = [_REMEDIES[kind] for kind in kinds if kind in _REMEDIES]
    way_out = f"{' and '.join(remedies)}, or " if remedies else ""
    raise document.BaselineError(
        "nothing is measured, because a baseline of this machine voids each "
        f"run: {'; '.join(reasons)}; {way_out}add --measure-anyway and set "
        f"tolerate: [{', '.join(kinds)}] in the SLA"
    )


def _build_setting(
    plan: RecordingPlan,
    session: sessions.Session,
    limits: shapes.ResourceLimits,
    hostname: str,
    findings: tuple[finding.Finding, ...],
) -> setting.Setting:
    """Return the setting (shape, machines, metrics) of a recording."""
    limit_findings = limits.findings
    if not plan.is_limited:
        unrestricted = finding.Finding(
            kind="bare_metal_unrestricted",
            subject="baseline",
            detail=f"bare metal was not limited, but guests are {plan.shape}",
        )
        limit_findings = (unrestricted,)
    details = {
        station.name: {
            **setting.describe_machine(session, station.name),
            **limits.document(),
        }
        for station in session.everyone()
    }
    machines = [
        model.RecordedMachine(
            name=station.name, role="copy", host=hostname, boot_id=plan.session
        )
        for station in session.stations
    ]
    if session.peer:
        machines.append(
            model.RecordedMachine(name=session.peer.name, role="peer")
        )
    return setting.Setting(
        shape=model.RecordedShape(**dataclasses.asdict(plan.shape)),
        machines=tuple(machines),
        details=details,
        workloads=setting.list_workloads(plan.assignments),
        expected_metrics=setting.list_expected_metrics(plan.assignments),
        metrics=setting.list_metrics(plan.assignments),
        findings=(*limit_findings, *findings),
        ends=setting.find_endpoints(plan.assignments, session),
    )


def _check_options(record: model.Record, plan: RecordingPlan) -> None:
    """Reject the continuation with other arguments."""
    recorded, planned = record.options, plan.options
    for key in sorted({*recorded, *planned}):
        if recorded.get(key) != planned.get(key):
            raise document.BaselineError(
                f"recording {plan.session} was started with {key} "
                f"{recorded.get(key)!r:.200}, not {planned.get(key)!r:.200}; "
                "use the same arguments, or record again without --continue"
            )


def _list_expected_names(assignment: assignment.Assignment) -> frozenset[str]:
    """Return the names of the metrics that a workload must have."""
    return frozenset(
        metric.name for metric in setting.list_expected_metrics([assignment])
    )


async def check_permission(machine: base.Machine) -> None:
    """Reject a reboot of the local machine, or without root permission.

    A container on this machine has the same boot identifier.

    :raises MachineError: If the machine must not be rebooted.
    """
    own_boot_id = pathlib.Path(base.BOOT_ID).read_text("utf-8").strip()
    if machine.shares_clock or await machine.read_boot_id() == own_boot_id:
        raise base.MachineError(
            f"{machine.name} is the machine that runs this program, which "
            "cannot be rebooted; use --reboot never, or another controller"
        )
    await root.as_root(machine)


@dataclasses.dataclass
class HostReboot(actions.Action):
    """A reboot of bare metal, which is then limited to its shape again.

    It requires the consent of the user. The machine that runs this program is
    never rebooted.

    :param reapply_limits: A function that limits the machine again, and
        returns the limits.
    """

    machine: base.Machine
    session: sessions.Session
    reapply_limits: ReapplyLimits
    progress: collections.abc.Callable[[str], None]
    name = "reboot"
    _latest: int | None = None

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Reboot before each repetition but the first; return errors."""
        latest, self._latest = self._latest, current.repetition
        if latest is None:
            return actions.ActionResult()
        started_at = time.monotonic()
        self.progress(f"reboot {self.machine.name}")
        try:
            self.session.runner.run(self._reboot())
        except base.MachineError as error:
            return actions.ActionResult(
                errors=dict.fromkeys(current.machines, str(error))
            )
        seconds = time.monotonic() - started_at
        self.progress(f"{self.machine.name} has booted after {seconds:.0f} s")
        return actions.ActionResult()

    async def _reboot(self) -> None:
        """Reboot the machine, wait for its boot, and limit it again."""
        before = await self.machine.read_boot_id()
        elevated = await root.as_root(self.machine)
        with contextlib.suppress(base.Unreachable):
            await elevated.run(scripts.argv("reboot.sh"))
        await self.machine.close()
        deadline = time.monotonic() + TIMEOUT
        while await self._poll_boot_id() in (before, None):
            if time.monotonic() > deadline:
                raise base.MachineError(
                    f"{self.machine.name} has not rebooted within "
                    f"{TIMEOUT:g} s; see its console"
                )
            await asyncio.sleep(_POLL)
        await arrival.wait_for_boot(self.machine, TIMEOUT)
        self.session.forget(station.name for station in self.session.stations)
        limits = await self.reapply_limits()
        for station, prefix in zip(
            self.session.stations, limits.prefixes, strict=True
        ):
            station.prefix = prefix

    async def _poll_boot_id(self) -> str | None:
        """Return the machine's boot id, or None if it does not answer."""
        try:
            return await self.machine.read_boot_id()
        except base.MachineError:
            await self.machine.close()
            return None
