# SPDX-License-Identifier: Apache-2.0
"""The clocks of stations that measure together."""

import collections.abc
import dataclasses
import time

from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.measurement import finding

#: Maximum error of a clock: seconds, and share of the shortest run.
LIMIT = 0.5
SHARE = 0.1


class Clocks:
    """The offsets of the clocks of stations; each machine is read once.

    A clock is assumed to drift evenly between the first and the last reading.

    :ivar refused: The errors of clocks that could not be read, by station
        name.
    """

    def __init__(self) -> None:
        self.refused: dict[str, base.MachineError] = {}
        self._first: dict[str, clock.Reading] = {}
        self._last: dict[str, clock.Reading] = {}
        self._from = self._until = 0.0

    async def begin(
        self, stations: collections.abc.Sequence[roles.Station]
    ) -> None:
        """Read the clocks; a machine without a clock cannot be synchronised.

        Commands of a single station need no clock.
        """
        if len(stations) > 1:
            self._first, self.refused = await _read(stations)
            self._from = time.time()

    async def end(
        self, stations: collections.abc.Sequence[roles.Station]
    ) -> None:
        """Read the clocks again; a lost machine keeps its first reading."""
        if len(stations) > 1:
            self._last, _ = await _read(stations)
            self._until = time.time()

    def offset(self, name: str) -> float:
        """Return the first offset of a station's clock in seconds."""
        return self._first[name].offset

    def at(self, name: str, moment: float) -> clock.Reading | None:
        """Return a station's clock reading for a time, or None."""
        first = self._first.get(name)
        last = self._last.get(name)
        if first is None or last is None:
            return first
        passed = moment - first.offset - self._from
        share = min(max(passed / max(self._until - self._from, 1e-6), 0), 1)
        return clock.Reading(
            offset=first.offset + (last.offset - first.offset) * share,
            error=max(first.error, last.error),
        )

    def findings(
        self, shortest: collections.abc.Mapping[str, float]
    ) -> list[finding.Finding]:
        """Return findings on clocks whose error is too large.

        :param shortest: The duration of the shortest run of each station in
            seconds, by name.
        """
        findings = []
        for name, seconds in shortest.items():
            first = self._first.get(name)
            last = self._last.get(name, first)
            if first is None or last is None:
                continue
            error = max(first.error, last.error)
            drift = last.offset - first.offset
            allowed = min(LIMIT, SHARE * seconds)
            if max(error, abs(drift)) > allowed:
                findings.append(
                    finding.Finding(
                        kind="clock_not_correctable",
                        subject=name,
                        detail=f"the clock of {name} is known to "
                        f"{error * 1000:.1f} ms and moved by "
                        f"{drift * 1000:+.1f} ms; with runs of {seconds:.1f} "
                        f"s it must be <= {allowed * 1000:.1f} ms",
                    )
                )
        return findings


async def _read(
    stations: collections.abc.Sequence[roles.Station],
) -> tuple[dict[str, clock.Reading], dict[str, base.MachineError]]:
    """Return clock readings, and errors, each by the names of stations.

    Copies on one machine share its clock, so their relative error is 0.
    """
    machines = {id(station.machine): station.machine for station in stations}
    answers = dict(
        zip(machines, await clock.read_all(machines.values()), strict=True)
    )
    readings = {}
    refused = {}
    for station in stations:
        reading = answers[id(station.machine)]
        if isinstance(reading, base.MachineError):
            refused[station.name] = reading
        elif len(machines) == 1:
            readings[station.name] = dataclasses.replace(reading, error=0.0)
        else:
            readings[station.name] = reading
    return readings, refused
