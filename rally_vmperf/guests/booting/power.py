"""Pause, stop, resume and start several guests at a time."""

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

#: Seconds after which a request without effect is repeated, which is harmless.
_ASK_AGAIN = 30


@dataclasses.dataclass(kw_only=True)
class Switching:
    """A change of the status of guests, polled until all guests have it.

    Requests are sent only for guests with another status.

    :param target_statuses: The required status of each guest.
    :param verbs: The requested action of each guest.
    :param started: The guests with a new QEMU process, with their new boot id.
    :param refused: The reasons of the guests without the required status;
        another attempt may succeed.
    :param lost: The reasons of the guests that no attempt can switch.
    """

    connection: sdk.Connection
    guests: collections.abc.Mapping[str, booted.Guest]
    target_statuses: collections.abc.Mapping[str, str]
    idle_guests: idle.IdleState
    progress: waiting.Progress
    verbs: dict[str, idle.Verb] = dataclasses.field(default_factory=dict)
    started: dict[str, booted.Guest] = dataclasses.field(default_factory=dict)
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    lost: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._open = dict(self.target_statuses)
        self._asked: dict[str, float] = {}
        self._states: dict[str, str] = {}
        self._delays: dict[str, str] = {}

    def run(
        self,
        timeout: float,
        before: t.Callable[[dict[str, idle.Verb]], None] = lambda _: None,
    ) -> None:
        """Request the status and wait until the guests have it.

        :param timeout: The timeout in seconds.
        :param before: The function that is called with the actions before
            they are requested.
        """
        begun = time.monotonic()
        last_error = ""
        names = cloud.beginning(
            self.guests[name].server_name for name in self.target_statuses
        )
        while True:
            try:
                listed = self.connection.compute.servers(name=names)
                servers = {server.id: server for server in listed}
            except cloud.REFUSALS as error:
                last_error = f"list servers: {cloud.one_line(error)}"
                if not cloud.passing(error):
                    self.refused |= dict.fromkeys(self._open, last_error)
                    return
            else:
                last_error = ""
                verbs = self._look(servers)
                if verbs:
                    before(verbs)
                    self._ask(verbs)
            if not self._open:
                return
            if time.monotonic() - begun > timeout:
                self._late(timeout, last_error)
                return
            time.sleep(1)

    def _look(
        self, servers: collections.abc.Mapping[str, t.Any]
    ) -> dict[str, idle.Verb]:
        """Drop guests that are ready or lost; return the other actions."""
        verbs: dict[str, idle.Verb] = {}
        now = time.monotonic()
        for guest, target_status in list(self._open.items()):
            server = servers.get(self.guests[guest].id)
            status = server.status if server else "gone"
            self._states[guest] = status
            if server and server.task_state:
                continue
            if status == target_status:
                self._settle(guest, status)
                continue
            verb = idle.verb(status, target_status, self.idle_guests)
            if verb is None:
                self._lose(guest, server, status, target_status)
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
                # Even if the response was lost: the guest may run.
                new = self.guests[guest].started()
                self.started[guest] = new

    def _settle(self, guest: str, status: str) -> None:
        del self._open[guest]
        if guest in self._asked:
            seconds = time.monotonic() - self._asked[guest]
            self.progress(f"guest {guest}: {status} after {seconds:.0f} s")

    def _lose(
        self, guest: str, server: t.Any, status: str, target_status: str
    ) -> None:
        del self._open[guest]
        reason = f"guest {guest} is {status}, must be {target_status}"
        if status == "ERROR":
            reason += f": {waiting.fault(self.connection, server)}"
        self.lost[guest] = reason

    def _late(self, timeout: float, last_error: str) -> None:
        for guest, target_status in self._open.items():
            reason = last_error or self._delays.get(guest, "")
            status = self._states.get(guest, "unseen")
            self.refused[guest] = (
                f"guest {guest} is {status} and not {target_status} after "
                f"{timeout:.0f} s"
                + (f" (last error: {reason})" if reason else "")
                + "; raise boot_timeout or check the log of nova-compute"
            )
