# SPDX-License-Identifier: Apache-2.0
"""Run commands as root on a machine with another user."""

import collections.abc
import contextlib
import typing as t

from rally_vmperf.machines import base
from rally_vmperf.machines import streams

#: The words before a command of root.
SUDO = ("sudo", "-n", "--")


class NotRoot(base.MachineError):
    """A user of a machine who cannot become root."""


class Root(base.Machine):
    """A machine whose every command is run by ``sudo -n``."""

    def __init__(self, machine: base.Machine) -> None:
        super().__init__(machine.name)
        self.shares_clock = machine.shares_clock
        self._machine = machine

    async def run(
        self, argv: collections.abc.Sequence[str], **limits: t.Any
    ) -> base.Completed:
        """Run a command with sudo; return its output and exit status."""
        return await self._machine.run([*SUDO, *argv], **limits)

    def converse(
        self, argv: collections.abc.Sequence[str], **limits: t.Any
    ) -> contextlib.AbstractAsyncContextManager[streams.Conversation]:
        """Start a program with sudo; return a Conversation context."""
        return self._machine.converse([*SUDO, *argv], **limits)

    async def close(self) -> None:
        """Do nothing: the connection belongs to the other machine."""


async def as_root(machine: base.Machine) -> base.Machine:
    """Return the machine if its user is root, else a Root that uses sudo.

    :raises NotRoot: If sudo is not installed or requires a password.
    """
    if isinstance(machine, Root):
        return machine
    uid_command = await machine.run(["id", "-u"])
    if uid_command.stdout.strip() == "0":
        return machine
    elevated = Root(machine)
    sudo_check = await elevated.run(["true"])
    if sudo_check.exit_status:
        raise NotRoot(
            f"{machine.name}: cannot become root: "
            f"{base.last_line(sudo_check.stderr)}; log in as root, or allow "
            "the user to run sudo without a password"
        )
    return elevated
