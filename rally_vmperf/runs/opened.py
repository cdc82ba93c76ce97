"""Connections and runs that stay open between repetitions."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import neighbours as neighbours_
from rally_vmperf.execution import protocol as protocols
from rally_vmperf.execution import requirements
from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest as guests_
from rally_vmperf.guests import idle
from rally_vmperf.measurement import finding
from rally_vmperf.records import journal as journals
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import comparability
from rally_vmperf.runs import guest_reboot
from rally_vmperf.runs import reference
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting

if t.TYPE_CHECKING:
    from rally_vmperf.execution.stations import arrival


class Opened:
    """The runs of a process by their identifiers, with their connections.

    A front door makes a new object for every repetition, and keeps this one
    as long as it lives.
    """

    def __init__(self) -> None:
        self._arrived: dict[str, arrival.Guests] = {}
        self._runs: dict[str, runs.Run] = {}

    def keep(self, owner: str, arrived: "arrival.Guests") -> None:
        """Keep the connections to guests until a run takes them over.

        :param owner: identifier of the run
        """
        self._arrived[owner] = arrived

    def arrived(
        self,
        owner: str,
        booted: guests_.Booted,
    ) -> "arrival.Guests":
        """Return the connections to guests, new ones if none are kept."""
        from rally_vmperf.execution.stations import arrival

        if owner not in self._arrived:
            self.keep(owner, arrival.Guests(booted.guests, booted.client_key))
        return self._arrived[owner]

    def run(self, owner: str, make: t.Callable[[], runs.Run]) -> runs.Run:
        """Return a run, made if it is the first time."""
        if owner not in self._runs:
            self._runs[owner] = make()
        return self._runs[owner]

    def close(self, owner: str) -> None:
        """Close the connections of a run, if there are any."""
        run = self._runs.pop(owner, None)
        arrived = self._arrived.pop(owner, None)
        try:
            if run is not None:
                run.close()
        finally:
            if arrived is not None:
                arrived.close()


#: Returns actions of a question, given the connection and the session.
Act = t.Callable[
    [t.Any, sessions.Session], collections.abc.Iterable[actions.Action]
]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Asked:
    """The request for a run, of any question and by any front door.

    :param opened: keeps the connections
    :param question: name of what is asked
    :param task: identifier of the task
    :param owner: identifier of the run, names its journal
    :param times: all repetitions that are planned, warm-up included
    :param workloads: as a task lists them
    :param peer: as a task names it
    :param options: of the guests
    :param connect: to the cloud, with the guests' own credential
    """

    opened: Opened
    question: str
    task: str
    owner: str
    times: int
    warmup: int
    workloads: list[dict[str, t.Any]]
    peer: dict[str, t.Any] | None
    booted: guests_.Booted
    options: dict[str, t.Any]
    baseline: document.Json | None
    journal: journals.Journal
    connect: t.Callable[[], t.Any]
    progress: runs.Progress
    warn: runs.Progress
    protocol: protocols.Protocol = protocols.DEFAULT

    @functools.cached_property
    def assignments(self) -> tuple[assignment.Assignment, ...]:
        """The workloads with complete arguments."""
        return assignment.assign(self.workloads, self.protocol)

    def neighbours(
        self, given: dict[str, t.Any] | None
    ) -> neighbours_.Neighbours | None:
        """Return the neighbours that a task asks for, None for none.

        :param given: the argument of the scenario
        :raises GuestError: where a guest is absent
        """
        found = neighbours_.of_argument(given)
        if found and self.booted.absent:
            raise errors.GuestError(
                f"neighbours: {', '.join(self.booted.absent)} did not come, "
                "and guests and neighbours would change parts; run the task "
                "again"
            )
        return found

    def ready(
        self,
        shapes: collections.abc.Sequence[matching.Shape] = (),
        *,
        act: Act | None = None,
        idle_guests: idle.IdleState = "running",
        findings: collections.abc.Iterable[finding.Finding] = (),
        neighbours: neighbours_.Neighbours | None = None,
    ) -> attempt.Ready:
        """Prepare guests for measuring, and take their fingerprints.

        :param shapes: in which they are compared with the baseline
        :param act: returns the question's own actions
        :param idle_guests: what guests do while they take no part
        :param findings: what is known of the guests before
        :param neighbours: the guests that are not measured
        """
        bare_metal, metrics = None, None
        if self.baseline is not None and shapes:
            bare_metal, metrics = reference.reference(
                self.baseline, self.assignments, shapes
            )
        connection = self.connect()
        session = self.session((neighbours.work,) if neighbours else ())
        rebooting: list[actions.Action] = []
        if self.protocol.reboot != "never":
            rebooting.append(
                guest_reboot.GuestReboot(
                    when=self.protocol.reboot,
                    idle_guests=idle_guests,
                    connection=connection,
                    session=session,
                    guests=self.booted.guests,
                    config=self.options,
                    progress=self.progress,
                )
            )
        found = comparability.of_guests(
            session, self.booted.guests, self.baseline, shapes
        )
        return attempt.Ready(
            session=session,
            setting=setting.of_guests(
                self.booted,
                self.assignments,
                session,
                reference=bare_metal,
                metrics=metrics,
                findings=(*findings, *found),
                neighbours=len(neighbours.names) if neighbours else 0,
            ),
            actions=(
                *rebooting,
                *(act(connection, session) if act else ()),
                *([_load(neighbours, session)] if neighbours else ()),
                actions.Watch(
                    connection,
                    self.booted.guests,
                    session,
                    self.options["ssh_timeout"],
                    self.progress,
                ),
            ),
        )

    def session(
        self, beside: tuple[assignment.Assignment, ...] = ()
    ) -> sessions.Session:
        """Return a session with the guests.

        :param beside: workloads that are prepared, and that others run
        :raises MachineError: naming the machine that cannot be made ready
        :raises WorkloadError: when a workload cannot be prepared
        :raises BundleError: when tools cannot be supplied as asked
        """
        from rally_vmperf.execution.stations import reach

        arrived = self.opened.arrived(self.owner, self.booted)
        return sessions.open_session(
            self.assignments,
            arrived.stations,
            reach.peer_station(self.peer) if self.peer else None,
            supply=requirements.supply_of(self.options),
            progress=self.progress,
            runner=arrived.runner,
            beside=beside,
        )

    def common(self, **options: t.Any) -> dict[str, t.Any]:
        """Return the arguments that the runs of all questions share.

        :param options: of the question, for the record
        """
        return {
            "question": self.question,
            "task": self.task,
            "workload": self.owner,
            "times": self.times,
            "warmup": self.warmup,
            "journal": self.journal,
            "progress": self.progress,
            "warn": self.warn,
            "options": {**options, **self.protocol.options()},
        }


def _load(
    neighbours: neighbours_.Neighbours, session: sessions.Session
) -> actions.Neighbours:
    """Return the action that has neighbours work beside the others."""
    load = neighbours_.Load(
        work=neighbours.work,
        measured=session.assignments,
        stations=[x for x in session.stations if x.name in neighbours.names],
        others=len(session.stations) - len(neighbours.names),
        peer=session.peer,
    )
    return actions.Neighbours(load, session.runner)
