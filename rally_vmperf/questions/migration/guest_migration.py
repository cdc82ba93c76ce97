"""The live migration of a guest during a phase, and its figures."""

import dataclasses
import statistics
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import migration_monitor
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.migration import estimates
from rally_vmperf.measurement.migration import figures
from rally_vmperf.measurement.migration import phases
from rally_vmperf.measurement.samples import series
from rally_vmperf.questions.migration import phase_figures
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions


@dataclasses.dataclass(kw_only=True)
class GuestMigration(actions.GuestWatch):
    """A live migration in the phase ``during``, and the watch over guests.

    The watch accepts this migration and no other. The guests are a list,
    whose hosts are updated.

    :param admin: The connection of an administrator.
    :param migrated: The name of the guest that is migrated.
    :param host: The target host; None if Nova chooses.
    :param block_migration: Whether local disks are copied; ``auto`` if Nova
        decides.
    :param request_after: The seconds after the start of the phase.
    :param deadline: The seconds after which the migration is aborted.
    """

    guests: list[models.Guest]
    admin: t.Any
    migrated: str
    host: str | None
    block_migration: bool | t.Literal["auto"]
    request_after: float
    deadline: float
    name = "migration"
    is_evaluated = True

    def __post_init__(self) -> None:
        self._phase = ""
        self._home = ""
        self._event: phases.Event | None = None
        self._monitor: migration_monitor.Monitor | None = None
        self._before: phase_figures.Lines = {}

    @property
    def moment(self) -> float | None:  # type: ignore[override]
        """The seconds after which the migration is requested."""
        return self.request_after if self._phase == "during" else None

    @property
    def guest(self) -> models.Guest:
        """The guest that is migrated."""
        return next(
            guest for guest in self.guests if guest.name == self.migrated
        )

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Note the hosts, or start to watch the clock and the network."""
        self._phase = str(current.condition.axes[phases.AXIS])
        if self._phase == "before":
            self._before = {}
            self._event = None
            return self._note_hosts()
        if self._phase == "during":
            station = next(
                station
                for station in self.session.stations
                if station.name == self.migrated
            )
            self._monitor = migration_monitor.Monitor(
                station, self.guest.address, self.session.peer
            )
            self.session.runner.run(self._monitor.begin())
        return actions.ActionResult()

    def _note_hosts(self) -> actions.ActionResult:
        """Note where guests are; a move between repetitions is accepted."""
        names = [guest.server_name for guest in self.guests]
        try:
            servers = cloud.list_servers(self.connection, names)
        except cloud.CLOUD_ERRORS as error:
            reason = f"Nova does not list the guests: {cloud.one_line(error)}"
            return actions.ActionResult(errors={self.migrated: reason})
        for place, guest in enumerate(self.guests):
            if server := servers.get(guest.id):
                self.guests[place] = dataclasses.replace(
                    guest, host_id=server.host_id
                )
                self.updated[guest.id] = server.updated_at
        return actions.ActionResult()

    def during(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Migrate the guest in the phase ``during``; return findings."""
        if self._phase != "during":
            return actions.ActionResult()
        from rally_vmperf.guests import errors
        from rally_vmperf.guests.booting import migration

        guest = self.guest
        try:
            source = migration.find_host(self.admin, guest.id)
        except errors.GuestError as error:
            return actions.ActionResult(errors={guest.name: str(error)})
        self._home = self._home or source
        target = self.host if source == self._home else self._home
        self.progress(
            f"Migrating {guest.name} from {source} to "
            f"{target or 'a host that Nova chooses'}"
        )
        event = migration.migrate(
            self.admin,
            guest.id,
            guest.name,
            migration.MigrationRequest(
                host=target,
                block_migration=self.block_migration,
                deadline=self.deadline,
            ),
        )
        self._event = event
        if event.request:
            self.requested.add(event.request)
        self.progress(
            f"Migration of {guest.name}: {event.outcome} after "
            f"{event.seconds:.1f} s"
            f"{': ' if event.detail else ''}{event.detail}"
        )
        if event.outcome == "completed":
            self._move(guest, event)
            return actions.ActionResult()
        found = finding.Finding(
            "migration_not_completed",
            guest.name,
            f"the migration of {guest.name} is {event.outcome}: "
            f"{event.detail}",
        )
        return actions.ActionResult(
            findings=(found,), is_unusable=event.outcome == "server_error"
        )

    def _move(self, guest: models.Guest, event: phases.Event) -> None:
        """Note the new host of the guest, if it is the one of the event."""
        try:
            server = self.admin.compute.get_server(guest.id)
            if server.compute_host != event.target:
                return
            shown = self.connection.compute.get_server(guest.id)
        except cloud.CLOUD_ERRORS:
            return
        self.guests[self.guests.index(guest)] = dataclasses.replace(
            guest, host=event.target, host_id=shown.host_id
        )

    def evaluate(
        self, current: conditions.CurrentCondition, result: measured.Measured
    ) -> actions.ActionResult:
        """Store the rates of the phase; return the figures of a migration."""
        monitor = self._stop_monitor()
        offsets = {}
        if monitor and monitor.readings:
            offsets[self.migrated] = statistics.median(
                reading.offset for reading in monitor.readings[:9]
            )
        lines = phase_figures.list_lines(result, offsets)
        if result.control is not None:
            lines[result.control.key] = result.control
        event = self._event if self._phase == "during" else None
        result.migration = phases.Phase(
            lines=tuple(
                dataclasses.replace(
                    line,
                    points=series.shorten(line.points, phases.MAX_POINTS),
                )
                for line in lines.values()
            ),
            event=event,
        )
        if self._phase == "before":
            self._before = lines
        if monitor is None or event is None or event.outcome != "completed":
            return actions.ActionResult()
        observations = []
        found = phase_figures.compute_figures(
            event, monitor, self._before, lines
        )
        for metric, figure in found.items():
            if isinstance(figure, str):
                result.miss(metric.name, self.migrated, figure)
            else:
                observations.append(
                    figures.observe(metric, self.migrated, figure)
                )
        others, missing = phase_figures.observe_others(
            event, self._before, lines, self._control_name
        )
        observations += others
        for name, reason in missing.items():
            result.miss(figures.OTHERS_LOSS.name, name, reason)
        return actions.ActionResult(
            observations=tuple(observations),
            explained=self._explain_clock(found[figures.DOWNTIME]),
        )

    @property
    def _control_name(self) -> str:
        """The name of the control machine; empty without one."""
        control = self.session.control
        return control.station.name if control else ""

    def _explain_clock(
        self, stop: estimates.Estimate | str
    ) -> frozenset[tuple[str, str]]:
        """Return the findings on the clock that the downtime explains."""
        if isinstance(stop, str):
            return frozenset()
        bounds = (max(0.0, stop.value - stop.error), stop.value + stop.error)
        kinds = ["clock_not_correctable"]
        if self.session.is_clock_explained(self.migrated, bounds):
            kinds.append("clock_wrong")
        return frozenset((kind, self.migrated) for kind in kinds)

    def after(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Stop to watch the clock; return findings on the hosts of guests."""
        self._stop_monitor()
        return super().during(current)

    def _stop_monitor(self) -> migration_monitor.Monitor | None:
        """Stop the monitor, and return it; None if there is none."""
        monitor, self._monitor = self._monitor, None
        if monitor is not None:
            self.session.runner.run(monitor.end())
        return monitor
