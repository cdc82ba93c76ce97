# SPDX-License-Identifier: Apache-2.0
"""Tests of the sentences of verdicts, each of which is here once in full.

Other tests assert statuses, figures and kinds of findings.
"""

import dataclasses
import re
import unittest

import ddt

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import table
from rally_vmperf.questions.overhead import question as overhead
from tests.unit import made
from tests.unit.judging import test_axis
from tests.unit.judging import test_axis_rules
from tests.unit.judging import test_overhead

CPU = {made.EVENTS: made.SHARED}
SLOW = {made.TIME: (13.0, 13.02, 12.98, 13.01)}
VARIANTS = test_axis.rows_of({"e1000": 1, "virtio": 3, "same": 1})


@ddt.ddt
class TestHeadline(unittest.TestCase):
    """The status, its cause, and the kinds of warnings."""

    #: The warning that runs without reboots have.
    TOLERATE = ("interval_one_session",)

    def judge(self, *findings, limits=None, values=made.NEAR):
        """Return the headline of a run with findings."""
        entries = made.several(values, findings=findings)
        judgement = made.judgement(entries, limits, tolerate=self.TOLERATE)
        return judgement.headline()

    @ddt.data(
        ("failed: 2 of 2 metrics are beyond the limit", {"*": 5}),
        ("failed: 1 of 2 metrics is beyond the limit", {"*": 15}),
        ("passed: 2 of 2 metrics are within the limit", {"*": 35}),
        ("passed: 1 of 1 metric with a limit is within it", {"disk.*": 15}),
        ("inconclusive: 1 of 2 metrics is undecided", {"*": 30}),
        ("inconclusive: measurements are missing", {"*": 35, "x.*": 1}),
        ("inconclusive: no metric has a limit", {}),
    )
    @ddt.unpack
    def test_status(self, headline, limits):
        """The metrics that decide are counted."""
        got = self.judge(limits=limits, values=made.BOTH)
        self.assertEqual(headline, got)

    @ddt.data(
        ((), "*", "2 metrics cannot be judged"),
        ((made.IOPS,), "*", "1 metric cannot be judged"),
        ((), "disk.*", "1 metric cannot be judged"),
        (
            (made.TIME,),
            "disk.*",
            "cpu.bzip2.compress_time, which has no limit, is void",
        ),
        (
            (made.TIME, made.COUNT),
            "disk.*",
            "cpu.bzip2.compress_time, network.tcp.retransmits, which have no "
            "limit, are void",
        ),
        (
            (made.EVENTS,),
            "disk.*",
            "a finding voids metrics without a limit",
        ),
    )
    @ddt.unpack
    def test_void(self, metrics, pattern, cause):
        """Void metrics with a limit are counted, others are named."""
        names = tuple(metric.name for metric in metrics)
        findings = made.build_findings("wrong_host", metrics=names)
        values = {**made.BOTH, made.COUNT: (0.0, 1.0, 0.0, 0.0)}
        got = self.judge(*findings, limits={pattern: 99}, values=values)
        self.assertEqual(f"void: {cause}", got)

    @ddt.data(
        ("a", "passed: cpu.a.time is within its limit; 4 metrics have no"),
        (
            "ab",
            "passed: cpu.a.time, cpu.b.time are within their limits; 3 "
            "metrics have no limit",
        ),
        ("abc", "passed: 3 of 3 metrics with a limit are within it"),
    )
    @ddt.unpack
    def test_metrics_without_a_limit(self, letters, headline):
        """They are counted if most metrics have none."""
        values = {
            dataclasses.replace(made.TIME, name=f"cpu.{letter}.time"): (
                SLOW[made.TIME]
            )
            for letter in "abcde"
        }
        judgement = made.judgement(
            made.several(values),
            {},
            tolerate=self.TOLERATE,
            max={f"cpu.{letter}.time": 15 for letter in letters},
        )
        self.assertTrue(judgement.headline().startswith(headline))

    def test_figures(self):
        """A metric can have several; without one, there is no verdict."""
        judgement = made.judgement(
            made.several(SLOW), {"*": 15}, max={"*": 14}
        )
        self.assertEqual(
            "failed: 1 of 2 figures is beyond the limit, with 1 warning: "
            "interval_one_session",
            judgement.headline(),
        )
        nothing = made.judgement([None]).headline()
        self.assertEqual("void: nothing was measured", nothing)

    @ddt.data(
        ((), "passed: no finding voids the run"),
        (("g1",), "void: 1 finding is not tolerated"),
        (("g1", "g2"), "void: 2 findings are not tolerated"),
        (None, "inconclusive: measurements are missing"),
    )
    @ddt.unpack
    def test_validity(self, guests, headline):
        """A judge of findings has no figures."""
        entries = [
            dataclasses.replace(
                entry,
                question="overhead",
                state="complete" if guests is not None else "incomplete",
                findings=tuple(
                    found
                    for guest in guests or ()
                    for found in made.build_findings("wrong_host", guest)
                ),
            )
            for entry in made.several(made.NEAR)
        ]
        judge = table.VALID.parse(
            {"tolerate": [*self.TOLERATE]}
        ).create_judge()
        judgement = made.feed_judge(judge, entries).judgement()
        self.assertEqual(headline, judgement.headline())

    @ddt.data(
        (
            ("governor_not_performance", "steal_time", "steal_time"),
            "with 3 warnings: governor_not_performance, steal_time (2)",
        ),
        (("kernel_differs",), "with 1 warning: guest's kernel differs"),
        (
            ("kernel_differs", "kernel_differs", "mitigations_differ"),
            "with 1 warning: guest's kernel and mitigations differ",
        ),
        (
            ("instructions_differ", "kernel_differs", "mitigations_differ"),
            "with 1 warning: guest's kernel, mitigations and instructions "
            "differ",
        ),
    )
    @ddt.unpack
    def test_warnings(self, kinds, expected):
        """Those on the system of guests are one."""
        findings = [
            found
            for number, kind in enumerate(kinds)
            for found in made.build_findings(kind, f"g{number}")
        ]
        _, _, warnings = self.judge(*findings).partition(", ")
        self.assertEqual(expected, warnings)


def judge_each_status():
    """Return a judgement with a metric of each status, and gaps."""
    lost = dataclasses.replace(made.IOPS, name="disk.lost.iops")
    fast = dataclasses.replace(made.IOPS, name="network.fast.rate")
    errors = dataclasses.replace(made.COUNT, name="disk.errors")
    values = {
        **made.BOTH,
        fast: (22000.0, 22100.0, 22050.0, 22075.0),
        errors: (2.0,) * 4,
    }
    bare = {**made.BARE, fast: made.BARE[made.IOPS]}
    entries = made.several(
        values,
        reference=made.reference(bare),
        expected_metrics=(*values, lost),
    )
    return made.judgement(
        [*entries, None],
        {"*": 15, "cpu.*": 10.5, made.IOPS.name: 10.6, "x.*": 1},
        max={"cpu.*": 14, "*.errors": 2000},
    )


def judge_few_values():
    """Return a judgement on values of two repetitions."""
    few = {made.TIME: SLOW[made.TIME][:2]}
    entries = made.several(few, reference=repetition.NO_REFERENCE)
    return made.judgement(entries, {}, min={"*": 12})


def judge_rates(rates, limit=50, bare=None, **options):
    """Return a judgement on the rates of guests by their number."""
    curves = made.levels({made.EVENTS: rates}, apart=True, bare=bare)
    return made.degradation(curves, {"*": limit}, **options)


def judge_on_metal(limit, **options):
    """Return a judgement on guests that are compared with copies."""
    return judge_rates(
        {1: [312.0], 3: [205.0, 204.0, 203.0]},
        limit,
        {made.EVENTS: [330.0, 331.0, 329.0]},
        compare_to="bare_metal",
        **options,
    )


def judge_skipped(*numbers, guests=3):
    """Return a judgement on repetitions, some of which lack a level."""
    curves = made.levels(CPU, 4, apart=True)
    for number in numbers:
        level = made.level(number, guests, {}, skip_reason=f"fall {number}")
        curves = made.with_level(curves, number, level)
    return made.degradation(curves, {"*": 50})


def judge_policy():
    """Return a judgement on a rate that a policy limits."""
    rate = sample.Metric("network.x.rate", "bit/s", "higher")
    curves = made.levels(
        {rate: {1: [0.945e9]}}, bare={rate: [0.945e9, 0.948e9, 0.942e9]}
    )
    caps = (rate_caps.network(1e9, "policy gold"),)
    curves = [dataclasses.replace(each, rate_limits=caps) for each in curves]
    return made.degradation(curves, {"*": 5}, compare_to="bare_metal")


def judge_fairness():
    """Return a judgement on rates that differ most in repetition 2."""
    curves = made.levels({made.EVENTS: {1: [100.0], 2: [60.0, 20.0]}})
    worst = made.level(2, 2, {made.EVENTS: [60.0, 15.0]})
    curves = made.with_level(curves, 2, worst)
    return made.fairness(curves, {"*": 0.9}, {"*": 50})


def judge_spread():
    """Return a judgement on the spread of two metrics."""
    limits = {
        "max_range_percent": {"disk.*": 5, "cpu.*": 10},
        "max_cv_percent": {"disk.*": 4, "cpu.*": 5},
    }
    values = {
        made.IOPS: (11000.0, 11900.0, 11500.0, 11200.0, 11600.0),
        made.TIME: (10.0, 10.2, 9.9, 10.1, 10.3),
    }
    judge = overhead.SPREAD.parse(limits).create_judge()
    return made.feed_judge(judge, made.several(values)).judgement()


def judge_many_gains():
    """Return a judgement on the gains and losses of six metrics."""
    losses = {
        dataclasses.replace(made.IOPS, name=f"m{number}"): percent
        for number, percent in enumerate((-5, 30, -20, -10, -4, 3))
    }
    rows = [
        {
            "ide": dict.fromkeys(losses, base),
            "virtio": {
                metric: base * (1 - percent / 100)
                for metric, percent in losses.items()
            },
        }
        for base in (999.0, 1000.1, 1001.0, 1000.4)
    ]
    return test_axis.judge(rows)


def judge_unpaired_gain():
    """Return a judgement on a variant that lacks a metric."""
    rows = test_axis.rows_of({"a": 1, "b": 3})
    for row in rows:
        del row["b"][test_axis.TIME]
    return test_axis.judge(rows, max_loss_percent={"b": {"disk.*": 5}})


def judge_migration():
    """Return a judgement on a migration, one metric of which has no pair."""
    entries = [
        made.repetition(
            number,
            [
                made.build_condition(number, values, axes={"phase": phase})
                for phase, values in (
                    ("before", {made.IOPS: [rate], made.TIME: [9.0]}),
                    ("after", {made.IOPS: [rate - 100]}),
                )
            ],
            question="event",
        )
        for number, rate in enumerate((1000.0, 1010.0, 990.0), 1)
    ]
    criterion = table.criteria()["vmperf_disruption"]
    judge = criterion.parse({"max_loss_after_percent": 8}).create_judge()
    return made.feed_judge(judge, entries).judgement()


#: The judgements by name.
JUDGEMENTS = {
    "each_status": judge_each_status,
    "worst_fails": lambda: test_overhead.judge(
        (1, 1, 30, 1), 10, statistic="worst"
    ),
    "worst_passes": lambda: test_overhead.judge(
        (1, 1, 5, 1), 10, statistic="worst"
    ),
    "value": lambda: made.judgement(
        made.several(SLOW), {"*": 35}, max={"*": 12}
    ),
    "few_values": judge_few_values,
    "count": lambda: made.degradation(
        made.levels(
            {made.COUNT: {1: [3.0], 3: [0.0, 2.0, 900.0]}}, noise=(1.0,)
        ),
        {},
        max={"*": 2},
    ),
    "values_of_variants": lambda: test_axis.judge(
        test_axis.rows_of({"a": 1, "b": 3}),
        {"b": [test_axis.NOT_APPLIED]},
        criterion=overhead.OVERHEAD,
        min={"network.*": 2000},
    ),
    "many_levels": lambda: judge_rates(
        {n: [100.0 / n] * n for n in range(1, 7)}, 5
    ),
    "absent_level": lambda: judge_rates(made.SHARED, levels=5),
    "digits_apart_from_the_limit": lambda: judge_rates(made.SHARED, 34.9),
    "loss_of_a_time": lambda: made.degradation(
        made.levels({made.TIME: {1: [10.0], 2: [20.0, 20.0]}}), {"*": 5}
    ),
    "copies_on_bare_metal": lambda: judge_on_metal(4),
    "worst_against_copies": lambda: judge_on_metal(30, statistic="worst"),
    "skipped_once": lambda: judge_skipped(4),
    "incomplete": lambda: made.degradation(made.killed(), {"*": 95}),
    "policy": judge_policy,
    "fairness": judge_fairness,
    "few_shares": lambda: made.fairness(
        made.levels({made.EVENTS: {1: [100.0], 2: [60.0, 20.0]}}, 2),
        {"*": 0.9},
        levels=[1, 2],
    ),
    "spread": judge_spread,
    "neighbours": lambda: test_axis_rules.judgement(
        test_axis_rules.curve({1: 0.95, 2: 0.7}), max_percent={"*": 12}
    ),
    "event": judge_migration,
    "gains": lambda: test_axis.judge(
        VARIANTS, min_gain_percent={"virtio": {"network.*": 250}}
    ),
    "many_gains": judge_many_gains,
    "void_variant": lambda: test_axis.judge(
        VARIANTS, {"virtio": [test_axis.NOT_APPLIED]}
    ),
    "few_gains": lambda: test_axis.judge(
        test_axis.rows_of({"a": 1, "b": 3}, number=2)
    ),
    "unpaired_gain": judge_unpaired_gain,
}
#: The sentences after the headline of each judgement.
SENTENCES = """\
each_status
- cpu.bzip2.compress_time: bare metal 10.0 s, guest 13.0 s, overhead 30.0 % (95
  % interval 29.6 to 30.4 %), limit 10.5 % (cpu.*): failed.
- network.fast.rate: bare metal 12.3 kops/s, guest 22.1 kops/s, overhead -79.1
  % (95 % interval -79.8 to -78.5 %), limit 15 % (*): void. The guest is
  significantly faster than bare metal (network.fast.rate: the guest is 79.1 %
  better than bare metal).
- disk.fio.randread.iops: bare metal 12.3 kops/s, guest 11.0 kops/s, overhead
  10.6 % (95 % interval 10.2 to 11.0 %), limit 10.6 %: inconclusive, more
  repetitions on both sides narrow the interval.
- disk.lost.iops: no counted repetition has it for every guest: inconclusive.
- limit 'x.*' matches no metric of this run.
- repetitions incomplete: 1, 2, 3, 4, without a readable record: 1 (0 of 4 are
  complete): disk.lost.iops: not reported.
- passed: disk.errors 2 (limit 2 000).

worst_fails
- disk.fio.randread.iops: bare metal 10.0 kops/s, worst of 4 guests (g3) 7.00
  kops/s, overhead 30.0 % (98.75 % interval, as one of 4 guests, 29.9 to 30.1
  %), limit 10 % (*): failed.

worst_passes
- passed: disk.fio.randread.iops worst of 4 guests (g3) 5.0 % (95 % interval
  4.9 to 5.1 %, limit 10 %).

value
- cpu.bzip2.compress_time: guest 13.0 s (95 % interval 13.0 s to 13.0 s), bare
  metal 10.0 s, limit 12.0 s (*): failed.

few_values
- cpu.bzip2.compress_time: guest 13.0 s (no interval), least limit 12.0 s (*):
  inconclusive, at least 5 repetitions are needed to say.

count
- network.tcp.retransmits at 1 guest: guest 3 in its worst repetition (1),
  limit 2 (*): failed.
- network.tcp.retransmits at 3 guests: guest 900 of its worst guest (g3) in its
  worst repetition (1), limit 2 (*): failed.

values_of_variants
- The guest does not have a setting that was requested for it (g2: b: hw_x=y
  was requested, g2 has z).
- network.iperf3.rate of a: guest 997 bit/s (95 % interval 988 bit/s to 1.00
  kbit/s), least limit 2.00 kbit/s (network.*): failed.
- network.iperf3.rate of b: guest 3.01 kbit/s (95 % interval 2.97 kbit/s to
  3.03 kbit/s), least limit 2.00 kbit/s (network.*): void.

many_levels
- cpu.sysbench.rate at 2 guests: one guest 100 events/s, mean of 2 guests 49.9
  events/s, loss 50.1 % (95 % interval 49.4 to 50.7 %), limit 5 % (*): failed.
- cpu.sysbench.rate at 3 guests: one guest 100 events/s, mean of 3 guests 33.3
  events/s, loss 66.7 % (95 % interval 66.5 to 66.8 %), limit 5 % (*): failed.
- cpu.sysbench.rate at 4 guests: one guest 100 events/s, mean of 4 guests 25.0
  events/s, loss 75.0 % (95 % interval 74.8 to 75.2 %), limit 5 % (*): failed.
- cpu.sysbench.rate at 5, 6 guests: failed too.
- cpu.sysbench.rate: at most 1 guest within the limit of 5 %.

absent_level
- cpu.sysbench.rate at 5 guests: the task has no such level: inconclusive.
- cpu.sysbench.rate: up to 3 guests, the largest tested number, within the
  limit of 50 %.

digits_apart_from_the_limit
- passed: cpu.sysbench.rate loss 34.63 % at 3 guests (95 % interval 34.39 to
  34.86 %, limit 34.9 %).
- cpu.sysbench.rate: up to 3 guests, the largest tested number, within the
  limit of 34.9 %.

loss_of_a_time
- cpu.bzip2.compress_time at 2 guests: one guest 10.0 s, mean of 2 guests 20.0
  s, loss 50.0 % of the rate (95 % interval 50.0 to 50.0 %), limit 5 % (*):
  failed.
- cpu.bzip2.compress_time: at most 1 guest within the limit of 5 %.

copies_on_bare_metal
- cpu.sysbench.rate at 1 guest: one bare-metal copy 330 events/s, guest 312
  events/s, loss 5.5 % (95 % interval 4.8 to 6.1 %), limit 4 % (*): failed.
- cpu.sysbench.rate at 3 guests: mean of 3 bare-metal copies 330 events/s, mean
  of 3 guests 204 events/s, loss 38.2 % (95 % interval 37.7 to 38.7 %), limit 4
  % (*): failed.
- cpu.sysbench.rate: not even 1 guest within the limit of 4 %.

worst_against_copies
- cpu.sysbench.rate at 3 guests: mean of 3 bare-metal copies, as no guest has a
  copy of its own, 330 events/s, worst of 3 guests (g3 on host-2) 203 events/s,
  loss 38.5 % (98.333 % interval, as one of 3 guests, 37.8 to 39.2 %), limit 30
  % (*): failed.
- cpu.sysbench.rate: at least 1 and at most 2 guests within the limit of 30 %.

skipped_once
- cpu.sysbench.rate at 3 guests: one guest 312 events/s, mean of 3 guests 204
  events/s, loss 34.6 % (95 % interval 34.4 to 34.9 %), limit 50 % (*):
  inconclusive, skipped in 1 repetition because of smaller levels.
- cpu.sysbench.rate: undecided how many guests are within the limit of 50 %, at
  least 2.

incomplete
- cpu.sysbench.rate at 3 guests: one guest 312 events/s, mean of 3 guests 204
  events/s, loss 34.7 % (no interval), limit 95 % (*): void. repetition 2 is
  incomplete: cpu.sysbench.rate of g3: it died.
- cpu.sysbench.rate: undecided how many guests are within the limit of 95 %, at
  least 2.
- repetitions incomplete: 2 (2 of 3 are complete): cpu.sysbench.rate of g3: it
  died.

policy
- network.x.rate at 1 guest: one bare-metal copy 945 Mbit/s, guest 945 Mbit/s,
  loss 0.0 % (95 % interval -0.6 to 0.7 %), limit 5 % (*): inconclusive, a
  policy limits it: the guest has 945 Mbit/s of policy gold.
- network.x.rate: undecided how many guests are within the limit of 5 %.

fairness
- cpu.sysbench.rate at 2 guests: fairness index 0.779 (95 % interval 0.573 to
  0.898), 0.735 in its worst repetition (2), least limit 0.9 (*): failed.
- cpu.sysbench.rate at 2 guests: spread 133.8 % (95 % interval 50.1 to 282.6
  %), 166.5 % in its worst repetition (2), limit 50 % (*): failed.

few_shares
- cpu.sysbench.rate at 1 guest: fairness needs at least two guests:
  inconclusive.
- cpu.sysbench.rate at 2 guests: fairness index 0.800 (no interval), 0.800 in
  its worst repetition (1), least limit 0.9 (*): inconclusive, at least 5
  repetitions are needed to say.

spread
- disk.fio.randread.iops: guest's range 7.87 % over 5 repetitions, bare metal's
  0.57 % over 4, limit 5 % (disk.*): failed.
- disk.fio.randread.iops: guest's coefficient of variation 3.07 % (95 %
  interval 1.84 to 8.81 %) over 5 repetitions, bare metal's 0.24 % over 4,
  limit 4 % (disk.*): inconclusive, more repetitions narrow the interval.
- passed: cpu.bzip2.compress_time range 3.96 % (limit 10 %), cv 1.57 % (95 %
  interval 0.94 to 4.50 %, limit 5 %).

neighbours
- disk.fio.randread.iops at 2 guests: without neighbours 1.00 kops/s, with
  neighbours 700 ops/s, loss 30.0 % (95 % interval 30.0 to 30.0 %), limit 12 %
  (*): failed.

event
- disk.fio.randread.iops: before 1.00 kops/s, after 900 ops/s, loss 10.0 % (95
  % interval 9.8 to 10.2 %), limit 8 % (*): failed.
- cpu.bzip2.compress_time: no counted repetition has it in both phases:
  inconclusive.

gains
- network.iperf3.rate of virtio: e1000 998 bit/s, virtio 2.99 kbit/s, gain
  199.8 % (95 % interval 196.1 to 203.1 %), least limit 250 % (network.*):
  failed.
- virtio instead of e1000: network.iperf3.rate +199.8 % (195.2 to 204.4 %);
  disk.dd.time +66.6 % (66.3 to 66.9 %).
- same instead of e1000: no significant difference in 2 metrics.

many_gains
- virtio instead of ide: m1 -30.0 % (-30.0 to -30.0 %); m2 +20.0 % (20.0 to
  20.0 %); m3 +10.0 % (10.0 to 10.0 %); better in 2 other metrics; worse in 1
  other metric.

void_variant
- The guest does not have a setting that was requested for it (g2: virtio:
  hw_x=y was requested, g2 has z).
- virtio instead of e1000: not compared: The guest does not have a setting that
  was requested for it (g2: virtio: hw_x=y was requested, g2 has z).
- same instead of e1000: no significant difference in 2 metrics.

few_gains
- b instead of a: no result (fewer than 3 repetitions) in 2 metrics.

unpaired_gain
- disk.dd.time of b: no counted repetition has it of both variants:
  inconclusive.
- b instead of a: network.iperf3.rate +201.6 % (198.8 to 204.3 %); no result
  (no counted repetition has it of both variants) in 1 metric.
"""


@ddt.ddt
class TestSentences(unittest.TestCase):
    """What follows the headline."""

    maxDiff = None

    @ddt.data(*SENTENCES.split("\n\n"))
    def test_sentences(self, text):
        """The gravest are first."""
        name, *items = re.split("^- ", text, flags=re.MULTILINE)
        self.assertEqual(
            [" ".join(item.split()) for item in items],
            JUDGEMENTS[name.strip()]().sentences()[1:],
        )

    def test_each_judgement(self):
        """It has its sentences."""
        names = [text.partition("\n")[0] for text in SENTENCES.split("\n\n")]
        self.assertEqual([*JUDGEMENTS], names)

    @ddt.data(
        ({1: [9.0]}, {}, "the limit applies to no level"),
        (
            {2: [9.0] * 2},
            {},
            "the task has no level of one guest to compare with",
        ),
        (
            {3: [9.0] * 3},
            {"compare_to": "bare_metal"},
            "the baseline does not have it of 3 copies, record it with "
            "--copies 3",
        ),
        (
            {1: [9.0], 4: [9.0] * 4},
            {"statistic": "worst"},
            "the worst guest is unknown because the solo rate of g2 and 2 "
            "other guests is missing; measure with solo_guest: all, or judge "
            "statistic: mean",
        ),
    )
    @ddt.unpack
    def test_no_figure(self, rates, options, reason):
        """The reason is in its place."""
        judged = judge_rates(rates, **options).limited[-1]
        self.assertEqual(
            f"{judged.title}: {reason}: inconclusive", judged.sentence()
        )

    def test_all_skipped(self):
        """The first reason is named."""
        judged = judge_skipped(1, 2, 3, 4).limited[-1]
        self.assertEqual("not run: fall 1", judged.reason)
        judged = judge_skipped(1, 2, 3, 4, guests=1).limited[-1]
        self.assertEqual("one guest: not run: fall 1", judged.reason)

    def test_level_without_samples(self):
        """It ran, and the reason is not that it was skipped."""
        curves = made.levels(CPU)
        for number in (1, 2, 3):
            level = made.level(number, 3, {})
            curves = made.with_level(curves, number, level)
        judged = made.degradation(curves, {"*": 50}).limited[-1]
        self.assertEqual(
            "no counted repetition has it for every guest", judged.reason
        )

    @ddt.data(
        (
            (11000.0,),
            "1 repetition of the guest has no coefficient of variation: ",
        ),
        (
            (11000.0, 11900.0),
            "guest's coefficient of variation 5.56 % (no interval) over 2 "
            "repetitions, bare metal's 0.24 % over 4, limit 50 % (*): ",
        ),
    )
    @ddt.unpack
    def test_few_repetitions(self, rates, text):
        """One has no variation, two have no interval."""
        judge = overhead.SPREAD.parse({"max_cv_percent": {"*": 50}})
        entries = made.several({made.IOPS: rates})
        judgement = made.feed_judge(judge.create_judge(), entries).judgement()
        self.assertEqual(
            f"disk.fio.randread.iops: {text}inconclusive, at least 5 "
            "repetitions are needed to say.",
            judgement.sentences()[1],
        )

    def test_no_limit(self):
        """And no interval."""
        few = {made.IOPS: made.NEAR[made.IOPS][:2]}
        (row,) = made.judgement(made.several(few), {}).rows
        self.assertEqual(
            "disk.fio.randread.iops: bare metal 12.3 kops/s, guest 11.0 "
            "kops/s, overhead 10.5 % (no interval), no limit",
            row.sentence(),
        )

    def test_void_solo_guest(self):
        """It voids the comparison with each number of guests."""
        elsewhere = (finding.Finding("wrong_host", "g1", "on host-9"),)
        solo = made.level(1, 1, {made.EVENTS: [312.0]}, findings=elsewhere)
        curves = made.with_level(made.levels(CPU), 1, solo)
        judgement = made.degradation(curves, {"*": 95})
        title = finding.KINDS["wrong_host"].title
        self.assertEqual(
            f"{title} (g1: at 1 guest: on host-9).", judgement.sentences()[1]
        )
        self.assertEqual(
            [("void", f"one guest: {title} (g1: on host-9)")] * 2,
            [(judged.status, judged.void) for judged in judgement.limited],
        )

    @ddt.data(
        (
            "guest_rebooted",
            "g1",
            (2,),
            "1 repetition of 5 is void and omitted (2): The guest was "
            "rebooted during the run (g1: so it is).",
        ),
        (
            "guest_rebooted",
            "g1",
            (2, 4),
            "2 repetitions of 9 are void and omitted (2, 4): The guest was "
            "rebooted during the run (g1: so it is).",
        ),
        (
            "partial_overlap",
            made.IOPS.name,
            (2,),
            "void samples are omitted: The machines did not work at the same "
            "time (disk.fio.randread.iops: so it is).",
        ),
    )
    @ddt.unpack
    def test_omitted(self, kind, subject, numbers, sentence):
        """Void repetitions and samples are named with the reason."""
        findings = made.build_findings(kind, subject)
        count = 4 * len(numbers) + 1
        entries = [
            made.changed(
                entry, findings=findings if entry.number in numbers else ()
            )
            for entry in made.several(
                {made.IOPS: [11000.0 + number for number in range(count)]}
            )
        ]
        self.assertEqual(sentence, made.judgement(entries).sentences()[1])

    def test_lines(self):
        """Five at most: headline, three reasons and where the rest is."""
        metrics = [
            dataclasses.replace(made.IOPS, name=f"disk.fio.p{number}.iops")
            for number in range(9)
        ]
        far, bare = made.FAR[made.IOPS], made.BARE[made.IOPS]
        entries = made.several(
            {**dict.fromkeys(metrics, far), **made.NEAR},
            reference=made.reference(
                dict.fromkeys([*metrics, made.IOPS], bare)
            ),
        )
        for judgement, reasons, rest in (
            (made.judgement(entries), 3, "6 more reasons and all"),
            (made.judgement(made.several(made.NEAR)), 0, "All"),
        ):
            *lines, last = judgement.lines()
            self.assertEqual(judgement.sentences()[: 1 + reasons], lines)
            self.assertRegex(
                last,
                rf"^{rest} figures: rally-vmperf judge. Judged by the rules "
                r"of version \d+\.$",
            )
