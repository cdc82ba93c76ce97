# SPDX-License-Identifier: Apache-2.0
"""Tests of loads that are shares of the rate at full speed."""

import asyncio
import dataclasses
import re
import tempfile
import unittest
from unittest import mock

from rally_vmperf.execution import assignment
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import source_judge
from rally_vmperf.questions import table
from rally_vmperf.questions.common import task
from rally_vmperf.questions.density import load as offered_load
from rally_vmperf.questions.density import question as density
from rally_vmperf.report import page
from rally_vmperf.runs import calibration
from rally_vmperf.runs import runs
from rally_vmperf.workloads import base
from rally_vmperf.workloads.cpu import sysbench
from tests.unit import made
from tests.unit.runs import golden
from tests.unit.runs import whole

#: The rate at full speed, and the shares.
FULL, LOADS = 1000.0, [0.25, 0.5]


class TestCalibration(unittest.TestCase):
    """The warm-up runs at full speed, and later repetitions at shares."""

    def setUp(self):
        """Make a run of two guests with two loads."""
        super().setUp()
        self.enterContext(mock.patch.object(asyncio, "sleep", autospec=True))
        self.lines = []
        self.machines = [
            golden.Machine(name, [golden.sysbench(FULL)])
            for name in ("g1", "g2")
        ]

    def create(self, load=LOADS, **changes):
        """Return the run of a density task with a load."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        question = table.questions()["density"]
        arguments = task.create_arguments(
            {
                "workloads": whole.WORKLOADS,
                "levels": [1, 2],
                "order": "listed",
                "load": load,
                **changes,
            },
            question.arguments,
            6,
        )
        request = whole.build_request(
            folder,
            None,
            *self.machines,
            question="density",
            times=6,
            warmup=arguments.warmup,
            workloads=arguments.workloads,
            progress=self.lines.append,
        )
        run = request.run_cache.get_run(
            "w", lambda: question.start(request, arguments)
        )
        self.addCleanup(request.run_cache.close, "w")
        return run

    def test_shares_of_full_speed(self):
        """Each load has metrics, and its rate is an argument."""
        run = self.create()
        warmups = [run.repeat(number) for number in (1, 2, 3)]
        record = run.repeat(4)
        for warmup in warmups:
            (condition,) = warmup.repetition.conditions
            self.assertEqual({"guests": 1}, condition.axes)
            self.assertEqual([""], [each.label for each in warmup.workloads])
            self.assertFalse(warmup.repetition.counted)
        rates = {
            each.label: each.arguments["rate"] for each in record.workloads
        }
        self.assertEqual({"load-25": 250, "load-50": 500}, rates)
        self.assertEqual(
            ["25 % load", "50 % load"],
            [each.offered_load for each in record.workloads],
        )
        self.assertEqual("complete", record.repetition.state)
        solo, both = record.repetition.conditions
        measured = {
            each.sample.metric.name: each.sample.value
            for each in both.observations
            if each.source == "g1"
        }
        self.assertAlmostEqual(
            250, measured["cpu.sysbench.load-25.rate"], delta=3
        )
        self.assertAlmostEqual(
            500, measured["cpu.sysbench.load-50.rate"], delta=3
        )
        self.assertEqual(
            "25 % load", record.find_load("cpu.sysbench.load-25.rate")
        )
        self.assertEqual("", record.find_load("guest.cpu.steal_percent"))
        kinds = {each.kind for each in solo.findings}
        # The machine that runs the tests may be busy.
        self.assertEqual(set(), kinds - {"controller_busy"})
        criterion = density.DEGRADATION.parse({"max_percent": {"*.rate": 30}})
        run_judge = criterion.create_judge()
        for each in (*warmups, record, run.repeat(5), run.repeat(6)):
            run_judge.add(each.repetition)
        judged = run_judge.judgement()
        self.assertEqual("passed", judged.status, judged.sentence())
        self.assertEqual(2, len(judged.limited_groups))

    def test_label_of_another_workload(self):
        """A workload whose label is that of another one at a load."""
        labels = ("x", "x-load-25", "x-load-25-load-25")
        run = self.create(
            workloads=[
                {**whole.WORKLOADS[0], "label": label} for label in labels
            ]
        )
        records = [run.repeat(number) for number in range(1, 7)]
        names = [f"cpu.sysbench.{label}.rate" for label in labels]
        for name in names:
            self.assertEqual((name, ""), records[0].split_load(name))
            loaded = name.replace(".rate", "-load-25.rate")
            self.assertEqual(
                (name, "25 % load"), records[-1].split_load(loaded)
            )
        # Earlier versions did not record the label of the load.
        former = [
            dataclasses.replace(workload, load_label="")
            for workload in records[-1].workloads
        ]
        record = dataclasses.replace(records[-1], workloads=tuple(former))
        for name in names:
            loaded = name.replace(".rate", "-load-25.rate")
            self.assertEqual((loaded, "25 % load"), record.split_load(loaded))

    def test_labels(self):
        """A label can have any length; one like a load is not a load."""
        for label in ("x" * 32, "load-5", "rate-1-b"):
            self.lines.clear()
            run = self.create(
                workloads=[{**whole.WORKLOADS[0], "label": label}]
            )
            records = [run.repeat(number) for number in range(1, 7)]
            name = f"cpu.sysbench.{label}.rate"
            self.assertEqual((name, ""), records[0].split_load(name))
            self.assertEqual(
                (name, "25 % load"),
                records[-1].split_load(f"cpu.sysbench.{label}-load-25.rate"),
            )
            limits = {"vmperf_degradation": {"max_percent": {"*.rate": 30}}}
            judged = source_judge.judge_source(made.source_of(records, limits))
            loads = source_judge.create_report(judged).loads
            self.assertEqual(
                ["25 % load", "50 % load"], [*loads[name]], loads.keys()
            )

    def test_printed_rates_are_a_load(self):
        """They can be pasted, and repeat the run at equal rates."""
        run = self.create()
        for number in (1, 2, 3, 4):
            run.repeat(number)
        self.assertIn(
            "25 % load, 50 % load: the same rates are load: "
            '[{"sysbench": {"sysbench": 250.0}}, '
            '{"sysbench": {"sysbench": 500.0}}]',
            self.lines,
        )
        again = self.create({"sysbench": {"sysbench": 250}})
        record = again.repeat(2)
        self.assertEqual(250, record.workloads[0].arguments["rate"])

    def test_one_work_directory(self):
        """All loads of a workload share what was prepared for it."""
        run = self.create()
        for number in (1, 2, 3, 4):
            run.repeat(number)
        prepared = [line for line in self.lines if line.startswith("prepar")]
        self.assertEqual(["preparing sysbench on g1 to g2"], prepared)

    def test_warm_ups_without_a_rate(self):
        """Nothing else is measured; the reason is that of the warm-ups."""
        for machine in self.machines:
            machine.outputs = ["nonsense"]
        run = self.create()
        for number in (1, 2, 3):
            run.repeat(number)
        self.assertIsNone(run.failure)
        for number in (4, 5):
            record = run.repeat(number)
            (missing,) = record.repetition.missing
            self.assertRegex(
                missing.reason,
                "^load: no warm-up measured a rate of sysbench of sysbench at "
                "full speed: .*sysbench.*; resolve this, or give rates in "
                "load in place of shares$",
            )
            self.assertEqual("incomplete", record.repetition.state)
            self.assertEqual((), record.repetition.conditions)
            self.assertIsInstance(run.failure, calibration.CalibrationError)

    def test_a_warm_up_without_a_rate(self):
        """The others have the rate, and a finding states their number."""
        self.machines[1].outputs = ["nonsense", golden.sysbench(FULL)]
        run = self.create()
        records = [run.repeat(number) for number in (1, 2, 3, 4)]
        kind = "full_speed_uncertain"
        for record in records[:3]:
            findings = record.repetition.findings
            self.assertNotIn(kind, [found.kind for found in findings])
        (found,) = [
            found
            for found in records[3].repetition.findings
            if found.kind == kind
        ]
        self.assertRegex(
            found.detail,
            "^the full speed of sysbench is the mean of 2 of 3 warm-ups: .*"
            "sysbench",
        )
        self.assertEqual("warning", found.severity)
        self.assertIn("cpu.sysbench.load-25.rate", found.metrics)
        self.assertIn("cpu.sysbench.load-50.latency_p95", found.metrics)
        self.assertEqual("complete", records[3].repetition.state)
        self.assertEqual(
            250, records[3].workloads[0].arguments["rate"], records[3]
        )

    def find_uncertain(self, *warmups):
        """Return the findings on the rates of hosts in each warm-up.

        :param warmups: The rates of the solo guests; None for a host that
            failed.
        """
        self.lines.clear()
        workload = [{"name": "sysbench"}]
        created = calibration.Calibration(
            driven=[
                assignment.create_assignment(each)
                for each in offered_load.expand(workload, LOADS)
            ],
            conditions=(),
            progress=self.lines.append,
        )
        metric = sample.Metric("cpu.sysbench.rate", "1/s", "higher")
        for number, rates in enumerate(warmups, 1):
            # The solo guest of a host is another one in each repetition.
            names = [f"g{number}-{host}" for host in range(len(rates))]
            created.add(
                [made.build_condition(1, {metric: rates}, machines=names)]
            )
        ready = mock.Mock()
        ready.session.assignments = mock.ANY
        created.assign(ready, is_warmup=False)
        return [
            line.removeprefix("warning: ")
            for line in self.lines
            if line.startswith("warning: ")
        ]

    def test_hosts_without_a_rate(self):
        """The finding has the number of warm-ups, and not that of rates."""
        two, none = (FULL, FULL), (None, None)
        mean = "the full speed of sysbench is the mean of"
        for warmups, expected in (
            ([two, two, two], []),
            ([two, two, none], [f"{mean} 2 of 3 warm-ups"]),
            ([two, none, none], [f"{mean} 1 of 3 warm-ups"]),
            (
                [(FULL, None)] * 3,
                [f"{mean} 3 of 3 warm-ups, of which 3 lack that of a host"],
            ),
            (
                [(FULL,) * 4, (None, FULL, FULL, FULL), (None,) * 4],
                [f"{mean} 2 of 3 warm-ups, of which 1 lack that of a host"],
            ),
        ):
            with self.subTest(warmups=warmups):
                self.assertEqual(expected, self.find_uncertain(*warmups))

    def test_hosts_that_differ(self):
        """A share of one rate is a larger load on the slower host."""
        self.assertEqual([], self.find_uncertain(*[(FULL, 1.15 * FULL)] * 3))
        self.assertEqual(
            [
                "the full speed of sysbench is 100 on one host and 1000 on "
                "another: a share of their mean is another load on each"
            ],
            self.find_uncertain(*[(FULL, 100.0)] * 3),
        )

    def test_time_left(self):
        """Warm-ups run one level once; others run each level at each load."""
        for solo_guest, runs_of_others in (("rotate", 4), ("all", 6)):
            self.lines.clear()
            run = self.create(solo_guest=solo_guest)
            clock = mock.Mock()
            clock.monotonic.side_effect = [
                *(0, 600, 600, 1200, 1200, 1800),
                *(1800, 1800 + 600 * runs_of_others),
            ] + [9000] * 2
            with mock.patch.object(runs, "time", clock):
                for number in range(1, 6):
                    run.repeat(number)
            minutes = [
                int(match[1])
                for line in self.lines
                if (
                    match := re.match("Repetition .* about ([0-9]+) min", line)
                )
            ]
            of_others = 3 * runs_of_others * 10
            self.assertEqual(
                [20 + of_others, 10 + of_others, of_others, of_others * 2 / 3],
                minutes,
            )

    def test_a_solo_guest_that_does_not_achieve_the_rate(self):
        """The load is void; with more guests, it is a loss."""
        run = self.create({"sysbench": 2 * FULL})
        record = run.repeat(2)
        solo, both = record.repetition.conditions
        (found,) = [
            each
            for each in solo.findings
            if each.kind == "offered_rate_not_reached"
        ]
        self.assertEqual("void", found.severity)
        self.assertEqual(("cpu.sysbench.rate-1.rate",), found.metrics)
        self.assertRegex(found.detail, "1.000 .* of 2.000 .* were achieved")
        self.assertEqual(
            {"note"},
            {
                each.severity
                for each in both.findings
                if each.kind == "offered_rate_not_reached"
            },
        )
        criterion = density.DEGRADATION.parse(
            {"max_percent": {"cpu.*.rate": 5}}
        )
        run_judge = criterion.create_judge()
        for each in (record, *(run.repeat(number) for number in (3, 4, 5, 6))):
            run_judge.add(each.repetition)
        self.assertEqual("void", run_judge.judgement().status)

    def test_how_many_guests_fit_at_each_load(self):
        """Verdict and page state it, with the vCPUs per CPU of the host."""
        levels = {"ratio": [0.5, 1], "host_cpus": 2, "vcpus": 1}
        run = self.create(levels=levels)
        records = [run.repeat(number) for number in range(1, 7)]
        limits = {"vmperf_degradation": {"max_percent": {"*.rate": 30}}}
        source = made.source_of(records, limits)
        judged = source_judge.judge_source(source)
        self.assertEqual(
            tuple(
                f"At {load}, up to 2 guests, the largest tested number, "
                "within all limits (1.0 vCPUs per CPU)"
                for load in ("25 % load", "50 % load")
            ),
            judged.remarks,
        )
        html = page.standalone([source_judge.create_report(judged)])
        self.assertIn("At 25 % load, up to 2 guests", html)
        self.assertIn("a line for each load", html)
        self.assertIn(">50 %</text>", html)
        self.assertIn("cpu.sysbench.rate: loss of each guest, %", html)

    def test_overload_fails(self):
        """The rate decides, although response times are not judged."""
        for machine in self.machines:
            machine.outputs = [golden.sysbench(FULL)]
        late = mock.patch.object(
            sysbench.Sysbench,
            "offers",
            lambda workload, arguments: (
                base.Offer(
                    command="sysbench",
                    metric="cpu.sysbench.rate",
                    rate=arguments["rate"] or None,
                    late=("cpu.sysbench.latency_p95",),
                ),
            ),
        )
        self.enterContext(late)
        run = self.create({"sysbench": 900})
        records = [run.repeat(1)]
        for number in range(2, 7):
            for machine in self.machines:
                # Alone, and then two at once.
                machine.outputs = [golden.sysbench(500 + 7 * number)]
            chosen = self.machines[(number - 1) % 2]
            chosen.outputs.insert(0, golden.sysbench(890 + number))
            records.append(run.repeat(number))
        limits = {"vmperf_degradation": {"max_percent": {"*.rate": 30}}}
        judged = source_judge.judge_source(made.source_of(records, limits))
        self.assertEqual("failed", judged.status, judged.headline)
        self.assertIn("complete", records[-1].repetition.state)
