# SPDX-License-Identifier: Apache-2.0
"""Tests of one station's turn at a workload, on this computer."""

import asyncio
import unittest

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measured
from rally_vmperf.execution import servers
from rally_vmperf.execution import station_run
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import local
from rally_vmperf.measurement.samples import histogram
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from tests.unit.execution import test_measure
from tests.unit.machines import folders

LATENCY = sample.Metric(name="disk.timed.latency", unit="s", better="lower")
RATE = sample.Metric(name="disk.timed.rate", unit="ops/s", better="higher")


class Timed(test_measure.Echo):
    """Prints a rate, and has twenty latencies and a series of it."""

    def metrics(self, arguments):
        """Return the rate and the percentiles."""
        return (RATE, *sample.percentiles(LATENCY))

    def parse(self, arguments, outcome):
        """Return all three kinds of samples; nothing of the second."""
        if outcome.name != "rate":
            return []
        counted = histogram.Histogram.of([(0.001, 11), (0.1, 9)])
        return [
            sample.Sample(metric=RATE, value=5.0),
            sample.Distribution(metric=LATENCY, histogram=counted),
            sample.Series(metric=RATE, points=((1.0, 4.0), (2.0, 6.0))),
        ]


class Driven(Timed):
    """Is asked for a rate, and times requests from their issue.

    :param rate: The offered rate; that of its output is 5.
    """

    def __init__(self, rate, **options):
        super().__init__()
        self.rate, self.options = rate, options

    def offers(self, arguments):
        """Return the rate, and the names of times."""
        return (
            base.Offer(
                command="rate",
                metric=RATE.name,
                rate=self.rate,
                late=tuple(
                    metric.name for metric in sample.percentiles(LATENCY)
                ),
                **self.options,
            ),
        )


class TestTurn(unittest.IsolatedAsyncioTestCase):
    """The output of a command is written at once, and not held in memory."""

    def setUp(self):
        """Give a station a folder; keep what it prints."""
        super().setUp()
        self.place = roles.Station(
            name="c1",
            machine=local.Local("c1"),
            role="copy",
            folder=str(folders.made(self)),
        )
        self.raw_outputs = []
        self.result = measured.Measured(keep_raw=self.raw_outputs.append)

    def begin(self, **argvs):
        """Return its turn at a workload of two commands."""
        assigned = assignment.Assignment(test_measure.Echo(**argvs), {})
        return self.begin_with(assigned)

    def begin_with(self, assigned):
        """Return its turn at an assignment."""
        return station_run.create(
            assigned,
            self.place,
            base.Endpoints(),
            servers.Servers(title=assigned.title, peer=None),
            self.result,
            {},
        )

    def printed(self):
        """Return what is kept of standard output, by command."""
        return [
            (run.result.name, run.result.stdout) for run in self.raw_outputs
        ]

    async def test_each_output_is_kept_as_soon_as_it_is_there(self):
        """With where it comes from."""
        station_run = self.begin()
        await station_run.step("rate")
        (run,) = self.raw_outputs
        self.assertEqual(("echo", "c1"), (run.workload, run.machine))
        self.assertEqual("rate", run.result.name)
        self.assertEqual(("5\n", ""), (run.result.stdout, run.result.stderr))
        await station_run.step("size")
        self.assertEqual([("rate", "5\n"), ("size", "7\n")], self.printed())

    async def test_output_of_what_failed(self):
        """That is what one wants to read, on both streams."""
        station_run = self.begin(
            first=("sh", "-c", "echo half; echo trouble >&2; exit 3")
        )
        await station_run.step("rate")
        (reason,) = station_run.reasons
        self.assertIn("exit status 3 and printed 'trouble'", reason)
        self.assertEqual([], self.result.observations)
        self.assertEqual([("rate", "half\n")], self.printed())
        self.assertEqual("trouble\n", self.raw_outputs[0].result.stderr)

    async def test_output_that_cannot_be_read(self):
        """It is stored before it is parsed."""
        station_run = self.begin(first=("echo", "five"))
        await station_run.step("rate")
        self.assertIn("five", station_run.reasons[0])
        self.assertEqual([("rate", "five\n")], self.printed())

    async def test_interrupted(self):
        """Stored outputs remain, and no other files."""
        station_run = self.begin(second=("sleep", "60"))
        await station_run.step("rate")
        with self.assertRaises(TimeoutError):
            await asyncio.wait_for(station_run.step("size"), 0.5)
        self.assertEqual([("rate", "5\n")], self.printed())

    async def test_distributions_and_series(self):
        """They are kept; supported percentiles are values like any other."""
        assigned = assignment.Assignment(Timed(), {}, "db")
        station_run = self.begin_with(assigned)
        await station_run.step("rate")
        station_run.note_missing()
        self.assertEqual(
            ["disk.timed.db.rate", "disk.timed.db.latency_p50"],
            [
                observation.sample.metric.name
                for observation in self.result.observations
            ],
        )
        self.assertAlmostEqual(
            0.001, self.result.observations[1].sample.value, delta=1e-5
        )
        self.assertEqual(
            [
                ("c1", "disk.timed.db.latency", sample.Distribution),
                ("c1", "disk.timed.db.rate", sample.Series),
            ],
            [
                (name, reading.metric.name, type(reading))
                for name, reading in self.result.readings
            ],
        )
        self.assertEqual([], self.result.missing)

    async def test_what_is_missing_with_a_distribution(self):
        """Percentiles are optional and are not reported as missing."""
        assigned = assignment.Assignment(Timed(first=("false",)), {})
        station_run = self.begin_with(assigned)
        await station_run.step("size")
        station_run.note_missing()
        self.assertEqual(
            ["disk.timed.rate"], [gap.name for gap in self.result.missing]
        )

    async def test_an_offered_rate_that_is_not_achieved(self):
        """Times from the issue of a request lack its wait: none is kept."""
        turn = self.begin_with(assignment.Assignment(Driven(5.3), {}))
        await turn.step("rate")
        turn.note_missing()
        self.assertEqual(
            [RATE.name],
            [each.sample.metric.name for each in self.result.observations],
        )
        self.assertEqual(([], []), (self.result.missing, turn.reasons))
        (found,) = self.result.shortfalls
        self.assertIn("5.00 ops/s of 5.30 ops/s were achieved", found.detail)
        self.assertIn("disk.timed.latency_p50", found.metrics)
        self.assertIn(RATE.name, found.metrics)
        self.assertEqual("c1", found.subject)

    async def test_an_offered_rate_that_is_achieved(self):
        """Within five percent, or within chance if arrivals are random."""
        for workload in (
            Driven(None),
            Driven(5.2),
            Driven(50.0, is_random=True),
        ):
            with self.subTest(rate=workload.rate):
                self.result.observations.clear()
                turn = self.begin_with(assignment.Assignment(workload, {}))
                await turn.step("rate")
                self.assertEqual([], self.result.shortfalls)
                names = {
                    each.sample.metric.name
                    for each in self.result.observations
                }
                self.assertIn("disk.timed.latency_p50", names)
