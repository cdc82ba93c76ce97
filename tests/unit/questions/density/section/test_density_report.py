# SPDX-License-Identifier: Apache-2.0
import unittest

import ddt

from rally_vmperf.measurement import repetition
from rally_vmperf.questions.density.section import section
from rally_vmperf.records import model
from rally_vmperf.report import samples
from rally_vmperf.report import setting
from tests.unit import made

FAILING = {"vmperf_degradation": {"max_percent": {"*": 1}}}
PASSING = {"vmperf_degradation": {"max_percent": {"*": 95}}}
UNFAIR = {"vmperf_fairness": {"min_index": {"*": 1.0}}}


@ddt.ddt
class RunTestCase(unittest.TestCase):
    @ddt.data(
        (None, "none"),
        (PASSING, "passed"),
        (FAILING, "failed"),
        (UNFAIR, "failed"),
        ({**PASSING, **UNFAIR}, "failed"),
        ({**FAILING, **UNFAIR}, "failed"),
    )
    @ddt.unpack
    def test_status_is_the_gravest_verdict(self, limits, status):
        self.assertEqual(
            status, made.density_run(made.density_records(), limits).status
        )

    def test_headline_has_each_verdict(self):
        shown = made.density_run(made.density_records(), UNFAIR)
        headline = shown.judgements["Fairness"].headline()
        self.assertEqual(f"figures without limits; {headline}", shown.headline)

    @ddt.data(
        ((1, 2, 3), "vmperf.tiny, 1 to 3 guests"),
        ((2,), "vmperf.tiny, 2 guests"),
        ((8, 1, 4), "vmperf.tiny, 1 to 8 guests"),
    )
    @ddt.unpack
    def test_title_has_the_numbers_of_guests(self, levels, title):
        self.assertEqual(
            title, made.density_run(made.density_records(levels)).title
        )

    def test_no_readable_record(self):
        damaged = model.decode_or_none({"question": "density"})
        shown = made.density_run([None, damaged])
        self.assertEqual(
            ("no records", (), "void"),
            (shown.title, shown.records, shown.status),
        )

    def test_records_stand_in_the_order_of_repetitions(self):
        shown = made.density_run(made.density_records()[::-1])
        self.assertEqual(
            [1, 2, 3, 4, 5],
            [measured.number for measured in shown.repetitions],
        )


@ddt.ddt
class PartsTestCase(unittest.TestCase):
    """Tables of a run that went wrong."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_ = made.density_run(made.broken(), made.DENSITY_LIMITS)

    def test_gaps_are_reported_by_level_and_repetition(self):
        gaps = {
            (gap.guests, gap.repetition): gap
            for gap in section.gaps(self.run_.repetitions)
        }
        self.assertEqual({(5, 4), (8, 3)}, set(gaps))
        self.assertEqual("incomplete", gaps[5, 4].state)
        self.assertEqual(
            "disk.fio.randread.iops of g3: g3 no longer answers",
            gaps[5, 4].reasons[0],
        )
        self.assertEqual(
            ("skipped", ("the total fell",)),
            (gaps[8, 3].state, gaps[8, 3].reasons),
        )

    def test_levels_that_never_began_are_gaps(self):
        records = made.density_records()
        first = records[4].repetition.conditions[:1]
        records[4] = made.with_fields(
            records[4], conditions=first, state="interrupted"
        )
        gaps = section.gaps(made.density_run(records).repetitions)
        self.assertEqual(
            [(2, 5, "not started"), (3, 5, "not started")],
            [(gap.guests, gap.repetition, gap.state) for gap in gaps],
        )

    def test_many_gaps_are_cut_and_counted(self):
        records = made.density_records()
        missing = tuple(
            repetition.Missing(name=f"m{n}", machine="g1", reason="r")
            for n in range(9)
        )
        records[2] = made.with_condition(
            records[2], 2, state="incomplete", missing=missing
        )
        (gap,) = section.gaps(made.density_run(records).repetitions)
        self.assertEqual(
            (section.MOST_REASONS, 5), (len(gap.reasons), gap.hidden)
        )

    def test_worst_start_of_each_command(self):
        records = made.density_records()
        worst = {"skew": 0.25, "uncertainty": 0.01, "overlap": 0.96}
        records[2] = made.with_start(records[2], 1, **worst)
        records[0] = made.with_start(records[0], 1, skew=9.0, overlap=0.1)
        table = section.find_worst_starts(
            made.density_run(records).repetitions
        )
        self.assertEqual((2, 3), table.levels)
        line = table.rows[0]
        self.assertEqual(("sysbench", "cpu"), (line.workload, line.command))
        self.assertEqual((0.25, 0.01, 3), line.cells[0].skew)
        self.assertEqual((0.96, 3), line.cells[0].overlap)
        self.assertLess(line.cells[1].skew[0], 0.25)

    def test_all_samples_are_listed(self):
        guests = samples.of_guests(self.run_.records)
        self.assertEqual(("1 (warm-up)", "2", "3", "4", "5"), guests.heads)
        self.assertEqual(6 * sum(range(1, 9)), len(guests.rows))
        metric, number, source, values = guests.rows[0]
        self.assertEqual(
            ("cpu.sysbench.rate", 1, "g1"), (metric, number, source)
        )
        self.assertRegex(values[0], r"^\d{3} events/s$")
        gap = next(row for row in guests.rows if row[1:3] == (8, "g8"))
        self.assertEqual("", gap[3][2])
        bare = samples.of_bare_metal(self.run_.records)
        self.assertEqual({1, 2, 4}, {line[1] for line in bare.rows})

    def test_setting_has_levels_order_and_bare_metal(self):
        facts = dict(setting.facts(self.run_))
        self.assertEqual(
            ["1, 2, 3, 4, 5, 6, 7, 8 at once"], facts["Numbers of guests"]
        )
        self.assertEqual(["as listed in the task"], facts["Order"])
        self.assertEqual(["running"], facts["Idle guests"])
        first, second = facts["Bare metal"]
        self.assertIn("baseline r740, machine compute-1", first)
        self.assertTrue(first.endswith("for 1, 2, 4 copies"))
        self.assertEqual("none for 3, 5, 6, 7, 8 copies", second)
        self.assertEqual(
            ["on the loss of the mean guest against a solo guest"],
            facts["Limits"],
        )
        self.assertEqual(
            ["8 on compute-1: g1, g2, g3, g4, g5, g6, g7, g8"],
            facts["Guests"],
        )

    def test_setting_has_hosts_and_seed(self):
        records = made.with_fields(
            made.density_records(hosts=2),
            order=model.Order(kind="shuffled", seed=11),
            options={"idle_guests": "paused"},
        )
        facts = dict(setting.facts(made.density_run(records)))
        self.assertEqual(
            ["1, 2, 3 at once on each of 2 hosts"], facts["Numbers of guests"]
        )
        self.assertIn("seed 11", facts["Order"][0])
        self.assertEqual(["paused"], facts["Idle guests"])
        self.assertEqual(["none"], facts["Bare metal"])
        self.assertNotIn("Limits", facts)


class OverviewTestCase(unittest.TestCase):
    def test_totals_of_several_hosts_are_per_host(self):
        single_host = made.density_run(
            made.few(made.density_records(bare_metal=(1, 2, 3)))
        )
        two = made.density_run(made.few(made.density_records(hosts=2)))
        self.assertEqual((1, 2), (single_host.hosts, two.hosts))
        (table,) = section.build_overview([single_host, two]).metrics
        for level in range(3):
            cells_of_level = [line[1][level] for line in table.rows]
            self.assertAlmostEqual(
                cells_of_level[0].of_host,
                cells_of_level[1].of_host,
                delta=0.02,
            )
        self.assertAlmostEqual(1, two.series[0].shares[0].total, delta=0.02)
        self.assertEqual(1, made.density_run([]).hosts)

    def test_totals_stand_against_the_whole_host(self):
        small = made.density_run(
            made.density_records((1, 2, 4), bare_metal=(1, 2, 4)),
            made.DENSITY_LIMITS,
        )
        large = made.density_run(made.density_records((1, 2)))
        table = section.build_overview([small, large])
        self.assertEqual((1, 2, 4), table.levels)
        parts = {
            metric_table.metric.name: metric_table
            for metric_table in table.metrics
        }
        cpu = parts["cpu.sysbench.rate"]
        totals = [
            point.bare_total
            for point in small.judgement.curves[0].points
            if point.bare_total
        ]
        self.assertEqual(max(totals), cpu.host)
        self.assertEqual(small.title, cpu.copies[1])
        (first, cells_of_small), (second, cells_of_large) = cpu.rows
        self.assertEqual((0, 1), (first, second))
        for cell, point in zip(
            cells_of_small, small.judgement.curves[0].points, strict=True
        ):
            self.assertEqual(point.total / cpu.host, cell.of_host)
        self.assertEqual("passed", cells_of_small[1].status)
        self.assertIsNone(cells_of_large[2])
        self.assertIsNone(cells_of_large[1].status)
        latency = parts["disk.fio.randread.latency_p99"]
        self.assertEqual((None, None), (latency.host, latency.copies))
        self.assertIsNone(latency.rows[0][1][0].of_host)
