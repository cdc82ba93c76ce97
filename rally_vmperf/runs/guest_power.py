# SPDX-License-Identifier: Apache-2.0
"""The power state of guests: idle guests, and reboots."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import protocols
from rally_vmperf.execution import sessions
from rally_vmperf.guests import idle
from rally_vmperf.guests import models
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions

if t.TYPE_CHECKING:
    from rally_vmperf.guests.booting import power


@dataclasses.dataclass(kw_only=True)
class BootTimes(actions.Action):
    """The report of boots in the next counted condition of each guest.

    :param warmup: The number of leading repetitions that are not counted.
    :param latest: The latest boot of each guest, unless it is reported.
    """

    warmup: int
    latest: dict[str, models.Guest]
    name = "boot times"

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Return the boots of the participants as observations."""
        if current.repetition <= self.warmup:
            return actions.ActionResult()
        boots = [
            self.latest.pop(name)
            for name in sorted(self.latest.keys() & set(current.machines))
        ]
        return actions.ActionResult(
            observations=tuple(
                observation
                for guest in boots
                for observation in guest_metrics.list_boot_times(
                    guest.name, guest.boot_seconds, guest.ssh_seconds
                )
            )
        )


@dataclasses.dataclass(kw_only=True)
class PoweredGuests(actions.Action):
    """An action for which Nova pauses, resumes, stops and starts guests.

    :param connection: The connection to the cloud, with the credential of the
        guests.
    :param config: The options of the guests, with their timeouts.
    :param boots: The boots that are not reported yet.
    :param unanswered: The names of resumed guests that have not answered yet.
    """

    connection: t.Any
    session: sessions.Session
    guests: collections.abc.Sequence[models.Guest]
    config: collections.abc.Mapping[str, t.Any]
    progress: t.Callable[[str], None]
    boots: BootTimes
    unanswered: set[str] = dataclasses.field(default_factory=set)

    def _switch(
        self,
        requested: collections.abc.Mapping[str, str],
        idle_state: idle.IdleState,
    ) -> "power.StatusChange":
        """Change each guest to its requested status; return the change.

        :param requested: Guest -> status in Nova.
        :param idle_state: The state of idle guests, which selects the
            requests.
        """
        from rally_vmperf.guests.booting import power

        switching = power.StatusChange(
            connection=self.connection,
            guests={guest.name: guest for guest in self.guests},
            target_statuses=requested,
            idle_guests=idle_state,
            progress=self.progress,
        )
        switching.run(self.config["boot_timeout"], self._close_connections)
        return switching

    def _close_connections(
        self, power_actions: dict[str, idle.PowerAction]
    ) -> None:
        """Close connections to guests that are paused or stopped.

        The last counters of resumed guests are discarded: a started guest
        boots again, and the clock of a paused guest stood still.
        """
        self.progress(
            ", ".join(
                f"{action} {name}" for name, action in power_actions.items()
            )
        )
        self.session.close_connections(power_actions)
        resumed = [
            name
            for name, action in power_actions.items()
            if action in ("start", "unpause")
        ]
        self.session.forget(resumed)
        self.unanswered.update(resumed)

    def _wait(
        self, switched: "power.StatusChange", participants: conditions.Names
    ) -> actions.ActionResult:
        """Wait until resumed guests answer SSH; return errors and losses."""
        from rally_vmperf.execution.stations import arrival
        from rally_vmperf.guests.booting import obstacles

        errors = {**switched.refused, **switched.lost}
        lost = set(switched.lost)
        findings = []
        resumed = [
            guest
            for guest in self.guests
            if guest.name in self.unanswered
            and guest.name in participants
            and guest.name not in errors
        ]
        timeout = self.config["ssh_timeout"]
        arrivals = self.session.runner.run(
            arrival.wait_all(
                resumed,
                self.session.stations,
                timeout,
                self.progress,
                obstacles.Obstacles(self.connection, resumed).find,
            )
        )
        for guest, arrived in zip(resumed, arrivals, strict=True):
            name = guest.name
            if not arrived.at_jump:
                self.unanswered.discard(name)
            if arrived.error:
                errors[name] = (
                    f"guest {name} was resumed and does not answer SSH: "
                    f"{arrived.error}"
                )
                if not arrived.at_jump:
                    lost.add(name)
            if arrived.busy:
                findings.append(
                    finding.Finding(
                        kind="still_booting",
                        subject=name,
                        detail=f"{arrived.busy} was still at work in {name} "
                        f"{timeout:g} s after it was resumed",
                    )
                )
            if name in switched.started and arrived.answered_at is not None:
                self.boots.latest[name] = switched.started[name].answered(
                    arrived.answered_at
                )
        return actions.ActionResult(
            errors=errors,
            lost=frozenset(lost),
            started=frozenset(switched.started),
            findings=tuple(findings),
        )


@dataclasses.dataclass(kw_only=True)
class IdleGuests(PoweredGuests):
    """An action that pauses or stops idle guests and resumes participants.

    :param kind: The state of guests that do not participate.
    """

    kind: idle.IdleState
    name = "idle guests"

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Activate participants, set idle guests' state; return errors.

        Lost guests are not changed.
        """
        if self.kind == "running":
            return actions.ActionResult()
        requested = idle.target_statuses(
            [guest.name for guest in self.guests],
            current.working,
            current.lost,
            self.kind,
        )
        switched = self._switch(requested, self.kind)
        return self._wait(switched, current.working)


@dataclasses.dataclass(kw_only=True)
class GuestReboot(PoweredGuests):
    """The reboot of guests in a new QEMU process, as the task requests it.

    Guests that have just booted are not rebooted.

    :param when: The time of the reboot in the run.
    :param idle_guests: The state of guests that do not participate.
    """

    when: protocols.Reboot
    idle_guests: idle.IdleState = "running"
    name = "reboot"
    _latest: int | None = None

    def __post_init__(self) -> None:
        self.between_workloads = self.when == "between_workloads"

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Reboot all guests if the task requests it; return errors."""
        latest, self._latest = self._latest, current.repetition
        if latest is None or (
            latest == current.repetition and not self.between_workloads
        ):
            return actions.ActionResult()
        names = [guest.name for guest in self.guests]
        return self._reboot(current, set(names) - set(current.lost))

    def between(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Reboot the participants between workloads; return errors."""
        return self._reboot(current, set(current.machines) - set(current.lost))

    def _reboot(
        self, current: conditions.CurrentCondition, names: set[str]
    ) -> actions.ActionResult:
        """Stop guests, start the next ones, wait; return errors and losses."""
        errors: dict[str, str] = {}
        lost: set[str] = set()
        steps: list[tuple[idle.IdleState, str]] = [
            ("stopped", idle.STATUS["stopped"])
        ]
        if self.idle_guests == "paused":
            # Nova cannot stop a paused guest.
            steps.insert(0, ("paused", idle.AWAKE))
        for idle_state, status in steps:
            requested = dict.fromkeys(sorted(names - errors.keys()), status)
            status_change = self._switch(requested, idle_state)
            errors |= {**status_change.refused, **status_change.lost}
            lost |= status_change.lost.keys()
        if self.idle_guests == "stopped":
            names &= set(current.machines)
        running = names - errors.keys()
        status_change = self._switch(
            dict.fromkeys(running, idle.AWAKE), "stopped"
        )
        result = self._wait(status_change, running)
        errors |= result.errors
        return dataclasses.replace(
            result,
            errors={
                name: error
                for name, error in errors.items()
                if name in current.machines
            },
            lost=result.lost | lost,
        )
