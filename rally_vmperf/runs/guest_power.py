"""Guests that take no part in a condition: idle, paused or stopped."""

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
    """Has Nova pause, resume, stop and start guests.

    :param connection: to the cloud, with the guests' own credential
    :param config: options of the guests, with their times
    :param unheard: guests that were resumed and have not answered since
    """

    connection: t.Any
    session: sessions.Session
    guests: collections.abc.Sequence[guests_.Guest]
    config: collections.abc.Mapping[str, t.Any]
    progress: t.Callable[[str], None]
    unheard: set[str] = dataclasses.field(default_factory=set)

    def _switch(
        self, wanted: collections.abc.Mapping[str, str], way: idle.IdleState
    ) -> "power.Switching":
        """Bring each guest to its status, by pausing or by stopping."""
        from rally_vmperf.guests.booting import power

        switching = power.Switching(
            connection=self.connection,
            guests={guest.name: guest for guest in self.guests},
            wanted=wanted,
            idle_guests=way,
            progress=self.progress,
        )
        switching.run(self.config["boot_timeout"], self._close_connections)
        return switching

    def _close_connections(self, verbs: dict[str, idle.Verb]) -> None:
        """Close connections to guests that are paused or stopped.

        A guest that is started boots anew, which is then no surprise.
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
    ) -> actions.Effect:
        """Wait until all resumed guests answer, as after a boot."""
        from rally_vmperf.execution.stations import arrival

        trouble = {**switched.refused, **switched.lost}
        lost = set(switched.lost)
        found = []
        resumed = [
            guest
            for guest in self.guests
            if guest.name in self.unheard
            and guest.name in participants
            and guest.name not in trouble
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
            if arrived.trouble:
                trouble[name] = (
                    f"guest {name} was resumed and does not answer SSH: "
                    f"{arrived.trouble}"
                )
                if not arrived.at_jump:
                    lost.add(name)
            if arrived.busy:
                found.append(
                    finding.Finding(
                        kind="still_booting",
                        subject=name,
                        detail=f"{arrived.busy} was still at work in {name} "
                        f"{timeout:g} s after it was resumed",
                    )
                )
        return actions.Effect(
            trouble=trouble,
            lost=frozenset(lost),
            started=frozenset(switched.started),
            findings=tuple(found),
        )


@dataclasses.dataclass(kw_only=True)
class IdleGuests(PoweredGuests):
    """Has Nova pause or stop idle guests, and resume the next participants.

    :param kind: what guests do while they take no part
    """

    kind: idle.IdleState
    name = "idle guests"

    def before(self, current: conditions.Current) -> actions.Effect:
        """Have those at work active and the others as asked for.

        Lost guests are left alone.
        """
        if self.kind == "running":
            return actions.Effect()
        wanted = idle.wanted(
            [guest.name for guest in self.guests],
            current.working,
            current.lost,
            self.kind,
        )
        switched = self._switch(wanted, self.kind)
        return self._wait(switched, current.working)
