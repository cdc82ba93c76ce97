"""Which machines ran a command together, and how well."""

import collections.abc
import dataclasses

from rally_vmperf.execution import command as commands
from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import clocks as clocks_
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.density import overlap
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import limits


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mark:
    """Where in a result something begins."""

    runs: int = 0
    observations: int = 0

    @classmethod
    def of(cls, result: measured.Measured) -> "Mark":
        """Return where a result goes on from here."""
        return cls(
            runs=len(result.runs), observations=len(result.observations)
        )


@dataclasses.dataclass
class CommandLog:
    """Commands that several machines began together, in their order."""

    _commands: list[tuple[str, set[str], list[commands.Part]]] = (
        dataclasses.field(default_factory=list)
    )

    def note(
        self,
        title: str,
        metrics: collections.abc.Iterable[str],
        taken: collections.abc.Iterable[commands.Part],
    ) -> None:
        """Add a command; machines that did not finish it are left out.

        :param title: of the workload
        :param metrics: names of those that the command gave
        """
        self._commands.append(
            (
                title,
                set(metrics),
                [
                    one
                    for one in taken
                    if one.outcome is not None and not one.outcome.exit_status
                ],
            )
        )

    def settle(
        self,
        clocks: clocks_.Clocks,
        result: measured.Measured,
        mark: Mark,
    ) -> list[finding.Finding]:
        """Say how well machines ran together, by clocks corrected.

        Samples of commands that tell their course are cut to the time in
        which all were at work.

        :param mark: what follows it was taken by these clocks
        :returns: what was wrong with the starts and with the clocks
        """
        runs = slice(mark.runs, None)
        result.runs[runs] = [
            _corrected(one, clocks) for one in result.runs[runs]
        ]
        shortest: dict[str, float] = {}
        for one in result.runs[runs]:
            if not one.exit_status:
                known = shortest.get(one.machine, one.seconds)
                shortest[one.machine] = min(known, one.seconds)
        starts = []
        paces: _Paces = {}
        for title, metrics, taken in self._commands:
            if taken:
                spans = _spans(taken, clocks)
                command = taken[0].command
                start = overlap.start(
                    title,
                    command.name,
                    command.bound,
                    [span for _, span in spans],
                )
                starts.append((start, metrics))
                paces |= _paces(spans)
        result.starts += [start for start, _ in starts]
        own = result.observations[mark.observations :]
        del result.observations[mark.observations :]
        for seen in own:
            try:
                result.observations.append(_cut(seen, paces))
            except workloads.WorkloadError as error:
                result.miss(seen.sample.metric.name, seen.source, str(error))
        return clocks.findings(shortest) + overlap.findings(starts)


#: Station and metric -> its rate within the window by that of its whole run.
_Paces = dict[tuple[str, str], float]


def _spans(
    taken: collections.abc.Iterable[commands.Part], clocks: clocks_.Clocks
) -> list[tuple[commands.Part, overlap.Span]]:
    """Return when each machine worked; without a known clock, none."""
    return [
        (one, span)
        for one in taken
        if (span := _span(one, clocks)) is not None
    ]


def _paces(
    spans: collections.abc.Sequence[tuple[commands.Part, overlap.Span]],
) -> _Paces:
    """Return the paces of one command's metrics."""
    found: _Paces = {}
    window = overlap.window([span for _, span in spans])
    if window is None:
        return found
    for one, span in spans:
        if one.course is None or one.outcome is None:
            continue
        offset = one.outcome.started - span.started
        pace = one.course.pace(window[0] + offset, window[1] + offset)
        for metric in one.course.metrics:
            found[one.station.name, metric] = pace
    return found


def _cut(one: sample.Observation, paces: _Paces) -> sample.Observation:
    """Return what a machine did while all worked.

    :raises WorkloadError: for what no machine can have done
    """
    metric = one.sample.metric
    pace = paces.get((one.source, metric.name))
    if pace is None:
        return one
    value = limits.measured(metric, one.sample.value * pace)
    return dataclasses.replace(one, sample=value)


def _corrected(
    run: measured.CommandRun, clocks: clocks_.Clocks
) -> measured.CommandRun:
    reading = clocks.at(run.machine, run.started)
    if reading is None:
        return run
    return dataclasses.replace(
        run, clock_offset=reading.offset, clock_error=reading.error
    )


def _span(one: commands.Part, clocks: clocks_.Clocks) -> overlap.Span | None:
    if one.outcome is None:
        return None
    reading = clocks.at(one.station.name, one.outcome.started)
    if reading is None:
        return None
    kept = one.kept_up_until
    return overlap.Span(
        machine=one.station.name,
        started=one.outcome.started - reading.offset,
        ended=one.outcome.ended - reading.offset,
        kept_up_until=None if kept is None else kept - reading.offset,
        error=reading.error,
    )
