# SPDX-License-Identifier: Apache-2.0
"""Caches that are dropped before a command, as root."""

import collections.abc

from rally_vmperf.execution.stations import concurrency
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import root
from rally_vmperf.machines import scripts

#: Seconds in which a machine must have written all dirty pages.
TIMEOUT = 600.0

_Places = collections.abc.Iterable[roles.Station]


class Caches:
    """The caches of machines; copies on one machine share its caches."""

    def __init__(self) -> None:
        self._elevated: dict[base.Machine, base.Machine] = {}

    async def check(self, stations: _Places) -> None:
        """Drop the caches once; raise if this fails on a machine.

        :raises MachineError: If a machine does not permit it; with its name.
        """
        for error in (await self.drop(stations)).values():
            raise error

    async def drop(self, stations: _Places) -> dict[str, base.MachineError]:
        """Drop the caches on all machines; return errors by station.

        :returns: The errors by the name of the station.
        """
        stations = list(stations)
        machines = dict.fromkeys(station.machine for station in stations)
        answers = await concurrency.wait_for_all(map(self._drop, machines))
        errors = dict(zip(machines, answers, strict=True))
        return {
            station.name: error
            for station in stations
            if (error := errors[station.machine]) is not None
        }

    async def _drop(self, machine: base.Machine) -> base.MachineError | None:
        """Drop the caches of a machine as root; return the error, or None."""
        try:
            if machine not in self._elevated:
                self._elevated[machine] = await root.as_root(machine)
            done = await self._elevated[machine].run(
                scripts.argv("drop_caches.sh"), timeout=TIMEOUT
            )
        except root.NotRoot as error:
            return root.NotRoot(f"drop_caches: {error}")
        except base.MachineError as error:
            return error
        if not done.exit_status:
            return None
        return base.MachineError(
            f"{machine.name}: caches cannot be dropped: "
            f"{base.last_line(done.stderr)}; remove drop_caches"
        )
