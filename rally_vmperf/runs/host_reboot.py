# SPDX-License-Identifier: Apache-2.0
"""The reboot of bare metal between repetitions.

It requires the consent of the user. The machine that runs this program is
never rebooted.
"""

import asyncio
import collections.abc
import contextlib
import dataclasses
import pathlib
import time
import typing as t

from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import arrival
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts
from rally_vmperf.machines import shapes
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions

#: A function that limits a machine to its shape again.
ReapplyLimits = t.Callable[
    [], collections.abc.Awaitable[shapes.ResourceLimits]
]

#: Seconds within which a server must have booted, firmware included.
TIMEOUT = 1800.0
_POLL = 5.0


async def check_permission(machine: base.Machine) -> None:
    """Reject a reboot of the local machine, or without root permission.

    A container on this machine has the same boot identifier.

    :raises MachineError: If the machine must not be rebooted.
    """
    own_boot_id = pathlib.Path(base.BOOT_ID).read_text("utf-8").strip()
    if machine.shares_clock or await machine.read_boot_id() == own_boot_id:
        raise base.MachineError(
            f"{machine.name} is the machine that runs this program, which "
            "cannot be rebooted; use --reboot never, or another controller"
        )
    await root.as_root(machine)


@dataclasses.dataclass
class HostReboot(actions.Action):
    """A reboot of bare metal, which is then limited to its shape again.

    :param reapply_limits: A function that limits the machine again, and
        returns the limits.
    """

    machine: base.Machine
    session: sessions.Session
    reapply_limits: ReapplyLimits
    progress: collections.abc.Callable[[str], None]
    name = "reboot"
    _latest: int | None = None

    def before(
        self, current: conditions.CurrentCondition
    ) -> actions.ActionResult:
        """Reboot before each repetition but the first; return errors."""
        latest, self._latest = self._latest, current.repetition
        if latest is None:
            return actions.ActionResult()
        started_at = time.monotonic()
        self.progress(f"reboot {self.machine.name}")
        try:
            self.session.runner.run(self._reboot())
        except base.MachineError as error:
            return actions.ActionResult(
                errors=dict.fromkeys(current.machines, str(error))
            )
        seconds = time.monotonic() - started_at
        self.progress(f"{self.machine.name} has booted after {seconds:.0f} s")
        return actions.ActionResult()

    async def _reboot(self) -> None:
        """Reboot the machine, wait for its boot, and limit it again."""
        before = await self.machine.read_boot_id()
        elevated = await root.as_root(self.machine)
        with contextlib.suppress(base.Unreachable):
            await elevated.run(scripts.argv("reboot.sh"))
        await self.machine.close()
        deadline = time.monotonic() + TIMEOUT
        while await self._poll_boot_id() in (before, None):
            if time.monotonic() > deadline:
                raise base.MachineError(
                    f"{self.machine.name} has not rebooted within "
                    f"{TIMEOUT:g} s; see its console"
                )
            await asyncio.sleep(_POLL)
        await arrival.wait_for_boot(self.machine, TIMEOUT)
        self.session.forget(station.name for station in self.session.stations)
        limits = await self.reapply_limits()
        for station, prefix in zip(
            self.session.stations, limits.prefixes, strict=True
        ):
            station.prefix = prefix

    async def _poll_boot_id(self) -> str | None:
        """Return the machine's boot id, or None if it does not answer."""
        try:
            return await self.machine.read_boot_id()
        except base.MachineError:
            await self.machine.close()
            return None
