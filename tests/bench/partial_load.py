# SPDX-License-Identifier: Apache-2.0
"""The number of guests at a load, from simulated runs.

A host has CPUs that its guests share. A guest offers events at random times,
as sysbench does; an event takes a time that varies, and waits for the earlier
events of its CPU: an M/G/1 queue (Kleinrock, Queueing Systems, volume 1, 1975,
section 5.6). The true number of guests is the largest level at which a long
simulation is within both limits, on the achieved rate and on the 95th
percentile of the response time against a solo guest at the same load.
"""

import argparse
import collections
import typing as t

import numpy

from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density import question as density
from tests.bench import table
from tests.bench import verdicts
from tests.unit import made

#: The CPUs of the host, and the seconds of an event of sysbench at full speed.
CPUS, SERVICE = 4, 0.0007
#: The standard deviation of the logarithm of the time of an event.
SIGMA = 0.3
#: The levels, in guests of one vCPU each: 0.25 to 4 vCPUs per CPU.
LEVELS = (1, 4, 8, 12, 16)
LOADS = (0.1, 0.3, 0.6)
#: The seconds of a run of the workload, and the number of repetitions.
SECONDS, REPETITIONS = 30.0, 5
#: The seconds of the run that defines the truth.
LONG = 300.0
#: The limits of the shipped task, in percent of rates.
LIMITS = {"*.rate": 5.0, "*.latency_p95": 50.0}
RATE = verdicts.RATE
LATENCY = sample.Metric("cpu.sysbench.latency_p95", "s", "lower")


def simulate(
    random: t.Any, guests: int, load: float, seconds: float
) -> tuple[list[float], list[float]]:
    """Return the achieved rates and 95th percentiles of all guests.

    Guests stay on the CPU on which they start.
    """
    rates, times = [], []
    for cpu in range(min(CPUS, guests)):
        count = len(range(cpu, guests, CPUS))
        arrivals = [
            numpy.cumsum(
                random.exponential(
                    SERVICE / load, int(3 * seconds * load / SERVICE) + 50
                )
            )
            for _ in range(count)
        ]
        owners = numpy.concatenate(
            [
                numpy.full(len(each), owner)
                for owner, each in enumerate(arrivals)
            ]
        )
        moments = numpy.concatenate(arrivals)
        owners, moments = (
            values[moments < seconds] for values in (owners, moments)
        )
        order = numpy.argsort(moments)
        owners, moments = owners[order], moments[order]
        services = SERVICE * random.lognormal(
            -SIGMA * SIGMA / 2, SIGMA, len(moments)
        )
        # The end of an event: that of the previous one or its arrival, and
        # its own time.
        work = numpy.cumsum(services)
        ends = work + numpy.maximum.accumulate(moments - (work - services))
        for owner in range(count):
            is_own = owners == owner
            done = is_own & (ends <= seconds)
            rates.append(max(1, int(done.sum())) / seconds)
            waits = (ends - moments)[is_own]
            times.append(float(numpy.quantile(waits, 0.95)))
    return rates, times


def find_truth(load: float) -> int:
    """Return the largest level within both limits in a long simulation."""
    random = numpy.random.default_rng(0)
    rates, times = map(numpy.mean, simulate(random, 1, load, LONG))
    largest = 0
    for guests in LEVELS:
        rate, time = map(numpy.mean, simulate(random, guests, load, LONG))
        if (
            100 * (1 - rate / rates) > LIMITS["*.rate"]
            or 100 * (1 - times / time) > LIMITS["*.latency_p95"]
        ):
            break
        largest = guests
    return largest


def judge(random: t.Any, load: float) -> int | None:
    """Return the number of guests that a run finds; None if undecided."""
    criterion = density.DEGRADATION.parse({"max_percent": LIMITS})
    run_judge = criterion.create_judge()
    for number in range(1, REPETITIONS + 1):
        levels = []
        for guests in LEVELS:
            rates, times = simulate(random, guests, load, SECONDS)
            levels.append(
                made.level(number, guests, {RATE: rates, LATENCY: times})
            )
        run_judge.add(
            made.repetition(
                number, levels, planned_repetitions=REPETITIONS, hosts={}
            )
        )
    found = [
        row.max_guests
        for row in run_judge.judgement().curves
        if row.max_guests is not None and row.limit is not None
    ]
    # An undecided level does not count: at least so many guests fit.
    return min(each.low or 0 for each in found) if found else None


def count(load: float, truth: int, runs: int) -> collections.Counter[str]:
    """Return how many runs find the true number, another or none."""
    below = max((each for each in (0, *LEVELS) if each < truth), default=0)
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(runs):
        found = judge(numpy.random.default_rng((seed, int(load * 100))), load)
        if found is None:
            counts["none"] += 1
        elif found > truth:
            counts["higher"] += 1
        elif found == truth:
            counts["right"] += 1
        else:
            counts["next lower" if found == below else "lower"] += 1
    return counts


def main(argv: list[str] | None = None) -> None:
    """Print the shares of the runs by load."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args(argv).runs
    kinds = ("right", "next lower", "lower", "higher")
    rows = [("load", "true guests", *kinds)]
    for load in LOADS:
        truth = find_truth(load)
        counts = count(load, truth, runs)
        rows.append(
            (
                f"{load:g}",
                str(truth),
                *(f"{100 * counts[kind] / runs:.1f} %" for kind in kinds),
            )
        )
    print("\n".join(table.padded(rows)))


if __name__ == "__main__":
    main()
