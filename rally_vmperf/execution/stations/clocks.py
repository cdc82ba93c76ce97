"""The clocks of stations that measure together, from first to last."""

import collections.abc
import dataclasses
import time

from rally_vmperf.execution.stations import station as stations_
from rally_vmperf.machines import base
from rally_vmperf.machines import clock
from rally_vmperf.measurement import finding

#: What may be wrong with a clock: seconds, and part of the shortest run.
LIMIT = 0.5
SHARE = 0.1


@dataclasses.dataclass
class Clocks:
    """Offsets of the stations' clocks; each machine is asked once.

    Between the first reading and the last a clock is taken to drift evenly.

    :param refused: why a station's clock could not be read, by its name
    """

    refused: dict[str, base.MachineError] = dataclasses.field(
        default_factory=dict
    )
    _first: dict[str, clock.Reading] = dataclasses.field(default_factory=dict)
    _last: dict[str, clock.Reading] = dataclasses.field(default_factory=dict)
    _from: float = 0.0
    _until: float = 0.0

    async def begin(
        self, stations: collections.abc.Sequence[stations_.Station]
    ) -> None:
        """Read the clocks; a machine without one cannot begin with others.

        Commands of a single station need no clock.
        """
        if len(stations) > 1:
            self._first, self.refused = await _read(stations)
            self._from = time.time()

    async def end(
        self, stations: collections.abc.Sequence[stations_.Station]
    ) -> None:
        """Read the clocks again; a lost machine keeps its first reading."""
        if len(stations) > 1:
            self._last, _ = await _read(stations)
            self._until = time.time()

    def offset(self, name: str) -> float:
        """Return the seconds that a station's clock was ahead at first."""
        return self._first[name].offset

    def at(self, name: str, moment: float) -> clock.Reading | None:
        """Return how a station's clock stood when it showed a moment."""
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
        """Return which clocks are not known well enough.

        :param shortest: seconds of a station's shortest run, by its name
        """
        found = []
        for name, seconds in shortest.items():
            first = self._first.get(name)
            last = self._last.get(name, first)
            if first is None or last is None:
                continue
            error = max(first.error, last.error)
            drift = last.offset - first.offset
            allowed = min(LIMIT, SHARE * seconds)
            if max(error, abs(drift)) > allowed:
                found.append(
                    finding.Finding(
                        kind="clock_not_correctable",
                        subject=name,
                        detail=f"the clock of {name} is known to "
                        f"{error * 1000:.1f} ms and moved by "
                        f"{drift * 1000:+.1f} ms; with runs of {seconds:.1f} "
                        f"s no more than {allowed * 1000:.1f} ms will do",
                    )
                )
        return found


async def _read(
    stations: collections.abc.Sequence[stations_.Station],
) -> tuple[dict[str, clock.Reading], dict[str, base.MachineError]]:
    """Return readings and refusals by the names of the stations.

    Copies on one machine share its clock, and have no error among them.
    """
    machines = {id(station.machine): station.machine for station in stations}
    answers = dict(
        zip(machines, await clock.read_all(machines.values()), strict=True)
    )
    told = {}
    refused = {}
    for station in stations:
        answer = answers[id(station.machine)]
        if isinstance(answer, base.MachineError):
            refused[station.name] = answer
        elif len(machines) == 1:
            told[station.name] = dataclasses.replace(answer, error=0.0)
        else:
            told[station.name] = answer
    return told, refused
