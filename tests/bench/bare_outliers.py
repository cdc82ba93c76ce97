# SPDX-License-Identifier: Apache-2.0
"""Outlying repetitions of bare metal, and rules that were tried for them.

The truth includes the disturbances: the loss of a guest is that against the
mean of bare metal over many repetitions. A failure at or below the limit is
wrong. Rules differ in the end of the interval by which a guest fails.
"""

import argparse
import collections
import collections.abc
import typing as t

import numpy

from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from tests.bench import verdicts

REPETITIONS = (5, 8, 15)
#: The numbers of repetitions of bare metal and of the guest.
LARGER_BASELINES = ((15, 5), (30, 5), (30, 8), (30, 15), (60, 8))
MULTIPLES = (0.5, 0.9, 1)
NORMAL = verdicts.normal(0.01)
#: The loss as a multiple of the limit that fails in about 4 of 5 runs of
#: normal sides, by the number of repetitions.
FAILING = {5: 1.23, 8: 1.175, 15: 1.12}

Interval = tuple[float, float] | None


def rare(share: float, percent: float) -> verdicts.Draw:
    """Return noise of 1 % of which a share is slower; its mean log is 0."""
    slow = numpy.log1p(percent / 100)
    return lambda random, n: numpy.exp(
        random.normal(0, 0.01, n) + slow * ((random.random(n) < share) - share)
    )


def single(percent: float) -> verdicts.Draw:
    """Return noise of 1 % whose first repetition is slower."""

    def draw(random: t.Any, n: int) -> t.Any:
        """Return the factors of so many repetitions."""
        factors = NORMAL(random, n)
        factors[0] *= 1 + percent / 100
        return factors

    return draw


SIDES = {
    "a tenth is 8 % slower": rare(0.1, 8),
    "a tenth is 25 % slower": rare(0.1, 25),
    "one repetition is 25 % slower": single(25),
    "one repetition is 20 % faster": single(-20),
}


def _compute_interval(
    bare: statistics.Values, guest: statistics.Values, confidence: float
) -> Interval:
    """Return the interval of the loss of times in percent."""
    ratios = statistics.interval(bare, guest, confidence)
    if ratios is None:
        return None
    low, high = ((ratio - 1) * 100 for ratio in ratios)
    return low, high


def _mirror(bare: statistics.Values, guest: statistics.Values) -> Interval:
    """Return the interval if bare metal that varies more widens it."""
    confidence = statistics.confidence_of_loss(
        0.95,
        statistics.variance(guest),
        statistics.variance(bare),
        len(bare),
    )
    return _compute_interval(bare, guest, float(confidence))


def _omit_outliers(
    bare: statistics.Values, guest: statistics.Values
) -> Interval:
    """Return the lower ends with and without outliers, the smaller one."""
    outliers = statistics.outliers(bare)
    usual = [
        value for place, value in enumerate(bare) if place not in outliers
    ]
    intervals = [
        interval
        for side in (bare, usual)
        if (interval := _compute_interval(side, guest, 0.95))
    ]
    return min(intervals, default=None)


def _widen_with_outliers(
    bare: statistics.Values, guest: statistics.Values
) -> Interval:
    """Return the interval at 99 % if bare metal has an outlier."""
    confidence = 0.99 if statistics.outliers(bare) else 0.95
    return _compute_interval(bare, guest, confidence)


def _at(
    confidence: float,
) -> collections.abc.Callable[..., Interval]:
    """Return the rule with the same confidence for all."""
    return lambda bare, guest: _compute_interval(bare, guest, confidence)


#: The first one is the rule of the product.
RULES: dict[str, collections.abc.Callable[..., Interval]] = {
    "95 %": _at(0.95),
    "also without outliers": _omit_outliers,
    "99 % with outliers": _widen_with_outliers,
    "98.5 % if bare metal varies": _mirror,
    "98.5 %": _at(0.985),
    "99 %": _at(0.99),
    "99.5 %": _at(0.995),
}


def simulate(
    sizes: tuple[int, int],
    draw: verdicts.Draw,
    multiple: float,
    trials: int,
    rules: collections.abc.Collection[str] = ("95 %",),
) -> dict[str, float]:
    """Return how often a guest fails by each rule, in percent.

    :param sizes: The numbers of repetitions of bare metal and of the guest.
    :param multiple: The multiple of the limit that the guest loses.
    """
    random = numpy.random.default_rng(7)
    count: collections.Counter[str] = collections.Counter()
    slower = 1 + multiple * verdicts.LIMIT / 100
    for _ in range(trials):
        bare = draw(random, sizes[0]).tolist()
        guest = (slower * NORMAL(random, sizes[1])).tolist()
        for rule in rules:
            low, high = RULES[rule](bare, guest) or (None, None)
            status = verdict.decide_interval(low, high, verdicts.LIMIT)
            count[rule] += status == "failed"
    return {rule: 100 * count[rule] / trials for rule in rules}


def _print_row(
    title: str,
    cells: collections.abc.Iterable[collections.abc.Iterable[t.Any]],
) -> None:
    """Print a row, whose cells have several numbers or texts."""
    shown = (
        "/".join(
            f"{part:.1f}" if isinstance(part, float) else str(part)
            for part in parts
        )
        for parts in cells
    )
    print(
        f"{title:<30}" + "".join(f"{cell:>17}" for cell in shown), flush=True
    )


def main() -> None:
    """Print how often guests fail, and by which rules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    trials = parser.parse_args().trials
    sizes = "/".join(map(str, REPETITIONS))
    disturbed = "a tenth is 8 % slower"
    print(f"failed in % of {trials} runs, {sizes} repetitions on both sides")
    _print_row("bare metal, loss:", ([f"{m:g} x"] for m in MULTIPLES))
    for name, draw in SIDES.items():
        _print_row(
            name,
            (
                [
                    simulate((n, n), draw, multiple, trials)["95 %"]
                    for n in REPETITIONS
                ]
                for multiple in MULTIPLES
            ),
        )
    losses = "/".join(f"{multiple:g}" for multiple in FAILING.values())
    print(f"\n{disturbed}: wrong at 1 x; normal sides: right at {losses} x")
    _print_row("fails by the end at:", (["wrong"], ["right"]))
    wrong, right = (
        [simulate((n, n), draw, loss_[n], trials, RULES) for n in REPETITIONS]
        for draw, loss_ in (
            (SIDES[disturbed], dict.fromkeys(REPETITIONS, 1.0)),
            (NORMAL, FAILING),
        )
    )
    for rule in RULES:
        _print_row(
            rule,
            ([shares[rule] for shares in side] for side in (wrong, right)),
        )
    print(f"\n{disturbed}: wrong at 1 x, repetitions of bare metal and guest")
    for bare, guest in LARGER_BASELINES:
        share = simulate((bare, guest), SIDES[disturbed], 1, trials)["95 %"]
        _print_row(f"{bare} and {guest}", [[share]])


if __name__ == "__main__":
    main()
