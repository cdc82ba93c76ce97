# SPDX-License-Identifier: Apache-2.0
"""Pause, stop, resume and start several guests at a time."""

import collections.abc
import dataclasses
import time
import typing as t

from rally_vmperf.guests import cloud
from rally_vmperf.guests import errors
from rally_vmperf.guests import idle
from rally_vmperf.guests import models
from rally_vmperf.guests import waiting

#: The power action of each guest.
Actions = dict[str, idle.PowerAction]
#: Seconds after which a request without effect is repeated, which is harmless.
_RETRY_SECONDS = 30


@dataclasses.dataclass(kw_only=True)
class StatusChange:
    """A change of the status of guests, polled until all guests have it.

    Requests are sent only for guests with another status.

    :param target_statuses: The required status of each guest.
    :param actions: The requested action of each guest.
    :param started: The guests with a new QEMU process, with their new boot id.
    :param refused: The reasons of the guests without the required status;
        another attempt may succeed.
    :param lost: The reasons of the guests that no attempt can switch.
    """

    connection: cloud.Connection
    guests: collections.abc.Mapping[str, models.Guest]
    target_statuses: collections.abc.Mapping[str, str]
    idle_guests: idle.IdleState
    progress: waiting.Progress
    actions: Actions = dataclasses.field(default_factory=dict)
    started: dict[str, models.Guest] = dataclasses.field(default_factory=dict)
    refused: dict[str, str] = dataclasses.field(default_factory=dict)
    lost: dict[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pending = dict(self.target_statuses)
        self._requested_at: dict[str, float] = {}
        self._states: dict[str, str] = {}
        self._delays: dict[str, str] = {}

    def run(
        self,
        timeout: float,
        before: t.Callable[[Actions], None] = lambda _: None,
    ) -> None:
        """Request the status and wait until the guests have it.

        :param timeout: The timeout in seconds.
        :param before: The function that is called with the actions before
            they are requested.
        """
        started = time.monotonic()
        last_error = ""
        names = [
            self.guests[name].server_name for name in self.target_statuses
        ]
        while True:
            try:
                servers = cloud.list_servers(self.connection, names)
            except cloud.CLOUD_ERRORS as error:
                last_error = f"list servers: {cloud.one_line(error)}"
                if not cloud.is_temporary(error):
                    self.refused |= dict.fromkeys(self._pending, last_error)
                    return
            else:
                last_error = ""
                actions = self._list_actions(servers)
                if actions:
                    before(actions)
                    self._request_actions(actions)
            if not self._pending:
                return
            if time.monotonic() - started > timeout:
                self._record_timeout(timeout, last_error)
                return
            time.sleep(1)

    def _list_actions(
        self, servers: collections.abc.Mapping[str, t.Any]
    ) -> Actions:
        """Drop ready and lost guests; return the others' actions by name."""
        actions: Actions = {}
        now = time.monotonic()
        for guest, target_status in list(self._pending.items()):
            server = servers.get(self.guests[guest].id)
            status = server.status if server else "gone"
            self._states[guest] = status
            if server and server.task_state:
                continue
            if status == target_status:
                self._record_ready(guest, status)
                continue
            action = idle.choose_action(
                status, target_status, self.idle_guests
            )
            requested_at = self._requested_at.get(guest, -_RETRY_SECONDS)
            if action is None:
                self._record_loss(guest, server, status, target_status)
            elif requested_at + _RETRY_SECONDS <= now:
                actions[guest] = action
        return actions

    def _request_actions(self, actions: Actions) -> None:
        """Request power actions from Nova; note refused and started guests."""
        for guest, action in actions.items():
            request = getattr(self.connection.compute, f"{action}_server")
            self.actions[guest] = action
            self._requested_at[guest] = time.monotonic()
            try:
                with cloud.convert_errors(f"{action} guest {guest}"):
                    request(self.guests[guest].id)
            except errors.GuestError as error:
                self._delays[guest] = str(error)
                if not cloud.is_temporary(t.cast(Exception, error.__cause__)):
                    self.refused[guest] = str(error)
                    del self._pending[guest]
                    continue
            if action == "start":
                # Even if the response was lost: the guest may run.
                self.started[guest] = self.guests[guest].started(
                    self._requested_at[guest]
                )

    def _record_ready(self, guest: str, status: str) -> None:
        """Drop a guest that has its status, and report how long it took."""
        del self._pending[guest]
        if guest in self._requested_at:
            seconds = time.monotonic() - self._requested_at[guest]
            self.progress(f"guest {guest}: {status} after {seconds:.0f} s")
            if guest in self.started:
                self.started[guest] = dataclasses.replace(
                    self.started[guest], boot_seconds=round(seconds, 1)
                )

    def _record_loss(
        self, guest: str, server: t.Any, status: str, target_status: str
    ) -> None:
        """Drop a guest that cannot get its status, and note the reason."""
        del self._pending[guest]
        reason = f"guest {guest} is {status}, must be {target_status}"
        if status == "ERROR":
            reason += f": {waiting.describe_fault(self.connection, server)}"
        self.lost[guest] = reason

    def _record_timeout(self, timeout: float, last_error: str) -> None:
        """Note each guest without its status as refused, with the reason."""
        for guest, target_status in self._pending.items():
            reason = last_error or self._delays.get(guest, "")
            status = self._states.get(guest, "unseen")
            self.refused[guest] = (
                f"guest {guest} is {status} and not {target_status} after "
                f"{timeout:.0f} s"
                + (f" (last error: {reason})" if reason else "")
                + "; raise boot_timeout or check the log of nova-compute"
            )
