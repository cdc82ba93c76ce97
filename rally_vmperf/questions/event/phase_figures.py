# SPDX-License-Identifier: Apache-2.0
"""The figures of an event, from the results of its phases."""

import collections.abc
import contextlib
import dataclasses
import itertools
import statistics

from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import event_monitor
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.event import disruptions
from rally_vmperf.measurement.event import downtime
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample

#: Figures by metric; a text is the reason why one is missing.
Figures = dict[sample.Metric, figures.Approximation | str]
#: The figures of the rate of the guest of the event.
_OF_RATE = (
    figures.DIP,
    figures.DIP_DURATION,
    figures.RECOVERY_TIME,
    figures.NOT_RECOVERED,
)
#: The lines of a phase by machine and metric.
Lines = collections.abc.Mapping[tuple[str, str], phases.Line]


def list_lines(
    result: measured.Measured, offsets: collections.abc.Mapping[str, float]
) -> dict[tuple[str, str], phases.Line]:
    """Return rates and response times of each machine over time.

    :param offsets: The offsets of clocks that the workloads did not need.
    """
    runs: dict[str, command_result.CommandRun] = {
        run.machine: run for run in result.runs if not run.result.exit_status
    }
    ends: dict[str, float] = {}
    for machine, reading in result.readings:
        if isinstance(reading, sample.Series):
            last, _ = reading.points[-1]
            ends[machine] = max(last, ends.get(machine, 0.0))
    lines: dict[tuple[str, str], phases.Line] = {}
    for machine, reading in result.readings:
        if not isinstance(reading, sample.Series) or machine not in runs:
            continue
        points = phases.without_short_end(reading.points)
        run = runs[machine]
        offset = run.clock_offset
        if offset is None or machine in offsets:
            offset = offsets.get(machine, 0.0)
        line = phases.Line(
            machine=machine,
            metric=reading.metric,
            begun=run.result.ended - offset - ends[machine],
            points=points,
        )
        lines.setdefault(line.key, line)
    return lines


def select_rates(lines: Lines) -> dict[str, phases.Line]:
    """Return the rate of each machine by its name, the first of several."""
    rates: dict[str, phases.Line] = {}
    for line in lines.values():
        if line.metric.better == "higher":
            rates.setdefault(line.machine, line)
    return rates


def compute_figures(
    event: phases.EventRecord,
    monitor: event_monitor.Monitor,
    before: Lines,
    during: Lines,
) -> Figures:
    """Return the figures of the guest of the event, or why they are missing.

    A guest that stops has no reports until its workload runs again.
    """
    found: Figures = {
        figures.DURATION: figures.Approximation(value=event.seconds, error=1.0)
    }
    if event.stops_guest and monitor.stop is None:
        never = monitor.reasons.get("stop", "the guest did not stop")
        return found | dict.fromkeys((figures.DOWNTIME, *_OF_RATE), never)
    own = [line for line in during.values() if line.machine == event.guest]
    times = [line for line in own if line.metric.better == "lower"]
    if any(line.begun + line.points[-1][0] < event.ended for line in own):
        late = "the workload ended before the event; use a longer phase"
        time_figures = figures.list_time_figures(line.metric for line in times)
        missing = [figures.DOWNTIME, *_OF_RATE, *time_figures]
        if monitor.peer is not None:
            missing.append(figures.PACKET_GAP)
        return found | dict.fromkeys(missing, late)
    found[figures.DOWNTIME] = _compute_downtime(event, monitor)
    if monitor.peer is not None:
        found[figures.PACKET_GAP] = _compute_gap(event, monitor)
    rate = select_rates(during).get(event.guest)
    if rate is None:
        found |= dict.fromkeys(_OF_RATE, "the workload reported no rate")
    else:
        found |= _compute_dip(event, before, rate, monitor.stop)
    for line in times:
        found |= _compute_spike(event, before, line)
    lost = [
        line.metric
        for key, line in before.items()
        if line.machine == event.guest
        and line.metric.better == "lower"
        and key not in during
    ]
    return found | dict.fromkeys(
        figures.list_time_figures(lost),
        "the workload reported no response time over time",
    )


def _compute_downtime(
    event: phases.EventRecord, monitor: event_monitor.Monitor
) -> figures.Approximation | str:
    """Return the time in which the guest did not run, or why it is missing."""
    if monitor.stop is not None:
        return monitor.stop.estimate_downtime()
    try:
        return downtime.estimate_downtime(
            [
                reading
                for reading in monitor.readings
                if event.requested - 1 <= reading.at <= event.ended + 1
            ]
        )
    except ValueError as error:
        return monitor.reasons.get("clock", str(error))


def _compute_gap(
    event: phases.EventRecord, monitor: event_monitor.Monitor
) -> figures.Approximation | str:
    """Return the longest time without a reply, or why it is missing."""
    stop = monitor.stop
    try:
        return downtime.estimate_gap(
            monitor.replies,
            event.requested,
            max(event.ended, stop.answered) if stop else event.ended,
            event_monitor.PING_INTERVAL,
        )
    except ValueError as error:
        return monitor.reasons.get("ping", str(error))


def _compute_dip(
    event: phases.EventRecord,
    before: Lines,
    line: phases.Line,
    stop: downtime.Stop | None,
) -> Figures:
    """Return the figures of the rate, or the reason why they are missing."""
    try:
        disruption = _estimate(event, before, line, stop)
    except ValueError as error:
        return dict.fromkeys(_OF_RATE, str(error))
    recovery: figures.Approximation | str = disruption.recovery or (
        "the rate was not within 5 % of the usual one at the end of the phase"
    )
    duration = disruption.duration
    if stop is not None:
        # A service of the guest itself starts earlier than the workload.
        late = max(0.0, line.begun - stop.answered)
        duration = _begin_earlier(duration, late)
        if disruption.recovery is not None:
            recovery = _begin_earlier(disruption.recovery, late)
    rest = figures.Approximation(value=disruption.not_recovered, error=0.0)
    return dict(
        zip(
            _OF_RATE,
            (disruption.depth, duration, recovery, rest),
            strict=True,
        )
    )


def _begin_earlier(
    estimate: figures.Approximation, late: float
) -> figures.Approximation:
    """Return a duration that may be shorter by some seconds."""
    return figures.Approximation(
        value=max(0.0, estimate.value - late / 2),
        error=estimate.error + late / 2,
    )


def _compute_spike(
    event: phases.EventRecord, before: Lines, line: phases.Line
) -> Figures:
    """Return the figures of a response time, or why they are missing."""
    metrics = figures.list_time_figures([line.metric])
    try:
        disruption = _estimate(event, before, line)
    except ValueError as error:
        return dict.fromkeys(metrics, str(error))
    return dict(
        zip(metrics, (disruption.peak, disruption.duration), strict=False)
    )


def _estimate(
    event: phases.EventRecord,
    before: Lines,
    line: phases.Line,
    stop: downtime.Stop | None = None,
) -> disruptions.Disruption:
    """Return the disruption of a line in the phase during.

    :param stop: The stop of the guest, in which its rate was zero; None
        without one.
    :raises ValueError: If there are too few intervals.
    """
    points = [(line.begun + end, value) for end, value in line.points]
    if stop is not None:
        points = [*_list_zeros(line, stop), *points]
    return disruptions.estimate_disruption(
        _find_usual(event, before, line), points, event.requested
    )


def _list_zeros(line: phases.Line, stop: downtime.Stop) -> list[phases.Point]:
    """Return reports of a rate of zero until the workload runs again."""
    width = statistics.median(
        late - early
        for early, late in itertools.pairwise(
            (0.0, *(end for end, _ in line.points))
        )
    )
    ends = []
    end = line.begun
    while end > stop.last:
        ends.append((end, 0.0))
        end -= width
    return ends[::-1]


def _find_usual(
    event: phases.EventRecord, before: Lines, during: phases.Line
) -> disruptions.Usual:
    """Return the reports of a machine before the event.

    :raises ValueError: If there are too few intervals.
    """
    points = phases.points_until(during, event.requested)
    earlier = before.get(during.key)
    if earlier is not None:
        points = phases.points_until(earlier, event.requested) + points
    return disruptions.compute_usual(points, during.metric.better)


def observe_others(
    event: phases.EventRecord, before: Lines, during: Lines, control: str
) -> tuple[list[sample.Observation], list[tuple[sample.Metric, str, str]]]:
    """Return the losses of other machines until the end of the event.

    :param control: The name of the control machine; empty without one.
    :returns: The losses, and the missing ones: their metric, the guest and the
        reason.
    """
    guests = [
        line
        for line in during.values()
        if line.machine not in (event.guest, control)
    ]
    observations: list[sample.Observation] = []
    missing = []
    for metric, better in (
        (figures.OTHERS_LOSS, "higher"),
        (figures.OTHERS_SLOWDOWN, "lower"),
    ):
        losses: dict[str, figures.Approximation] = {}
        for line in guests:
            if line.metric.better != better or line.machine in losses:
                continue
            try:
                losses[line.machine] = _estimate_loss(event, before, line)
            except ValueError as reason:
                missing.append((metric, line.machine, str(reason)))
        # A record has one error of a metric.
        error = max((loss.error for loss in losses.values()), default=0.0)
        observations += [
            figures.observe(
                metric, machine, dataclasses.replace(loss, error=error)
            )
            for machine, loss in losses.items()
        ]
    for line in during.values():
        if line.machine == control:
            # Without it, the guests are measured all the same.
            with contextlib.suppress(ValueError):
                loss = _estimate_loss(event, before, line)
                observations.append(
                    figures.observe(figures.CONTROL_LOSS, control, loss)
                )
    return observations, missing


def _estimate_loss(
    event: phases.EventRecord, before: Lines, line: phases.Line
) -> figures.Approximation:
    """Return the loss of a machine until the end of the event in percent.

    :raises ValueError: If there are too few intervals.
    """
    usual = _find_usual(event, before, line)
    points = phases.points_between(line, event.requested, event.ended)
    return disruptions.estimate_loss(usual, points)
