# SPDX-License-Identifier: Apache-2.0
"""A command of the operator, on the controller or on another machine."""

import asyncio
import dataclasses
import shlex
import typing as t

from rally_vmperf import sanitize
from rally_vmperf.execution.stations import reach
from rally_vmperf.guests.booting import server_action
from rally_vmperf.machines import base
from rally_vmperf.machines import local
from rally_vmperf.runs import event_types

#: The name of this machine in messages.
_CONTROLLER = "controller"
#: The maximum characters of the command in the report.
_SHOWN = 200


@dataclasses.dataclass(frozen=True, kw_only=True)
class Command(event_types.EventType):
    """A program of the operator, such as a backup or the loss of a host.

    It is not executed by a shell. An exit status other than 0 is a failed
    event.

    :param argv: The program with its arguments, a list of texts.
    :param machine: The machine that executes it over SSH: {address, port,
        user, key_file, known_hosts, name, jump}. Default: the machine that
        runs Rally.
    :param guest: Whether the guest survives, or restarts.
    :param host: Whether the guest is on the same host afterwards, or
        may_change.
    """

    name = "command"
    title = "a command"
    is_requested = False

    argv: t.Annotated[
        list[str],
        {"minItems": 1, "items": {"type": "string"}},
    ]
    machine: t.Annotated[
        dict[str, t.Any] | None,
        {"required": ["address"]},
    ] = None
    guest: t.Literal["survives", "restarts"] = "survives"
    host: t.Literal["same", "may_change"] = "same"

    @property
    def stops_guest(self) -> bool:
        """Whether the task says that the guest restarts."""
        return self.guest == "restarts"

    @property
    def may_move_guest(self) -> bool:
        """Whether the task says that the host may change."""
        return self.host == "may_change"

    def cause(
        self, occasion: event_types.Occasion
    ) -> server_action.ActionOutcome:
        """Execute the command, and wait for its end."""
        try:
            done = asyncio.run(self._execute(occasion.deadline))
        except base.TimedOut:
            return server_action.ActionOutcome(
                outcome="aborted",
                detail=f"it was not finished after {occasion.deadline:g} s",
            )
        except base.MachineError as error:
            return server_action.ActionOutcome(
                outcome="failed", detail=str(error)
            )
        fields = {"exit_status": done.exit_status}
        if not done.exit_status:
            return server_action.ActionOutcome(fields=fields)
        return server_action.ActionOutcome(
            outcome="failed",
            detail=f"exit status {done.exit_status}: "
            f"{base.last_line(done.stderr) or 'no message'}",
            fields=fields,
        )

    async def _execute(self, seconds: float) -> base.Completed:
        """Return the output and the exit status of the command.

        :param seconds: The seconds after which it is ended.
        :raises MachineError: If the machine does not answer in time.
        """
        machine: base.Machine = local.Local(_CONTROLLER)
        if self.machine:
            machine = reach.peer_station(self.machine, "control").machine
        try:
            return await machine.run(self.argv, timeout=seconds)
        finally:
            await machine.close()

    def describe(self) -> list[str]:
        """Return lines on the event for the report."""
        where = (self.machine or {}).get("address", "the controller")
        return [
            sanitize.line(f"{shlex.join(self.argv)} on {where}", _SHOWN),
            f"the guest {self.guest}; its host "
            + ("may change" if self.may_move_guest else "is the same"),
        ]
