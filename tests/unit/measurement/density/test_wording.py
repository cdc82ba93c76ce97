import unittest

from rally_vmperf.measurement.samples import units
from tests.unit import made

CPU = {made.EVENTS: made.SHARED}


def smooth(numbers):
    """Return repetitions of guests that follow a smooth curve exactly."""
    return made.levels(
        {
            made.EVENTS: {
                n: [300 / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1))] * n
                for n in numbers
            }
        },
        4,
    )


class SentencesTestCase(unittest.TestCase):
    maxDiff = None

    def check(self, got, *expected):
        self.assertEqual(list(expected), got.sentences())

    def test_failed(self):
        self.check(
            made.degradation(made.levels(CPU, apart=True), {"*": 5}),
            "failed: 1 of 1 metric is beyond the limit.",
            "cpu.sysbench.rate at 3 guests: one guest 312 events/s, mean of "
            "3 guests 204 events/s, loss 34.6 % (95 % interval 34.4 to 34.9 "
            "%), limit 5 % (*): failed.",
            "cpu.sysbench.rate: at most 2 guests within the limit of 5 %.",
        )

    def test_passed(self):
        self.check(
            made.degradation(made.levels(CPU, apart=True), {"*": 95}),
            "passed: 1 of 1 metric is within the limit.",
            "passed: cpu.sysbench.rate loss 34.6 % at 3 guests (95 % interval "
            "34.4 to 34.9 %, limit 95 %).",
            "cpu.sysbench.rate: up to 3 guests, the largest tested number, "
            "within the limit of 95 %.",
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
            curves, {"*": 30}, statistic="worst", compare_to="bare_metal"
        )
        self.assertIn(
            "cpu.sysbench.rate at 3 guests: mean of 3 bare-metal copies, "
            "as no guest has a copy of its own, 330 events/s, worst of 3 "
            "guests (g3 on host-2) 203 events/s, loss 38.5 % (",
            got.sentence(),
        )

    def test_the_interval_of_the_worst_that_decides(self):
        """A failure needs an interval corrected for the number of guests."""
        curves = made.levels(CPU, bare={made.EVENTS: [330.0, 331.0, 329.0]})
        options = {"statistic": "worst", "compare_to": "bare_metal"}
        failed = made.degradation(curves, {"*": 30}, **options)
        self.assertIn(
            "loss 38.5 % (98.333 % interval, as one of 3 guests, ",
            failed.sentence(),
        )
        passed = made.degradation(curves, {"*": 50}, **options)
        (row,) = passed.curves
        self.assertRegex(
            row.cells().figure, r"^worst of 3 guests \(g3 on host-2\) 38\.5 %"
        )
        compared = row.point(3).compared("worst", "bare_metal")
        self.assertIn(f"to {compared.high:.1f} %", row.cells().interval)

    def test_a_victim_that_rotates(self):
        """The worst guest of each repetition is named, passed or not."""
        curves = [
            made.repetition(
                place,
                [
                    made.level(place, 1, {made.EVENTS: [100.0 + place]}),
                    made.level(
                        place,
                        4,
                        {
                            made.EVENTS: [
                                10.0 if guest == place % 4 else 100.0 + place
                                for guest in range(4)
                            ]
                        },
                    ),
                ],
                planned_repetitions=8,
            )
            for place in range(1, 9)
        ]
        got = made.degradation(curves, {"*": 60})
        self.assertEqual("passed", got.status, got.sentence())
        self.assertIn(
            "cpu.sysbench.rate at 4 guests: the worst guest of each "
            "repetition loses 90.4 % in the mean, 90.7 % at most (g1 in "
            "repetition 8).",
            got.sentences(),
        )
        worst = made.degradation(curves, {"*": 60}, statistic="worst")
        self.assertEqual("inconclusive", worst.status, worst.sentence())
        calm = made.degradation(curves, {"*": 95})
        self.assertNotIn("worst guest of each", calm.sentence())

    def test_digits_where_a_limit_is_touched(self):
        """10.00 and 9.98 are not the same for a limit of 10."""
        low, high = 9.98, 10.04
        self.assertEqual(1, units.digits_apart((low, high), None))
        self.assertEqual(1, units.digits_apart((low, high), 11))
        self.assertEqual(2, units.digits_apart((low, high), 10))
        self.assertEqual(1, units.digits_apart((low, 10), 10.2))
        self.assertEqual(1, units.digits_apart((10.0,), 10))
        self.assertEqual("-0.04", units.show_percent(-0.041, 2))
        curves = made.levels(CPU, apart=True)
        (row,) = made.degradation(curves, {"*": 50}).curves
        ends = row.point(3).compared("mean", "solo_guest")
        near = made.degradation(curves, {"*": round(ends.high, 1)})
        self.assertIn(f"to {ends.high:.2f} %", near.sentence())

    def test_not_even_one(self):
        curves = made.levels(CPU, bare={made.EVENTS: [400.0, 401.0, 399.0]})
        got = made.degradation(curves, {"*": 5}, compare_to="bare_metal")
        self.assertIn(
            "one bare-metal copy 400 events/s, guest 312 ", got.sentence()
        )
        self.assertIn("not even 1 guest within the limit", got.sentence())

    def test_inconclusive_names_the_remedy(self):
        got = made.degradation(made.levels(CPU, apart=True), {"*": 34.8})
        self.assertRegex(
            got.sentence(),
            r"inconclusive, more repetitions narrow the interval\. "
            "cpu.sysbench.rate: undecided how many guests are within the "
            r"limit of 34\.8 %, at least 2\.",
        )

    def test_many_levels(self):
        levels = {n: [100.0 / n] * n for n in range(1, 8)}
        got = made.degradation(made.levels({made.EVENTS: levels}), {"*": 5})
        sentences = got.sentences()
        self.assertEqual(6, len(sentences))
        self.assertIn("at 2 guests: one guest", sentences[1])
        self.assertEqual(
            "cpu.sysbench.rate at 5, 6, 7 guests: failed too.", sentences[4]
        )

    def test_between_levels(self):
        got = made.degradation(smooth((1, 2, 8)), {"*": 25})
        self.assertEqual(
            "cpu.sysbench.rate: at least 2 and at most 7 guests within the "
            "limit of 25 %.",
            got.sentences()[-1],
        )

    def test_nothing_beyond_the_measured_levels(self):
        """Four levels give no larger number than those that were measured."""
        got = made.degradation(smooth((1, 2, 4, 8)), {"*": 40})
        self.assertEqual(
            "cpu.sysbench.rate: up to 8 guests, the largest tested number, "
            "within the limit of 40 %.",
            got.sentences()[-1],
        )
        got = made.degradation(smooth((1, 2, 4, 8)), {"*": 25})
        self.assertEqual(
            "cpu.sysbench.rate: at least 4 and at most 7 guests within the "
            "limit of 25 %.",
            got.sentences()[-1],
        )

    def test_not_even_the_first_level(self):
        """No level is known to be within, so a least number is missing."""
        lost = {made.EVENTS: {2: [40.0] * 2, 4: [20.0] * 4}}
        got = made.degradation(
            made.levels(lost, bare={made.EVENTS: [100.0, 101.0, 99.0]}),
            {"*": 5},
            compare_to="bare_metal",
        )
        self.assertEqual(
            "cpu.sysbench.rate: at most 1 guest within the limit of 5 %.",
            got.sentences()[-1],
        )

    def test_nothing_to_hold_a_limit_at(self):
        got = made.degradation(made.levels({made.EVENTS: {1: [9.0]}}))
        self.assertIn("the limit applies to no level", got.sentence())

    def test_every_sentence_is_one_line(self):
        for limit in (5, 34.6, 95):
            for line in made.degradation(
                made.levels(CPU), {"*": limit}
            ).sentences():
                self.assertNotIn("\n", line)
                self.assertTrue(line.endswith("."))
