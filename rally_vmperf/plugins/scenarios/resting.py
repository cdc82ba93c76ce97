"""Guests that take no part in a level, sent to rest and roused again."""

import collections.abc
import dataclasses
import typing as t

from rally.common import logging

from rally_vmperf.execution import session as sessions
from rally_vmperf.guests import guest as booted
from rally_vmperf.guests import resting
from rally_vmperf.measurement import finding
from rally_vmperf.plugins import harmless

if t.TYPE_CHECKING:
    from rally_vmperf.guests import power

LOG = logging.getLogger(__name__)

Names = collections.abc.Collection[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Formed:
    """What it took to form a level.

    :param trouble: guest -> why it does not do what it is to do
    :param lost: those of them that will not do it again
    """

    trouble: dict[str, str] = dataclasses.field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    findings: tuple[finding.Finding, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Others:
    """What guests do while they take no part, and who sees to it.

    :param connection: to the cloud, with the guests' own credential
    :param config: options of the guests, with their times
    :param unheard: guests that were woken and have not answered since
    """

    kind: resting.Others
    connection: t.Any
    session: sessions.Session
    guests: list[booted.Guest]
    config: collections.abc.Mapping[str, t.Any]
    unheard: set[str] = dataclasses.field(default_factory=set)

    def form(self, team: Names, dead: Names) -> Formed:
        """Have a team awake and the others at rest.

        :param dead: those who answer no more; they are left alone
        """
        if self.kind == "idle":
            return Formed()
        from rally_vmperf.guests import power

        switched = power.switch(
            self.connection,
            self.guests,
            resting.wanted(
                [guest.name for guest in self.guests], team, dead, self.kind
            ),
            self.kind,
            timeout=self.config["boot_timeout"],
            progress=LOG.info,
            before=self._part,
        )
        self.guests[:] = [
            switched.started.get(guest.name, guest) for guest in self.guests
        ]
        return self._rouse(switched, team)

    def _part(self, verbs: dict[str, resting.Verb]) -> None:
        """Hang up, for a guest at rest keeps no connection.

        A guest that is started boots anew, which is then no surprise.
        """
        LOG.info(", ".join(f"{verb} {name}" for name, verb in verbs.items()))
        self.session.hang_up(verbs)
        started = [name for name, verb in verbs.items() if verb == "start"]
        self.session.forget(started)
        self.unheard.update(started)
        self.unheard.update(n for n, v in verbs.items() if v == "unpause")

    def _rouse(self, switched: "power.Switched", team: Names) -> Formed:
        """Wait until all who were woken answer, as after their boot."""
        from rally_vmperf.execution import arrival

        trouble = {**switched.refused, **switched.lost}
        lost = set(switched.lost)
        found = []
        woken = [
            guest
            for guest in self.guests
            if guest.name in self.unheard
            and guest.name in team
            and guest.name not in trouble
        ]
        timeout = self.config["ssh_timeout"]
        places = {place.name: place for place in self.session.places}
        arrivals = self.session.runner.run(
            arrival.wait_all(
                woken,
                [places[guest.name] for guest in woken],
                timeout,
                LOG.info,
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
        return Formed(
            trouble={n: harmless.harmless(w) for n, w in trouble.items()},
            lost=frozenset(lost),
            findings=tuple(found),
        )


def of_context(
    kind: resting.Others, context: dict[str, t.Any], session: sessions.Session
) -> Others:
    """Return what guests of a Rally context do while they take no part."""
    from rally_vmperf.guests import cloud
    from rally_vmperf.guests import credentials

    plain = context["vmperf_guests"]
    credential = credentials.of_guests(context, plain["config"])
    return Others(
        kind=kind,
        connection=cloud.connect(credential),
        session=session,
        guests=[booted.from_plain(one) for one in plain["guests"]],
        config=plain["config"],
    )
