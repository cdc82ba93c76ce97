# SPDX-License-Identifier: Apache-2.0
"""A log of the commands that several machines started together."""

import collections.abc
import dataclasses

from rally_vmperf.execution import commands
from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import clocks
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement import finding
from rally_vmperf.measurement.density import overlap
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base as workloads
from rally_vmperf.workloads import outputs


class CommandLog:
    """The commands that several machines started together, in order."""

    def __init__(self) -> None:
        self._commands: list[
            tuple[str, set[str], list[commands.SynchronisedCommand]]
        ] = []

    def note(
        self,
        title: str,
        metrics: collections.abc.Iterable[str],
        commands: collections.abc.Iterable[commands.SynchronisedCommand],
    ) -> None:
        """Add a command, without the machines that did not finish it.

        :param title: The title of the workload.
        :param metrics: The names of the metrics that the command reported.
        """
        finished = [
            command
            for command in commands
            if command.outcome is not None and not command.outcome.exit_status
        ]
        self._commands.append((title, set(metrics), finished))

    def evaluate(
        self, timing: clocks.Clocks, result: measured.Measured
    ) -> list[finding.Finding]:
        """Compute start skew and overlap; return findings on starts.

        If a command reports its progress, its samples are limited to the time
        in which all machines were running it.

        :param result: The results since these clocks apply.
        :returns: The findings on starts and clocks.
        """
        result.runs[:] = [_correct_times(run, timing) for run in result.runs]
        shortest: dict[str, float] = {}
        for run in result.runs:
            if not run.result.exit_status:
                seconds = run.result.seconds
                shortest[run.machine] = min(
                    seconds, shortest.get(run.machine, seconds)
                )
        starts = []
        paces: _Paces = {}
        for title, metrics, synchronised in self._commands:
            if synchronised:
                spans = _compute_spans(synchronised, timing)
                command = synchronised[0].command
                start = overlap.compute_synchronisation(
                    title,
                    command.name,
                    command.bound,
                    [span for _, span in spans],
                    metrics,
                )
                starts.append(start)
                paces |= _compute_paces(spans)
        result.starts += starts
        observations, result.observations = result.observations, []
        for observation in observations:
            try:
                result.observations.append(
                    _limit_to_overlap(observation, paces)
                )
            except workloads.WorkloadError as error:
                result.miss(
                    observation.sample.metric.name,
                    observation.source,
                    str(error),
                )
        return timing.findings(shortest) + overlap.findings(starts)


#: Station and metric -> ratio of the rate in the window to that of the run.
_Paces = dict[tuple[str, str], float]


def _compute_spans(
    commands: collections.abc.Iterable[commands.SynchronisedCommand],
    timing: clocks.Clocks,
) -> list[tuple[commands.SynchronisedCommand, overlap.Span]]:
    """Return each command with its run time, if the clock is known.

    The times are corrected for the clocks of the stations.
    """
    spans = []
    for command in commands:
        if (outcome := command.outcome) is None:
            continue
        reading = timing.at(command.station.name, outcome.started)
        if reading is None:
            continue
        kept_up_until = command.kept_up_until
        span = overlap.Span(
            machine=command.station.name,
            started=outcome.started - reading.offset,
            ended=outcome.ended - reading.offset,
            kept_up_until=None
            if kept_up_until is None
            else kept_up_until - reading.offset,
            error=reading.error,
        )
        spans.append((command, span))
    return spans


def _compute_paces(
    spans: collections.abc.Sequence[
        tuple[commands.SynchronisedCommand, overlap.Span]
    ],
) -> _Paces:
    """Return rate ratios (window / run) by station and metric."""
    paces: _Paces = {}
    window = overlap.common_window([span for _, span in spans])
    if window is None:
        return paces
    for command, span in spans:
        if command.progress is None or command.outcome is None:
            continue
        offset = command.outcome.started - span.started
        pace = command.progress.relative_rate(
            window[0] + offset, window[1] + offset
        )
        for metric in command.progress.metrics:
            paces[command.station.name, metric] = pace
    return paces


def _limit_to_overlap(
    observation: sample.Observation, paces: _Paces
) -> sample.Observation:
    """Return the observation, limited to the time in which all machines ran.

    :raises WorkloadError: If the value is not plausible.
    """
    metric = observation.sample.metric
    pace = paces.get((observation.source, metric.name))
    if pace is None:
        return observation
    value = outputs.create_sample(metric, observation.sample.value * pace)
    return dataclasses.replace(observation, sample=value)


def _correct_times(
    run: command_result.CommandRun, timing: clocks.Clocks
) -> command_result.CommandRun:
    """Return the run with its clock offset; unchanged if that is unknown."""
    reading = timing.at(run.machine, run.result.started)
    if reading is None:
        return run
    return dataclasses.replace(
        run, clock_offset=reading.offset, clock_error=reading.error
    )
