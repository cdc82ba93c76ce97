# SPDX-License-Identifier: Apache-2.0
"""The request for a run, and the cache of runs and connections."""

import collections.abc
import dataclasses
import functools
import types
import typing as t

from rally_vmperf import documents
from rally_vmperf.baseline import document
from rally_vmperf.execution import assignment
from rally_vmperf.execution import protocols
from rally_vmperf.execution import requirements
from rally_vmperf.execution import sessions
from rally_vmperf.guests import idle
from rally_vmperf.guests import models
from rally_vmperf.machines import base as machines
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import journal as journals
from rally_vmperf.records import model
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import comparability
from rally_vmperf.runs import conditions
from rally_vmperf.runs import guest_power
from rally_vmperf.runs import loads
from rally_vmperf.runs import reference
from rally_vmperf.runs import runs
from rally_vmperf.runs import setting

if t.TYPE_CHECKING:
    from rally_vmperf.execution.stations import arrival
    from rally_vmperf.runs import guest_arrival


class RunCache:
    """A cache of runs and of connections to guests.

    Rally creates a scenario object for every repetition, so the cache belongs
    to the process.
    """

    def __init__(self) -> None:
        self._connections: dict[str, arrival.ConnectedGuests] = {}
        self._group_boots: dict[str, guest_arrival.GroupBoots] = {}
        self._runs: dict[str, runs.Run] = {}

    def keep_connections(
        self, owner: str, connections: "arrival.ConnectedGuests"
    ) -> None:
        """Store the connections to guests until a run uses them.

        :param owner: The identifier of the run.
        """
        self._connections[owner] = connections

    def get_connections(
        self, owner: str, booted: models.BootedGuests
    ) -> "arrival.ConnectedGuests":
        """Return the stored connections to guests, or create them."""
        from rally_vmperf.execution.stations import arrival

        if owner not in self._connections:
            self.keep_connections(
                owner,
                arrival.ConnectedGuests(booted.guests, booted.client_key),
            )
        return self._connections[owner]

    def keep_group_boots(
        self, owner: str, group_boots: "guest_arrival.GroupBoots"
    ) -> None:
        """Store the boots of guests that can follow during the run."""
        self._group_boots[owner] = group_boots

    def has_booted(self, owner: str) -> bool:
        """Return whether guests were booted during a run."""
        boots = self._group_boots.get(owner)
        return boots is not None and boots.is_repeated

    def boot_group(self, owner: str, group: str | None) -> models.BootedGuests:
        """Boot the guests of a group in place of others, and return them.

        :raises GuestError: If they do not boot.
        """
        boots = self._group_boots[owner]
        if not boots.is_ready(group):
            if connections := self._connections.pop(owner, None):
                connections.close()
            self.keep_connections(owner, boots.boot(group))
        boots.is_new = False
        return boots.booted

    def get_run(
        self, owner: str, create_run: t.Callable[[], runs.Run]
    ) -> runs.Run:
        """Return the run of an owner, and create it on the first call."""
        if owner not in self._runs:
            self._runs[owner] = create_run()
        return self._runs[owner]

    def close(self, owner: str) -> list[model.Record]:
        """Close a run, and return the records that its journal lacks."""
        self._group_boots.pop(owner, None)
        run = self._runs.pop(owner, None)
        connections = self._connections.pop(owner, None)
        try:
            if run is not None:
                run.close()
        finally:
            if connections is not None:
                connections.close()
        return run.unwritten if run else []


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunEnvironment:
    """The guests, the baseline and the journal of a run, from an interface.

    :param run_cache: The cache that keeps the connections.
    :param task: The identifier of the task.
    :param owner: The identifier of the run, for the name of its journal.
    :param options: The options with which the guests were booted.
    :param connect: A function that connects to the cloud with the credential
        of the guests.
    :param connect_admin: A function that connects to the cloud as an
        administrator, or returns None if there is none.
    """

    run_cache: RunCache
    task: str
    owner: str
    booted: models.BootedGuests
    options: documents.Arguments
    baseline: document.Baseline | None
    journal: journals.Journal
    connect: t.Callable[[], t.Any]
    progress: runs.Progress
    warn: runs.Progress
    connect_admin: t.Callable[[], t.Any] = lambda: None


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRequest(RunEnvironment):
    """A request for a run of any question in its environment.

    :param question: The name of the question.
    :param times: The number of planned repetitions, warm-up included.
    :param workloads: The workloads, as the task lists them.
    :param peer: The peer, as the task defines it.
    :param control: The control machine, as the task defines it.
    :param criteria: The limits of the subtask by the name of the SLA.
    :param tolerate: The kinds of void findings that the task tolerates.
    :param vcpus: The number of vCPUs that determines arguments of workloads;
        None for that of the guests.
    :param skipped: The workloads that do not run, because they need a peer.
    """

    question: str
    times: int
    warmup: int
    workloads: collections.abc.Sequence[documents.Arguments]
    peer: documents.Arguments | None
    protocol: protocols.Protocol = protocols.DEFAULT
    criteria: collections.abc.Mapping[str, documents.Arguments] = (
        dataclasses.field(default_factory=dict)
    )
    tolerate: collections.abc.Collection[str] = ()
    vcpus: int | None = None
    control: documents.Arguments | None = None
    skipped: collections.abc.Sequence[assignment.Assignment] = ()

    @functools.cached_property
    def assignments(self) -> tuple[assignment.Assignment, ...]:
        """The workloads with complete arguments for the guests' flavor."""
        vcpus = self.vcpus or setting.find_shape(self.booted.guests).vcpus
        return tuple(
            assigned.for_vcpus(vcpus)
            for assigned in assignment.assign(self.workloads, self.protocol)
        )

    def boot_group(self, group: str | None) -> t.Self:
        """Boot the guests of a group; return the request with these guests.

        The guests of the earlier boot are deleted before. The arguments of
        workloads do not change.

        :param group: The name of the group; None for all groups.
        :raises GuestError: If the guests do not boot.
        """
        return dataclasses.replace(
            self,
            booted=self.run_cache.boot_group(self.owner, group),
            vcpus=self.vcpus or setting.find_shape(self.booted.guests).vcpus,
        )

    def prepare_session(
        self,
        shapes: collections.abc.Sequence[document.Shape] = (),
        *,
        idle_guests: idle.IdleState = "running",
        findings: collections.abc.Iterable[finding.Finding] = (),
        unmeasured: conditions.Unmeasured | None = None,
    ) -> attempt.ReadySession:
        """Open a session of booted guests; return it, setting and actions.

        :param shapes: The shapes in which they are compared with the baseline.
        :param idle_guests: The state of guests that do not participate.
        :param findings: The earlier findings on the guests.
        :param unmeasured: The guests that are not measured.
        :raises MachineError: If the tools of guests and bare metal differ so
            that their metrics would be void.
        """
        bare_metal: model.BareMetal | None = None
        metrics: tuple[sample.Metric, ...] = ()
        if self.baseline is not None and shapes:
            bare_metal, metrics = reference.build_reference(
                self.baseline, self.assignments, shapes
            )
        connection = self.connect()
        extra = unmeasured.assignments if unmeasured else ()
        session = self.open_session(extra)
        comparability_findings = comparability.find_guest_findings(
            session, self.booted.guests, self.baseline, shapes
        )
        if refusal := self._describe_void_tools(comparability_findings):
            session.close()
            raise machines.MachineError(refusal)
        return attempt.ReadySession(
            session=session,
            setting=setting.build_setting(
                self.booted,
                self.assignments,
                session,
                bare_metal=bare_metal,
                metrics=metrics,
                findings=(*findings, *comparability_findings),
                unmeasured=len(unmeasured.names) if unmeasured else 0,
            ),
            actions=(
                *self._list_power_actions(connection, session, idle_guests),
                *loads.list_loads(unmeasured, session),
                actions.GuestWatch(
                    connection,
                    self.booted.guests,
                    session,
                    self.options["ssh_timeout"],
                    self.progress,
                ),
                *self._list_watches(),
            ),
        )

    def _list_power_actions(
        self,
        connection: t.Any,
        session: sessions.Session,
        idle_guests: idle.IdleState,
    ) -> list[actions.Action]:
        """Return the actions that reboot guests or set idle ones aside.

        The last one reports the boots.
        """
        boots = guest_power.BootTimes(
            warmup=self.warmup,
            latest={guest.name: guest for guest in self.booted.guests},
        )
        power = {
            "boots": boots,
            "connection": connection,
            "session": session,
            "guests": self.booted.guests,
            "config": self.options,
            "progress": self.progress,
        }
        power_actions: list[actions.Action] = []
        if self.protocol.reboot != "never":
            power_actions.append(
                guest_power.GuestReboot(
                    when=self.protocol.reboot,
                    idle_guests=idle_guests,
                    **power,
                )
            )
        if idle_guests != "running":
            power_actions.append(
                guest_power.IdleGuests(kind=idle_guests, **power)
            )
        return [*power_actions, boots]

    def _list_watches(self) -> list[actions.Action]:
        """Return the checks of the controller and, as admin, of the hosts."""
        watches: list[actions.Action] = [actions.ControllerWatch()]
        admin = self.connect_admin()
        if admin is not None:
            watches.append(
                actions.HostWatch(admin, self.booted.guests, self.progress)
            )
        return watches

    def _describe_void_tools(
        self, findings: collections.abc.Iterable[finding.Finding]
    ) -> str:
        """Return which tools would void the run, and a remedy, or ""."""
        kind = "tool_version_differs"
        details = dict.fromkeys(
            found.detail
            for found in findings
            if found.kind == kind and found.severity == "void"
        )
        if not details or kind in self.tolerate:
            return ""
        return (
            f"{'; '.join(details)}: the metrics of these tools would be void; "
            "install the same version on both sides, or give both the same "
            "bundle (rally-vmperf tools bundle), and record the baseline "
            f"again; or tolerate {kind} in the SLA"
        )

    def open_session(
        self, extra_assignments: tuple[assignment.Assignment, ...] = ()
    ) -> sessions.Session:
        """Provision the tools on all guests, and return an open session.

        :param extra_assignments: The workloads that are prepared, but not
            measured.
        :raises MachineError: If a machine cannot be prepared; with its name.
        :raises WorkloadError: If a workload cannot be prepared.
        :raises BundleError: If tools cannot be supplied as configured.
        """
        from rally_vmperf.execution.stations import reach

        connections = self.run_cache.get_connections(self.owner, self.booted)
        peer = reach.peer_station(self.peer) if self.peer else None
        return sessions.open_session(
            self.assignments,
            connections.stations,
            peer,
            supply=requirements.create_supply(self.options),
            progress=self.progress,
            runner=connections.runner,
            extra_assignments=extra_assignments,
            control=loads.create_control(self.control, self.assignments),
        )

    def _find_skipped(self) -> list[finding.Finding]:
        """Return a finding for each workload that is skipped."""
        return [
            finding.Finding(
                kind="workload_skipped",
                subject=assigned.title,
                detail="no peer",
                metrics=tuple(metric.name for metric in assigned.metrics()),
            )
            for assigned in self.skipped
        ]

    def create_run(
        self,
        run_conditions: collections.abc.Iterable[conditions.PlannedCondition],
        *,
        shapes: collections.abc.Sequence[document.Shape] = (),
        order: model.Order = model.AS_LISTED,
        enough: runs.Enough = runs.never_stop,
        findings: collections.abc.Sequence[finding.Finding] = (),
        idle_guests: idle.IdleState = "running",
        unmeasured: conditions.Unmeasured | None = None,
        options: documents.Arguments = types.MappingProxyType({}),
        **fields: t.Any,
    ) -> runs.Run:
        """Return a run of conditions, ready to start.

        :param run_conditions: The conditions in the order of the task.
        :param shapes: The shapes in which guests are compared with bare metal.
        :param order: The order of the conditions.
        :param enough: A function that returns why to stop after a condition.
        :param findings: The earlier findings on the guests.
        :param idle_guests: The state of guests that do not participate.
        :param unmeasured: The guests that work without being measured.
        :param options: The options of the question, for the record.
        :param fields: The fields of the run that replace the usual ones.
        """
        others = {unmeasured.axis: unmeasured.options} if unmeasured else {}
        findings = [*findings, *self._find_skipped()]
        usual = {
            "fallback_setting": setting.build_setting(
                self.booted,
                self.assignments,
                findings=findings,
                unmeasured=len(unmeasured.names) if unmeasured else 0,
            ),
            "open": functools.partial(
                self.prepare_session,
                shapes,
                idle_guests=idle_guests,
                findings=findings,
                unmeasured=unmeasured,
            ),
        }
        return runs.Run(
            question=self.question,
            task=self.task,
            workload=self.owner,
            times=self.times,
            warmup=self.warmup,
            journal=self.journal,
            progress=self.progress,
            warn=self.warn,
            criteria=self.criteria,
            conditions=tuple(run_conditions),
            order=order,
            enough=enough,
            options={**options, **others, **self.protocol.plain()},
            **{**usual, **fields},
        )
