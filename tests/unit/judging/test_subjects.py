# SPDX-License-Identifier: Apache-2.0
"""Whom a verdict speaks of: each guest counts, whatever the criterion is."""

import dataclasses
import unittest

import ddt
import numpy

from rally_vmperf.judging.results import result
from rally_vmperf.measurement.event import phases
from rally_vmperf.questions import compared_run
from rally_vmperf.questions.common import neighbours
from rally_vmperf.questions.density import question as density
from rally_vmperf.questions.event import question as migration
from rally_vmperf.questions.overhead import question as overhead
from rally_vmperf.questions.tuning import question as tuning
from tests.unit import made

#: A small noise, different in each repetition and guest.
NOISE = 0.002
#: Guests of which one has less than half of the rate of the others.
STARVED = (100, 100, 100, 45)


def vary(number, rates):
    """Return the rates of guests in a repetition, with noise."""
    random = numpy.random.default_rng(number)
    return [
        float(rate * factor)
        for rate, factor in zip(
            rates, numpy.exp(random.normal(0, NOISE, len(rates))), strict=True
        )
    ]


def build(sides, repetitions=6, metric=made.IOPS, **changes):
    """Return repetitions with a condition for each side.

    :param sides: The axes, and a function that returns the rates of guests in
        a repetition; or the rates.
    """
    entries = []
    for number in range(1, repetitions + 1):
        conditions = []
        for place, (axes, rates) in enumerate(sides):
            values = rates(number) if callable(rates) else rates
            conditions.append(
                made.build_condition(
                    number,
                    {metric: vary(number + 100 * place, values)},
                    axes=axes,
                    **changes,
                )
            )
        entries.append(
            made.repetition(
                number, conditions, planned_repetitions=repetitions
            )
        )
    return entries


def rename_guests(entry):
    """Return a repetition whose last condition has guests of other names."""
    *first, last = entry.conditions
    last = dataclasses.replace(
        last,
        machines=tuple(f"other-{name}" for name in last.machines),
        observations=tuple(
            dataclasses.replace(
                observation, source=f"other-{observation.source}"
            )
            for observation in last.observations
        ),
    )
    return dataclasses.replace(entry, conditions=(*first, last))


def take_turns(first, second):
    """Return a function with rates of odd and of even repetitions."""
    return lambda number: first if number % 2 else second


def pair(axis, reference, other):
    """Return the sides of a pair of conditions, both with four guests."""
    return [({axis: reference}, [100] * 4), ({axis: other[0]}, other[1])]


def judge(criterion, entries, **options):
    """Return the verdict of a criterion on repetitions."""
    run_judge = criterion.parse(options).create_judge()
    return made.feed_judge(run_judge, entries).judgement()


LOST = {"disk.*": 25}
#: Name -> the criterion, the sides, and the options with limits that the mean
#: keeps and one guest does not.
CASES = {
    "min": (
        overhead.OVERHEAD,
        [({}, STARVED)],
        {"min": {"disk.*": 80}},
    ),
    "min of a level": (
        density.DEGRADATION,
        [({"guests": 4}, (90, 90, 90, 40))],
        {"min": {"disk.*": 70}},
    ),
    "neighbours": (
        neighbours.CRITERION,
        pair("neighbours", 0, (2, (100, 100, 100, 40))),
        {"max_percent": LOST},
    ),
    "tuning": (
        tuning.TUNING,
        pair("variant", "plain", ("tuned", (100, 100, 100, 40))),
        {"max_loss_percent": {"tuned": LOST}},
    ),
    "spread": (
        overhead.SPREAD,
        [({}, take_turns((100, 50), (50, 100)))],
        {"max_range_percent": {"disk.*": 5}},
    ),
    "coefficient of variation": (
        overhead.SPREAD,
        [({}, take_turns((100, 50), (50, 100)))],
        {"max_cv_percent": {"disk.*": 5}},
    ),
    "after a migration": (
        migration.DISRUPTION,
        [
            ({phases.AXIS: "before"}, (100, 100)),
            ({phases.AXIS: "during"}, (100, 100)),
            ({phases.AXIS: "after"}, (92, 100)),
        ],
        {"max_loss_after_percent": 5},
    ),
    "after a migration, one of four": (
        migration.DISRUPTION,
        [
            ({phases.AXIS: "before"}, [100] * 4),
            ({phases.AXIS: "during"}, [100] * 4),
            ({phases.AXIS: "after"}, (100, 100, 100, 85)),
        ],
        {"max_loss_after_percent": 5},
    ),
}


@ddt.ddt
class TestStarvedGuest(unittest.TestCase):
    """One guest of several is beyond the limit, the mean is within."""

    @ddt.data(*CASES)
    def test_mean(self, name):
        """The mean passes, and a warning names the guest."""
        criterion, sides, options = CASES[name]
        judged = judge(criterion, build(sides), **options)
        self.assertEqual("passed", judged.status, judged.sentence())
        self.assertIn("guests_differ", judged.headline())
        (row,) = judged.limited
        self.assertEqual("all guests", row.subject.name)

    @ddt.data(*CASES)
    def test_worst(self, name):
        """The limit applies to each guest."""
        criterion, sides, options = CASES[name]
        judged = judge(criterion, build(sides), statistic="worst", **options)
        self.assertEqual("failed", judged.status, judged.sentence())
        (row,) = judged.limited
        self.assertEqual("worst guest", row.subject.name)
        self.assertIn(row.subject.guest, judged.sentence())
        value = row.to_value()
        self.assertEqual(row.subject.guest, value.guest)

    @ddt.data(*CASES)
    def test_equal_guests(self, name):
        """Neither a warning nor a failure, with one statistic or the other."""
        criterion, sides, options = CASES[name]
        equal = [
            (axes, rates(1)[:1] * 2 if callable(rates) else [100] * len(rates))
            for axes, rates in sides
        ]
        for statistic in ("mean", "worst"):
            judged = judge(
                criterion, build(equal), statistic=statistic, **options
            )
            self.assertEqual("passed", judged.status, judged.sentence())
            self.assertNotIn("guests_differ", judged.headline())

    def test_equal_guests_close_to_the_limit(self):
        """Some of many are beyond it by chance, but do not differ."""
        count = 0
        for seed in range(20):
            random = numpy.random.default_rng(seed)
            rates = 91 * numpy.exp(random.normal(0, 0.04, (6, 32)))
            entries = build(
                [({}, lambda number, rates=rates: rates[number - 1])]
            )
            judged = judge(overhead.OVERHEAD, entries, min={"disk.*": 90})
            count += "guests_differ" in judged.headline()
        self.assertLessEqual(count, 1)

    def test_latency(self):
        """Seven of 10 ms and one of 30 ms."""
        entries = build([({}, [0.010] * 7 + [0.030])], metric=made.LATENCY)
        for statistic, status in (("mean", "passed"), ("worst", "failed")):
            judged = judge(
                overhead.OVERHEAD,
                entries,
                max={"disk.*": 0.012},
                statistic=statistic,
            )
            self.assertEqual(status, judged.status, judged.sentence())
        self.assertIn("worst of 8 guests (g8) 30", judged.sentence())

    def test_the_guests_of_variants(self):
        """Guests of other names are compared by their rank."""
        entries = build(
            [
                ({"variant": "plain"}, (100, 100, 100, 60)),
                ({"variant": "tuned"}, (60, 100, 100, 100)),
            ]
        )
        judged = judge(
            tuning.TUNING,
            [*map(rename_guests, entries)],
            statistic="worst",
            max_loss_percent={"tuned": {"disk.*": 5}},
        )
        self.assertEqual("passed", judged.status, judged.sentence())


@ddt.ddt
class TestTurns(unittest.TestCase):
    """Victims by turns: each guest has a good mean of its own."""

    @ddt.data("overhead", "neighbours", "values")
    def test_two_of_four(self, name):
        """Half of the guests lose 40 %, by turns."""
        rates = take_turns((60, 60, 100, 100), (100, 100, 60, 60))
        options = {"max_percent": {"disk.*": 38}}
        criterion, sides = overhead.OVERHEAD, [({}, rates)]
        changes = {
            "reference": made.reference({made.IOPS: [100.0, 100.2] * 3})
        }
        if name == "neighbours":
            criterion = neighbours.CRITERION
            sides = [
                ({"neighbours": 0}, [100] * 4),
                ({"neighbours": 2}, rates),
            ]
            changes = {}
        elif name == "values":
            options, changes = {"min": {"disk.*": 62}}, {}
        entries = build(sides, 10, **changes)
        worst = judge(criterion, entries, statistic="worst", **options)
        self.assertEqual("inconclusive", worst.status, worst.sentence())
        self.assertIn("the worst guest of each repetition ", worst.sentence())
        mean = judge(criterion, entries, **options)
        self.assertEqual("passed", mean.status)
        self.assertIn("guests_differ", mean.headline())


@ddt.ddt
class TestNoisyTurns(unittest.TestCase):
    """A victim of 40 % by turns cannot hide in a noise of 5 %."""

    @ddt.data("overhead", "bare metal", "solo guest", "values")
    def test_rotating_victim(self, name):
        """It seldom passes a limit of 35 %, whatever the reference is."""
        passed = sum(
            self.judge(name, seed).status == "passed" for seed in range(20)
        )
        self.assertLessEqual(passed, 1)

    def judge(self, name, seed):
        """Return a verdict on ten repetitions of four guests."""
        random = numpy.random.default_rng(seed)
        entries = []
        copies = made.build_reference(
            [{made.IOPS: [100.0 + place] * 4} for place in range(6)]
        )
        for number in range(1, 11):
            alone, shared = (
                100 * numpy.exp(random.normal(0, 0.05, (2, 4)))
            ).tolist()
            shared[number % 4] *= 0.6
            levels = [made.build_condition(number, {made.IOPS: shared})]
            if name in ("bare metal", "solo guest"):
                levels = [
                    made.level(number, 1, {made.IOPS: alone}, batches=4),
                    made.level(number, 4, {made.IOPS: shared}),
                ]
            entries.append(
                made.repetition(
                    number,
                    [
                        dataclasses.replace(level, reference=copies)
                        for level in levels
                    ],
                    planned_repetitions=10,
                )
            )
        criterion, options = {
            "overhead": (overhead.OVERHEAD, {"max_percent": {"*": 35}}),
            "values": (overhead.OVERHEAD, {"min": {"*": 65}}),
            "bare metal": (
                density.DEGRADATION,
                {
                    "max_percent": {"*": 35},
                    "compare_to": "bare_metal",
                    "levels": 4,
                },
            ),
            "solo guest": (density.DEGRADATION, {"max_percent": {"*": 35}}),
        }[name]
        return judge(criterion, entries, statistic="worst", **options)


class TestSidesOfOtherGuests(unittest.TestCase):
    """A guest is never compared with somebody else."""

    def test_other_numbers(self):
        """Variants with four and with two guests, which did not change."""
        entries = build(
            [
                ({"variant": "plain"}, (100, 100, 60, 60)),
                ({"variant": "tuned"}, (100, 60)),
            ]
        )
        limits = {"max_loss_percent": {"tuned": {"disk.*": 10}}}
        mean = judge(tuning.TUNING, entries, **limits)
        self.assertEqual("passed", mean.status)
        self.assertNotIn("guests_differ", mean.headline())
        worst = judge(tuning.TUNING, entries, statistic="worst", **limits)
        self.assertEqual("inconclusive", worst.status)
        self.assertIn("other numbers of guests", worst.sentence())

    def test_missing_guest(self):
        """One repetition has three of the four guests, on both sides."""
        rates = (100, 100, 50, 50)
        entries = build(
            [({"neighbours": 0}, rates), ({"neighbours": 2}, rates)]
        )
        entries[2] = dataclasses.replace(
            entries[2],
            conditions=tuple(
                dataclasses.replace(
                    condition,
                    machines=condition.machines[:3],
                    observations=condition.observations[:3],
                )
                for condition in entries[2].conditions
            ),
        )
        for statistic in ("mean", "worst"):
            judged = judge(
                neighbours.CRITERION,
                entries,
                max_percent={"*": 5},
                statistic=statistic,
            )
            self.assertEqual("passed", judged.status, judged.sentence())
            self.assertNotIn("guests_differ", judged.headline())

    def test_solo_guests_by_turns(self):
        """Each level-1 repetition has another guest: the mean decides."""
        entries = [
            made.repetition(
                number,
                [
                    dataclasses.replace(
                        made.level(number, 1, {made.IOPS: [1000.0 + number]}),
                        machines=(f"g{number % 4}",),
                        observations=made.observations(
                            [f"g{number % 4}"], {made.IOPS: [1000.0 + number]}
                        ),
                    ),
                    made.level(
                        number, 4, {made.IOPS: vary(number, [900] * 4)}
                    ),
                ],
                planned_repetitions=6,
            )
            for number in range(1, 7)
        ]
        judged = judge(
            density.DEGRADATION, entries, min={"*": 500}, statistic="worst"
        )
        self.assertEqual("passed", judged.status, judged.sentence())

    def test_values_by_turns(self):
        """The sentence has values, and not a loss against 1."""
        judged = judge(
            overhead.OVERHEAD,
            build(
                [
                    (
                        {},
                        lambda number: [
                            100 - 60 * (number % 4 == place)
                            for place in range(4)
                        ],
                    )
                ],
                8,
            ),
            min={"disk.*": 70},
            statistic="worst",
        )
        self.assertRegex(
            judged.sentence(),
            r"the worst guest of each repetition has (39|40)\.\d ops/s in the "
            r"mean, 39\.\d ops/s at worst",
        )

    def test_rounded_values(self):
        """Chance rounds equal guests up and down."""
        random = numpy.random.default_rng(5)
        found = 0
        for _ in range(10):
            entries = [
                made.repetition(
                    number,
                    [
                        made.build_condition(
                            number,
                            {
                                made.TIME: random.choice(
                                    [10.0, 11.0], 16
                                ).tolist()
                            },
                        )
                    ],
                    planned_repetitions=6,
                )
                for number in range(1, 7)
            ]
            judged = judge(overhead.OVERHEAD, entries, max={"*": 10.9})
            found += "guests_differ" in judged.headline()
        self.assertLessEqual(found, 1)


class TestSilentGuest(unittest.TestCase):
    """A planned guest without a value in a complete record."""

    def test_missing_sample(self):
        entries = build([({}, [100] * 4)])
        (condition,) = entries[2].conditions
        entries[2] = dataclasses.replace(
            entries[2],
            conditions=(
                dataclasses.replace(
                    condition, observations=condition.observations[:3]
                ),
            ),
        )
        judged = judge(overhead.OVERHEAD, entries, min={"disk.*": 80})
        self.assertEqual("inconclusive", judged.status)
        self.assertEqual(
            "repetitions incomplete: 3 (5 of 6 are complete): "
            f"{made.IOPS.name} of g4: no value in a complete record",
            judged.missing.sentence(),
        )


@ddt.ddt
class TestOtherRuns(unittest.TestCase):
    """Records that are not of one run do not pass."""

    def judge(self, records):
        """Return the verdict on the repetitions of records."""
        entries = [record.repetition for record in records]
        return judge(overhead.OVERHEAD, entries, max_percent={"*": 99})

    def test_one_run(self):
        self.assertEqual("passed", self.judge(made.records()).status)

    @ddt.data(
        (
            lambda record: dataclasses.replace(
                record.shape, vcpus=record.shape.vcpus + 2
            ),
            "shape",
            "vCPUs is ",
        ),
        (
            lambda record: tuple(
                dataclasses.replace(
                    workload, arguments={**workload.arguments, "x": 1}
                )
                for workload in record.workloads
            ),
            "workloads",
            " x is None in repetition 2 and 1 in repetition 4",
        ),
    )
    @ddt.unpack
    def test_settings(self, change, field, detail):
        """Other arguments or vCPUs in the records of one run."""
        records = made.records()
        records[3] = made.with_fields(
            records[3], **{field: change(records[3])}
        )
        judged = self.judge(records)
        self.assertEqual("void", judged.status)
        self.assertIn(
            "Records contradict each other (run: ", judged.sentence()
        )
        self.assertIn(detail, judged.sentence())

    def move(self, record):
        """Return a record whose guests are on another host."""
        return made.with_fields(
            record,
            machines=tuple(
                dataclasses.replace(machine, host="compute-9")
                if machine.role == "guest"
                else machine
                for machine in record.machines
            ),
        )

    def test_hosts_and_settings(self):
        """A guest that moved hides no other arguments."""
        records = made.records()
        records[1] = self.move(records[1])
        records[3] = made.with_fields(
            records[3], shape=dataclasses.replace(records[3].shape, vcpus=9)
        )
        self.assertEqual("void", self.judge(records).status)

    def test_warmup_elsewhere(self):
        """It is not a reason to void the run."""
        records = made.records(count=6)
        records[0] = self.move(records[0])
        judged = self.judge(records)
        self.assertEqual(("passed", ()), (judged.status, judged.omitted))

    def test_settings_of_density(self):
        """Other vCPUs void each number of guests."""
        records = made.few(made.density_records())
        records[1] = made.with_fields(
            records[1], shape=dataclasses.replace(records[1].shape, vcpus=9)
        )
        judged = judge(
            density.DEGRADATION,
            [record.repetition for record in records],
            max_percent={"*": 99},
        )
        self.assertEqual("void", judged.status)
        self.assertEqual({"void"}, {row.status for row in judged.limited})

    def test_comparison(self):
        """A run that is void cannot be compared, either."""
        records = made.records(count=6)
        records[4:] = map(self.move, records[4:])
        self.assertEqual("void", self.judge(records).status)
        run = compared_run.create_run("A", made.source_of(records))
        self.assertEqual({}, run.samples)
        self.assertIn("compute-9", next(iter(run.absences.values())))

    def test_hosts(self):
        """A guest on another host voids that repetition, and not the run."""
        records = made.records(count=6)
        records[3] = self.move(records[3])
        judged = self.judge(records)
        self.assertEqual(("passed", (4,)), (judged.status, judged.omitted))
        self.assertIn("is on compute-9; it was on", judged.sentence())


class TestWithoutTwoSides(unittest.TestCase):
    """Nothing passes that was not measured on both sides."""

    def test_solo_guest(self):
        """It loses nothing against itself, which is no measurement."""
        entries = [
            made.repetition(
                number,
                [
                    made.level(number, 1, {made.IOPS: [100.0 + number]}),
                    made.level(number, 2, {made.IOPS: [90.0, 91.0 + number]}),
                ],
                planned_repetitions=4,
            )
            for number in range(1, 5)
        ]
        judged = judge(
            density.DEGRADATION, entries, max_percent={"*": 50}, levels=1
        )
        self.assertNotEqual("passed", judged.status)
        self.assertFalse(judged.passed)
        (row,) = judged.limited
        self.assertEqual("inconclusive", row.status)
        for levels in ("all", 2):
            judged = judge(
                density.DEGRADATION,
                entries,
                max_percent={"*": 50},
                levels=levels,
            )
            self.assertEqual("passed", judged.status)
            self.assertEqual(2, judged.curves[0].max_guests.tested)

    def test_result(self):
        """A result without a figure cannot be constructed as passed."""
        entries = build([({}, (100, 100))])
        (row,) = judge(
            overhead.OVERHEAD, entries, max_percent={"disk.*": 5}
        ).limited
        self.assertIsNone(row.figure.estimate())
        with self.assertRaisesRegex(ValueError, "not measured cannot pass"):
            result.Result(figure=row.figure, limit=5.0, status="passed")
