"""The live migration of a guest during a phase, and its figures."""

import collections.abc
import dataclasses
import statistics
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import migration_monitor
from rally_vmperf.guests import cloud
from rally_vmperf.guests import models
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.migration import dips
from rally_vmperf.measurement.migration import downtime
from rally_vmperf.measurement.migration import estimates
from rally_vmperf.measurement.migration import figures
from rally_vmperf.measurement.migration import packets
from rally_vmperf.measurement.migration import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions

#: Figures by metric; a text is the reason why one is missing.
_Figures = dict[sample.Metric, estimates.Estimate | str]
#: The figures of the rate of the migrated guest.
_OF_RATE = (figures.DIP, figures.DIP_DURATION, figures.RECOVERY_TIME)


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
        self._before: dict[str, phases.Line] = {}

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
        lines = _list_lines(result, offsets)
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
        found = _compute_figures(event, monitor, self._before, lines)
        for metric, figure in found.items():
            if isinstance(figure, str):
                result.miss(metric.name, self.migrated, figure)
            else:
                observations.append(
                    figures.observe(metric, self.migrated, figure)
                )
        observations += _observe_others(event, self._before, lines)
        return actions.ActionResult(
            observations=tuple(observations),
            explained=self._explain_clock(found[figures.DOWNTIME]),
        )

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


def _list_lines(
    result: measured.Measured, offsets: collections.abc.Mapping[str, float]
) -> dict[str, phases.Line]:
    """Return the rate of each machine over time, by its name.

    :param offsets: The offsets of clocks that the workloads did not need.
    """
    runs: dict[str, command_result.CommandRun] = {
        run.machine: run for run in result.runs if not run.result.exit_status
    }
    lines: dict[str, phases.Line] = {}
    for machine, reading in result.readings:
        is_rate = (
            isinstance(reading, sample.Series)
            and reading.metric.better == "higher"
        )
        if not is_rate or machine in lines or machine not in runs:
            continue
        points = phases.without_short_end(
            t.cast(sample.Series, reading).points
        )
        run = runs[machine]
        offset = run.clock_offset
        if offset is None or machine in offsets:
            offset = offsets.get(machine, 0.0)
        lines[machine] = phases.Line(
            machine=machine,
            metric=reading.metric,
            begun=run.result.ended - offset - points[-1][0],
            points=points,
        )
    return lines


def _compute_figures(
    event: phases.Event,
    monitor: migration_monitor.Monitor,
    before: collections.abc.Mapping[str, phases.Line],
    during: collections.abc.Mapping[str, phases.Line],
) -> _Figures:
    """Return the figures of the migrated guest, or why they are missing."""
    found: _Figures = {
        figures.DURATION: estimates.Estimate(value=event.seconds, error=1.0)
    }
    line = during.get(event.guest)
    if line and line.begun + line.points[-1][0] < event.ended:
        late = "the workload ended before the migration; use a longer phase"
        missing = [figures.DOWNTIME, *_OF_RATE]
        if monitor.peer is not None:
            missing.append(figures.PACKET_GAP)
        return found | dict.fromkeys(missing, late)
    try:
        found[figures.DOWNTIME] = downtime.estimate_downtime(
            [
                reading
                for reading in monitor.readings
                if event.requested - 1 <= reading.at <= event.ended + 1
            ]
        )
    except ValueError as error:
        found[figures.DOWNTIME] = monitor.reasons.get("clock", str(error))
    if monitor.peer is not None:
        try:
            found[figures.PACKET_GAP] = packets.estimate_gap(
                monitor.replies,
                event.requested,
                event.ended,
                migration_monitor.PING_INTERVAL,
            )
        except ValueError as error:
            found[figures.PACKET_GAP] = monitor.reasons.get("ping", str(error))
    return found | _compute_dip(event, before, during)


def _compute_dip(
    event: phases.Event,
    before: collections.abc.Mapping[str, phases.Line],
    during: collections.abc.Mapping[str, phases.Line],
) -> _Figures:
    """Return the figures of the rate, or the reason why they are missing."""
    line = during.get(event.guest)
    if line is None:
        return dict.fromkeys(_OF_RATE, "the workload reported no rate")
    try:
        usual = _find_usual_rate(event, before, line)
        disruption = dips.estimate_disruption(
            usual, line.points, event.requested - line.begun
        )
    except ValueError as error:
        return dict.fromkeys(_OF_RATE, str(error))
    recovery: estimates.Estimate | str = disruption.recovery or (
        "the rate was not within 5 % of the usual one at the end of the phase"
    )
    return dict(
        zip(
            _OF_RATE,
            (disruption.dip, disruption.duration, recovery),
            strict=True,
        )
    )


def _find_usual_rate(
    event: phases.Event,
    before: collections.abc.Mapping[str, phases.Line],
    during: phases.Line,
) -> dips.UsualRate:
    """Return the rate of a machine before the migration.

    :raises ValueError: If there are too few intervals.
    """
    earlier = before.get(during.machine)
    rates = phases.rates_until(during, event.requested)
    if earlier is not None:
        rates = [rate for _, rate in earlier.points] + rates
    return dips.compute_usual_rate(rates)


def _observe_others(
    event: phases.Event,
    before: collections.abc.Mapping[str, phases.Line],
    during: collections.abc.Mapping[str, phases.Line],
) -> list[sample.Observation]:
    """Return the losses of the other guests while the migration ran."""
    losses: dict[str, estimates.Estimate] = {}
    for machine, line in during.items():
        if machine == event.guest:
            continue
        rates = phases.rates_between(line, event.requested, event.ended)
        try:
            usual = _find_usual_rate(event, before, line)
            losses[machine] = dips.estimate_loss(usual, rates)
        except ValueError:
            continue
    # A record has one error of a metric.
    error = max((loss.error for loss in losses.values()), default=0.0)
    return [
        figures.observe(
            figures.OTHERS_LOSS,
            machine,
            dataclasses.replace(loss, error=error),
        )
        for machine, loss in losses.items()
    ]
