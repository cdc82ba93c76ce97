# SPDX-License-Identifier: Apache-2.0
"""Verdicts on one of several guests, by each criterion, in simulated runs.

The noises are those of the disk and the CPU in the simulation of the shipped
task. One guest loses a multiple of the limit and the others lose half of it,
or guests lose a multiple by turns and nothing else.
"""

import argparse
import collections
import collections.abc
import dataclasses
import functools
import typing as t

import numpy

from rally_vmperf.judging import summary
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.common import question
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.event import question as migration
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import question as tuning
from tests.bench import shipped_task
from tests.bench import verdicts
from tests.unit import made

#: The limit of a loss in percent, and that of a spread.
LIMIT, SPREAD_LIMIT = 10.0, 5.0
GUESTS = (2, 4, 8, 32)
REPETITIONS = 6
#: The name and the part of each noise: less noise decides as the usual one.
NOISES = (("usual", "disk"), ("rough", "disk"))
#: The multiple of the limit that all guests lose, but for one.
EQUAL = 0.5
#: The multiple of guests that are equal and close to the limit.
NEAR = 0.9
#: The multiples that one guest loses, and the status that is wrong under
#: ``worst``.
WRONG = {EQUAL: "failed", NEAR: "failed", 1.1: "passed", 2.0: "passed"}
#: Victims by turns: the noise, their multiples of the limit, the numbers of
#: guests and of repetitions. The other guests of a repetition lose nothing.
TURNS_NOISE = ("usual", "disk")
TURNS = (1.5, 2.0)
TURNS_GUESTS = (4, 32)
TURNS_REPETITIONS = (6, 10, 15)

#: The values of guests, by repetition and guest.
Table = t.Any
Conditions = collections.abc.Iterable[repetition.Condition]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A criterion with a limit, and runs of several guests for it.

    :param options: The options of the criterion, but for ``statistic``.
    :param draw: A function that returns the conditions of each repetition,
        from a source of random numbers, the noise, and the losses in percent
        by repetition and guest.
    :param has_worst: Whether the criterion can judge the worst guest.
    """

    criterion: question.Criterion
    options: dict[str, t.Any]
    draw: t.Callable[..., list[Conditions]]
    has_worst: bool = True

    def judge(
        self, runs: list[Conditions], statistic: str
    ) -> summary.Judgement:
        """Return the verdict on the conditions of each repetition."""
        options = {**self.options, "statistic": statistic}
        run_judge = self.criterion.parse(options).create_judge()
        for number, conditions in enumerate(runs, 1):
            run_judge.add(
                made.repetition(
                    number,
                    conditions,
                    planned_repetitions=len(runs),
                    hosts={},
                )
            )
        return run_judge.judgement()


def _draw_values(
    random: t.Any,
    noise: float,
    losses: Table,
    metric: sample.Metric = verdicts.RATE,
) -> Table:
    """Return values of guests that vary independently."""
    ratios = loss.ratio(metric, losses)
    return 100 * ratios * numpy.exp(random.normal(0, noise, losses.shape))


def _draw_alone(
    random: t.Any,
    noise: float,
    losses: Table,
    *,
    metric: sample.Metric = verdicts.RATE,
    has_bare_metal: bool = False,
) -> list[Conditions]:
    """Return one condition for each repetition."""
    changes = {}
    if has_bare_metal:
        bare = _draw_values(random, noise, numpy.zeros(len(losses)), metric)
        changes["reference"] = made.reference({metric: bare.tolist()})
    table = _draw_values(random, noise, losses, metric)
    return [
        [made.build_condition(number, {metric: values.tolist()}, **changes)]
        for number, values in enumerate(table, 1)
    ]


def _draw_levels(
    random: t.Any, noise: float, losses: Table, *, reference: str
) -> list[Conditions]:
    """Return a level of all guests, with its reference.

    :param reference: ``all`` if each guest is also alone, ``one`` if the first
        one is, and ``bare metal``.
    """
    count, guests = losses.shape
    batches = guests if reference == "all" else 1
    changes = {}
    if reference == "bare metal":
        bare = _draw_values(random, noise, numpy.zeros(count))
        changes["reference"] = made.reference(
            {verdicts.RATE: bare.tolist()}, guests
        )
    table = _draw_values(random, noise, losses)
    alone = _draw_values(random, noise, numpy.zeros((count, batches)))
    runs: list[Conditions] = []
    for number, (solo, values) in enumerate(zip(alone, table, strict=True), 1):
        level = made.level(
            number, guests, {verdicts.RATE: values.tolist()}, **changes
        )
        solo_level = made.level(
            number, 1, {verdicts.RATE: solo.tolist()}, batches=batches
        )
        runs.append([level] if changes else [solo_level, level])
    return runs


def _draw_pairs(
    random: t.Any, noise: float, losses: Table, *, axis: str, names: t.Any
) -> list[Conditions]:
    """Return conditions along an axis, of which the last one has the losses.

    :param names: The values of the axis.
    """
    tables = [
        _draw_values(
            random, noise, losses if name == names[-1] else 0 * losses
        )
        for name in names
    ]
    return [
        [
            made.build_condition(
                number, {verdicts.RATE: values.tolist()}, axes={axis: name}
            )
            for name, values in zip(names, by_name, strict=True)
        ]
        for number, by_name in enumerate(zip(*tables, strict=True), 1)
    ]


def _draw_spreads(
    random: t.Any, noise: float, spreads: Table, *, is_range: bool
) -> list[Conditions]:
    """Return one condition for each repetition.

    :param spreads: The true coefficient of variation of each guest in percent,
        or the range that its values have.
    """
    del noise
    deviations = numpy.sqrt(numpy.log1p((spreads / 100) ** 2))
    table = 100 * numpy.exp(random.normal(0, deviations))
    for guest, values in enumerate(table.T if is_range else ()):
        drawn = statistics.find_spread(values.tolist())
        factor = spreads[0, guest] / (drawn.range_percent if drawn else 1)
        mean = values.mean()
        table[:, guest] = mean + factor * (values - mean)
    return [
        [made.build_condition(number, {verdicts.RATE: values.tolist()})]
        for number, values in enumerate(table, 1)
    ]


_PERCENT = {"max_percent": {"*": LIMIT}}
#: The criteria that limit losses, or values.
LOSSES = {
    "overhead": Case(
        criterion=overhead.OVERHEAD,
        options=_PERCENT,
        draw=functools.partial(_draw_alone, has_bare_metal=True),
    ),
    "min": Case(
        criterion=overhead.OVERHEAD,
        options={"min": {"*": 100 - LIMIT}},
        draw=_draw_alone,
    ),
    "max": Case(
        criterion=overhead.OVERHEAD,
        options={"max": {"*": 100 + LIMIT}},
        draw=functools.partial(_draw_alone, metric=verdicts.TIME),
    ),
    "degradation, each guest alone": Case(
        criterion=density.DEGRADATION,
        options=_PERCENT,
        draw=functools.partial(_draw_levels, reference="all"),
    ),
    "degradation, one guest alone": Case(
        criterion=density.DEGRADATION,
        options=_PERCENT,
        draw=functools.partial(_draw_levels, reference="one"),
        has_worst=False,
    ),
    "degradation, bare metal": Case(
        criterion=density.DEGRADATION,
        options={**_PERCENT, "compare_to": "bare_metal"},
        draw=functools.partial(_draw_levels, reference="bare metal"),
    ),
    "neighbours": Case(
        criterion=neighbours.CRITERION,
        options=_PERCENT,
        draw=functools.partial(_draw_pairs, axis="neighbours", names=(0, 2)),
    ),
    "tuning": Case(
        criterion=tuning.TUNING,
        options={"max_loss_percent": {"tuned": {"*": LIMIT}}},
        draw=functools.partial(
            _draw_pairs, axis="variant", names=("plain", "tuned")
        ),
    ),
    "after a migration": Case(
        criterion=migration.DISRUPTION,
        options={"max_loss_after_percent": LIMIT},
        draw=functools.partial(
            _draw_pairs,
            axis=phases.AXIS,
            names=("before", "during", "after"),
        ),
    ),
}
#: The criteria that limit the spread of repetitions, whose noise it is.
SPREADS = {
    "coefficient of variation": Case(
        criterion=overhead.SPREAD,
        options={"max_cv_percent": {"*": SPREAD_LIMIT}},
        draw=functools.partial(_draw_spreads, is_range=False),
    ),
    "range": Case(
        criterion=overhead.SPREAD,
        options={"max_range_percent": {"*": SPREAD_LIMIT}},
        draw=functools.partial(_draw_spreads, is_range=True),
    ),
}
#: The criteria of victims by turns, one for each way of comparing.
BY_TURNS = (
    "overhead",
    "min",
    "degradation, each guest alone",
    "neighbours",
)


def one_guest(
    guests: int, multiple: float, repetitions: int = REPETITIONS
) -> Table:
    """Return multiples of the limit, of which the first guest has another."""
    multiples = numpy.full((repetitions, guests), EQUAL)
    multiples[:, 0] = multiple
    return multiples


def take_turns(
    guests: int, multiple: float, repetitions: int, victims: int
) -> Table:
    """Return multiples of the limit that guests have by turns, else 0."""
    multiples = numpy.zeros((repetitions, guests))
    for number in range(repetitions):
        for victim in range(victims):
            multiples[number, (number * victims + victim) % guests] = multiple
    return multiples


def simulate(
    case: Case,
    noise: float,
    multiples: Table,
    trials: int,
    statistics: collections.abc.Collection[str] = ("mean", "worst"),
) -> dict[str, float]:
    """Return how often runs have a status under ``worst``, in percent.

    The key ``differ`` is the share of runs under ``mean`` that have
    ``guests_differ``, or in which the mean itself fails.

    :param multiples: The multiples of the limit, by repetition and guest.
    """
    random = numpy.random.default_rng(7)
    count: collections.Counter[str] = collections.Counter()
    limit = SPREAD_LIMIT if case in SPREADS.values() else LIMIT
    for _ in range(trials):
        runs = case.draw(random, noise, limit * multiples)
        if "mean" in statistics:
            judged = case.judge(runs, "mean")
            count["differ"] += judged.status == "failed" or any(
                run_finding.finding.kind == "guests_differ"
                for run_finding in judged.findings
            )
        if "worst" in statistics and case.has_worst:
            (row,) = case.judge(runs, "worst").limited
            count[str(row.status)] += 1
    return {
        name: 100 * count[name] / trials
        for name in ("differ", *shipped_task.STATUSES)
    }


def describe_one_guest(
    case: Case, noise: float, guests: int, trials: int
) -> str:
    """Return the figures on one of several guests as text."""
    shares = {
        multiple: simulate(
            case,
            noise,
            one_guest(guests, multiple),
            trials,
            [
                *(["mean"] if multiple in (NEAR, 2.0) else []),
                "worst",
            ],
        )
        for multiple in WRONG
    }
    differ = f"{shares[2.0]['differ']:.0f}/{shares[NEAR]['differ']:.0f}"
    if not case.has_worst:
        return f"- {differ}"
    wrong = max(shares[multiple][WRONG[multiple]] for multiple in WRONG)
    return (
        f"{shares[EQUAL]['passed']:.0f}/{shares[2.0]['failed']:.0f}/"
        f"{wrong:.0f} {differ}"
    )


def _print_row(title: str, cells: collections.abc.Iterable[str]) -> None:
    """Print a row while its cells are made."""
    print(
        f"{title:<30}" + "".join(f"{cell:>18}" for cell in cells), flush=True
    )


def print_one_guest(
    title: str, cases: dict[str, Case], noise: float, trials: int
) -> None:
    """Print the table of one of several guests."""
    print(
        f"{title}, {REPETITIONS} repetitions, % of {trials} runs\n"
        "worst: 0.5 x passed/2 x failed/wrong; mean: differ at 2 x/0.9 x"
    )
    _print_row("guests:", map(str, GUESTS))
    for name, case in cases.items():
        _print_row(
            name,
            (
                describe_one_guest(case, noise, guests, trials)
                for guests in GUESTS
            ),
        )
    print()


def print_equal(title: str, noise: float, trials: int) -> None:
    """Print how often equal guests close to the limit seem to differ."""
    print(f"{title}, all lose {NEAR:g} x, mean: differ, % of {trials} runs")
    _print_row("guests:", map(str, GUESTS))
    for name in BY_TURNS:
        _print_row(
            name,
            (
                f"{shares['differ']:.0f}"
                for shares in (
                    simulate(
                        LOSSES[name],
                        noise,
                        numpy.full((REPETITIONS, guests), NEAR),
                        trials,
                        ["mean"],
                    )
                    for guests in GUESTS
                )
            ),
        )
    print()


def print_turns(title: str, noise: float, trials: int) -> None:
    """Print the table of victims by turns."""
    print(
        f"{title}, victims by turns, worst: passed; mean: differ, % of "
        f"{trials} runs"
    )
    for is_half in (False, True):
        for multiple in TURNS:
            victims = "half of them" if is_half else "one of them"
            print(f"{victims}, {multiple:g} x, guests and repetitions:")
            sizes = [
                (guests, repetitions)
                for guests in TURNS_GUESTS
                for repetitions in TURNS_REPETITIONS
            ]
            print(
                f"{'':<30}" + "".join(f"{f'{n} x {m}':>9}" for n, m in sizes)
            )
            for name in BY_TURNS:
                cells = []
                for guests, repetitions in sizes:
                    shares = simulate(
                        LOSSES[name],
                        noise,
                        take_turns(
                            guests,
                            multiple,
                            repetitions,
                            guests // 2 if is_half else 1,
                        ),
                        trials,
                    )
                    cells.append(
                        f"{shares['passed']:.0f}/{shares['differ']:.0f}"
                    )
                print(
                    f"{name:<30}" + "".join(f"{cell:>9}" for cell in cells),
                    flush=True,
                )
    print()


def main() -> None:
    """Print the tables of all noises and of spreads, or some of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trials", type=int, default=100, help="runs in each cell; 100"
    )
    tables = {f"{name} {part}": (name, part) for name, part in NOISES}
    parser.add_argument(
        "--table",
        action="append",
        choices=[*tables, "spread", "turns"],
        help="all by default",
    )
    parsed = parser.parse_args()
    for table in parsed.table or [*tables, "spread", "turns"]:
        if table == "spread":
            title = f"spread, limit {SPREAD_LIMIT:g} %"
            print_one_guest(title, SPREADS, 0, parsed.trials)
            continue
        name, part = tables.get(table, TURNS_NOISE)
        percent = shipped_task.NOISES[name][part]
        title = f"{name} noise of {part} ({percent:g} %), limit {LIMIT:g} %"
        if table == "turns":
            print_turns(title, percent / 100, parsed.trials)
        else:
            print_one_guest(title, LOSSES, percent / 100, parsed.trials)
            print_equal(title, percent / 100, parsed.trials)


if __name__ == "__main__":
    main()
