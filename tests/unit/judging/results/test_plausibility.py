# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.judging.results import plausibility
from rally_vmperf.measurement.comparison import loss
from rally_vmperf.measurement.comparison import verdict
from tests.unit import made

THREE = (99.0, 100.0, 101.0)
SLOWER = (95.0, 94.1, 93.0, 92.1, 91.0)
WARMING = (98.0, 99.1, 100.0, 101.1, 102.0)


@ddt.ddt
class AboutTestCase(unittest.TestCase):
    @ddt.data(
        ("nothing", THREE, (94.0, 95.0, 96.0), []),
        ("a tie", THREE, THREE, []),
        ("faster", THREE, (119.0, 120.0, 121.0), ["guest_faster"]),
        (
            "slightly faster",
            (99.9, 100.0, 100.1),
            (102.9, 103.0, 103.1),
            ["guest_slightly_faster"],
        ),
        (
            "better by much, not surely",
            (90.0, 100.0, 110.0),
            (100.0, 110.0, 120.0),
            [],
        ),
        ("few", THREE, (95.0, 96.0), ["too_few_repetitions"]),
        ("few of bare metal", (100.0,), THREE, ["too_few_repetitions"]),
        ("wild guest", THREE, (50.0, 90.0, 95.0), []),
        (
            "two states",
            (99.0, 100.0, 101.0, 100.4, 99.6),
            (95.0, 95.02, 94.99, 95.01, 90.0),
            ["bimodal"],
        ),
        (
            "two states of bare metal",
            (100.0, 100.02, 99.99, 100.01, 90.0),
            (95.0, 95.1, 94.9, 95.2, 94.8),
            ["baseline_irregular"],
        ),
        ("equal", (100.0,) * 3, (90.0,) * 3, ["values_quantised"]),
        (
            "equal bare metal",
            (100.0,) * 3,
            (90.0, 91.0, 92.0),
            ["values_quantised"],
        ),
    )
    @ddt.unpack
    def test_kinds(self, name, bare, guest, kinds):
        pair = loss.compare(
            made.IOPS, [[value] for value in bare], [[v] for v in guest]
        )
        findings = list(plausibility.of_comparison(pair))
        self.assertEqual(kinds, [finding.kind for finding in findings])
        for finding in findings:
            self.assertEqual(made.IOPS.name, finding.subject)

    @ddt.data(
        ("guest", (99.0, 100.0, 101.0, 100.4, 99.6), SLOWER, 8, "the guest"),
        ("far from the limit", THREE, SLOWER, 20, ""),
        ("beyond the limit", THREE, SLOWER, 2, ""),
        ("no limit", THREE, SLOWER, None, ""),
        ("bare metal", WARMING, (95.0, 95.1, 94.9), 6, "bare metal"),
        ("bare metal, far", WARMING, (95.0, 95.1, 94.9), 12, ""),
    )
    @ddt.unpack
    def test_drift(self, name, bare, guest, limit, side):
        """Only a drift that ends on the other side of the limit."""
        pair = loss.compare(
            made.IOPS, [[value] for value in bare], [[v] for v in guest]
        )
        details = [
            finding.detail
            for finding in plausibility.of_comparison(
                pair, verdict.list_drifts_across(pair, limit)
            )
            if finding.kind == "drifting"
        ]
        self.assertEqual(bool(side), bool(details), details)
        self.assertTrue(
            all(detail.startswith(side) for detail in details), details
        )

    def test_details(self):
        """They have the figures of both sides."""
        for guest, kind, detail in (
            (
                (119.0, 120.0),
                "guest_slightly_faster",
                "the guest is 19.5 % better than bare metal",
            ),
            (
                (95.0, 96.0),
                "too_few_repetitions",
                "3 of bare metal, 2 of the guest",
            ),
            (
                (95.0, 95.02, 94.99, 95.01, 90.0),
                "bimodal",
                "the guest: 1 and 4, 5.5 % apart",
            ),
        ):
            pair = loss.compare(
                made.IOPS, [[v] for v in THREE], [[v] for v in guest]
            )
            found = next(plausibility.of_comparison(pair))
            self.assertEqual((kind, detail), (found.kind, found.detail))

    def test_a_faster_time(self):
        pair = loss.compare(
            made.TIME, [[v] for v in THREE], [[v] for v in (79.0, 80.0, 81.0)]
        )
        kinds = [finding.kind for finding in plausibility.of_comparison(pair)]
        self.assertEqual(["guest_faster"], kinds)


class UnstableTestCase(unittest.TestCase):
    def test_one_finding_per_side(self):
        """Only sides that vary, with their worst metric."""
        wild = (50.0, 90.0, 95.0)
        undecided = [
            loss.compare(metric, [[v] for v in bare], [[v] for v in guest])
            for metric, bare, guest in (
                (made.IOPS, THREE, wild),
                (made.EVENTS, wild, wild),
                (made.LATENCY, THREE, THREE),
            )
        ]
        findings = [*plausibility.find_unstable(undecided, 3)]
        self.assertEqual(
            [
                ("bare metal", (made.EVENTS.name,)),
                ("guest", (made.IOPS.name, made.EVENTS.name)),
            ],
            [(finding.subject, finding.metrics) for finding in findings],
        )
        self.assertEqual(
            "guest varies in 2 metrics without a decision, by 42.8 % in "
            "disk.fio.randread.iops",
            findings[1].detail,
        )

    def test_number_of_sides(self):
        """Six repetitions that vary by 5 % seldom seem to vary by 11 %."""
        values = [100 * (1.1125**place) for place in (-1, -1, -1, 1, 1, 1)]
        self.assertIsNotNone(plausibility.find_instability(values, 1))
        self.assertIsNone(plausibility.find_instability(values, 1000))
        steady = [100 * (1.08**place) for place in (-1, -1, -1, 1, 1, 1)]
        self.assertIsNone(plausibility.find_instability(steady, 1))
        self.assertIsNone(plausibility.find_instability([100.0], 1))


class FasterTestCase(unittest.TestCase):
    PAIR = loss.compare(
        made.IOPS,
        [[value] for value in THREE],
        [[value] for value in (119.0, 120.0, 121.0)],
    )

    def severities(self, **options):
        """Return the kinds of findings, each with its severity."""
        return [
            (finding.kind, finding.severity)
            for finding in plausibility.of_comparison(self.PAIR, **options)
        ]

    def test_number_of_metrics(self):
        """With many metrics, one seems faster by chance."""
        self.assertEqual([("guest_faster", "void")], self.severities())
        self.assertEqual(
            [("guest_slightly_faster", "warning")],
            self.severities(metrics=1000),
        )

    def test_shape_without_a_limit(self):
        """Values that are not normal make no verdict doubtful."""
        skewed = [100.0, 100.1, 99.9, 100.05, 99.95, 150.0]
        pair = loss.compare(
            made.IOPS,
            [[value] for value in skewed],
            [[value] for value in skewed],
        )
        for is_limited, severity in ((True, "warning"), (False, "note")):
            severities = {
                finding.kind: finding.severity
                for finding in plausibility.of_comparison(
                    pair, is_limited=is_limited
                )
            }
            self.assertEqual(
                dict.fromkeys(("bimodal", "baseline_irregular"), severity),
                severities,
            )

    def test_without_a_limit(self):
        """It voids nothing that other metrics show."""
        self.assertEqual(
            [("guest_faster", "warning")], self.severities(is_limited=False)
        )
