# SPDX-License-Identifier: Apache-2.0
import math
import unittest

import ddt
import hypothesis
from hypothesis import strategies

from rally_vmperf.measurement.density import overlap


def span(started, ended, kept_up_until=None, error=0.0, machine="g1"):
    return overlap.Span(
        machine=machine,
        started=started,
        ended=ended,
        kept_up_until=kept_up_until,
        error=error,
    )


def start(bound, *spans, metrics=()):
    return overlap.compute_synchronisation("w", "c", bound, spans, metrics)


SPANS = strategies.lists(
    strategies.builds(
        lambda begin, long, more, error: span(
            begin, begin + long, begin + long + more, error
        ),
        strategies.floats(0, 100),
        strategies.floats(0.01, 100),
        strategies.floats(0, 100),
        strategies.floats(0, 1),
    ),
    min_size=2,
    max_size=5,
)


@ddt.ddt
class OverlapTestCase(unittest.TestCase):
    @ddt.data(
        ("all together", "time", [span(0, 10), span(0, 10)], 1.0),
        ("one late", "time", [span(0, 10), span(1, 11)], 0.9),
        ("longest run counts", "time", [span(0, 10), span(0, 20)], 0.5),
        ("one after the other", "time", [span(0, 10), span(10, 20)], 0.0),
        ("apart", "time", [span(0, 10), span(50, 60)], 0.0),
        ("kept up does not count", "time", [span(0, 5, 10), span(0, 10)], 0.5),
        ("ended early", "size", [span(0, 5), span(0, 10)], 0.5),
        ("kept up", "size", [span(0, 5, 10), span(0, 10)], 1.0),
        ("kept up too short", "size", [span(0, 5, 9), span(0, 10)], 0.9),
        ("late", "size", [span(0, 5, 12), span(1, 11)], 0.8),
        ("stopped before its end", "size", [span(0, 9, 3), span(0, 9)], 1.0),
        ("ends before it starts", "time", [span(5, 4), span(5, 3)], 0.0),
        ("takes no time", "size", [span(5, 5), span(4, 6)], 0.0),
    )
    @ddt.unpack
    def test_overlap(self, name, bound, spans, expected):
        self.assertAlmostEqual(expected, start(bound, *spans).overlap)

    @ddt.data([], [span(0, 10)])
    def test_fewer_than_two(self, spans):
        got = start("time", *spans)
        self.assertEqual(
            (None, None, None), (got.skew, got.uncertainty, got.overlap)
        )

    @ddt.data(
        ("certain", [span(0, 9), span(0.5, 9)], 0.5, 0.0),
        ("one error", [span(0, 9), span(0.5, 9, error=0.1)], 0.5, 0.1),
        ("both", [span(0, 9, error=0.2), span(1, 9, error=0.1)], 1.0, 0.3),
        ("another", [span(0, 9), span(0, 9, error=2), span(1, 9)], 1.0, 2.0),
    )
    @ddt.unpack
    def test_skew(self, name, spans, skew, uncertainty):
        got = start("time", *spans)
        self.assertAlmostEqual(skew, got.skew)
        self.assertAlmostEqual(uncertainty, got.uncertainty)

    @hypothesis.given(SPANS, strategies.data())
    def test_true_skew_is_within_the_uncertainty(self, spans, data):
        got = start("time", *spans)
        true = [
            command_span.started
            + command_span.error * data.draw(strategies.floats(-1, 1))
            for command_span in spans
        ]
        skew = max(true) - min(true)
        self.assertLessEqual(abs(skew - got.skew), got.uncertainty + 1e-9)

    @hypothesis.given(SPANS, strategies.floats(-1e3, 1e3))
    def test_of_any_clock(self, spans, later):
        moved = [
            span(
                command_span.started + later,
                command_span.ended + later,
                command_span.kept_up_until + later,
            )
            for command_span in spans
        ]
        for bound in ("time", "size"):
            was, now = start(bound, *spans), start(bound, *moved)
            self.assertAlmostEqual(was.overlap, now.overlap, places=6)
            self.assertTrue(0 <= was.overlap <= 1)

    @hypothesis.given(SPANS)
    def test_keeping_the_load_up_never_harms(self, spans):
        bare = [
            span(command_span.started, command_span.ended)
            for command_span in spans
        ]
        self.assertLessEqual(
            start("size", *bare).overlap, start("size", *spans).overlap
        )

    @ddt.data(
        {"started": math.nan},
        {"ended": math.inf},
        {"kept_up_until": math.nan},
        {"error": -1.0},
    )
    def test_no_span(self, change):
        whole = {"machine": "g1", "started": 0.0, "ended": 1.0, **change}
        with self.assertRaisesRegex(
            ValueError, "^g1 worked from .*: times must be finite"
        ):
            overlap.Span(**whole)


class WindowTestCase(unittest.TestCase):
    def test_in_which_all_worked(self):
        spans = [
            overlap.Span(machine="a", started=1.0, ended=9.0),
            overlap.Span(
                machine="b", started=2.0, ended=8.0, kept_up_until=20.0
            ),
        ]
        self.assertEqual((2.0, 8.0), overlap.common_window(spans))
        self.assertIsNone(overlap.common_window(spans[:1]))
        late = overlap.Span(machine="c", started=8.0, ended=10.0)
        self.assertIsNone(overlap.common_window([*spans, late]))


class FindingsTestCase(unittest.TestCase):
    def test_below_the_limit(self):
        spans = span(0, 10), span(1.25, 10, error=0.01)
        late = start("time", *spans, metrics=["m"])
        good = start("time", span(0, 10), span(1.0, 10), metrics=["x"])
        alone = start("time", span(0, 10), metrics=["y"])
        (finding,) = overlap.findings(
            [good, late, alone, start("time", *spans)]
        )
        self.assertEqual("partial_overlap", finding.kind)
        self.assertEqual("void", finding.severity)
        self.assertEqual("m", finding.subject)
        self.assertEqual(
            "c: all worked during 87.5 % of the run, 90 % is required; they "
            "started within 1250 ms, give or take 10 ms",
            finding.detail,
        )

    def test_it_never_reads_as_if_it_were_enough(self):
        spans = span(0, 100), span(10.03, 100)
        barely = start("time", *spans, metrics=["m"])
        (finding,) = overlap.findings([barely])
        self.assertIn("during 89.9 % of the run, 90 %", finding.detail)
