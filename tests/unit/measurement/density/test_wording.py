import unittest

from tests.unit import made

CPU = {made.EVENTS: made.SHARED}


def law(numbers, count=4):
    """Return curves of guests that follow the law exactly."""
    return made.levels(
        {
            made.EVENTS: {
                n: [300 / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1))] * n
                for n in numbers
            }
        },
        count,
    )


class SentencesTestCase(unittest.TestCase):
    maxDiff = None

    def check(self, got, *expected):
        self.assertEqual(list(expected), got.sentences())

    def test_failed(self):
        self.check(
            made.degradation(made.levels(CPU), {"*": 5}),
            "failed: 1 of 1 metric is beyond the limit.",
            "cpu.sysbench.rate at 3 guests: one guest 312 events/s, mean of "
            "3 guests 204 events/s, loss 34.6 % (95 % interval 34.2 to 35.0 "
            "%), limit 5 %: failed.",
            "cpu.sysbench.rate: at most 2 guests within the limit of 5 %.",
        )

    def test_passed(self):
        self.check(
            made.degradation(made.levels(CPU), {"*": 95}),
            "passed: 1 of 1 metric is within the limit.",
            "passed: cpu.sysbench.rate loss 34.6 % at 3 guests (95 % interval "
            "34.2 to 35.0 %, limit 95 %).",
            "cpu.sysbench.rate: all that was tested, up to 3 guests, within "
            "the limit of 95 %.",
        )

    def test_time(self):
        curves = made.levels({made.TIME: {1: [10.0], 2: [20.0, 20.0]}})
        self.assertIn(
            "cpu.bzip2.compress_time at 2 guests: one guest 10.0 s, mean of 2 "
            "guests 20.0 s, loss 50.0 % of the rate (95 % interval ",
            made.degradation(curves, {"*": 5}).sentence(),
        )

    def test_worst_against_bare_metal(self):
        curves = made.levels(CPU, bare={made.EVENTS: [330.0, 331.0, 329.0]})
        got = made.degradation(
            curves, {"*": 30}, of="worst", against="bare_metal"
        )
        self.assertIn(
            "cpu.sysbench.rate at 3 guests: mean of 3 bare-metal copies 330 "
            "events/s, worst of 3 guests (g3 on host-2) 203 events/s, loss "
            "38.5 % (",
            got.sentence(),
        )

    def test_not_even_one(self):
        curves = made.levels(CPU, bare={made.EVENTS: [400.0, 401.0, 399.0]})
        got = made.degradation(curves, {"*": 5}, against="bare_metal")
        self.assertIn(
            "one bare-metal copy 400 events/s, guest 312 ", got.sentence()
        )
        self.assertIn("not even 1 guest within the limit", got.sentence())

    def test_inconclusive_says_how_many_more(self):
        got = made.degradation(made.levels(CPU), {"*": 34.8})
        self.assertRegex(
            got.sentence(),
            r"inconclusive, about \d+ more repetitions would decide\. "
            "cpu.sysbench.rate: undecided how many guests are within the "
            r"limit of 34\.8 %, at least 2\.",
        )

    def test_many_levels(self):
        levels = {n: [100.0 / n] * n for n in range(1, 8)}
        got = made.degradation(made.levels({made.EVENTS: levels}), {"*": 5})
        told = got.sentences()
        self.assertEqual(6, len(told))
        self.assertIn("at 2 guests: one guest", told[1])
        self.assertEqual(
            "cpu.sysbench.rate at 5, 6, 7 guests: failed too.", told[4]
        )

    def test_between_levels(self):
        got = made.degradation(law((1, 2, 8)), {"*": 25})
        self.assertEqual(
            "cpu.sysbench.rate: at least 2 and at most 7 guests within the "
            "limit of 25 %.",
            got.sentences()[-1],
        )

    def test_predicted(self):
        got = made.degradation(law((1, 2, 4, 8)), {"*": 25})
        self.assertEqual(
            "cpu.sysbench.rate: at least 4 and at most 7 guests within the "
            "limit of 25 %; the law predicts 6, between 6 and 6.",
            got.sentences()[-1],
        )

    def test_extrapolated(self):
        got = made.degradation(law((1, 2, 4, 8)), {"*": 40})
        self.assertEqual(
            "cpu.sysbench.rate: all that was tested, up to 8 guests, within "
            "the limit of 40 %; the law predicts 10, extrapolated beyond 8.",
            got.sentences()[-1],
        )

    def test_nothing_to_hold_a_limit_at(self):
        got = made.degradation(made.levels({made.EVENTS: {1: [9.0]}}))
        self.assertIn("no number of guests to hold a limit at", got.sentence())

    def test_every_sentence_is_one_line(self):
        for limit in (5, 34.6, 95):
            for line in made.degradation(
                made.levels(CPU), {"*": limit}
            ).sentences():
                self.assertNotIn("\n", line)
                self.assertTrue(line.endswith("."))
