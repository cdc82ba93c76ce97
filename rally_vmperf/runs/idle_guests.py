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
    from rally_vmperf.guests import power


@dataclasses.dataclass(kw_only=True)
class IdleGuests(actions.Action):
    """Has Nova pause or stop them, and wakes those that take part again.

    :param kind: what guests do while they take no part
    :param connection: to the cloud, with the guests' own credential
    :param config: options of the guests, with their times
    :param unheard: guests that were woken and have not answered since
    """

    kind: idle.Others
    connection: t.Any
    session: sessions.Session
    guests: collections.abc.Sequence[guests_.Guest]
    config: collections.abc.Mapping[str, t.Any]
    progress: t.Callable[[str], None]
    unheard: set[str] = dataclasses.field(default_factory=set)
    name = "idle guests"

    def before(self, current: conditions.Current) -> actions.Effect:
        """Have the participants active and the others as asked for.

        Lost guests are left alone.
        """
        if self.kind == "idle":
            return actions.Effect()
        from rally_vmperf.guests import power

        by_name = {guest.name: guest for guest in self.guests}
        switching = power.Switching(
            connection=self.connection,
            guests=by_name,
            wanted=idle.wanted(
                by_name, current.machines, current.lost, self.kind
            ),
            others=self.kind,
            progress=self.progress,
        )
        switching.run(self.config["boot_timeout"], self._hang_up)
        return self._wait(switching, current.machines)

    def _hang_up(self, verbs: dict[str, idle.Verb]) -> None:
        """Close connections, for a guest at rest keeps none.

        A guest that is started boots anew, which is then no surprise.
        """
        self.progress(
            ", ".join(f"{verb} {name}" for name, verb in verbs.items())
        )
        self.session.hang_up(verbs)
        started = [name for name, verb in verbs.items() if verb == "start"]
        self.session.forget(started)
        self.unheard.update(started)
        self.unheard.update(n for n, v in verbs.items() if v == "unpause")

    def _wait(
        self, switched: "power.Switching", participants: conditions.Names
    ) -> actions.Effect:
        """Wait until all who were woken answer, as after their boot."""
        from rally_vmperf.execution import arrival

        trouble = {**switched.refused, **switched.lost}
        lost = set(switched.lost)
        found = []
        woken = [
            guest
            for guest in self.guests
            if guest.name in self.unheard
            and guest.name in participants
            and guest.name not in trouble
        ]
        timeout = self.config["ssh_timeout"]
        stations = {one.name: one for one in self.session.places}
        arrivals = self.session.runner.run(
            arrival.wait_all(
                woken,
                [stations[guest.name] for guest in woken],
                timeout,
                self.progress,
            )
        )
        for guest, arrived in zip(woken, arrivals, strict=True):
            name = guest.name
            if not arrived.at_jump:
                self.unheard.discard(name)
            if arrived.trouble:
                trouble[name] = (
                    f"guest {name} was woken and does not answer SSH: "
                    f"{arrived.trouble}"
                )
                if not arrived.at_jump:
                    lost.add(name)
            if arrived.busy:
                found.append(
                    finding.Finding(
                        kind="still_booting",
                        subject=name,
                        seen=f"{arrived.busy} was still at work in {name} "
                        f"{timeout:g} s after it was woken",
                    )
                )
        return actions.Effect(
            trouble=trouble,
            lost=frozenset(lost),
            started=frozenset(switched.started),
            findings=tuple(found),
        )
