"""Verdicts on the worst of several guests in simulated runs.

The noises are those of the simulation of the shipped task. All guests lose
half of the limit; in some runs, one of them loses another multiple of it.
"""

import argparse
import collections
import typing as t

import numpy

from tests.bench import shipped_task
from tests.bench import verdicts
from tests.unit import made

#: The part with the noise, and the limit in percent: those that
#: ``tasks/kvm-density.yaml`` has, and a strict one.
LIMITS = (("cpu", 10), ("disk", 50), ("disk", 10))
GUESTS = (8, 32)
REPETITIONS = 6
#: The multiple of the limit that all guests lose, but for one.
EQUAL = 0.5
#: The multiples of the limit that one guest loses, and the wanted verdict.
MULTIPLES = (
    (EQUAL, "passed"),
    (0.9, "failed"),
    (1.1, "passed"),
    (1.5, "failed"),
)


def draw_run(
    random: t.Any, guests: int, noise: float, limit: float, multiple: float
) -> list[t.Any]:
    """Return the repetitions of a run in which each guest is also alone.

    :param noise: The standard deviation of a rate, as a share.
    :param multiple: The multiple of the limit that the first guest loses.
    """
    losses = numpy.full(guests, EQUAL * limit)
    losses[0] = multiple * limit
    curves = []
    for number in range(1, REPETITIONS + 1):
        alone, together = 100 * numpy.exp(random.normal(0, noise, (2, guests)))
        together *= 1 - losses / 100
        levels = [
            made.level(
                number, 1, {verdicts.RATE: alone.tolist()}, batches=guests
            ),
            made.level(number, guests, {verdicts.RATE: together.tolist()}),
        ]
        curves.append(
            made.repetition(
                number, levels, planned_repetitions=REPETITIONS, hosts={}
            )
        )
    return curves


def simulate(
    guests: int, noise: float, limit: float, multiple: float, trials: int
) -> dict[str, float]:
    """Return how often the level of all guests is decided, in percent."""
    random = numpy.random.default_rng(7)
    count: collections.Counter[str] = collections.Counter()
    for _ in range(trials):
        curves = draw_run(random, guests, noise, limit, multiple)
        (curve,) = made.degradation(
            curves, {"*": limit}, statistic="worst"
        ).curves
        count[curve.statuses[guests]] += 1
    return {
        status: 100 * count[status] / trials
        for status in shipped_task.STATUSES
    }


def main() -> None:
    """Print a row for each noise, part and number of guests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=300)
    trials = parser.parse_args().trials
    titles = [f"{multiple:g} x {status}" for multiple, status in MULTIPLES]
    print(
        f"{f'% of {trials} runs':<28}"
        + "".join(f"{title:>14}" for title in titles)
    )
    for noise, by_part in shipped_task.NOISES.items():
        for component, limit in LIMITS:
            for guests in GUESTS:
                shares = [
                    simulate(
                        guests,
                        by_part[component] / 100,
                        limit,
                        multiple,
                        trials,
                    )[status]
                    for multiple, status in MULTIPLES
                ]
                print(
                    f"{f'{noise}, {component} {limit} %, {guests} guests':<28}"
                    + "".join(f"{share:>14.1f}" for share in shares),
                    flush=True,
                )


if __name__ == "__main__":
    main()
