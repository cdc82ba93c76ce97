# SPDX-License-Identifier: Apache-2.0
"""Tests of the SLA on promises of flavor, volume type and port."""

import dataclasses
import unittest

import ddt

from rally_vmperf.measurement import finding
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement import promises
from rally_vmperf.measurement.comparison import rate_caps
from rally_vmperf.measurement.samples import cpu_seconds
from rally_vmperf.measurement.samples import merged
from rally_vmperf.measurement.samples import sample
from rally_vmperf.measurement.samples import series
from rally_vmperf.questions.common import shared_criteria
from tests.unit import made
from tests.unit.plugins.criteria import contract


def define(name, unit):
    """Return a rate."""
    return sample.Metric(name, unit, "higher")


READS = define("disk.fio.randread.iops", "ops/s")
READ_BYTES = define("disk.fio.randread.bandwidth", "B/s")
WRITES = define("disk.fio.randwrite.iops", "ops/s")
TRIMS = define("disk.fio.randtrim.iops", "ops/s")
SEQUENTIAL = define("disk.fio.read.iops", "ops/s")
SEQUENTIAL_BYTES = define("disk.fio.read.bandwidth", "B/s")
MIXED_READS = define("disk.fio.randrw.read.iops", "ops/s")
MIXED_WRITES = define("disk.fio.randrw.write.iops", "ops/s")
MIX_WRITES = define("disk.fio.mix.write.bandwidth", "B/s")
SENT = define("network.iperf3.to_peer.throughput", "bit/s")
RECEIVED = define("network.iperf3.from_peer.throughput", "bit/s")
EXCHANGED = define("network.iperf3.guest_to_guest.throughput", "bit/s")

#: A limit of 1000 reads per second.
READ_IOPS = rate_caps.disk(
    1000, "ops/s", "flavor m1 (disk_read_iops_sec)", direction="read"
)
STEAL, USED = guest_metrics.STEAL_PERCENT, guest_metrics.USED_PERCENT
CPU_QUOTA = rate_caps.cpu(50, "flavor m1 (cpu_quota)")
SPREAD = (0.999, 1.0, 1.001, 1.0005)


def build_run(
    rates,
    caps=(READ_IOPS,),
    findings=(),
    sizes=(),
    usage=(),
    curves=(),
    guests=("g1",),
):
    """Return repetitions in which guests have rates, ``{metric: rate}``.

    The rate of several guests is a list.
    """
    run = []
    for number, factor in enumerate(SPREAD, 1):
        by_metric = {
            metric: [
                each and each * (1 if metric.scale == "count" else factor)
                for each in (rate if isinstance(rate, list) else [rate])
            ]
            for metric, rate in rates.items()
        }
        condition = made.build_condition(
            number,
            by_metric,
            machines=guests,
            command_usage=usage,
            time_series=curves,
            planned_repetitions=len(SPREAD),
        )
        run.append(
            made.repetition(
                number,
                [condition],
                planned_repetitions=len(SPREAD),
                rate_limits=tuple(caps),
                findings=tuple(findings),
                sizes=tuple(sizes),
                question="overhead",
            )
        )
    return run


def build_usage(seconds, workload="fio", command="randread"):
    """Return the CPU usage of a run of a command, random reads by default."""
    return cpu_seconds.Usage(
        workload=workload,
        command=command,
        runs=1,
        seconds=seconds,
        user=1.0,
        system=1.0,
    )


def build_series(metric, seconds):
    """Return the series of a metric over so many seconds."""
    means = series.MeanSeries(end=seconds, mean=(1.0, 2.0))
    return merged.TimeSeries(metric=metric, machines=1, means=means)


def throttle(demand, average, most, length, seconds):
    """Return the mean rate that QEMU lets a guest reach.

    As throttle_compute_wait: it waits while the level, from which the average
    leaks, exceeds that of a burst; during a burst of more than a second, at
    most a tenth of a second is ahead of the largest rate.

    :param demand: The rate of the workload without a limit.
    """
    step = 0.01
    level = burst_level = done = 0.0
    for _ in range(round(seconds / step)):
        level = max(0.0, level - average * step)
        burst_level = max(0.0, burst_level - most * step)
        allowed = min(demand * step, most * length - level)
        if length > 1:
            allowed = min(allowed, most / 10 - burst_level)
        level += allowed
        burst_level += allowed
        done += allowed
    return done / seconds


class Judging:
    """The verdicts on made runs."""

    def judge(self, rates, options=None, **fields):
        """Return the judgement on a run."""
        judge = shared_criteria.PROMISE.parse(options or {}).create_judge()
        return made.feed_judge(judge, build_run(rates, **fields)).judgement()

    def list_rows(self, rates, **fields):
        """Return the status and the limit by metric and side."""
        return {
            (row.metric.name, row.figure.side): (row.status, row.limit)
            for row in self.judge(rates, **fields).rows
        }

    def find_reasons(self, judgement):
        """Return the promises that are not judged, with the reasons."""
        return {each.pattern: each.reason for each in judgement.not_judged}


@ddt.ddt
class TestPromise(Judging, contract.SLAContract, unittest.TestCase):
    """A limit on the rate of reads."""

    NAME = "vmperf_promise"
    # 1000 of 1030 reads per second are 97.1 %.
    RUN = build_run(
        {READS: 1000.0},
        caps=(dataclasses.replace(READ_IOPS, rate=1030, payload_rate=1030),),
    )
    PASSES = ({}, {"min_percent": 96.5}, {"max_percent": 100})
    FAILS = ({"min_percent": 99}, {"min_percent": 100, "max_percent": 120})
    UNDECIDED = ({"min_percent": 97.1},)
    REJECTED = (
        {"min_percent": 0},
        {"min_percent": 101},
        {"max_percent": 99},
        {"max": {"*": 1}},
        {"unmeasured": "skip"},
    )

    def test_figures_without_limits(self):
        """The cloud has the limits, and not the task."""
        judgement = self.judge({READS: 1000.0})
        self.assertEqual(2, len(judgement.limited))

    @ddt.unpack
    @ddt.data((940.0, "failed"), (1000.0, "passed"), (1110.0, "failed"))
    def test_defaults(self, rate, status):
        """At least 95 %, and at most 110 % of the promise."""
        self.assertEqual(status, self.judge({READS: rate}).status)
        options = {"min_percent": 90, "max_percent": 120}
        self.assertEqual("passed", self.judge({READS: rate}, options).status)

    def test_limits_of_the_metric(self):
        """95 % of the promise, and 110 % of it."""
        self.assertEqual(
            {
                (READS.name, "min"): ("passed", 950),
                (READS.name, "max"): ("passed", 1100),
            },
            {
                key: (status, round(limit, 6))
                for key, (status, limit) in self.list_rows(
                    {READS: 1000.0}
                ).items()
            },
        )

    def test_worst_guest(self):
        rates = {READS: [1000.0, 900.0]}
        judgement = self.judge(rates, guests=("g1", "g2"))
        self.assertEqual("failed", judgement.status)
        (least,) = (r for r in judgement.rows if r.figure.side == "min")
        self.assertEqual("g2", least.subject.guest)

    @ddt.unpack
    @ddt.data(
        ([1000.0, 500.0], "passed", ""),
        ([1000.0, 300.0], "failed", "g2"),
        ([2000.0, 500.0], "failed", "g1"),
    )
    def test_guests_with_other_promises(self, rates, status, guest):
        """Each guest is judged by its own promise."""
        caps = (
            dataclasses.replace(READ_IOPS, guests=("g1",)),
            dataclasses.replace(
                READ_IOPS,
                rate=500,
                payload_rate=500,
                name="flavor m2 (disk_read_iops_sec)",
                guests=("g2",),
            ),
        )
        judgement = self.judge({READS: rates}, caps=caps, guests=("g1", "g2"))
        self.assertEqual(status, judgement.status)
        self.assertEqual(4, len(judgement.rows))
        self.assertEqual(
            {guest} - {""},
            {row.variant for row in judgement.rows if row.status == "failed"},
        )

    def test_guests_without_a_promise(self):
        """A promise of some guests is not that of the others."""
        cap = dataclasses.replace(READ_IOPS, guests=("g1", "g3"))
        rates = {READS: [1000.0, 500.0]}
        judgement = self.judge(rates, caps=(cap,), guests=("g1", "g2"))
        self.assertEqual("passed", judgement.status)
        cap = dataclasses.replace(READ_IOPS, guests=("g1", "g2", "g3"))
        judgement = self.judge(rates, caps=(cap,), guests=("g1", "g2"))
        self.assertEqual("failed", judgement.status)
        self.assertEqual({""}, {row.variant for row in judgement.rows})

    def test_smaller_promise_of_one_guest(self):
        """A guest that its flavor limits does not reach that of its port."""
        port = rate_caps.network(1e9, "port", direction="egress")
        flavor = rate_caps.network(
            1e8, "flavor m1", direction="egress", guests=("g1",)
        )
        judgement = self.judge(
            {SENT: [0.94e8, 0.94e9]}, caps=(port, flavor), guests=("g1", "g2")
        )
        self.assertEqual("passed", judgement.status)
        self.assertIn("flavor m1", self.find_reasons(judgement)["port of g1"])

    def test_variants(self):
        """A verdict names the variant of which it speaks."""
        run = [
            made.repetition(
                number,
                [
                    made.build_condition(
                        number,
                        {READS: [rate * factor]},
                        {"variant": variant},
                        machines=(f"{variant}-g1",),
                        planned_repetitions=len(SPREAD),
                    )
                    for variant, rate in (("fast", 1000.0), ("slow", 500.0))
                ],
                planned_repetitions=len(SPREAD),
                rate_limits=(READ_IOPS,),
                question="tuning",
            )
            for number, factor in enumerate(SPREAD, 1)
        ]
        judge = shared_criteria.PROMISE.parse({}).create_judge()
        judgement = made.feed_judge(judge, run).judgement()
        self.assertEqual(
            {("fast", "passed"), ("slow", "failed")},
            {
                (row.variant, row.status)
                for row in judgement.rows
                if row.figure.side == "min"
            },
        )

    def test_traffic_to_a_guest_with_another_promise(self):
        """It has the rate of the slower end."""
        caps = [
            rate_caps.network(rate, name, direction="egress", guests=(name,))
            for name, rate in (("g1", 1e8), ("g2", 1e9))
        ]
        judgement = self.judge(
            {EXCHANGED: [0.94e8, 0.94e8]}, caps=caps, guests=("g1", "g2")
        )
        self.assertEqual("passed", judgement.status)
        self.assertIn("other end", self.find_reasons(judgement)["g2 of g2"])

    def test_advice(self):
        """A workload that does not try cannot reach a promise."""
        text = self.judge({READS: 200.0}).sentence()
        self.assertIn("raise depth or jobs of fio", text)
        self.assertNotIn("raise depth", self.judge({READS: 1000.0}).sentence())


@ddt.ddt
class TestRates(Judging, unittest.TestCase):
    """The metrics that a promise applies to."""

    @ddt.unpack
    @ddt.data(
        ("disk", "ops/s", "read", [READS]),
        ("disk", "ops/s", "write", [WRITES]),
        ("disk", "ops/s", "total", [READS, WRITES]),
        ("disk", "B/s", "read", [READ_BYTES, SEQUENTIAL_BYTES]),
        ("network", "bit/s", "egress", [SENT, EXCHANGED]),
        ("network", "bit/s", "ingress", [RECEIVED, EXCHANGED]),
    )
    def test_directions(self, part, unit, direction, metrics):
        """Sequential requests are merged: their number is not limited.

        A trim is neither a read nor a write.
        """
        cap = rate_caps.Cap(
            part=part,
            unit=unit,
            rate=1000,
            payload_rate=1000,
            name="policy",
            direction=direction,
        )
        names = (
            READS,
            WRITES,
            TRIMS,
            READ_BYTES,
            SEQUENTIAL,
            SEQUENTIAL_BYTES,
            SENT,
            RECEIVED,
            EXCHANGED,
        )
        rows = self.list_rows(dict.fromkeys(names, 1000.0), caps=(cap,))
        self.assertEqual(
            {(metric.name, "max") for metric in metrics},
            {(name, side) for name, side in rows if side == "max"},
        )

    @ddt.unpack
    @ddt.data((0.99e9, "passed"), (2e9, "failed"))
    def test_datagrams(self, rate, status):
        """A limit holds for UDP, too, whose rate the task fixes."""
        datagrams = define("network.iperf3.to_peer.udp.throughput", "bit/s")
        cap = rate_caps.network(1e9, "policy", direction="egress")
        fixed = finding.Finding(
            "fixed_rate", "iperf3", "2G", metrics=(datagrams.name,)
        )
        judgement = self.judge(
            {datagrams: rate}, caps=(cap,), findings=(fixed,)
        )
        self.assertEqual(status, judgement.status)
        (row,) = judgement.rows
        self.assertEqual("max", row.figure.side)
        self.assertIn("fixed rate", self.find_reasons(judgement)["policy"])

    def test_best_workload(self):
        """The promise arrives if one workload reaches it."""
        cap = rate_caps.disk(1e8, "B/s", "policy", direction="read")
        rates = {READ_BYTES: 2e7, SEQUENTIAL_BYTES: 1e8}
        rows = self.list_rows(rates, caps=(cap,))
        self.assertIn((SEQUENTIAL_BYTES.name, "min"), rows)
        self.assertNotIn((READ_BYTES.name, "min"), rows)
        self.assertEqual({"passed"}, {status for status, _ in rows.values()})

    def test_another_promise_is_reached_first(self):
        """1000 reads of 4 KiB are 4 MB/s, whatever the bandwidth is."""
        cap = rate_caps.disk(1e8, "B/s", "bytes", direction="read")
        rates = {READS: 1000.0, READ_BYTES: 4.096e6}
        judgement = self.judge(rates, caps=(READ_IOPS, cap))
        self.assertEqual("passed", judgement.status)
        self.assertIn(READ_IOPS.name, self.find_reasons(judgement)["bytes"])

    def test_smaller_limit(self):
        """Of two limits on reads, the guest reaches the smaller one."""
        small = dataclasses.replace(
            READ_IOPS, rate=500, payload_rate=500, name="small"
        )
        for rate, status in ((500.0, "passed"), (400.0, "failed")):
            judgement = self.judge({READS: rate}, caps=(READ_IOPS, small))
            self.assertEqual(status, judgement.status)
            reasons = self.find_reasons(judgement)
            self.assertIn("small", reasons[READ_IOPS.name])

    def test_limits_of_several_disks(self):
        """Each applies to the workloads that measure its disk."""
        reads = define("disk.fio.data.randread.iops", "ops/s")
        flavor = dataclasses.replace(READ_IOPS, metrics=(READS.name,))
        volume = dataclasses.replace(
            READ_IOPS,
            name="volume type ssd",
            rate=500,
            payload_rate=500,
            metrics=(reads.name,),
        )
        unused = dataclasses.replace(volume, name="unused", metrics=())
        judgement = self.judge(
            {READS: 1000.0, reads: 500.0}, caps=(flavor, volume, unused)
        )
        self.assertEqual("passed", judgement.status)
        self.assertEqual(
            {
                (READS.name, 950),
                (READS.name, 1100),
                (reads.name, 475),
                (reads.name, 550),
            },
            {(row.metric.name, row.limit) for row in judgement.rows},
        )
        reasons = self.find_reasons(judgement)
        self.assertEqual("no workload measures it", reasons.pop("unused"))
        self.assertNotIn("volume type ssd", reasons)

    @ddt.unpack
    @ddt.data(
        # Of 16 KiB, a request is four operations, and of 2 KiB one.
        (250.0, 16384, "passed"),
        (235.0, 16384, "failed"),
        (280.0, 16384, "failed"),
        (1000.0, 2048, "passed"),
        (500.0, 2048, "failed"),
    )
    def test_large_requests(self, rate, size, status):
        """QEMU counts them as a multiple of size_iops_sec."""
        cap = dataclasses.replace(READ_IOPS, request_bytes=4096)
        rates = {READS: rate, READ_BYTES: rate * size}
        self.assertEqual(status, self.judge(rates, caps=(cap,)).status)

    def test_requests_of_an_unknown_size(self):
        cap = dataclasses.replace(READ_IOPS, request_bytes=4096)
        judgement = self.judge({READS: 250.0}, caps=(cap,))
        self.assertEqual((), judgement.rows)
        reasons = self.find_reasons(judgement)
        self.assertEqual(
            "a request larger than size_iops_sec counts as several "
            "operations, and the size of the requests is not known without a "
            "bandwidth",
            reasons[cap.name],
        )

    def test_mixed_pattern(self):
        """Reads and writes share the total."""
        cap = dataclasses.replace(READ_IOPS, direction="total")
        rates = {MIXED_READS: 500.0, MIXED_WRITES: 500.0}
        judgement = self.judge(rates, caps=(cap,))
        self.assertEqual((), judgement.rows)
        reasons = self.find_reasons(judgement)
        self.assertEqual("no workload measures it", reasons[cap.name])

    @ddt.unpack
    @ddt.data(
        # Of 1000 B/s, the writes that nothing measures take the rest.
        ("total", 500.0, None, True),
        ("total", 1200.0, "failed", True),
        ("read", 980.0, "passed", False),
        ("read", 500.0, "failed", False),
    )
    def test_section_with_one_side(self, direction, rate, status, is_skipped):
        """A section that reads and writes, whose reads are measured."""
        metric = define("disk.fio.mix.read.bandwidth", "B/s")
        found = finding.Finding(
            "other_side_not_measured", "fio", "", metrics=(metric.name,)
        )
        cap = rate_caps.disk(1000, "B/s", "policy", direction=direction)
        judgement = self.judge(
            {metric: rate},
            caps=(cap,),
            usage=[build_usage(60.0, "fio", "mix")],
            findings=(found,),
        )
        statuses = {row.status for row in judgement.rows}
        self.assertEqual(status is None, not judgement.rows)
        self.assertLessEqual({status} - {None}, statuses)
        reason = self.find_reasons(judgement).get("policy", "")
        self.assertEqual(is_skipped, "reads and writes" in reason)

    def test_total_behind_a_section(self):
        """Its writes may have reached the total before its reads do."""
        metric = define("disk.fio.mix.read.bandwidth", "B/s")
        found = finding.Finding(
            "other_side_not_measured", "fio", "", metrics=(metric.name,)
        )
        caps = (
            rate_caps.disk(1000, "B/s", "reads", direction="read"),
            rate_caps.disk(1500, "B/s", "total", direction="total"),
        )
        options = {"usage": [build_usage(60.0, "fio", "mix")]}
        judgement = self.judge(
            {metric: 750.0}, caps=caps, findings=(found,), **options
        )
        self.assertEqual("passed", judgement.status)
        reasons = self.find_reasons(judgement)
        self.assertEqual("total limits the workloads first", reasons["reads"])
        both = {metric: 750.0, MIX_WRITES: 750.0}
        judgement = self.judge(both, caps=caps, **options)
        reasons = self.find_reasons(judgement)
        self.assertEqual("total limits the workloads first", reasons["reads"])

    def test_side_beyond_the_total(self):
        """A side of a mixed pattern that exceeds the total shows it alone."""
        cap = dataclasses.replace(READ_IOPS, direction="total")
        rates = {MIXED_READS: [900.0, 2900.0], MIXED_WRITES: [90.0, 290.0]}
        judgement = self.judge(rates, caps=(cap,), guests=("g1", "g2"))
        (row,) = judgement.rows
        self.assertEqual(
            ("failed", MIXED_READS, "max"),
            (row.status, row.metric, row.figure.side),
        )

    def test_total_before_a_side(self):
        """A mixed pattern cannot read more than the total."""
        total = dataclasses.replace(
            READ_IOPS, direction="total", name="total", rate=800
        )
        judgement = self.judge(
            {MIXED_READS: 400.0, MIXED_WRITES: 400.0}, caps=(READ_IOPS, total)
        )
        self.assertEqual("passed", judgement.status)
        reasons = self.find_reasons(judgement)
        self.assertIn("total", reasons[READ_IOPS.name])

    @ddt.unpack
    @ddt.data(
        ("db", (), True),
        ("load-30", (), True),
        # Of these names, only the commands that ran tell what they are.
        ("rw", (("fio-rw", "read"), ("fio-rw", "write")), True),
        ("rw", (), False),
        ("log", (("fio", "log"),), False),
        ("db.log", (("fio-db", "log"),), False),
    )
    def test_labels(self, place, commands, has_total):
        """Reads and writes with one label are two commands.

        A section of a job file is one command, as a mixed pattern is.

        :param place: The words between the tool and the side.
        :param has_total: Whether the limit on the total applies to each.
        """
        cap = rate_caps.disk(1000, "B/s", "policy", direction="total")
        rates = {
            define(f"disk.fio.{place}.{side}.bandwidth", "B/s"): 1000.0
            for side in ("read", "write")
        }
        judgement = self.judge(
            rates,
            caps=(cap,),
            usage=[build_usage(60.0, *command) for command in commands],
        )
        is_judged = cap.name not in self.find_reasons(judgement)
        self.assertEqual(has_total, is_judged)

    @ddt.unpack
    @ddt.data(
        ("brand.read", "read", False),
        ("brand.randread", "read", True),
        ("random.rw.write", "write", False),
        ("seq.randrw.write", "write", True),
    )
    def test_random_requests(self, place, direction, is_judged):
        """The command is random or not, whatever its label is."""
        metric = define(f"disk.fio.{place}.iops", "ops/s")
        cap = dataclasses.replace(READ_IOPS, direction=direction)
        rows = self.list_rows({metric: 1000.0}, caps=(cap,))
        self.assertEqual(is_judged, (metric.name, "max") in rows)

    def test_guarantee(self):
        """It is a lower bound only."""
        cap = rate_caps.network(
            1e8, "policy", direction="egress", is_guarantee=True
        )
        rows = self.list_rows({SENT: 9e8}, caps=(cap,))
        self.assertEqual(
            {(SENT.name, "min"): "passed"},
            {key: status for key, (status, _) in rows.items()},
        )
        self.assertEqual("failed", self.judge({SENT: 5e7}, caps=(cap,)).status)

    def test_payload(self):
        """A limit counts the headers, which TCP does not report."""
        cap = rate_caps.network(1e9, "policy", direction="egress")
        # 1448 of 1538 bytes of a packet on the wire are payload.
        judgement = self.judge({SENT: 1e9 * 1448 / 1538}, caps=(cap,))
        self.assertEqual("passed", judgement.status)

    @ddt.unpack
    @ddt.data(
        # Up to 5000 reads per second for 10 s: a bucket of 50000.
        (1e5, 5000, 10, 0, "passed"),
        (1e5, 5000, 10, 200, "failed"),
        # The bucket of a slower workload lasts longer than 10 s: 100 s.
        (1500, 5000, 10, 0, "passed"),
        # QEMU's default length of a second.
        (1e5, 5000, 1, 0, "passed"),
        (1e5, 5000, 1, 200, "failed"),
    )
    def test_burst(self, demand, most, length, excess, status):
        """The bucket of QEMU holds the largest rate times the length.

        :param excess: The reads per second beyond the limit.
        """
        cap = dataclasses.replace(READ_IOPS, burst=most * length)
        rate = throttle(demand, 1000, most, length, seconds=60) + excess
        judgement = self.judge(
            {READS: rate},
            caps=(cap,),
            curves=(build_series(READS, 60.0),),
            # With its start, the command lasts longer than it measures.
            usage=(build_usage(90.0),),
        )
        self.assertEqual(status, judgement.status)

    def test_duration_of_a_burst(self):
        """All metrics of a command have it from the same series."""
        cap = rate_caps.disk(1e6, "B/s", "bytes", direction="read", burst=60e6)
        rows = self.list_rows(
            {READ_BYTES: 1.5e6},
            caps=(cap,),
            curves=(build_series(READS, 60.0), build_series(WRITES, 1.0)),
        )
        _, limit = rows[READ_BYTES.name, "max"]
        self.assertEqual(2.1e6, round(limit))

    def test_burst_without_a_series(self):
        """By the whole duration, only an enforced limit is judged."""
        cap = dataclasses.replace(READ_IOPS, burst=60_000)
        for rate, usage in ((2000.0, 60.0), (2200.0, 60.0), (2000.0, None)):
            judgement = self.judge(
                {READS: rate},
                caps=(cap,),
                usage=(build_usage(usage),) if usage else (),
            )
            self.assertEqual("passed", judgement.status)
            is_judged = cap.name not in self.find_reasons(judgement)
            self.assertEqual((rate, usage) == (2000, 60), is_judged)

    def test_burst_of_another_label(self):
        """The time of a command with another label is not that of a burst."""
        cap = dataclasses.replace(READ_IOPS, burst=60_000)
        reads = define("disk.fio.db.randread.iops", "ops/s")
        other = build_usage(1.0, "fio-other")
        judgement = self.judge({reads: 2000.0}, caps=(cap,), usage=(other,))
        self.assertIn("bursts", self.find_reasons(judgement)[cap.name])
        rows = self.list_rows(
            {reads: 2000.0},
            caps=(cap,),
            usage=(build_usage(60.0, "fio-db"), other),
        )
        self.assertEqual(2100, round(rows[reads.name, "max"][1]))

    def test_page_cache(self):
        """Its rate is not that of the disk."""
        cached = finding.Finding(
            "page_cache_measured",
            "fio",
            "direct: false",
            metrics=(READS.name,),
        )
        judgement = self.judge({READS: 1e6}, findings=(cached,))
        self.assertEqual((), judgement.rows)
        self.assertIn(
            "page cache", self.find_reasons(judgement)[READ_IOPS.name]
        )

    def test_fixed_rate(self):
        """A workload with a rate of its own shows no lower bound."""
        fixed = finding.Finding(
            "fixed_rate", "fio", "100 ops/s", metrics=(READS.name,)
        )
        rows = self.list_rows({READS: 100.0}, findings=(fixed,))
        self.assertEqual([(READS.name, "max")], [*rows])

    def test_record_of_an_earlier_version(self):
        """It lacks the direction, and is never silently passed."""
        cap = rate_caps.disk(1000, "ops/s", "flavor m1 (read)")
        judgement = self.judge({READS: 10.0}, caps=(cap,))
        self.assertFalse(judgement.passed)
        self.assertIn(
            "run the task again", self.find_reasons(judgement)[cap.name]
        )

    def test_levels_of_density(self):
        """A promise holds at each number of guests."""
        run = [
            made.level(number, guests, {READS: [rate * factor] * guests})
            for number, factor in enumerate(SPREAD, 1)
            for guests, rate in ((1, 1000.0), (2, 700.0))
        ]
        run = [
            made.repetition(
                number,
                [level for level in run if level.number == number],
                planned_repetitions=len(SPREAD),
                rate_limits=(READ_IOPS,),
                question="density",
            )
            for number in range(1, len(SPREAD) + 1)
        ]
        judge = shared_criteria.PROMISE.parse({}).create_judge()
        statuses = {
            row.guests: row.status
            for row in made.feed_judge(judge, run).judgement().rows
            if row.figure.side == "min"
        }
        self.assertEqual({1: "passed", 2: "failed"}, statuses)

    def test_cpu_quota(self):
        """The share of the time that the host gives, against the quota."""
        # With 52 %, the guest has 48 % of the time, at least 95 % of 50.
        for percent, status in (
            (0.0, "passed"),
            (52, "passed"),
            (60, "failed"),
        ):
            judgement = self.judge({STEAL: percent}, caps=(CPU_QUOTA,))
            self.assertEqual(status, judgement.status, percent)

    def test_cpu_quota_of_an_emulated_guest(self):
        emulated = finding.Finding("emulated_guest", "g1", "TCG")
        judgement = self.judge(
            {STEAL: 0.0, USED: 100.0},
            {"tolerate": ["emulated_guest"]},
            caps=(CPU_QUOTA,),
            findings=(emulated,),
        )
        self.assertEqual((), judgement.rows)
        self.assertIn("emulated", self.find_reasons(judgement)[CPU_QUOTA.name])

    @ddt.unpack
    @ddt.data(
        # /proc/stat of a guest on KVM: all vCPUs are busy, cpu.max is 50 %.
        (50.0, 50.0, "passed"),
        (49.0, 55.5, "failed"),
        # The host is idle and enforces nothing; most vCPUs are busy.
        (0.0, 100.0, "failed"),
        (0.0, 60.0, "failed"),
        # 48 % of the time, and the 48 % that the quota took.
        (50.0, 48.0, "passed"),
    )
    def test_cpu_quota_is_enforced(self, steal, used, status):
        """A guest that requests more has at most 55 % of its vCPUs' time."""
        rows = self.list_rows({STEAL: steal, USED: used}, caps=(CPU_QUOTA,))
        found, limit = rows[USED.name, "max"]
        self.assertEqual((status, 55), (found, round(limit, 6)))

    @ddt.unpack
    @ddt.data(
        (CPU_QUOTA, {STEAL: 0.0, USED: 50.0}, "keeps all vCPUs busy"),
        (CPU_QUOTA, {STEAL: 50.0, USED: 25.0}, "keeps all vCPUs busy"),
        (CPU_QUOTA, {STEAL: 100.0, USED: 0.0}, "keeps all vCPUs busy"),
        # 30 % of the time, and the 30 % that another guest took.
        (CPU_QUOTA, {STEAL: 50.0, USED: 30.0}, "other guests can have"),
        (CPU_QUOTA, {STEAL: 50.0, USED: 47.0}, "other guests can have"),
        (CPU_QUOTA, {STEAL: 50.0}, "run the task again"),
        (rate_caps.cpu(95, "all"), {STEAL: 0.0, USED: 100.0}, "lower max_"),
        (rate_caps.cpu(200, "all"), {STEAL: 0.0, USED: 100.0}, "lower max_"),
    )
    def test_cpu_quota_that_is_not_reached(self, cap, rates, reason):
        """Nothing shows whether it is enforced."""
        judgement = self.judge(rates, caps=(cap,))
        self.assertNotIn(USED, {row.metric for row in judgement.rows})
        self.assertIn(reason, self.find_reasons(judgement)[cap.name])

    @ddt.unpack
    @ddt.data(
        ([50.0, 0.0], [50.0, 20.0], False),
        ([50.0, 0.0], [60.0, 20.0], True),
        # One guest does not report it.
        ([50.0, 50.0], [50.0, None], False),
        ([50.0, 50.0], [60.0, None], True),
    )
    def test_cpu_quota_of_several_guests(self, steal, used, has_verdict):
        """An idle guest shows nothing, and one with more is found."""
        judgement = self.judge(
            {STEAL: steal, USED: used},
            caps=(CPU_QUOTA,),
            guests=("g1", "g2"),
        )
        metrics = {row.metric for row in judgement.rows}
        self.assertEqual(has_verdict, USED in metrics)

    def test_policy_that_is_not_visible(self):
        """It is named, and does not fail the others."""
        hidden = finding.Finding(
            "promise_not_checked", "volume type ssd", "administrators only"
        )
        judgement = self.judge({READS: 1000.0}, findings=(hidden,))
        self.assertEqual("passed", judgement.status)
        reasons = self.find_reasons(judgement)
        self.assertEqual("administrators only", reasons["volume type ssd"])
        self.assertIn("not judged: administrators only", judgement.sentence())


GIB = 1 << 30


@ddt.ddt
class TestSizes(Judging, unittest.TestCase):
    """vCPUs, memory and disk of a flavor."""

    @ddt.unpack
    @ddt.data(
        ("vcpus", 4, 4, "passed"),
        ("vcpus", 4, 3, "failed"),
        ("vcpus", 4, 5, "failed"),
        # SeaBIOS: "Memory: .../2096632K available" of 2 GiB.
        ("memory", 2 * GIB, 2_096_632 * 1024, "passed"),
        ("memory", 2 * GIB, 2 * GIB - (64 << 20), "failed"),
        ("memory", 2 * GIB, 4 * GIB, "failed"),
        ("disk", 20 * GIB, 20 * GIB, "passed"),
        ("disk", 20 * GIB, 10 * GIB, "failed"),
        ("ephemeral_disk", 20 * GIB, 20 * GIB, "passed"),
        ("ephemeral_disk", 20 * GIB, 0, "failed"),
        ("swap_disk", GIB, GIB // 2, "failed"),
        ("volume_1", 20 * GIB, 20 * GIB, "passed"),
        ("volume_12", 20 * GIB, 21 * GIB, "failed"),
    )
    def test_sizes(self, name, promised, delivered, status):
        size = promises.Size(
            guest="g1", name=name, promised=promised, delivered=delivered
        )
        judgement = self.judge({SENT: 1e9}, caps=(), sizes=(size,))
        self.assertEqual(status, judgement.status, judgement.sentence())
        self.assertIn("promise no rate", judgement.sentence())

    @ddt.unpack
    @ddt.data(
        ("disk", "disk of the flavor"),
        ("ephemeral_disk", "ephemeral disk of the flavor"),
        ("boot_volume", "size of the boot volume"),
        ("volume_1", "size of volume 1"),
    )
    def test_titles(self, name, title):
        """A result names the place that makes the promise."""
        size = promises.Size(guest="g1", name=name, promised=1, delivered=1)
        self.assertEqual(
            (title, f"guest.{name}.size", "B"),
            (size.title, size.metric.name, size.metric.unit),
        )

    def test_run_without_samples(self):
        """The size of a guest is no verdict on a run that measured nothing."""
        size = promises.Size(guest="g1", name="vcpus", promised=2, delivered=2)
        run = [
            made.changed(measured, observations=())
            for measured in build_run({READS: 1000.0}, sizes=(size,))
        ]
        judge = shared_criteria.PROMISE.parse({}).create_judge()
        judgement = made.feed_judge(judge, run).judgement()
        self.assertEqual(("void", ()), (judgement.status, judgement.rows))

    @ddt.unpack
    @ddt.data((2, 4, ""), (2, 2, "g2"), (1, 4, "g1"))
    def test_different_promises(self, first, second, guest):
        """Each guest is judged by its own flavor."""
        sizes = [
            promises.Size(guest=name, name="vcpus", promised=n, delivered=m)
            for name, n, m in (("g1", 2, first), ("g2", 4, second))
        ]
        judgement = self.judge(
            {READS: [1000.0] * 2}, sizes=sizes, guests=("g1", "g2")
        )
        self.assertEqual("failed" if guest else "passed", judgement.status)
        self.assertEqual(
            {guest} - {""},
            {row.variant for row in judgement.rows if row.status == "failed"},
        )

    def test_record_without_sizes(self):
        """It is never silently passed."""
        judgement = self.judge({READS: 1000.0})
        self.assertIn("vcpus, memory, disk", self.find_reasons(judgement))

    def test_nothing_promised_nor_known(self):
        judgement = self.judge({READS: 1000.0}, caps=())
        self.assertFalse(judgement.passed)
        self.assertIn("promise no rate.", judgement.sentence())

    def test_hidden_policy(self):
        """Whether the volume type promises a rate is not known."""
        hidden = finding.Finding(
            "promise_not_checked", "volume type ssd", "administrators only"
        )
        size = promises.Size(guest="g1", name="vcpus", promised=2, delivered=2)
        judgement = self.judge(
            {READS: 1000.0}, caps=(), sizes=(size,), findings=(hidden,)
        )
        self.assertEqual("passed", judgement.status)
        self.assertNotIn("promise no rate", judgement.sentence())
