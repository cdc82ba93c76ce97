"""Pause, stop, resume and start guests, many at a time."""

import collections.abc
import dataclasses
import time
import typing as t

from openstack import connection as sdk

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import guest as booted
from rally_vmperf.guests import idle
from rally_vmperf.guests import waiting

#: Seconds after which a request is repeated that had no effect; no server is
#: harmed by a second one.
_ASK_AGAIN = 30


@dataclasses.dataclass(kw_only=True)
class Switching:
    """Requests a status of guests, and polls Nova until all of them have it.

    Only those are asked that lack it.

    :param wanted: guest -> status
    :param verbs: guest -> what was asked for
    :param started: those in which QEMU runs anew, with their new boot id
    :param refused: guest -> why it is not as wanted; another try may help
    :param lost: guest -> why it will not be again
    """

    connection: sdk.Connection
    guests: collections.abc.Mapping[str, booted.Guest]
    wanted: collections.abc.Mapping[str, str]
    idle_guests: idle.IdleState
    progress: waiting.Progress
    verbs: dict[str, idle.Verb] = dataclasses.field(default_factory=dict)
    started: dict[str, booted.Guest] = dataclasses.field(default_factory=dict)
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    lost: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._open = dict(self.wanted)
        self._asked: dict[str, float] = {}
        self._states: dict[str, str] = {}
        self._delays: dict[str, str] = {}

    def run(
        self,
        timeout: float,
        before: t.Callable[[dict[str, idle.Verb]], None] = lambda _: None,
    ) -> None:
        """Request the status and wait until the guests have it.

        :param timeout: seconds
        :param before: called with the actions before they are requested
        """
        begun = time.monotonic()
        trouble = ""
        names = cloud.beginning(
            self.guests[name].server_name for name in self.wanted
        )
        while True:
            try:
                listed = self.connection.compute.servers(name=names)
                found = {one.id: one for one in listed}
            except cloud.REFUSALS as error:
                trouble = f"list servers: {cloud.one_line(error)}"
                if not cloud.passing(error):
                    self.refused |= dict.fromkeys(self._open, trouble)
                    return
            else:
                trouble = ""
                verbs = self._look(found)
                if verbs:
                    before(verbs)
                    self._ask(verbs)
            if not self._open:
                return
            if time.monotonic() - begun > timeout:
                self._late(timeout, trouble)
                return
            time.sleep(1)

    def _look(
        self, found: collections.abc.Mapping[str, t.Any]
    ) -> dict[str, idle.Verb]:
        """Drop guests that are ready or lost; return the other actions."""
        verbs: dict[str, idle.Verb] = {}
        now = time.monotonic()
        for guest, wish in list(self._open.items()):
            server = found.get(self.guests[guest].id)
            state = server.status if server else "gone"
            self._states[guest] = state
            if server and server.task_state:
                continue
            if state == wish:
                self._settle(guest, state)
                continue
            verb = idle.verb(state, wish, self.idle_guests)
            if verb is None:
                self._lose(guest, server, state, wish)
            elif self._asked.get(guest, -_ASK_AGAIN) + _ASK_AGAIN <= now:
                verbs[guest] = verb
        return verbs

    def _ask(self, verbs: collections.abc.Mapping[str, idle.Verb]) -> None:
        for guest, verb in verbs.items():
            request = getattr(self.connection.compute, f"{verb}_server")
            self.verbs[guest] = verb
            self._asked[guest] = time.monotonic()
            try:
                with cloud.asking(f"{verb} guest {guest}"):
                    request(self.guests[guest].id)
            except errors.GuestError as error:
                self._delays[guest] = str(error)
                if not cloud.passing(t.cast(Exception, error.__cause__)):
                    self.refused[guest] = str(error)
                    del self._open[guest]
                    continue
            if verb == "start":
                # Also when the answer was lost: the guest may run.
                new = self.guests[guest].started()
                self.started[guest] = new

    def _settle(self, guest: str, state: str) -> None:
        del self._open[guest]
        if guest in self._asked:
            seconds = time.monotonic() - self._asked[guest]
            self.progress(f"guest {guest}: {state} after {seconds:.0f} s")

    def _lose(self, guest: str, server: t.Any, state: str, wish: str) -> None:
        del self._open[guest]
        why = f"guest {guest} is {state} and should be {wish}"
        if state == "ERROR":
            why += f": {waiting.fault(self.connection, server)}"
        self.lost[guest] = why

    def _late(self, timeout: float, trouble: str) -> None:
        for guest, wish in self._open.items():
            why = trouble or self._delays.get(guest, "")
            state = self._states.get(guest, "unseen")
            self.refused[guest] = (
                f"guest {guest} is {state} and not {wish} after "
                f"{timeout:.0f} s"
                + (f" (last trouble: {why})" if why else "")
                + "; raise boot_timeout or have nova-compute's log read"
            )
