# SPDX-License-Identifier: Apache-2.0
"""On what a run's wall time was spent."""

import collections.abc
import dataclasses
import re
import typing as t

Json = dict[str, t.Any]

_MEASURED = re.compile(r"^measured (\d+\.\d+) (\d+\.\d+)$")


@dataclasses.dataclass(frozen=True, kw_only=True)
class WallTime:
    """The parts of the time of a run, in seconds.

    :param wall: The time from the start of ``rally task start`` to its end.
    :param measuring: The time in which a guest ran the measured commands.
    :param span: The time from the last guest reached to the last output
        collected; None where every repetition has a guest of its own.
    """

    wall: float
    measuring: float
    span: float | None = None

    @property
    def share(self) -> float:
        """The part of the wall time in which a guest was measuring."""
        return self.measuring / self.wall

    @property
    def share_of_span(self) -> float | None:
        """The same of the span."""
        return self.measuring / self.span if self.span else None


def by_records(
    wall: float, runs: collections.abc.Iterable[Json], workload: Json
) -> WallTime:
    """Return the times in the records of a run by the package.

    :param wall: The wall time in seconds.
    :param runs: The commands that ran, from the files next to the journal.
    :param workload: The workload as Rally exports it.
    """
    measuring = sum(run["seconds"] for run in runs)
    reached = max(
        context["setup"]["finished_at"]
        for context in workload["contexts_results"]
        if context["plugin_name"].startswith("vmperf_guests")
    )
    collected = max(
        action["finished_at"]
        for iteration in workload["data"]
        for action in iteration["atomic_actions"]
        if action["name"] == "vmperf.measure"
    )
    return WallTime(wall=wall, measuring=measuring, span=collected - reached)


def by_outputs(wall: float, workload: Json) -> WallTime:
    """Return what a guest's script printed of itself.

    :param wall: seconds
    :raises ValueError: for an iteration that says nothing
    """
    measuring = 0.0
    for iteration in workload["data"]:
        marks = [
            match
            for output in iteration["output"]["complete"]
            for line in output["data"]
            if (match := _MEASURED.match(line))
        ]
        if not marks:
            raise ValueError(f"nothing measured: {iteration['error']}")
        measuring += sum(float(m[2]) - float(m[1]) for m in marks)
    return WallTime(wall=wall, measuring=measuring)
