"""The power state of guests that do not participate in a condition."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import guest as guests_
from rally_vmperf.guests import idle
from rally_vmperf.measurement import finding
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions

if t.TYPE_CHECKING:
    from rally_vmperf.guests.booting import power


@dataclasses.dataclass(kw_only=True)
class PoweredGuests(actions.Action):
    """An action for which Nova pauses, resumes, stops and starts guests.

    :param connection: The connection to the cloud, with the credential of the
        guests.
    :param config: The options of the guests, with their timeouts.
    :param unheard: The names of resumed guests that have not answered yet.
    """

    connection: t.Any
    session: sessions.Session
    guests: collections.abc.Sequence[guests_.Guest]
    config: collections.abc.Mapping[str, t.Any]
    progress: t.Callable[[str], None]
    unheard: set[str] = dataclasses.field(default_factory=set)

    def _switch(
        self, requested: collections.abc.Mapping[str, str], way: idle.IdleState
    ) -> "power.Switching":
        """Bring each guest to its status, by pausing or by stopping."""
        from rally_vmperf.guests.booting import power

        switching = power.Switching(
            connection=self.connection,
            guests={guest.name: guest for guest in self.guests},
            target_statuses=requested,
            idle_guests=way,
            progress=self.progress,
        )
        switching.run(self.config["boot_timeout"], self._close_connections)
        return switching

    def _close_connections(self, verbs: dict[str, idle.Verb]) -> None:
        """Close connections to guests that are paused or stopped.

        A started guest boots again, so its last counters are discarded.
        """
        self.progress(
            ", ".join(f"{verb} {name}" for name, verb in verbs.items())
        )
        self.session.close_connections(verbs)
        started = [name for name, verb in verbs.items() if verb == "start"]
        self.session.forget(started)
        self.unheard.update(started)
        self.unheard.update(n for n, v in verbs.items() if v == "unpause")

    def _wait(
        self, switched: "power.Switching", participants: conditions.Names
    ) -> actions.ActionResult:
        """Wait until all resumed guests answer, as after a boot."""
        from rally_vmperf.execution.stations import arrival

        errors = {**switched.refused, **switched.lost}
        lost = set(switched.lost)
        findings = []
        resumed = [
            guest
            for guest in self.guests
            if guest.name in self.unheard
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
            )
        )
        for guest, arrived in zip(resumed, arrivals, strict=True):
            name = guest.name
            if not arrived.at_jump:
                self.unheard.discard(name)
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

    def before(self, current: conditions.Current) -> actions.ActionResult:
        """Activate the participants, and set the state of idle guests.

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
