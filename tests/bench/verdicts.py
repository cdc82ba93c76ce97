# SPDX-License-Identifier: Apache-2.0
"""The rates of wrong verdicts: simulated runs, judged by the product.

``make bench-verdicts`` prints a table. The truth lies exactly at the limit, so
that each decision is a wrong one: 2.5 % of passes and of failures are what an
interval of 95 % promises.
"""

import collections
import collections.abc
import dataclasses
import math
import sys
import typing as t

import numpy

from rally_vmperf.judging import axis as axes
from rally_vmperf.judging import gains
from rally_vmperf.judging import judge as judges
from rally_vmperf.judging.results import changes
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.density import fairness as fairness_
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.density import levels as levels_
from rally_vmperf.records import model
from rally_vmperf.runs import conditions
from tests.bench import event
from tests.unit import made

#: Loss at which the truth lies, in percent; the limit as well.
LIMIT = 10.0
TIME = sample.Metric(name="x.time", unit="s", better="lower")
RATE = sample.Metric(name="x.rate", unit="1/s", better="higher")

Draw = collections.abc.Callable[[t.Any, int], t.Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """The outcomes of the trials of a setting, in percent of them.

    :param coverage: The share of intervals with the truth; None without one.
    :param flagged: The share of trials with a side that is skewed or bimodal.
    :param bias: The largest difference of equal variants that drift causes.
    """

    name: str
    trials: int
    passed: float
    failed: float
    coverage: float | None = None
    flagged: float | None = None
    bias: float | None = None

    def line(self) -> str:
        """Return it as a row of the table."""
        covered = "" if self.coverage is None else f"{self.coverage:.1f}"
        flagged = "" if self.flagged is None else f"{self.flagged:.1f}"
        bias = "" if self.bias is None else f"{self.bias:.2f}"
        return (
            f"{self.name:<46}{self.trials:>7}{covered:>10}"
            f"{self.passed:>8.1f}{self.failed:>8.1f}{flagged:>9}{bias:>6}"
        ).rstrip()


def normal(deviation: float) -> Draw:
    """Return noise of factors that are log-normal."""
    return lambda random, n: numpy.exp(random.normal(0, deviation, n))


def skewed(deviation: float) -> Draw:
    """Return noise that now and then is much slower; its mean log is 0."""
    return lambda random, n: numpy.exp(
        deviation * (random.exponential(1, n) - 1)
    )


def outliers(deviation: float) -> Draw:
    """Return noise of which a tenth is eight deviations slower."""
    return lambda random, n: numpy.exp(
        random.normal(0, deviation, n)
        + 8 * deviation * ((random.random(n) < 0.1) - 0.1)
    )


def booted(deviation: float, boots: float, *, each: bool) -> Draw:
    """Return noise with the difference of a boot.

    :param each: True if each repetition is another boot.
    """
    return lambda random, n: numpy.exp(
        random.normal(0, boots, n if each else 1)
        + random.normal(0, deviation, n)
    )


def bimodal(random: t.Any, n: int) -> t.Any:
    """Return noise of which 30 % is slower by 5 %."""
    slow = numpy.log(1.05) * ((random.random(n) < 0.3) - 0.3)
    return numpy.exp(random.normal(0, 0.005, n) + slow)


def bucket(values: t.Any) -> t.Any:
    """Return the middles of the buckets of a histogram for values."""
    growth = 1.01 / 0.99
    number = numpy.ceil(numpy.log(values) / numpy.log(growth))
    return 2 * growth**number / (growth + 1)


def overhead(
    name: str,
    sizes: tuple[int, int],
    bare: Draw,
    guest: Draw,
    *,
    trials: int,
    metric: sample.Metric = TIME,
    rounded: collections.abc.Callable[[t.Any], t.Any] = numpy.asarray,
    base: float | None = 1.0,
    guests: int = 1,
) -> Result:
    """Return how often overhead at the limit is decided.

    :param sizes: The numbers of repetitions of bare metal, and of the guest.
    :param rounded: The function by which the tool rounds its values.
    :param base: The seconds on bare metal; None for another time of 10 to 40
        in each trial.
    :param guests: The number of guests, and of copies on bare metal.
    """
    random = numpy.random.default_rng(7)
    number: collections.Counter[str] = collections.Counter()
    for _ in range(trials):
        seconds = random.uniform(10, 40) if base is None else base
        reference_times = rounded(seconds * bare(random, sizes[0] * guests))
        slower = seconds * (1 + LIMIT / 100)
        guest_times = rounded(slower * guest(random, sizes[1] * guests))
        estimate = loss.compare(
            metric,
            reference_times.reshape(-1, guests).tolist(),
            guest_times.reshape(-1, guests).tolist(),
        )
        number[verdict.decide(estimate, LIMIT)] += 1
        if estimate.low is not None and estimate.high is not None:
            number["covered"] += estimate.low <= LIMIT <= estimate.high
        number["flagged"] += bool(estimate.departures)
    return Result(
        name=name,
        trials=trials,
        passed=100 * number["passed"] / trials,
        failed=100 * number["failed"] / trials,
        coverage=100 * number["covered"] / trials,
        flagged=100 * number["flagged"] / trials,
    )


def density(
    name: str,
    guests: int,
    count: int,
    *,
    trials: int,
    statistic: str = "mean",
    truth: float = LIMIT,
    tau: float = 0.0,
    shared: float = 0.0,
    deviation: float = 0.02,
    level: Draw | None = None,
) -> Result:
    """Return how often a level of guests is decided.

    One of them is alone in each repetition, or each of them is, for the worst.

    :param truth: The loss of each guest, in percent.
    :param tau: The lasting difference between guests.
    :param shared: The noise of a whole repetition.
    :param level: The noise of all guests at once, without the solo guest.
    """
    random = numpy.random.default_rng(7)
    number: collections.Counter[str] = collections.Counter()
    each = statistic == "worst"
    for _ in range(trials):
        factors = numpy.exp(random.normal(0, tau, guests))
        curves = []
        for place in range(1, count + 1):
            common = numpy.exp(random.normal(0, shared))
            noise = numpy.exp(random.normal(0, deviation, 2 * guests))
            alone = 100 * factors * noise[:guests] * common
            if not each:
                index = (place - 1) % guests
                alone = alone[index : index + 1]
            crowd = 100 * factors * noise[guests:] * common * (1 - truth / 100)
            if level is not None:
                crowd /= level(random, 1)
            curves.append(
                made.repetition(
                    place,
                    [
                        made.level(
                            place,
                            1,
                            {RATE: alone.tolist()},
                            batches=guests if each else 1,
                        ),
                        made.level(place, guests, {RATE: crowd.tolist()}),
                    ],
                    planned_repetitions=count,
                    hosts={},
                )
            )
        got = made.degradation(curves, {"*": LIMIT}, statistic=statistic)
        (row,) = got.curves
        number[row.statuses[guests]] += 1
        estimate = row.points[-1].loss
        number["covered"] += estimate.low <= truth <= estimate.high
        kinds = {finding.finding.kind for finding in row.findings}
        number["flagged"] += not kinds.isdisjoint(("skewed", "bimodal"))
    return Result(
        name=name,
        trials=trials,
        passed=100 * number["passed"] / trials,
        failed=100 * number["failed"] / trials,
        coverage=(
            100 * number["covered"] / trials if statistic == "mean" else None
        ),
        flagged=None if level is None else 100 * number["flagged"] / trials,
    )


def _curve(place: int, count: int, rates: dict[int, t.Any]) -> t.Any:
    """Return a repetition with the rates of each guest at each level."""
    levels = [
        made.level(
            place, guests, {RATE: numpy.atleast_1d(level_rates).tolist()}
        )
        for guests, level_rates in rates.items()
    ]
    return made.repetition(place, levels, planned_repetitions=count, hosts={})


def stopped(name: str, count: int, *, trials: int, stop: bool) -> Result:
    """Return how often the highest of three levels is decided.

    Four guests lose what the limit is. Two lose nearly as much, and in two of
    five repetitions a neighbour takes from all but the solo guest, so that the
    third level runs where the second was lucky.
    """
    random = numpy.random.default_rng(7)
    rule = levels_.StopRule(max_percent=verdict.Limits({"*": LIMIT}))
    number: collections.Counter[str] = collections.Counter()
    truth = {1: 0.0, 2: 0.95 * LIMIT, 4: LIMIT}
    for _ in range(trials):
        repetitions: list[list[levels_.Level]] = []
        curves = []
        for place in range(1, count + 1):
            neighbour = 0.06 * ((random.random() < 0.4) - 0.4)
            rates: dict[int, t.Any] = {}
            repetitions.append([])
            skip_reason = ""
            for guests, lost in truth.items():
                noise = numpy.exp(random.normal(0, 0.01, guests))
                if guests > 1:
                    noise *= numpy.exp(-neighbour)
                if skip_reason:
                    continue
                rates[guests] = 100 * noise * (1 - lost / 100)
                level = made.level(
                    place, guests, {RATE: rates[guests].tolist()}
                )
                repetitions[-1].append(
                    levels_.Level(guests, level.observations)
                )
                skip_reason = rule.find_reason(repetitions) if stop else ""
            curve = _curve(place, count, rates)
            if skip_reason and 4 not in rates:
                left_out = made.level(
                    place,
                    4,
                    {},
                    state="skipped",
                    skip_reason=skip_reason,
                    machines=(),
                )
                curve = dataclasses.replace(
                    curve, conditions=(*curve.conditions, left_out)
                )
            curves.append(curve)
        (row,) = made.degradation(curves, {"*": LIMIT}).curves
        number[row.statuses.get(4, "inconclusive")] += 1
    return Result(
        name=name,
        trials=trials,
        passed=100 * number["passed"] / trials,
        failed=100 * number["failed"] / trials,
    )


Speed = collections.abc.Callable[[int], float]


def contended(contention: float, coherency: float) -> Speed:
    """Return the rate of each guest, by number of guests that contend."""
    return lambda n: 1 / (1 + contention * (n - 1) + coherency * n * (n - 1))


def edge(guests: int) -> float:
    """Return the rate of each guest of one vCPU on eight processors."""
    return min(1.0, 8 / guests) * (1 - 0.01 * (guests - 1))


def largest(
    name: str,
    speed: Speed,
    tested: tuple[int, ...],
    limit: float,
    *,
    trials: int,
) -> Result:
    """Return how often the largest number of guests is wrong.

    Passed stands for too many guests, and failed for too few.
    """
    random = numpy.random.default_rng(7)
    truth = max(n for n in range(1, 99) if 100 * (1 - speed(n)) <= limit)
    number: collections.Counter[str] = collections.Counter()
    for _ in range(trials):
        curves = [
            _curve(
                place,
                5,
                {
                    n: 100 * speed(n) * numpy.exp(random.normal(0, 0.02, n))
                    for n in tested
                },
            )
            for place in range(1, 6)
        ]
        (row,) = made.degradation(curves, {"*": limit}).curves
        max_guests = row.max_guests
        number["over"] += (max_guests.low or 0) > truth
        number["under"] += (
            max_guests.high is not None and max_guests.high < truth
        )
    return Result(
        name=name,
        trials=trials,
        passed=100 * number["over"] / trials,
        failed=100 * number["under"] / trials,
    )


def fairness(
    name: str,
    guests: int,
    count: int,
    *,
    trials: int,
    differ: float = 0.0,
    half: bool = False,
) -> Result:
    """Return how often guests that share as the limit says are decided.

    :param differ: The lasting difference of the first and the last from the
        mean, as a share; the others are in between.
    :param half: True if the limit is at twice the coefficient of variation.
    """
    random = numpy.random.default_rng(7)
    middle = numpy.linspace(1 - differ, 1 + differ, guests)
    noise = 0.02 if differ else 0.05
    rates = random.normal(middle, noise, (100000, guests))
    true = float((rates.std(1) / rates.mean(1)).mean())
    limit = fairness_.index(2 * true if half else true)
    number: collections.Counter[str] = collections.Counter()
    for _ in range(trials):
        drawn = 100 * random.normal(middle, noise, (count, guests))
        curves = [
            _curve(place, count, {guests: drawn[place - 1]})
            for place in range(1, count + 1)
        ]
        (row,) = made.fairness(curves, {"*": limit}).curves
        number[row.statuses[guests]] += 1
    return Result(
        name=name,
        trials=trials,
        passed=100 * number["passed"] / trials,
        failed=100 * number["failed"] / trials,
    )


def comparison(
    name: str,
    sizes: tuple[int, ...],
    *,
    trials: int,
    margin: float = 0.0,
    truth: float = 0.0,
    metrics: int = 30,
    draw: Draw | None = None,
) -> Result:
    """Return how often runs that are equal have any metric that is not.

    Passed stands for any better metric, and failed for any worse one.

    :param sizes: The numbers of repetitions of each run.
    :param truth: The loss of the last run in each metric, in percent; at most
        the margin.
    """
    random = numpy.random.default_rng(7)
    draw = draw or normal(0.02)
    number: collections.Counter[str] = collections.Counter()
    names = [
        dataclasses.replace(TIME, name=f"x.m{place}.time")
        for place in range(metrics)
    ]
    margins = verdict.Limits({"*": margin})
    for _ in range(trials):
        runs = []
        for place, size in enumerate(sizes, 1):
            slower = 1 + truth / 100 if place == len(sizes) else 1.0
            samples = {
                ("", metric): sample.create_samples(
                    metric,
                    (slower * draw(random, size)).reshape(-1, 1).tolist(),
                )
                for metric in names
            }
            runs.append(changes.RunSamples(name=str(place), samples=samples))
        number.update(
            {*map(changes.classify, changes.compare_runs(runs, margins))}
        )
    return Result(
        name=name,
        trials=trials,
        passed=100 * number["better"] / trials,
        failed=100 * number["worse"] / trials,
    )


def _variant(
    place: int, name: str, values: dict[sample.Metric, float]
) -> repetition.Condition:
    """Return what one guest of a variant measured."""
    return repetition.Condition(
        axes={repetition.VARIANT: name},
        position=1,
        state="complete",
        number=place,
        expected_metrics=(*values,),
        machines=(name,),
        observations=tuple(
            sample.Observation(name, sample.Sample(metric, value))
            for metric, value in values.items()
        ),
    )


def tuning(
    name: str,
    count: int,
    *,
    trials: int,
    order: model.OrderKind = "blocks",
    drift: float = 0.0,
    draw: Draw | None = None,
    variants: int = 5,
    metrics: int = 10,
    boots: float = 0.0,
    is_rebooted: bool = True,
) -> Result:
    """Return how often equal variants have any metric that differs.

    Passed stands for any gain and failed for any loss; coverage is how often
    no metric of any variant differs.

    :param drift: The loss of rates from repetition to repetition, in percent.
    :param boots: The difference between boots, in percent, for all metrics.
    :param is_rebooted: True if each repetition is another boot.
    """
    random = numpy.random.default_rng(7)
    draw = draw or normal(0.02)
    number: collections.Counter[str] = collections.Counter()
    bias = 0.0
    rates = [
        dataclasses.replace(RATE, name=f"x.m{place}.rate")
        for place in range(metrics)
    ]
    all_axes = [{repetition.VARIANT: f"v{place}"} for place in range(variants)]
    planned = [conditions.PlannedCondition(axes=axis) for axis in all_axes]
    slower = math.log1p(-drift / 100)
    for _ in range(trials):
        judge = judges.Judge(axes.VARIANTS.rules)
        seed = int(random.integers(1 << 31))
        ages = numpy.zeros((count, variants))
        booted = numpy.zeros((count, variants))
        if boots:
            booted += random.normal(
                0, boots / 100, (count if is_rebooted else 1, variants)
            )
        for place in range(1, count + 1):
            ordered = conditions.order_conditions(
                planned, model.Order(kind=order, seed=seed), place
            )
            ages[place - 1] = [
                place - 1 + ordered.index(condition) / variants
                for condition in planned
            ]
            drawn = draw(random, variants * metrics).reshape(variants, -1)
            logs = slower * ages[place - 1] + booted[place - 1]
            values = 100 * drawn * numpy.exp(logs)[:, None]
            judge.add(
                made.repetition(
                    place,
                    [
                        _variant(
                            place,
                            str(axis[repetition.VARIANT]),
                            dict(zip(rates, row, strict=True)),
                        )
                        for axis, row in zip(
                            all_axes, values.tolist(), strict=True
                        )
                    ],
                    planned_repetitions=count,
                    hosts={},
                )
            )
        older = ages.mean(0) - ages.mean(0)[0]
        bias = max(bias, float(abs(numpy.expm1(slower * older)).max()))
        judgement = judge.judgement()
        statuses = {
            changes.classify(change)
            for change in gains.list_changes(
                judgement.rows, judgement.confidence
            )
        }
        number.update(statuses)
        number["none"] += statuses.isdisjoint(("better", "worse"))
    return Result(
        name=name,
        trials=trials,
        passed=100 * number["better"] / trials,
        failed=100 * number["worse"] / trials,
        coverage=100 * number["none"] / trials,
        bias=100 * bias if drift else None,
    )


def equal_variants(scale: float = 1.0) -> collections.abc.Iterator[Result]:
    """Yield the results of equal variants, with and without drift.

    :param scale: The factor on the number of trials.
    """
    many, few = int(2000 * scale), int(300 * scale)
    for count, trials in ((3, many), (5, many), (10, 4 * many)):
        yield tuning(f"5 variants, 10 metrics, {count}", count, trials=trials)
    yield tuning(
        "5 variants, 10 skewed metrics, 5", 5, trials=many, draw=skewed(0.02)
    )
    for boots, is_rebooted in ((0.5, False), (0.5, True), (1.0, True)):
        each = "each" if is_rebooted else "one for all"
        yield tuning(
            f"3 variants, boots of {boots:g} %, {each}, 6",
            6,
            trials=many,
            draw=normal(0.005),
            variants=3,
            boots=boots,
            is_rebooted=is_rebooted,
        )
    orders: tuple[model.OrderKind, ...] = ("blocks", "shuffled", "listed")
    for count in (3, 5, 7, 10):
        for order in orders:
            yield tuning(
                f"5 variants, drift of 1 %, {order}, {count}",
                count,
                trials=few,
                order=order,
                drift=1.0,
                draw=normal(0.005),
            )


def boots(trials: int) -> collections.abc.Iterator[Result]:
    """Yield how often overhead is decided if boots differ."""
    for difference in (0.002, 0.005, 0.01):
        once, each = (
            booted(0.003, difference, each=each) for each in (False, True)
        )
        for what, bare, guest in (
            ("1 and 1", once, once),
            ("1 and 5", once, each),
            ("5 and 5", each, each),
        ):
            yield overhead(
                f"{what} boots that differ by {100 * difference:g} %, 5",
                (5, 5),
                bare,
                guest,
                trials=trials,
            )


def every(scale: float = 1.0) -> collections.abc.Iterator[Result]:
    """Yield the results of all settings.

    :param scale: The factor on the number of trials.
    """
    yield from equal_variants(scale)
    many, few = int(4000 * scale), int(300 * scale)
    for sizes in ((5, 5), (3, 5), (5, 3), (3, 3), (5, 5, 5)):
        shown = " and ".join(map(str, sizes))
        yield comparison(f"runs, 30 metrics, {shown}", sizes, trials=many // 2)
        yield comparison(
            f"runs, 30 at the margin, {shown}",
            sizes,
            trials=many // 2,
            margin=5.0,
            truth=5.0,
        )
    yield comparison(
        "runs, 30 skewed metrics, 5 and 5",
        (5, 5),
        trials=many // 2,
        draw=skewed(0.02),
    )
    two = normal(0.02)
    for n in (3, 5, 8, 15, 30):
        name = f"normal, {n} and {n} repetitions"
        yield overhead(name, (n, n), two, two, trials=many)
    for sizes in ((3, 15), (15, 3), (5, 15), (30, 5)):
        name = f"normal, {sizes[0]} and {sizes[1]} repetitions"
        yield overhead(name, sizes, two, two, trials=many)
    yield from boots(many)
    for n in (3, 5, 8, 15):
        name = f"guest varies four times as much, {n}"
        yield overhead(name, (n, n), normal(0.01), normal(0.04), trials=many)
    for n in (5, 10, 15, 30):
        name = f"side of 3 varies four times as much, {n}"
        yield overhead(
            name, (n, 3), normal(0.01), normal(0.04), trials=5 * many
        )
    kinds: tuple[tuple[str, str, Draw], ...] = (
        ("skewed guest", "skewed", skewed(0.03)),
        ("outliers of the guest", "outliers", outliers(0.01)),
        ("two states of the guest", "two states", bimodal),
    )
    for what, _, draw in kinds:
        for n in (5, 8, 15):
            yield overhead(
                f"{what}, {n}", (n, n), normal(0.005), draw, trials=many
            )
    quiet = normal(0.002)
    fine_metric = dataclasses.replace(TIME, resolution=0.01)
    for what, metric in (("known", fine_metric), ("unknown", TIME)):
        for base in (70e-6, 100e-6, 250e-6):
            yield overhead(
                f"rounded by 1 %, {what}, {base * 1e6:g} us, 5",
                (5, 5),
                quiet,
                quiet,
                trials=many,
                metric=metric,
                rounded=bucket,
                base=base,
            )
    for guests in (1, 4, 8):
        yield overhead(
            f"whole seconds of {guests} of 10 to 40 s, 5",
            (5, 5),
            normal(0.01),
            normal(0.01),
            trials=many // 2,
            rounded=numpy.round,
            base=None,
            guests=guests,
        )
    for guests in (2, 4, 8):
        yield density(
            f"mean of {guests} that differ by 2 % for good, 8",
            guests,
            8,
            trials=few,
            tau=0.02,
            deviation=0.01,
        )
    yield density(
        "mean of 4, repetitions disturbed by 8 %, 5",
        4,
        5,
        trials=few,
        shared=0.08,
    )
    for _, what, draw in kinds:
        for n in (5, 8, 15):
            yield density(
                f"mean of 4, {what}, {n}",
                4,
                n,
                trials=many // 2,
                deviation=0.005,
                level=draw,
            )
    for guests, count in ((8, 5), (8, 10), (32, 10)):
        yield density(
            f"worst of {guests}, {count}",
            guests,
            count,
            trials=10 * few,
            statistic="worst",
        )
        yield density(
            f"worst of {guests}, {count}, truth at half the limit",
            guests,
            count,
            trials=few,
            statistic="worst",
            truth=LIMIT / 2,
        )
    for stop in (False, True):
        name = "with stop" if stop else "without stop"
        yield stopped(f"third level, {name}, 8", 8, trials=few, stop=stop)
    shared = contended(0.05, 0.01)
    at_four = 100 * (1 - shared(4)) - 1e-6
    for what, speed, tested, limit in (
        ("contention, between levels", shared, (1, 2, 4, 8), 15.0),
        ("contention, at a level", shared, (1, 2, 4, 8), at_four),
        ("eight processors", edge, (1, 2, 4, 6), 15.0),
        ("eight processors, at a level", edge, (1, 4, 8, 10), 7 - 1e-6),
    ):
        yield largest(
            f"largest number, {what}",
            speed,
            tested,
            limit,
            trials=max(few, 200),
        )
    for guests, count in ((2, 3), (2, 5), (3, 5), (8, 5), (8, 10)):
        yield fairness(
            f"fairness of {guests} guests, {count}",
            guests,
            count,
            trials=many // 2,
        )
    for guests in (2, 8):
        yield fairness(
            f"fairness of {guests} that differ for good, 5",
            guests,
            5,
            trials=many // 2,
            differ=0.05,
        )
    for guests in (2, 3, 8):
        yield fairness(
            f"fairness of {guests}, 10, truth at half the limit",
            guests,
            10,
            trials=few,
            half=True,
        )
    yield from events(many)


def events(trials: int) -> collections.abc.Iterator[Result]:
    """Yield how often the true figures of an event are in the intervals."""
    slow: dict[str, float] = {"round_trip": 0.03, "drift": 1e-3}
    for what, noise, options in (("", 0.02, {}), (", rough", 0.08, slow)):
        figures = event.simulate(trials, noise=noise, **options)
        for name, (coverage, passed, failed) in figures.items():
            yield Result(
                name=f"migration, {name}{what}",
                trials=trials,
                coverage=coverage,
                passed=passed,
                failed=failed,
            )
    noisy = {
        "correlation .5": {"correlation": 0.5},
        "correlation .8": {"correlation": 0.8},
        "drift of -.1 % a second": {"drift": -1e-3},
    }
    for what, sources in noisy.items():
        found = event.find_false_dips(trials, noise=0.05, **sources)
        yield Result(
            name=f"migration, no dip, {what}",
            trials=trials,
            coverage=100 - found,
            passed=100 - found,
            failed=found,
        )
    few = max(1, trials // 4)
    for what, lost in (("a healthy cloud", 0.0), ("a loss of 20 %", 20.0)):
        statuses = event.judge_shipped_task(few, loss_after=lost)
        yield Result(
            name=f"live-migration.yaml, {what}",
            trials=few,
            coverage=math.nan,
            passed=statuses["passed"],
            failed=statuses["failed"],
        )


def main() -> None:
    """Print the table while it is made."""
    print(
        f"{'setting, repetitions':<46}{'trials':>7}{'coverage':>10}"
        f"{'passed':>8}{'failed':>8}{'flagged':>9}{'bias':>6}",
        flush=True,
    )
    for result in every(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0):
        print(result.line(), flush=True)


if __name__ == "__main__":
    main()
