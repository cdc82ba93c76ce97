"""Coverage of the true figures of a migration by their intervals.

The truth is a dip of 40 % during 6 s and a downtime of 0.3 s.
"""

import collections
import collections.abc
import typing as t

import numpy

from rally_vmperf.measurement.migration import dips
from rally_vmperf.measurement.migration import downtime
from rally_vmperf.measurement.migration import estimates
from rally_vmperf.measurement.migration import packets

DIP = 40.0
DURATION = 6.0
DOWNTIME = 0.3
#: Seconds until the request for the migration, from it to the dip, and of the
#: whole phase.
REQUESTED, DELAY, PHASE = 30.0, 4.0, 60.0
#: The share of the rate that is lost after the migration.
LOSS_AFTER = 8.0

Estimates = collections.abc.Mapping[str, tuple[estimates.Estimate, float]]


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


def simulate_rates(
    random: t.Any, noise: float
) -> tuple[list[float], list[tuple[float, float]], float]:
    """Return the rates before, those of the phase, and the end of the dip.

    :param noise: The deviation of the logarithm of an interval.
    """
    begun = REQUESTED + DELAY + random.random()
    ended = begun + DURATION
    before = 1000 * numpy.exp(random.normal(0, noise, int(PHASE)))
    ends = numpy.arange(1.0, PHASE + 1)
    inside = numpy.clip(
        numpy.minimum(ends, ended) - numpy.maximum(ends - 1, begun), 0, 1
    )
    rates = 1000 * (1 - DIP / 100 * inside)
    rates = rates * numpy.exp(random.normal(0, noise, len(rates)))
    points = [
        (float(end), float(rate))
        for end, rate in zip(ends, rates, strict=True)
    ]
    return before.tolist(), points, ended


def estimate_all(
    random: t.Any, *, noise: float, round_trip: float, drift: float
) -> Estimates:
    """Return each estimate of one simulated migration with its truth."""
    before, points, ended = simulate_rates(random, noise)
    early = [rate for end, rate in points if end <= REQUESTED]
    usual = dips.compute_usual_rate(before + early)
    disruption = dips.estimate_disruption(usual, points, REQUESTED)
    recovery = disruption.recovery
    after = 1000 * (1 - LOSS_AFTER / 100)
    others = after * numpy.exp(random.normal(0, noise, 12))
    return {
        "downtime": (
            downtime.estimate_downtime(
                simulate_readings(random, round_trip, drift)
            ),
            DOWNTIME,
        ),
        "packet gap": (
            packets.estimate_gap(
                simulate_replies(random), REQUESTED, PHASE - 5, 0.01
            ),
            DOWNTIME,
        ),
        "dip": (disruption.dip, DIP),
        "duration of the dip": (disruption.duration, DURATION),
        "recovery time": (
            recovery or estimates.Estimate(value=0.0, error=0.0),
            ended - REQUESTED,
        ),
        "loss of a neighbour": (
            dips.estimate_loss(usual, others.tolist()),
            LOSS_AFTER,
        ),
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
