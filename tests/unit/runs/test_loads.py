# SPDX-License-Identifier: Apache-2.0
"""Tests of the control machine, by processes on this computer."""

import asyncio
import pathlib
import statistics
import tempfile
import time
import types
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import measured
from rally_vmperf.execution import ports
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base as base_machine
from rally_vmperf.machines import clock
from rally_vmperf.machines import local
from rally_vmperf.measurement.samples import sample
from rally_vmperf.records import journal
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import loads
from rally_vmperf.workloads import base
from tests import patience
from tests.unit.execution import test_measure
from tests.unit.machines import folders
from tests.unit.runs import fakes

RATE = sample.Metric("cpu.sysbench.rate", "ops/s", "higher")


class Ticking(test_measure.Echo):
    """Each run takes a moment and prints its number."""

    script = "echo x >>ticks; sleep 0.05; wc -l <ticks"

    def metrics(self, arguments):
        return (RATE,)

    def commands(self, arguments, endpoints):
        argv = ("sh", "-c", self.script)
        return (base.Command(name="tick", argv=argv, timeout=10),)

    def parse(self, arguments, result):
        return [sample.Sample(RATE, float(result.stdout))]


class Failing(Ticking):
    script = "echo x >>ticks; exit 4"


class Slow(Ticking):
    script = "echo x >>ticks; sleep 0.5; echo 7"


class LoadTestCase(unittest.IsolatedAsyncioTestCase):
    """The command runs again and again until the condition ends."""

    def load(self, workload):
        self.folder = pathlib.Path(folders.made(self))
        station = roles.Station(
            name="control",
            machine=local.Local("control"),
            role="control",
            folder=str(self.folder),
        )
        work = assignment.Assignment(workload, {}, loads.LABEL)
        return loads.ControlLoad(
            control=sessions.Control(station=station, work=work),
            measured=[assignment.Assignment(test_measure.Echo(), {}, "")],
            peer=None,
        )

    async def wait(self, number):
        """Wait until a number of runs have begun."""
        path = self.folder / "echo-control" / "ticks"
        for _ in range(1000):
            if path.exists() and len(path.read_text()) >= 2 * number:
                return
            await asyncio.sleep(0.02)

    async def test_the_mean_of_all_runs(self):
        """Runs that end after the condition do not count."""
        load = self.load(Ticking())
        await load.begin()
        await self.wait(4)
        (figure,) = await load.end()
        self.assertEqual("", load.error)
        self.assertEqual("control.sysbench.rate", figure.metric.name)
        self.assertEqual("count", figure.metric.scale)
        line = load.line
        self.assertIs(figure.metric, line.metric)
        self.assertEqual(
            figure.value,
            statistics.fmean(number for _, number in line.points),
        )
        ends = [end for end, _ in line.points]
        self.assertEqual(sorted(ends), ends)
        self.assertAlmostEqual(
            time.time(), line.begun + ends[-1], delta=patience.seconds(20)
        )
        runs = 2 * figure.value - 1
        self.assertGreaterEqual(runs, 3)
        self.assertEqual(int(runs), runs)
        files = {
            path.name for path in (self.folder / "echo-control").iterdir()
        }
        self.assertEqual({"ticks"}, files)

    async def test_each_condition_begins_anew(self):
        load = self.load(Ticking())
        lines = []
        for number in (3, 9):
            await load.begin()
            await self.wait(number)
            self.assertEqual(1, len(await load.end()))
            lines.append(load.line)
        first, second = lines
        self.assertLess(first.begun + first.points[-1][0], second.begun)

    async def test_the_clock_of_the_machine(self):
        """It is corrected; without it, the figures have no times."""
        error = base_machine.MachineError("control: no date")
        for answer, expected in (
            (clock.Reading(offset=1000.0, error=0.1), -1000.0),
            (error, None),
        ):
            load = self.load(Ticking())
            await load.begin()
            await self.wait(2)
            with mock.patch.object(
                clock, "read", autospec=True, side_effect=[answer]
            ):
                self.assertEqual(1, len(await load.end()))
            if expected is None:
                self.assertIsNone(load.line)
            else:
                self.assertAlmostEqual(
                    time.time() + expected,
                    load.line.begun,
                    delta=patience.seconds(20),
                )

    async def test_a_killed_controller(self):
        """The load ends by itself after the longest measured commands."""
        load = self.load(Ticking())
        with mock.patch.object(
            loads.estimate, "get_longest_seconds", autospec=True
        ) as get_seconds:
            get_seconds.return_value = 1.0
            await load.begin()
        get_seconds.assert_called_once_with(load.measured)
        for _ in range(1000):
            if not await load._job.running():
                break
            await asyncio.sleep(0.02)
        self.assertFalse(await load._job.running())
        self.assertEqual((), await load.end())
        self.assertNotEqual("", load.error)

    async def test_an_action_that_lasts_longer(self):
        """The load does not end before it."""
        load = self.load(Ticking())
        load.further_seconds = 86400.0
        await load.begin()
        self.assertGreater(load._job.timeout, 86400 + 3600)
        await self.wait(2)
        self.assertEqual(1, len(await load.end()))

    async def test_runs_that_fail(self):
        load = self.load(Failing())
        await load.begin()
        await self.wait(1)
        await asyncio.sleep(0.3)
        self.assertEqual((), await load.end())
        self.assertIn("command tick ended with exit status 4", load.error)

    async def test_a_condition_that_is_too_short(self):
        load = self.load(Slow())
        await load.begin()
        await self.wait(1)
        self.assertEqual((), await load.end())
        self.assertEqual(
            "control: echo-control: no run ended during the condition",
            load.error,
        )

    async def test_a_machine_that_cannot_start(self):
        load = self.load(Ticking())
        load.control.station.folder = "/proc/nowhere"
        await load.begin()
        self.assertIn("control: command", load.error)
        self.assertEqual((), await load.end())
        self.assertIn("control: command", load.error)


@ddt.ddt
class WorkTestCase(unittest.TestCase):
    @ddt.data(
        ([{"name": "fio"}], "sysbench", {"threads": 1, "time": 2}),
        (
            [
                {"name": "sysbench"},
                {
                    "name": "h2load",
                    "arguments": {"users": 500, "think_time": 11.4},
                },
            ],
            "h2load",
            {"users": 100, "think_time": 11.4, "time": 6},
        ),
        (
            [{"name": "h2load", "arguments": {"time": 3}}],
            "h2load",
            {"time": 1},
        ),
        (
            [{"name": "h2load", "arguments": {"time": 300}}],
            "h2load",
            {"time": 10},
        ),
    )
    @ddt.unpack
    def test_work(self, documents, name, arguments):
        work = loads.create_work(assignment.assign(documents))
        self.assertEqual(name, work.workload.name)
        self.assertLessEqual(arguments.items(), work.arguments.items())

    def test_metrics(self):
        work = loads.create_work(assignment.assign([{"name": "h2load"}]))
        self.assertEqual(
            [
                "control.h2load.rate",
                "control.h2load.response_time_mean",
                "control.h2load.response_time_p95",
            ],
            [metric.name for metric in loads.list_metrics(work)],
        )

    def test_its_port_is_the_last_one(self):
        """Measured machines have the first ones."""
        measured = assignment.assign([{"name": "h2load"}])
        peer = roles.Station(
            name="peer",
            machine=local.Local("peer"),
            role="peer",
            address="192.0.2.1",
        )
        load = loads.ControlLoad(
            control=sessions.Control(
                station=peer, work=loads.create_work(measured)
            ),
            measured=measured,
            peer=peer,
        )
        server = load._create_command().server
        self.assertEqual(ports.LAST, server.port)
        self.assertNotIn(server.port, ports.used_ports(measured, 400))


TIME = sample.Metric(
    "network.h2load.response_time_mean", "s", "lower", additive=False
)


class Load:
    """A load with the figures that a test sets."""

    control = types.SimpleNamespace(
        station=types.SimpleNamespace(name="control")
    )

    def __init__(self):
        self.error, self.figures, self.begun = "", [], 0
        self.line = object()

    async def begin(self):
        self.begun += 1

    async def end(self):
        if self.error:
            return ()
        metric = loads.create_metric(TIME)
        return (sample.Sample(metric, self.figures.pop(0)),)


class ControlActionTestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        runner = self.enterContext(asyncio.Runner())
        self.load = Load()
        self.action = loads.ControlAction(self.load, runner)

    def measure(self, figure, **axes):
        """Return the result of a condition with a figure."""
        self.load.figures = [figure]
        current = conditions.CurrentCondition(
            condition=conditions.PlannedCondition(axes=axes), machines=("g1",)
        )
        self.assertEqual({}, self.action.before(current).errors)
        result = measured.Measured()
        self.assertEqual(
            actions.ActionResult(), self.action.evaluate(current, result)
        )
        self.assertIs(self.load.line, result.control)
        return self.action.after(current)

    def test_figures_belong_to_the_machine(self):
        (observation,) = self.measure(0.01).observations
        self.assertEqual("control", observation.source)
        self.assertEqual(
            "control.h2load.response_time_mean",
            observation.sample.metric.name,
        )
        self.assertEqual(1, self.load.begun)

    def test_a_figure_that_moved(self):
        """It differs by more than 20 % from earlier repetitions."""
        for figure in (0.010, 0.011, 0.0125, 0.0119):
            self.assertEqual((), self.measure(figure).findings)
        (disturbance,) = self.measure(0.02).findings
        self.assertEqual(
            ("control_disturbed", "control"),
            (disturbance.kind, disturbance.subject),
        )
        self.assertEqual(
            "control.h2load.response_time_mean 20.0 ms, 11.4 ms in the median "
            "of 4 earlier repetitions",
            disturbance.detail,
        )
        (disturbance,) = self.measure(0.005).findings
        self.assertEqual("control_disturbed", disturbance.kind)

    def test_conditions_are_compared_with_themselves(self):
        for figure in (0.01, 0.011):
            self.assertEqual((), self.measure(figure, variant="a").findings)
            self.assertEqual((), self.measure(4 * figure).findings)

    def test_later_actions_see_the_load_over_time(self):
        """A migration compares its seconds with those before it."""
        lines = []

        class Reader(actions.Action):
            is_evaluated = True

            def evaluate(self, current, result):
                lines.append(result.control)
                return actions.ActionResult()

        self.load.figures = [0.01]
        folder = self.enterContext(tempfile.TemporaryDirectory())
        run = fakes.run_of(
            fakes.Session(),
            journal.Journal(folder, "w"),
            actions=[self.action, Reader()],
        )
        record = run.repeat(2)
        self.assertEqual([self.load.line], lines)
        sources = {
            observation.source
            for observation in record.repetition.condition.observations
        }
        self.assertIn("control", sources)

    def test_workloads_that_fail(self):
        """The load ends with the condition."""
        self.load.figures = [0.01]
        current = conditions.CurrentCondition(
            condition=conditions.PlannedCondition(), machines=("g1",)
        )
        self.action.before(current)
        self.assertEqual(1, len(self.action.after(current).observations))

    def test_missing_figures(self):
        """The guests were measured; the figures are missing."""
        self.load.error = "control: no route to host"
        result = self.measure(1)
        self.assertEqual({"control": self.load.error}, result.errors)
        self.assertEqual((), result.observations)
