"""What a process keeps open between the repetitions of a run."""

import collections.abc
import dataclasses
import functools
import typing as t

from rally_vmperf.baseline import document
from rally_vmperf.baseline import matching
from rally_vmperf.execution import assignment
from rally_vmperf.execution import session as sessions
from rally_vmperf.execution import supplying
from rally_vmperf.guests import guest as guests_
from rally_vmperf.measurement import finding
from rally_vmperf.records import journal as journals
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import comparability
from rally_vmperf.runs import reference
from rally_vmperf.runs import run as runs
from rally_vmperf.runs import setting

if t.TYPE_CHECKING:
    from rally_vmperf.execution import arrival


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
        from rally_vmperf.execution import arrival

        if owner not in self._arrived:
            self.keep(owner, arrival.Guests(booted.guests, booted.client_key))
        return self._arrived[owner]

    def run(self, owner: str, make: t.Callable[[], runs.Run]) -> runs.Run:
        """Return a run, made if it is the first time."""
        if owner not in self._runs:
            self._runs[owner] = make()
        return self._runs[owner]

    def close(self, owner: str) -> None:
        """Give up the connections of a run; harmless if there are none."""
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
    """What a front door asks of a run of any question.

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

    @functools.cached_property
    def assignments(self) -> tuple[assignment.Assignment, ...]:
        """The workloads with complete arguments."""
        return assignment.assign(self.workloads)

    def ready(
        self,
        shapes: collections.abc.Sequence[matching.Shape] = (),
        *,
        act: Act | None = None,
        findings: collections.abc.Iterable[finding.Finding] = (),
    ) -> attempt.Ready:
        """Make guests ready to be measured, and find out what they are.

        :param shapes: in which they are compared with the baseline
        :param act: returns the question's own actions
        :param findings: what is known of the guests before
        """
        bare_metal, metrics = None, None
        if self.baseline is not None and shapes:
            bare_metal, metrics = reference.reference(
                self.baseline, self.assignments, shapes
            )
        connection = self.connect()
        session = self.session()
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
            ),
            actions=(
                *(act(connection, session) if act else ()),
                actions.Watch(connection, self.booted.guests),
            ),
        )

    def session(self) -> sessions.Session:
        """Return a session with the guests.

        :raises MachineError: naming the machine that cannot be made ready
        :raises WorkloadError: when a workload cannot be prepared
        :raises ToolboxError: when tools cannot be supplied as asked
        """
        from rally_vmperf.execution import reach

        arrived = self.opened.arrived(self.owner, self.booted)
        return sessions.open_session(
            self.assignments,
            arrived.places,
            reach.peer_station(self.peer) if self.peer else None,
            supply=supplying.of_options(self.options),
            progress=self.progress,
            runner=arrived.runner,
        )

    def common(self) -> dict[str, t.Any]:
        """Return the arguments of a run that all questions give alike."""
        return {
            "question": self.question,
            "task": self.task,
            "workload": self.owner,
            "times": self.times,
            "warmup": self.warmup,
            "journal": self.journal,
            "progress": self.progress,
            "warn": self.warn,
        }
