"""Reboot bare metal between repetitions.

Only where its user says so, and never the machine that this program runs on.
"""

import asyncio
import collections.abc
import contextlib
import dataclasses
import pathlib
import time
import typing as t

from rally_vmperf.execution import session as sessions
from rally_vmperf.execution.stations import arrival
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.machines import shape as shapes
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions

#: Holds a machine to its shape once more.
HoldAgain = t.Callable[[], collections.abc.Awaitable[shapes.Hold]]

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
#: Seconds in which a server has gone through its firmware and booted.
TIMEOUT = 1800.0
_POLL = 5.0


async def boot_id(machine: base.Machine) -> str:
    """Return the identifier of a machine's boot.

    :raises MachineError: when it does not tell
    """
    done = await machine.run(["cat", _BOOT_ID])
    if done.exit_status or not done.stdout.strip():
        raise base.MachineError(
            f"{machine.name}: {_BOOT_ID} cannot be read, so nobody would know "
            "whether it was rebooted; leave the reboot out"
        )
    return done.stdout.strip()


async def check(machine: base.Machine) -> None:
    """Refuse to reboot this computer, or as a user without the right.

    A container on this machine has its boot identifier too.

    :raises MachineError: saying so
    """
    own = pathlib.Path(_BOOT_ID).read_text("utf-8").strip()
    if machine.shares_clock or await boot_id(machine) == own:
        raise base.MachineError(
            f"{machine.name} is the machine that this program runs on, which "
            "is not rebooted; use --reboot never, or record from another one"
        )
    await root.as_root(machine)


@dataclasses.dataclass(kw_only=True)
class HostReboot(actions.Action):
    """Reboots bare metal, and holds it to its shape again.

    :param hold: holds the machine anew, and returns the copies' prefixes
    """

    machine: base.Machine
    session: sessions.Session
    hold: HoldAgain
    progress: collections.abc.Callable[[str], None]
    name = "reboot"
    _latest: int | None = None

    def before(self, current: conditions.Current) -> actions.Effect:
        """Reboot between two repetitions."""
        latest, self._latest = self._latest, current.repetition
        if latest is None:
            return actions.Effect()
        begun = time.monotonic()
        self.progress(f"reboot {self.machine.name}")
        try:
            self.session.runner.run(self._reboot())
        except base.MachineError as error:
            return actions.Effect(
                trouble=dict.fromkeys(current.machines, str(error))
            )
        seconds = time.monotonic() - begun
        self.progress(f"{self.machine.name} has booted after {seconds:.0f} s")
        return actions.Effect()

    async def _reboot(self) -> None:
        before = await boot_id(self.machine)
        elevated = await root.as_root(self.machine)
        with contextlib.suppress(base.Unreachable):
            await elevated.run(scripts.argv("reboot.sh"))
        await self.machine.close()
        deadline = time.monotonic() + TIMEOUT
        while await self._boot_id() in (before, None):
            if time.monotonic() > deadline:
                raise base.MachineError(
                    f"{self.machine.name} was to reboot and has not booted "
                    f"again within {TIMEOUT:g} s; see its console"
                )
            await asyncio.sleep(_POLL)
        await arrival.settle(self.machine, TIMEOUT)
        self.session.forget(one.name for one in self.session.stations)
        held = await self.hold()
        for place, prefix in zip(
            self.session.stations, held.prefixes, strict=True
        ):
            place.prefix = prefix

    async def _boot_id(self) -> str | None:
        try:
            return await boot_id(self.machine)
        except base.MachineError:
            await self.machine.close()
            return None
