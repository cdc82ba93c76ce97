"""The figures of a migration, from the results of its phases."""

import collections.abc
import dataclasses
import typing as t

from rally_vmperf.execution import measured
from rally_vmperf.execution.stations import migration_monitor
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.migration import dips
from rally_vmperf.measurement.migration import downtime
from rally_vmperf.measurement.migration import estimates
from rally_vmperf.measurement.migration import figures
from rally_vmperf.measurement.migration import packets
from rally_vmperf.measurement.migration import phases
from rally_vmperf.measurement.samples import sample

#: Figures by metric; a text is the reason why one is missing.
Figures = dict[sample.Metric, estimates.Estimate | str]
#: The figures of the rate of the migrated guest.
_OF_RATE = (figures.DIP, figures.DIP_DURATION, figures.RECOVERY_TIME)


def list_lines(
    result: measured.Measured, offsets: collections.abc.Mapping[str, float]
) -> dict[str, phases.Line]:
    """Return the rate of each machine over time, by its name.

    :param offsets: The offsets of clocks that the workloads did not need.
    """
    runs: dict[str, command_result.CommandRun] = {
        run.machine: run for run in result.runs if not run.result.exit_status
    }
    lines: dict[str, phases.Line] = {}
    for machine, reading in result.readings:
        is_rate = (
            isinstance(reading, sample.Series)
            and reading.metric.better == "higher"
        )
        if not is_rate or machine in lines or machine not in runs:
            continue
        points = phases.without_short_end(
            t.cast(sample.Series, reading).points
        )
        run = runs[machine]
        offset = run.clock_offset
        if offset is None or machine in offsets:
            offset = offsets.get(machine, 0.0)
        lines[machine] = phases.Line(
            machine=machine,
            metric=reading.metric,
            begun=run.result.ended - offset - points[-1][0],
            points=points,
        )
    return lines


def compute_figures(
    event: phases.Event,
    monitor: migration_monitor.Monitor,
    before: collections.abc.Mapping[str, phases.Line],
    during: collections.abc.Mapping[str, phases.Line],
) -> Figures:
    """Return the figures of the migrated guest, or why they are missing."""
    found: Figures = {
        figures.DURATION: estimates.Estimate(value=event.seconds, error=1.0)
    }
    line = during.get(event.guest)
    if line and line.begun + line.points[-1][0] < event.ended:
        late = "the workload ended before the migration; use a longer phase"
        missing = [figures.DOWNTIME, *_OF_RATE]
        if monitor.peer is not None:
            missing.append(figures.PACKET_GAP)
        return found | dict.fromkeys(missing, late)
    try:
        found[figures.DOWNTIME] = downtime.estimate_downtime(
            [
                reading
                for reading in monitor.readings
                if event.requested - 1 <= reading.at <= event.ended + 1
            ]
        )
    except ValueError as error:
        found[figures.DOWNTIME] = monitor.reasons.get("clock", str(error))
    if monitor.peer is not None:
        try:
            found[figures.PACKET_GAP] = packets.estimate_gap(
                monitor.replies,
                event.requested,
                event.ended,
                migration_monitor.PING_INTERVAL,
            )
        except ValueError as error:
            found[figures.PACKET_GAP] = monitor.reasons.get("ping", str(error))
    return found | _compute_dip(event, before, during)


def _compute_dip(
    event: phases.Event,
    before: collections.abc.Mapping[str, phases.Line],
    during: collections.abc.Mapping[str, phases.Line],
) -> Figures:
    """Return the figures of the rate, or the reason why they are missing."""
    line = during.get(event.guest)
    if line is None:
        return dict.fromkeys(_OF_RATE, "the workload reported no rate")
    try:
        usual = _find_usual_rate(event, before, line)
        disruption = dips.estimate_disruption(
            usual, line.points, event.requested - line.begun
        )
    except ValueError as error:
        return dict.fromkeys(_OF_RATE, str(error))
    recovery: estimates.Estimate | str = disruption.recovery or (
        "the rate was not within 5 % of the usual one at the end of the phase"
    )
    return dict(
        zip(
            _OF_RATE,
            (disruption.dip, disruption.duration, recovery),
            strict=True,
        )
    )


def _find_usual_rate(
    event: phases.Event,
    before: collections.abc.Mapping[str, phases.Line],
    during: phases.Line,
) -> dips.UsualRate:
    """Return the rate of a machine before the migration.

    :raises ValueError: If there are too few intervals.
    """
    earlier = before.get(during.machine)
    rates = phases.rates_until(during, event.requested)
    if earlier is not None:
        rates = [rate for _, rate in earlier.points] + rates
    return dips.compute_usual_rate(rates)


def observe_others(
    event: phases.Event,
    before: collections.abc.Mapping[str, phases.Line],
    during: collections.abc.Mapping[str, phases.Line],
    control: str,
) -> list[sample.Observation]:
    """Return the losses of other machines while the migration ran.

    :param control: The name of the control machine; empty without one.
    """
    losses: dict[str, estimates.Estimate] = {}
    for machine, line in during.items():
        if machine == event.guest:
            continue
        rates = phases.rates_between(line, event.requested, event.ended)
        try:
            usual = _find_usual_rate(event, before, line)
            losses[machine] = dips.estimate_loss(
                usual, rates, line.metric.better
            )
        except ValueError:
            continue
    of_control = losses.pop(control, None)
    # A record has one error of a metric.
    error = max((loss.error for loss in losses.values()), default=0.0)
    observations = [
        figures.observe(
            figures.OTHERS_LOSS,
            machine,
            dataclasses.replace(loss, error=error),
        )
        for machine, loss in losses.items()
    ]
    if of_control is not None:
        observations.append(
            figures.observe(figures.CONTROL_LOSS, control, of_control)
        )
    return observations
