# SPDX-License-Identifier: Apache-2.0
"""A run with an event, and with one condition for each of its phases."""

import dataclasses
import statistics
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import arrival
from rally_vmperf.execution.stations import event_monitor
from rally_vmperf.execution.stations import reach
from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import series
from rally_vmperf.questions.event import phase_figures
from rally_vmperf.questions.event import question
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from rally_vmperf.runs import event_types
from rally_vmperf.runs import loads
from rally_vmperf.runs import run_request
from rally_vmperf.runs import runs


def create_run(
    request: run_request.RunRequest, arguments: question.Arguments
) -> runs.Run:
    """Return a run with the phases before, during and after an event.

    It happens to the first guest in the middle of the phase during. If the
    server of the guest is in the status ERROR afterwards, all guests are
    booted again before the next repetition.

    :param arguments: The arguments of the task.
    """
    happening = event_types.parse(arguments.event)
    return request.create_run(
        (
            conditions.PlannedCondition(axes={phases.AXIS: phase})
            for phase in phases.PHASES
        ),
        options={
            "event": happening.plain(),
            "deadline": arguments.deadline,
            "phase_seconds": arguments.phase_seconds,
        },
        open=lambda: _open_session(
            request,
            event=happening,
            subject=request.booted.guests[0].name,
            request_after=arguments.phase_seconds / 2,
            deadline=arguments.deadline,
        ),
    )


def _open_session(
    request: run_request.RunRequest, **options: t.Any
) -> attempt.ReadySession:
    """Return a session whose watch over guests causes an event.

    :param options: The options of the event.
    :raises GuestError: If an administrator is required, and there is none.
    """
    admin = request.connect_admin()
    happening: event_types.EventType = options["event"]
    if admin is None and happening.needs_admin:
        raise errors.GuestError(
            f"only an administrator requests {happening.title}; add an admin "
            "to the environment"
        )
    request = request.boot_group(None)
    ready = request.prepare_session()
    guests = list(request.booted.guests)

    def create_prober(guest: models.Guest) -> t.Any:
        """Return a connection of its own to a guest."""
        way = reach.create_route(guest.jump, guest.namespace)
        return reach.connect(guest, request.booted.client_key, way)

    return dataclasses.replace(
        ready,
        actions=tuple(
            _replace_watch(
                action,
                guests,
                admin=admin,
                create_prober=create_prober,
                **options,
            )
            for action in ready.actions
        ),
    )


def _replace_watch(
    action: actions.Action, guests: list[models.Guest], **options: t.Any
) -> actions.Action:
    """Return the watch over guests as an event, and others prepared for it.

    :param guests: The guests, whose hosts the event updates.
    :param options: The options of the event.
    """
    if isinstance(action, actions.HostWatch):
        action.guests = guests
    if isinstance(action, loads.ControlAction):
        action.load.further_seconds = options["deadline"]
    if not isinstance(action, actions.GuestWatch):
        return action
    return GuestEvent(
        connection=action.connection,
        guests=guests,
        session=action.session,
        timeout=action.timeout,
        progress=action.progress,
        **options,
    )


@dataclasses.dataclass(kw_only=True)
class GuestEvent(actions.GuestWatch):
    """An event in the phase ``during``, and the watch over guests.

    The watch accepts this event and no other. The guests are a list, whose
    hosts are updated.

    :param admin: The connection of an administrator; None if there is none.
    :param event: The event.
    :param subject: The name of the guest to which it happens.
    :param create_prober: A function that returns a connection of its own to a
        guest that stops.
    :param request_after: The seconds after the start of the phase.
    :param deadline: The seconds after which the event is aborted.
    """

    guests: list[models.Guest]
    admin: t.Any
    event: event_types.EventType
    subject: str
    create_prober: t.Callable[[models.Guest], t.Any]
    request_after: float
    deadline: float
    name = "event"
    is_evaluated = True

    def __post_init__(self) -> None:
        self._phase = ""
        self._home = ""
        self._record: phases.EventRecord | None = None
        self._monitor: event_monitor.Monitor | None = None
        self._before: phase_figures.Lines = {}
        self._is_changed = False

    @property
    def moment(self) -> float | None:  # type: ignore[override]
        """The seconds after which the event is requested."""
        return self.request_after if self._phase == "during" else None

    @property
    def guest(self) -> models.Guest:
        """The guest to which the event happens."""
        return next(
            guest for guest in self.guests if guest.name == self.subject
        )

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Note the hosts, or start to watch the clock and the network."""
        self._phase = str(current.condition.axes[phases.AXIS])
        if self._phase == "before":
            self._before = {}
            self._record = None
            undone = self._undo()
            return undone if undone.errors else self._note_hosts(undone)
        if self._phase == "during":
            return self._start_monitor()
        return actions.ActionResult()

    def _start_monitor(self) -> actions.ActionResult:
        """Start to watch the clock and the network."""
        station = next(
            station
            for station in self.session.stations
            if station.name == self.subject
        )
        monitor = self._monitor = event_monitor.Monitor(
            station,
            self.guest.address,
            self.session.peer,
            prober=self.create_prober(self.guest)
            if self.event.stops_guest
            else None,
            patience=self.deadline + self.timeout,
        )
        if reason := self.session.runner.run(monitor.begin()):
            return actions.ActionResult(errors={self.subject: reason})
        if self.event.stops_guest:
            station.wait_for_return = monitor.wait_for_return
        return actions.ActionResult()

    def _undo(self) -> actions.ActionResult:
        """Undo an earlier event, and wait until the guest answers."""
        if not (self._is_changed and self.event.is_undone):
            return actions.ActionResult()
        name = self.subject
        self.progress(f"Undoing {self.event.title} of {name}")
        self.session.close_connections([name])
        self.session.forget([name])
        try:
            self.event.undo(self._create_occasion())
        except errors.GuestError as error:
            return actions.ActionResult(
                errors={name: str(error)}, is_unusable=True
            )
        self._is_changed = False
        (arrived,) = self.session.runner.run(
            arrival.wait_all(
                [self.guest],
                self.session.stations,
                self.timeout,
                self.progress,
            )
        )
        return actions.ActionResult(
            errors={name: arrived.error} if arrived.error else {},
            started=frozenset({name}),
        )

    def _create_occasion(self) -> event_types.Occasion:
        """Return the guest and the means to cause an event."""
        return event_types.Occasion(
            guest=self.guest,
            home=self._home,
            connection=self.connection,
            admin=self.admin,
            deadline=self.deadline,
        )

    def _note_hosts(
        self, result: actions.ActionResult
    ) -> actions.ActionResult:
        """Note where guests are; a move between repetitions is accepted.

        :param result: The result so far.
        """
        names = [guest.server_name for guest in self.guests]
        try:
            servers = cloud.list_servers(self.connection, names)
        except cloud.CLOUD_ERRORS as error:
            reason = f"Nova does not list the guests: {cloud.one_line(error)}"
            return actions.ActionResult(errors={self.subject: reason})
        for place, guest in enumerate(self.guests):
            if server := servers.get(guest.id):
                self.guests[place] = dataclasses.replace(
                    guest, host_id=server.host_id
                )
                self.updated[guest.id] = server.updated_at
        return result

    def during(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Cause the event in the phase ``during``; return findings."""
        if self._phase != "during":
            return actions.ActionResult()
        guest = self.guest
        # A program moves the guest by requests of its own.
        has_other_requests = (
            self.event.may_move_guest and not self.event.is_requested
        )
        known = self._list_requests(guest) if has_other_requests else set()
        self.progress(f"Event for {guest.name}: {self.event.title}")
        happened = self._record = self.event.happen(self._create_occasion())
        self._home = self._home or happened.source
        if happened.request:
            self.requested.add(happened.request)
        if has_other_requests:
            self.requested |= self._list_requests(guest) - known
        self.progress(
            f"Event for {guest.name}: {self.event.title} is "
            f"{happened.outcome} after {happened.seconds:.1f} s"
            f"{': ' if happened.detail else ''}{happened.detail}"
        )
        if happened.outcome == "completed":
            self._is_changed = True
            self._move(guest, happened)
            return actions.ActionResult()
        if self._monitor is not None:
            self.session.runner.get_loop().call_soon_threadsafe(
                self._monitor.give_up
            )
        found = finding.Finding(
            "event_not_completed",
            guest.name,
            f"{self.event.title} of {guest.name} is {happened.outcome}: "
            f"{happened.detail}",
        )
        return actions.ActionResult(
            findings=(found,), is_unusable=happened.outcome == "server_error"
        )

    def _list_requests(self, guest: models.Guest) -> set[str]:
        """Return the requests in Nova that concern a guest."""
        from rally_vmperf.guests.booting import placement

        return {
            str(action.get("request_id"))
            for action in placement.list_actions(self.connection, guest.id)
        }

    def _move(self, guest: models.Guest, happened: phases.EventRecord) -> None:
        """Note the new host of the guest, if it is the one of the event."""
        if not self.event.may_move_guest:
            return
        try:
            shown = self.connection.compute.get_server(guest.id)
            host = self._create_occasion().find_host()
        except (errors.GuestError, *cloud.CLOUD_ERRORS):
            return
        if host == happened.target:
            self.guests[self.guests.index(guest)] = dataclasses.replace(
                guest, host=host or None, host_id=shown.host_id
            )

    def evaluate(
        self, current: conditions.CurrentCondition, result: measured.Measured
    ) -> actions.ActionResult:
        """Store the rates of the phase; return the figures of the event."""
        monitor = self._stop_monitor()
        lines = phase_figures.list_lines(result, _find_offsets(monitor))
        if result.control is not None:
            lines[result.control.key] = result.control
        happened = self._record if self._phase == "during" else None
        result.phase = phases.Phase(
            lines=tuple(
                dataclasses.replace(
                    line,
                    points=series.shorten(line.points, phases.MAX_POINTS),
                )
                for line in lines.values()
            ),
            event=happened,
        )
        if self._phase == "before":
            self._before = lines
        if (
            monitor is None
            or happened is None
            or happened.outcome != "completed"
        ):
            return actions.ActionResult()
        observations = []
        found = phase_figures.compute_figures(
            happened, monitor, self._before, lines
        )
        for metric, figure in found.items():
            if isinstance(figure, str):
                result.miss(metric.name, self.subject, figure)
            else:
                observations.append(
                    figures.observe(metric, self.subject, figure)
                )
        others, missing = phase_figures.observe_others(
            happened, self._before, lines, self._control_name
        )
        observations += others
        for metric, name, reason in missing:
            result.miss(metric.name, name, reason)
        return actions.ActionResult(
            observations=tuple(observations),
            explained=self._explain(monitor, found[figures.DOWNTIME]),
            started=frozenset({self.subject} if monitor.stop else ()),
        )

    @property
    def _control_name(self) -> str:
        """The name of the control machine; empty without one."""
        control = self.session.control
        return control.station.name if control else ""

    def _explain(
        self,
        monitor: event_monitor.Monitor,
        stop: figures.Approximation | str,
    ) -> frozenset[tuple[str, str]]:
        """Return the findings that the event explains."""
        if isinstance(stop, str):
            return frozenset()
        kinds = ["clock_not_correctable"]
        if monitor.stop is not None:
            kinds += ["guest_rebooted", "clock_wrong"]
        else:
            least = max(0.0, stop.value - stop.error)
            bounds = (least, stop.value + stop.error)
            if self.session.is_clock_explained(self.subject, bounds):
                kinds.append("clock_wrong")
        return frozenset((kind, self.subject) for kind in kinds)

    def after(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Stop to watch the clock; return findings on the hosts of guests."""
        self._stop_monitor()
        return super().during(current)

    def _stop_monitor(self) -> event_monitor.Monitor | None:
        """Stop the monitor, and return it; None if there is none."""
        monitor, self._monitor = self._monitor, None
        if monitor is not None:
            monitor.guest.wait_for_return = None
            self.session.runner.run(monitor.end())
        return monitor


def _find_offsets(
    monitor: event_monitor.Monitor | None,
) -> dict[str, float]:
    """Return the offset of the guest's clock when its workload began."""
    if monitor is None:
        return {}
    since = monitor.stop.answered if monitor.stop else 0.0
    readings = [
        reading.offset for reading in monitor.readings if reading.at >= since
    ]
    if not readings:
        return {}
    return {monitor.guest.name: statistics.median(readings[:9])}
