# SPDX-License-Identifier: Apache-2.0
"""Coverage of the true figures of an event by their intervals.

The truth is a dip of 40 % during 6 s and a downtime of 0.3 s, and response
times of five times the usual one in the same seconds.
"""

import collections
import collections.abc
import dataclasses
import math
import pathlib
import typing as t

import jinja2
import numpy
import yaml

from rally_vmperf.execution import assignment
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.event import disruptions
from rally_vmperf.measurement.event import downtime
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import table
from tests.unit import made

DIP = 40.0
DURATION = 6.0
DOWNTIME = 0.3
#: The usual response time in seconds, and that of the spike.
TIME, PEAK = 0.01, 0.05
#: Seconds until the request for the migration, from it to the dip, and of the
#: whole phase.
REQUESTED, DELAY, PHASE = 30.0, 4.0, 60.0
#: The share of the rate that is lost after the migration.
LOSS_AFTER = 8.0

Estimates = collections.abc.Mapping[str, tuple[figures.Approximation, float]]


def simulate_readings(
    random: t.Any, round_trip: float, drift: float
) -> list[downtime.OffsetReading]:
    """Return readings of a clock that stops for the downtime.

    :param round_trip: The mean seconds of a request.
    :param drift: The seconds that the clock loses in a second.
    """
    stopped = REQUESTED + DELAY + random.random()
    now, readings = 0.0, []
    while now < PHASE:
        out, back = random.exponential(round_trip / 2, 2) + 0.0005
        reading_time = now + out
        resumed = stopped + DOWNTIME
        if stopped <= reading_time < resumed:
            reading_time = resumed
        answered = reading_time + back
        late = DOWNTIME if reading_time >= resumed else 0.0
        guest = reading_time - late - drift * reading_time
        middle = (now + answered) / 2
        readings.append(
            downtime.OffsetReading(
                at=middle,
                offset=guest - middle,
                error=(answered - now) / 2,
            )
        )
        now = max(answered, now + 0.02)
    return readings


def simulate_replies(random: t.Any) -> list[float]:
    """Return the times of the replies to pings that the downtime loses."""
    stopped = REQUESTED + DELAY + random.random()
    sent = numpy.arange(0, PHASE, 0.01)
    replies = sent + random.exponential(0.0005, len(sent))
    lost = (sent >= stopped) & (sent < stopped + DOWNTIME)
    return sorted(replies[~lost].tolist())


def simulate_noise(
    random: t.Any, number: int, noise: float, correlation: float
) -> t.Any:
    """Return factors of reports, each of which resembles the one before.

    :param noise: The deviation of their logarithms.
    :param correlation: The correlation of neighbouring logarithms.
    """
    steps = random.normal(0, noise, number)
    for place in range(1, number):
        fresh = math.sqrt(1 - correlation**2) * steps[place]
        steps[place] = correlation * steps[place - 1] + fresh
    return numpy.exp(steps)


def simulate_line(
    random: t.Any,
    noise: float,
    usual: float,
    inside: float,
    *,
    correlation: float = 0.0,
    drift: float = 0.0,
) -> tuple[disruptions.Points, disruptions.Points, float]:
    """Return the reports before, those of the phase, and the end of a dip.

    The phase begins at 0, after a phase of the same duration.

    :param noise: The deviation of the logarithm of a report.
    :param usual: The usual value.
    :param inside: The value in the dip or spike.
    :param drift: The share of the usual value by which it grows in a second.
    """
    begun = REQUESTED + DELAY + random.random()
    ended = begun + DURATION
    ends = numpy.arange(1.0 - PHASE, PHASE + 1)
    share = numpy.clip(
        numpy.minimum(ends, ended) - numpy.maximum(ends - 1, begun), 0, 1
    )
    values = usual * (1 + drift * (ends + PHASE)) + (inside - usual) * share
    values *= simulate_noise(random, len(ends), noise, correlation)
    points = [
        (float(end), float(value))
        for end, value in zip(ends, values, strict=True)
    ]
    return points[: int(PHASE)], points[int(PHASE) :], ended


def find_false_dips(
    trials: int,
    *,
    noise: float,
    correlation: float = 0.0,
    drift: float = 0.0,
    seed: int = 47,
) -> float:
    """Return the percentage of lines without a dip that have one."""
    random = numpy.random.default_rng(seed)
    found = 0
    for _ in range(trials):
        before, points, _ = simulate_line(
            random, noise, 1000, 1000, correlation=correlation, drift=drift
        )
        found += _estimate(before, points).depth.value > 0
    return 100 * found / trials


def _estimate(
    before: disruptions.Points,
    points: disruptions.Points,
    better: sample.Better = "higher",
) -> disruptions.Disruption:
    """Return the disruption of a line."""
    early = [point for point in points if point[0] <= REQUESTED]
    usual = disruptions.compute_usual([*before, *early], better)
    return disruptions.estimate_disruption(usual, points, REQUESTED)


def estimate_all(
    random: t.Any, *, noise: float, round_trip: float, drift: float
) -> Estimates:
    """Return each estimate of one simulated migration with its truth."""
    before, points, ended = simulate_line(
        random, noise, 1000, 1000 * (1 - DIP / 100)
    )
    early = [point for point in points if point[0] <= REQUESTED]
    usual = disruptions.compute_usual([*before, *early])
    disruption = _estimate(before, points)
    recovery = disruption.recovery
    times = simulate_line(random, noise, TIME, PEAK)
    spike = _estimate(*times[:2], "lower")
    after = 1000 * (1 - LOSS_AFTER / 100)
    others = after * numpy.exp(random.normal(0, noise, 12))
    other_points = [*enumerate(others.tolist(), int(REQUESTED))]
    return {
        "downtime": (
            downtime.estimate_downtime(
                simulate_readings(random, round_trip, drift)
            ),
            DOWNTIME,
        ),
        "packet gap": (
            downtime.estimate_gap(
                simulate_replies(random), REQUESTED, PHASE - 5, 0.01
            ),
            DOWNTIME,
        ),
        "dip": (disruption.depth, DIP),
        "duration of the dip": (disruption.duration, DURATION),
        "recovery time": (
            recovery or figures.Approximation(value=0.0, error=0.0),
            ended - REQUESTED,
        ),
        "loss of a neighbour": (
            disruptions.estimate_loss(usual, other_points),
            LOSS_AFTER,
        ),
        "peak of a response time": (spike.peak, PEAK),
        "duration of the spike": (spike.duration, DURATION),
    }


def simulate(
    trials: int,
    *,
    noise: float,
    round_trip: float = 0.002,
    drift: float = 1e-4,
    seed: int = 47,
) -> dict[str, tuple[float, float, float]]:
    """Return the percentages of trials whose interval has the truth within.

    The trials with the interval at or below the truth, and the trials with the
    interval above it, follow: with the truth as the limit, they pass and fail.

    :returns: The three percentages by figure.
    """
    random = numpy.random.default_rng(seed)
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0, 0])
    for _ in range(trials):
        figures = estimate_all(
            random, noise=noise, round_trip=round_trip, drift=drift
        )
        for name, (estimate, truth) in figures.items():
            counts[name][0] += estimate.contains(truth)
            counts[name][1] += estimate.value + estimate.error <= truth
            counts[name][2] += estimate.value - estimate.error > truth
    return {
        name: t.cast(
            tuple[float, float, float],
            tuple(100 * number / trials for number in numbers),
        )
        for name, numbers in counts.items()
    }


#: The task, and the assumed noise of its metrics: percentiles above the median
#: vary more than others.
TASK = pathlib.Path(__file__).parents[2] / "tasks" / "live-migration.yaml"
NOISE, TAIL_NOISE = 0.03, 0.1
#: The seconds until the rate has recovered.
RECOVERY = 8.0


def judge_shipped_task(
    trials: int, loss_after: float = 0.0
) -> dict[str, float]:
    """Return how often ``live-migration.yaml`` has a status, in percent.

    Each migration stops the guest for 0.3 s, and its rate recovers.

    :param loss_after: The true loss after the migration in percent.
    """
    random = numpy.random.default_rng(11)
    template = jinja2.Environment().from_string(TASK.read_text())
    (subtask,) = yaml.safe_load(template.render())["subtasks"]
    (arguments,) = subtask["scenario"].values()
    repetitions = subtask["runner"]["serial"]["times"] - arguments["warmup"]
    (assigned,) = assignment.assign(arguments["workloads"])
    metrics = [metric for metric in assigned.metrics() if not metric.optional]
    criterion = table.criteria()["vmperf_disruption"]
    options = subtask["sla"]["vmperf_disruption"]
    counted: collections.Counter[str] = collections.Counter()
    for _ in range(trials):
        judge = criterion.parse(options).create_judge()
        for number in range(1, repetitions + 1):
            judge.add(_draw_repetition(random, metrics, number, loss_after))
        counted[judge.judgement().status] += 1
    return {
        status: 100 * counted[status] / trials
        for status in ("passed", "failed", "inconclusive", "void")
    }


def _draw_repetition(
    random: t.Any,
    metrics: collections.abc.Iterable[sample.Metric],
    number: int,
    loss_after: float,
) -> repetition.Repetition:
    """Return a repetition with three phases and the figures of the event."""
    happened = phases.EventRecord(
        guest="g1", outcome="completed", requested=10.0, ended=20.0
    )
    conditions = []
    for phase in phases.PHASES:
        values = {}
        for metric in metrics:
            is_tail = metric.name[-3:] in ("p90", "p95", "p99", "999", "_99")
            noise = TAIL_NOISE if is_tail else NOISE
            loss = loss_after / 100 if phase == "after" else 0.0
            factor = 1 - loss if metric.better == "higher" else 1 / (1 - loss)
            values[metric] = [factor * math.exp(random.normal(0, noise))]
        during = None
        if phase == "during":
            during = phases.Phase(event=happened)
            for metric, value in (
                (figures.DOWNTIME, DOWNTIME),
                (figures.RECOVERY_TIME, RECOVERY),
                (figures.NOT_RECOVERED, 0.0),
            ):
                exact = dataclasses.replace(metric, step=0.05 * value)
                values[exact] = [value]
        condition = made.build_condition(
            number, values, axes={phases.AXIS: phase}
        )
        conditions.append(dataclasses.replace(condition, phase=during))
    return made.repetition(
        number,
        conditions,
        expected_metrics=tuple(metrics),
        question="event",
    )
