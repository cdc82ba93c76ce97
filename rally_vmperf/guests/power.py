"""Guests paused, stopped and woken again, all at once."""

import collections.abc
import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest as booted
from rally_vmperf.guests import resting
from rally_vmperf.guests import waiting

#: Seconds after which what passes by itself is asked for again; to ask twice
#: does a server no harm.
_ASK_AGAIN = 30


@dataclasses.dataclass(kw_only=True)
class Switched:
    """What became of guests that were to rest or to wake.

    :param verbs: guest -> what was asked for
    :param started: those in which QEMU runs anew, with their new boot id
    :param refused: guest -> why it is not as wanted; another try may help
    :param lost: guest -> why it will not be again
    """

    verbs: dict[str, resting.Verb] = dataclasses.field(default_factory=dict)
    started: dict[str, booted.Guest] = dataclasses.field(default_factory=dict)
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    lost: dict[str, str] = dataclasses.field(default_factory=dict)


def switch(
    connection: sdk.Connection,
    guests: collections.abc.Iterable[booted.Guest],
    wanted: collections.abc.Mapping[str, str],
    others: resting.Others,
    *,
    timeout: float,
    progress: waiting.Progress,
    before: t.Callable[[dict[str, resting.Verb]], None] = lambda verbs: None,
) -> Switched:
    """Give guests the wanted status; only those are asked that lack it.

    :param wanted: guest -> status
    :param timeout: seconds
    :param before: told who is to be switched, before anybody is
    """
    return _Switching(connection, guests, wanted, others, progress).run(
        timeout, before
    )


class _Switching:
    """Rounds of looking and asking, until all are as wanted."""

    def __init__(
        self,
        connection: sdk.Connection,
        guests: collections.abc.Iterable[booted.Guest],
        wanted: collections.abc.Mapping[str, str],
        others: resting.Others,
        progress: waiting.Progress,
    ) -> None:
        self._connection = connection
        self._guests = {one.name: one for one in guests}
        self._open = dict(wanted)
        self._others = others
        self._progress = progress
        self._asked: dict[str, float] = {}
        self._states: dict[str, str] = {}
        self._delays: dict[str, str] = {}
        self._switched = Switched()

    def run(
        self,
        timeout: float,
        before: t.Callable[[dict[str, resting.Verb]], None],
    ) -> Switched:
        """Ask and wait, so many seconds at most."""
        begun = time.monotonic()
        trouble = ""
        while True:
            try:
                found = {s.id: s for s in self._connection.compute.servers()}
            except cloud.REFUSALS as error:
                trouble = f"list servers: {cloud.one_line(error)}"
                if not cloud.passing(error):
                    return self._give_up(trouble)
            else:
                trouble = ""
                verbs = self._look(found)
                if verbs:
                    before(verbs)
                    self._ask(verbs)
            if not self._open:
                return self._switched
            if time.monotonic() - begun > timeout:
                return self._late(timeout, trouble)
            time.sleep(1)

    def _look(
        self, found: collections.abc.Mapping[str, t.Any]
    ) -> dict[str, resting.Verb]:
        """Drop who is as wanted or lost; return what to ask of the others."""
        verbs: dict[str, resting.Verb] = {}
        now = time.monotonic()
        for guest, wish in list(self._open.items()):
            server = found.get(self._guests[guest].id)
            state = server.status if server else "gone"
            self._states[guest] = state
            if server and server.task_state:
                continue
            if state == wish:
                self._settle(guest, state)
                continue
            verb = resting.verb(state, wish, self._others)
            if verb is None:
                self._lose(guest, server, state, wish)
            elif self._asked.get(guest, -_ASK_AGAIN) + _ASK_AGAIN <= now:
                verbs[guest] = verb
        return verbs

    def _ask(self, verbs: collections.abc.Mapping[str, resting.Verb]) -> None:
        for guest, verb in verbs.items():
            request = getattr(self._connection.compute, f"{verb}_server")
            self._switched.verbs[guest] = verb
            self._asked[guest] = time.monotonic()
            try:
                with cloud.asking(f"{verb} guest {guest}"):
                    request(self._guests[guest].id)
            except errors.GuestError as error:
                self._delays[guest] = str(error)
                if not cloud.passing(t.cast(Exception, error.__cause__)):
                    self._switched.refused[guest] = str(error)
                    del self._open[guest]
                    continue
            if verb == "start":
                # Also when its answer was lost: it may run for all we know.
                new = self._guests[guest].started()
                self._switched.started[guest] = new

    def _settle(self, guest: str, state: str) -> None:
        del self._open[guest]
        if guest in self._asked:
            seconds = time.monotonic() - self._asked[guest]
            self._progress(f"guest {guest}: {state} after {seconds:.0f} s")

    def _lose(self, guest: str, server: t.Any, state: str, wish: str) -> None:
        del self._open[guest]
        why = f"guest {guest} is {state}, it was to be {wish}"
        if state == "ERROR":
            why += f": {waiting.fault(self._connection, server)}"
        self._switched.lost[guest] = why

    def _late(self, timeout: float, trouble: str) -> Switched:
        for guest, wish in self._open.items():
            why = trouble or self._delays.get(guest, "")
            state = self._states.get(guest, "unseen")
            self._switched.refused[guest] = (
                f"guest {guest} is {state} and not {wish} after "
                f"{timeout:.0f} s"
                + (f" (last trouble: {why})" if why else "")
                + "; raise boot_timeout or have nova-compute's log read"
            )
        return self._switched

    def _give_up(self, trouble: str) -> Switched:
        for guest in self._open:
            self._switched.refused[guest] = trouble
        return self._switched
