# SPDX-License-Identifier: Apache-2.0
"""Tests of the changes of metrics between runs."""

import dataclasses
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.judging.results import changes
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import statistics
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.samples import sample
from tests.unit.judging.results import test_count_errors

TIME = sample.Metric("cpu.x.time", "s", "lower")
RATE = sample.Metric("disk.x.rate", "1/s", "higher")
ERRORS = sample.Metric("net.x.errors", "1", "lower", scale="count")
QUIET = (1.0, 1.002, 0.998, 1.001, 0.999)
NOISY = (1.0, 1.6, 0.6, 1.3, 0.8)
MARGIN = verdict.Limits({"*": 5.0})
NO_MARGIN = verdict.Limits({})


def create_samples(metric, values):
    """Return samples of a metric, a value in each repetition."""
    return sample.create_samples(metric, [[value] for value in values])


def run(name, absences=None, **metrics):
    """Return a run with the values of metrics, one per repetition."""
    metrics_by_key = {"time": TIME, "rate": RATE, "errors": ERRORS}
    return changes.RunSamples(
        name=name,
        samples={
            ("", metric): create_samples(metric, values)
            for key, values in metrics.items()
            for metric in [metrics_by_key[key]]
        },
        absences=absences or {},
    )


def times(values, factor):
    """Return values multiplied by a factor."""
    return [value * factor for value in values]


def statuses(*runs, margins=MARGIN):
    """Return the status of each change by run and metric."""
    return {
        (change.variant, change.metric.name): changes.classify(change)
        for change in changes.compare_runs(runs, margins)
    }


@ddt.ddt
class TestTwoRuns(unittest.TestCase):
    """The second is compared with the first."""

    @ddt.data(
        ("time", 1.2, "worse"),
        ("time", 0.8, "better"),
        ("rate", 0.8, "worse"),
        ("rate", 1.2, "better"),
        ("rate", 1.0, "equal"),
        ("time", 1.03, "equal"),
        ("time", 1.05, "undecided"),
    )
    @ddt.unpack
    def test_status(self, key, factor, expected):
        """Depends on the direction of the metric and on the margin."""
        got = statuses(
            run("A", **{key: QUIET}), run("B", **{key: times(QUIET, factor)})
        )
        self.assertEqual([expected], list(got.values()))

    def test_undecided(self):
        """The interval contains the margin."""
        got = statuses(run("A", time=NOISY), run("B", time=times(NOISY, 1.2)))
        self.assertEqual(["undecided"], list(got.values()))

    def test_one_metric(self):
        """It is reported, and the others are not."""
        got = statuses(
            run("A", time=QUIET, rate=QUIET),
            run("B", time=QUIET, rate=times(QUIET, 0.8)),
        )
        self.assertEqual(
            {("B", TIME.name): "equal", ("B", RATE.name): "worse"}, got
        )

    def test_margins(self):
        """Apply by glob; a margin of zero leaves significance alone."""
        second = run("B", time=times(QUIET, 1.03), rate=times(QUIET, 0.9))
        margins = verdict.Limits({"*": 0.0, "disk.*": 20.0})
        got = statuses(
            run("A", time=QUIET, rate=QUIET), second, margins=margins
        )
        self.assertEqual(["worse", "equal"], list(got.values()))

    def test_counts_and_absences(self):
        """They have a reason; a metric of the first run only is worse."""
        first = run("A", time=QUIET, rate=QUIET[:2], errors=(0.0, 0.0, 1.0))
        second = run(
            "B", {("", TIME): "void: late"}, rate=QUIET, errors=(1.0, 0, 0)
        )
        got = changes.compare_runs([first, second], MARGIN)
        self.assertEqual(
            [
                ("worse", "B: void: late"),
                ("undecided", "requires 3 repetitions of each run"),
                ("undecided", "the largest count, without a limit"),
            ],
            [
                (changes.classify(change), changes.describe_remark(change))
                for change in got
            ],
        )
        self.assertEqual((1.0, 1.0), got[2].figure.means)
        *_, new = changes.compare_runs([second, first], MARGIN)
        self.assertEqual("undecided", changes.classify(new))
        self.assertEqual("B: void: late", changes.describe_remark(new))

    @ddt.data((1000.0, "not worse"), (1001.0, "worse"))
    @ddt.unpack
    def test_a_count_with_a_limit(self, largest, expected):
        """It is compared by its largest value, and decides."""
        first = run("A", errors=(0, 2, 1))
        first = dataclasses.replace(
            first, limits={("", ERRORS): changes.Limit(1000.0)}
        )
        (got,) = changes.compare_runs(
            [first, run("B", errors=(0, largest, 0))], NO_MARGIN
        )
        self.assertEqual(
            (expected, True), (changes.classify(got), got.decides)
        )
        self.assertEqual((2, largest), got.figure.means)
        self.assertEqual(
            "the largest count; the limit is 1 000",
            changes.describe_remark(got),
        )

    @ddt.data(
        ((0.04, 0.04, 0.04), "undecided", "250 ms to 330 ms"),
        ((0.001, 0.04, 0.001), "undecided", "250 ms to 330 ms"),
        ((0.04, 0.001, 0.04), "not worse", "289 ms to 291 ms"),
        ((0.0, 0.0, 0.25), "undecided", "290 ms to 350 ms"),
    )
    @ddt.unpack
    def test_a_count_with_an_error(self, errors, expected, interval):
        """Its interval is that of each sample, as in verdicts."""
        key = ("", figures.DOWNTIME)
        first = changes.RunSamples(
            name="A",
            samples={key: create_samples(figures.DOWNTIME, (0.2, 0.2, 0.1))},
            limits={key: changes.Limit(0.3)},
        )
        worst = test_count_errors.create(
            figures.DOWNTIME, *zip((0.2, 0.29, 0.1), errors, strict=True)
        )
        second = changes.RunSamples(name="B", samples={key: worst.guest})
        (got,) = changes.compare_runs([first, second], NO_MARGIN)
        self.assertEqual(expected, changes.classify(got))
        self.assertEqual(
            f"the largest value ({interval}); the limit is 300 ms",
            changes.describe_remark(got),
        )

    def test_a_count_of_few_repetitions(self):
        """It can be worse, and is otherwise undecided, as in verdicts."""
        first = run("A", errors=(0, 2, 1))
        first = dataclasses.replace(
            first, limits={("", ERRORS): changes.Limit(5.0)}
        )
        for largest, expected in ((5, "undecided"), (6, "worse")):
            second = run("B", errors=(0, largest))
            (got,) = changes.compare_runs([first, second], NO_MARGIN)
            self.assertEqual(expected, changes.classify(got))

    def test_metrics_that_decide(self):
        """They have a margin or a limit; without any, all ratios decide."""
        first = run("A", time=QUIET, rate=QUIET, errors=(1, 1, 1))
        limited = dataclasses.replace(
            first, limits={("", RATE): changes.Limit(20.0)}
        )
        for reference, margins, expected in (
            (first, {}, [(5.0, True), (5.0, True), (None, False)]),
            (limited, {}, [(5.0, False), (5.0, True), (None, False)]),
            (first, {"cpu.*": 1}, [(1.0, True), (5.0, False), (None, False)]),
            (limited, {"*": 1}, [(1.0, True), (1.0, True), (None, False)]),
        ):
            with self.subTest(margins=margins, limits=reference.limits):
                got = changes.compare_runs(
                    [reference, first], verdict.Limits(margins)
                )
                self.assertEqual(
                    expected,
                    [(change.limit, change.decides) for change in got],
                )

    def test_conclusion(self):
        """It is about the metrics that decide."""
        first = run("A", time=QUIET, rate=NOISY)
        second = run("B", time=times(QUIET, 1.2), rate=times(NOISY, 0.9))
        for margins, expected in (
            ({}, ("worse", "Worse: 1 of 2 metrics")),
            (
                {"disk.*": 5},
                ("undecided", "Undecided: 1 of 1 deciding metric"),
            ),
            (
                {"cpu.*": 30},
                ("not worse", "Not worse: 1 of 1 deciding metric"),
            ),
        ):
            with self.subTest(margins=margins):
                got = changes.compare_runs(
                    [first, second], verdict.Limits(margins)
                )
                self.assertEqual(expected, changes.conclude(got))

    def test_remarks(self):
        """Name what the interval does not assume, without bare metal."""
        two_states = [
            base + place / 1000 for base in (1, 1.3) for place in range(10)
        ]
        two_states = [*two_states[::2], *two_states[1::2]]
        (got,) = changes.compare_runs(
            [run("A", time=two_states), run("B", time=times(two_states, 2))],
            MARGIN,
        )
        self.assertEqual(
            "bimodal", changes.describe_remark(got).partition(",")[0]
        )
        (got,) = changes.compare_runs(
            [run("A", time=[2.0] * 5), run("B", time=[2.0] * 5)], MARGIN
        )
        self.assertIn("values_quantised", changes.describe_remark(got))
        self.assertEqual("undecided", changes.classify(got))


@ddt.ddt
class TestLimits(unittest.TestCase):
    """A limit of an SLA is no margin between two runs."""

    @ddt.data(
        # A limit of 50 % against bare metal: 950 -> 530 events/s.
        (50, 530 / 950, "worse"),
        (50, 1 - 0.135, "worse"),
        (50, 0.97, "equal"),
        (50, 0.94, "worse"),
        # The whole interval is above 4 % and below twice the 5 %.
        (50, 0.951, "not worse"),
        (7, 0.951, "not worse"),
        (2, 0.97, "worse"),
        (2, 0.99, "equal"),
        (2, 0.98, "undecided"),
        (2, 1.1, "better"),
    )
    @ddt.unpack
    def test_status(self, limit, factor, expected):
        first = dataclasses.replace(
            run("A", rate=QUIET), limits={("", RATE): changes.Limit(limit)}
        )
        (got,) = changes.compare_runs(
            [first, run("B", rate=times(QUIET, factor))], NO_MARGIN
        )
        self.assertEqual(expected, changes.classify(got), got.show_interval())
        self.assertTrue(got.decides)

    @ddt.data(
        (4, 1, "undecided"),
        (5.2, 1, "undecided"),
        (8, 1, "not worse"),
        (20, 1, "not worse"),
        (20, 10, "undecided"),
    )
    @ddt.unpack
    def test_wide_intervals(self, limit, noise, expected):
        """They pass up to the limit, and up to twice 5 % at most."""
        noisy = [
            1 + noise * deviation
            for deviation in (0, 0.012, -0.01, 0.004, -0.006)
        ]
        first = dataclasses.replace(
            run("A", rate=QUIET), limits={("", RATE): changes.Limit(limit)}
        )
        (got,) = changes.compare_runs(
            [first, run("B", rate=times(noisy, 0.955))], NO_MARGIN
        )
        self.assertEqual(expected, changes.classify(got), got.show_interval())


@ddt.ddt
class TestDecision(unittest.TestCase):
    """A function of the interval and the margin."""

    @ddt.data(
        (5.1, 9, "worse"),
        (5, 9, "undecided"),
        (-9, 5.1, "undecided"),
        (-9, 5, "not worse"),
        (-5, 5, "equal"),
        (-9, -5, "not worse"),
        (-9, -5.1, "better"),
        (None, None, "undecided"),
    )
    @ddt.unpack
    def test_status(self, low, high, expected):
        self.assertEqual(expected, verdict.decide_change(low, high, 5))


class TestCorrection(unittest.TestCase):
    """Holm's correction over metrics."""

    METRICS = tuple(sample.Metric(f"x.m{n}", "s", "lower") for n in range(4))

    def changes(self, *factors):
        """Return the changes of metrics by these factors."""
        pair = [
            changes.RunSamples(
                name=name,
                samples={
                    ("", metric): create_samples(metric, times(QUIET, f))
                    for metric, f in zip(self.METRICS, side, strict=False)
                },
            )
            for name, side in (("A", [1.0] * len(factors)), ("B", factors))
        ]
        return changes.compare_runs(pair, MARGIN)

    def test_better_without_proof(self):
        """A gain that only its own interval shows is not worse."""
        noisy = (1.0, 1.06, 0.95)
        factors = [0.8 * value for value in (1.02, 0.97, 1.03)]
        metrics = [
            sample.Metric(f"x.m{place}", "s", "lower") for place in range(20)
        ]
        pair = [
            changes.RunSamples(
                name=name,
                samples={
                    ("", metric): create_samples(metric, side)
                    for metric in metrics
                },
            )
            for name, side in (("A", noisy), ("B", factors))
        ]
        got = changes.compare_runs(pair, MARGIN)
        self.assertEqual(
            {"not worse"}, {changes.classify(change) for change in got}
        )
        self.assertEqual("not worse", changes.conclude(got)[0])

    def test_levels(self):
        """Fewer undecided metrics get narrower intervals."""
        got = self.changes(1.2, 1.05, 1.2, 1.05)
        self.assertEqual(
            [0.9875, 0.975, 0.9875, 0.975],
            [round(change.comparison.confidence, 6) for change in got],
        )
        alone = self.changes(1.05)[0].comparison
        self.assertEqual(0.95, alone.confidence)

    @hypothesis.given(
        strategies.lists(
            strategies.floats(-0.03, 0.03), min_size=1, max_size=4
        )
    )
    def test_as_by_p_values(self, shifts):
        """The results are those of the ordered p-values."""
        none = verdict.Limits({"*": 0.0})
        pair = [
            changes.RunSamples(
                name=name,
                samples={
                    ("", metric): create_samples(
                        metric, times(spread, 1 + number * shift)
                    )
                    for metric, shift, spread in zip(
                        self.METRICS,
                        shifts,
                        [(1.0, 1.01, 0.99), QUIET, QUIET[:3], QUIET[1:]],
                        strict=False,
                    )
                },
            )
            for number, name in enumerate("AB")
        ]
        got = changes.compare_runs(pair, none)
        levels = []
        for change in got:
            sides = [
                [samples.values for samples in each.samples["", change.metric]]
                for each in pair
            ]
            levels.append(_p_value(change.metric, *sides))
        rejected = set()
        order = sorted(range(len(levels)), key=levels.__getitem__)
        for rank, place in enumerate(order):
            bound = 0.05 / (len(levels) - rank)
            hypothesis.assume(abs(levels[place] - bound) > 1e-6)
            if levels[place] > bound:
                break
            rejected.add(place)
        self.assertEqual(
            rejected,
            {
                place
                for place, change in enumerate(got)
                if changes.classify(change) in ("worse", "better")
            },
        )


def _p_value(metric, first, second):
    """Return the smallest error whose interval excludes no change."""
    low, high = 0.0, 1.0
    for _ in range(60):
        error = (low + high) / 2
        compared = loss.compare(
            metric, first, second, 1 - error, conservative=False
        )
        if compared.low > 0 or compared.high < 0:
            high = error
        else:
            low = error
    return high


values = strategies.lists(strategies.floats(0.5, 2), min_size=3, max_size=6)


class TestProperties(unittest.TestCase):
    """The results for any values have these properties."""

    @hypothesis.given(values)
    def test_a_run_and_itself(self, numbers):
        """Nothing is worse or better."""
        for margin in (0.0, 5.0):
            got = statuses(
                run("A", time=numbers, rate=numbers),
                run("B", time=numbers, rate=numbers),
                margins=verdict.Limits({"*": margin}),
            )
            self.assertLessEqual(set(got.values()), {"equal", "undecided"})

    @hypothesis.given(values, values)
    def test_exchange(self, first, second):
        """Without a margin, an exchange of the runs exchanges the results."""
        none = verdict.Limits({"*": 0.0})
        pair = run("A", rate=first), run("B", rate=second)
        opposite = {"worse": "better", "better": "worse"}
        (forth,) = statuses(*pair, margins=none).values()
        (back,) = statuses(*pair[::-1], margins=none).values()
        self.assertEqual(opposite.get(forth, forth), back)


class TestMoreRuns(unittest.TestCase):
    """Each is compared with the first."""

    RUNS = (
        run("A", time=QUIET, rate=QUIET),
        run("B", time=QUIET, rate=times(QUIET, 0.8)),
        run("C", time=QUIET, rate=QUIET),
        run("D", time=QUIET, rate=QUIET),
    )

    def test_the_run_that_differs(self):
        """It is worse than the first, and no other run is."""
        got = statuses(*self.RUNS)
        worse = [key for key, status in got.items() if status == "worse"]
        self.assertEqual([("B", RATE.name)], worse)
        self.assertEqual({"equal"}, {got[name, TIME.name] for name in "BCD"})
        self.assertEqual(6, len(got))

    def test_two_bad_runs_of_four(self):
        """Neither hides the other, because the first is the reference."""
        bad = [run(name, rate=times(QUIET, 0.8)) for name in "BC"]
        good = [run(name, rate=QUIET) for name in "AD"]
        got = statuses(good[0], *bad, good[1])
        self.assertEqual(
            {"B": "worse", "C": "worse", "D": "equal"},
            {name: status for (name, _), status in got.items()},
        )

    def test_rank(self):
        """The best run is first, and the metric that is worse in a run."""
        got = changes.rank(changes.compare_runs(self.RUNS, MARGIN))
        self.assertEqual([RATE, TIME], [group[0].metric for group in got])
        self.assertEqual("B", got[0][-1].variant)
        self.assertEqual(["B", "C", "D"], [each.variant for each in got[1]])

    def test_a_metric_of_some(self):
        """It is worse if a run lost it; undecided if the first lacks it."""
        runs = [*self.RUNS[:2], run("C", time=QUIET)]
        got = changes.compare_runs(runs, MARGIN)
        rates = [change for change in got if change.metric == RATE]
        self.assertEqual(
            [("", "worse"), ("C: not measured", "worse")],
            [(change.reason, changes.classify(change)) for change in rates],
        )
        got = changes.compare_runs(
            [run("A", time=QUIET), run("B", rate=QUIET), run("C", rate=QUIET)],
            MARGIN,
        )
        self.assertEqual(
            {("A: not measured", "undecided")},
            {
                (change.reason, changes.classify(change))
                for change in got
                if change.metric == RATE
            },
        )

    def test_figures_of_one_run(self):
        """The figure of the run that has the metric is listed."""
        for runs, expected in (
            ([run("A", rate=QUIET), run("B", time=QUIET)], (True, False)),
            ([run("A", time=QUIET), run("B", rate=QUIET)], (False, True)),
            ([run("A", rate=QUIET), run("B", rate=QUIET)], (True, True)),
        ):
            change, *_ = (
                change
                for change in changes.compare_runs(runs, MARGIN)
                if change.metric == RATE
            )
            listed = changes.list_figures(change)
            mean = statistics.geometric_mean(QUIET)
            for figure, is_measured in zip(listed, expected, strict=True):
                if is_measured:
                    self.assertAlmostEqual(mean, figure)
                else:
                    self.assertIsNone(figure)

    def test_a_condition_that_was_skipped(self):
        """The reason is that of the run, not that nothing was measured."""
        lost = dataclasses.replace(
            run("B", time=QUIET), skipped={"": "not run: slow"}
        )
        got = changes.compare_runs([run("A", rate=QUIET), lost], MARGIN)
        self.assertIn("B: not run: slow", [change.reason for change in got])

    def test_summary(self):
        """It has a sentence for each run."""
        got = changes.compare_runs(self.RUNS, MARGIN)
        self.assertEqual(
            "B compared with A: worse in 1, better in 0, undecided in 0, not "
            "worse in 0 and equal in 1 of 2 metrics",
            changes.summarise(self.RUNS, got)[0],
        )

    def test_summary_of_lost_metrics(self):
        """It is one line for each run, with the number that decide."""
        runs = [*self.RUNS[:2], run("C", time=QUIET)]
        got = changes.compare_runs(runs, verdict.Limits({"disk.*": 5.0}))
        *_, sentence = changes.summarise(runs, got)
        self.assertEqual(
            "C compared with A: worse in 1, better in 0, undecided in 0, not "
            "worse in 0 and equal in 1 of 2 metrics (1 deciding); C has no "
            "samples of 1",
            sentence,
        )


def create_guests(name, factors, statistic="worst", names="1234", **changed):
    """Return a run whose guests have the quiet rate, each with its factor.

    :param names: A character for each guest.
    :param changed: Changed fields of the samples of each repetition.
    """
    samples = tuple(
        sample.MetricSamples(
            number=number,
            observations=tuple(
                sample.Observation(
                    f"g{guest}", sample.Sample(RATE, 100 * factor * value)
                )
                for guest, factor in zip(names, factors, strict=False)
            ),
            **changed,
        )
        for number, value in enumerate(QUIET, start=1)
    )
    return changes.RunSamples(
        name=name,
        samples={("", RATE): samples},
        limits={("", RATE): changes.Limit(20.0, statistic)},
    )


@ddt.ddt
class TestWorstGuest(unittest.TestCase):
    """The margin of an SLA with ``statistic: worst`` applies to each guest."""

    EQUAL = (1, 1.01, 0.99, 1)

    def compare(self, first, other, margins=NO_MARGIN):
        """Return the only change between two runs."""
        (change,) = changes.compare_runs([first, other], margins)
        return change

    @ddt.data(
        # One of four guests is starved: the mean guest loses 11 %, and 4 %.
        ((1, 1, 0.6, 1), "mean", "worse"),
        ((1, 1, 0.85, 1), "mean", "equal"),
        ((1, 1, 0.85, 1), "worst", "worse"),
        ((0.97, 1, 1, 1), "worst", "equal"),
        # One guest is faster, and then all are.
        ((2, 1, 1, 1), "worst", "equal"),
        ((2, 2, 2.1, 2), "worst", "better"),
        # A single guest is the worst of one.
        ((0.6,), "worst", "worse"),
    )
    @ddt.unpack
    def test_status(self, factors, statistic, expected):
        """It depends on the guest that the limit applies to."""
        first = create_guests("A", self.EQUAL, statistic)
        change = self.compare(first, create_guests("B", factors))
        self.assertEqual(expected, changes.classify(change))

    def test_mean(self):
        """A guest that is beyond the margin by itself has a remark."""
        first = create_guests("A", self.EQUAL, "mean")
        change = self.compare(first, create_guests("B", (1, 1, 0.85, 1)))
        self.assertIn(
            "guests_differ (1 of 4 guests beyond the limit of 5 %: g3 loses "
            "14.1 %",
            changes.describe_remark(change),
        )

    def test_names(self):
        """A guest is compared with that of its name."""
        first = create_guests("A", (0.6, 1, 1, 1))
        for factors, expected in (
            ((0.6, 1, 1, 1), "equal"),
            ((1, 1, 1, 0.6), "worse"),
        ):
            change = self.compare(first, create_guests("B", factors))
            self.assertEqual(expected, changes.classify(change))

    def test_ranks(self):
        """Guests of other names are compared by their rank."""
        first = create_guests("A", (0.95, 1, 1, 0.7))
        for factors, expected in (
            ((0.7, 0.95, 1, 1), "equal"),
            ((0.69, 0.69, 1, 1), "worse"),
        ):
            other = create_guests("B", factors, names="wxyz")
            change = self.compare(first, other)
            self.assertEqual(expected, changes.classify(change))
            self.assertIn(change.subject.guest[1:], "wxyz")

    def test_fast_guest_that_becomes_slow(self):
        """950 and 700 events/s before, 690 and 690 after."""
        first = create_guests("A", (9.5, 7.0))
        change = self.compare(first, create_guests("B", (6.9, 6.9)))
        self.assertEqual("worse", changes.classify(change))
        self.assertEqual("1", change.subject.guest[-1])

    def test_figures(self):
        """They are those of the guest that decides, which has a name."""
        first = create_guests("A", self.EQUAL)
        change = self.compare(first, create_guests("B", (1, 1, 0.6, 1)))
        self.assertEqual(
            "worst of 4 guests (g3)", changes.describe_remark(change)
        )
        before, after = change.means
        self.assertAlmostEqual(99, before, delta=0.1)
        self.assertAlmostEqual(60, after, delta=0.1)
        low, high = change.decisive.low, change.decisive.high
        self.assertTrue(39 < low < high < 40)
        self.assertEqual(("worst guest", "g3", ""), change.subject)

    def test_margin_of_the_user(self):
        """It replaces the number, and not the guest."""
        first = create_guests("A", (1, 1, 1, 1))
        other = create_guests("B", (1, 1, 0.9, 1))
        for margin, expected in ((15, "equal"), (5, "worse")):
            change = self.compare(first, other, verdict.Limits({"*": margin}))
            self.assertEqual(expected, changes.classify(change))

    def test_percentiles(self):
        """Those of all guests together have no worst guest."""
        first = create_guests("A", self.EQUAL, merged=100.0)
        other = create_guests("B", (1, 1, 0.6, 1), merged=99.0)
        change = self.compare(first, other)
        self.assertEqual((100, 99), tuple(map(round, change.means)))
        self.assertNotIn("worst", changes.describe_remark(change))

    @staticmethod
    def create_turns(name, factor, count, has_all):
        """Return a run in which four guests take turns at a factor.

        :param has_all: Whether the other guests run, too, at full speed.
        """
        samples = tuple(
            sample.MetricSamples(
                number=number,
                observations=tuple(
                    sample.Observation(
                        f"g{guest}",
                        sample.Sample(
                            RATE,
                            (100 + number % 7)
                            * (factor if guest == turn else 1),
                        ),
                    )
                    for guest in (range(4) if has_all else [turn])
                ),
            )
            for number in range(1, count + 1)
            for turn in [number // 2 % 4]
        )
        return changes.RunSamples(
            name=name,
            samples={("", RATE): samples},
            limits={("", RATE): changes.Limit(20.0, "worst")},
        )

    def test_solo_guests_in_turn(self):
        """Each has a few repetitions; the mean of all is compared."""
        first = self.create_turns("A", 1, 6, has_all=False)
        for factor, expected in ((1, "equal"), (0.7, "worse")):
            change = self.compare(
                first, self.create_turns("B", factor, 6, has_all=False)
            )
            self.assertEqual(expected, changes.classify(change))
            self.assertNotIn("worst", changes.describe_remark(change))

    def test_slow_guests_in_turn(self):
        """Each guest is slow in some repetitions; the runs are equal."""
        first, other = (
            self.create_turns(name, 0.5, 32, has_all=True) for name in "AB"
        )
        change = self.compare(first, other, verdict.Limits({"*": 0}))
        self.assertEqual("undecided", changes.classify(change))

    def test_overlap(self):
        """Both runs have it, and it corrects no loss."""
        first = create_guests("A", self.EQUAL, overlap=0.91)
        other = create_guests("B", (0.955, 1, 1, 1), overlap=0.91)
        change = self.compare(first, other)
        self.assertEqual("equal", changes.classify(change))
