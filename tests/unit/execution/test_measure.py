# SPDX-License-Identifier: Apache-2.0
"""Tests of running workloads, on this computer."""

import asyncio
import hashlib
import pathlib
import sys
import typing as t
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.execution import commands
from rally_vmperf.execution import measure
from rally_vmperf.execution import measured
from rally_vmperf.execution import servers
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import base as machines
from rally_vmperf.machines import clock
from rally_vmperf.machines import local
from rally_vmperf.machines import testing
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.density import overlap
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base
from tests.unit.machines import folders

RATE = sample.Metric(name="cpu.echo.rate", unit="ops/s", better="higher")
SIZE = sample.Metric(name="cpu.echo.size", unit="B", better="higher")


class Echo(base.Workload):
    """A workload of two commands, each of which prints its figure."""

    name = "echo"
    part = "cpu"
    title = "Echo"
    ARGUMENTS: t.ClassVar[dict[str, t.Any]] = {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    TOOLS = ()

    def __init__(
        self,
        first=("echo", "5"),
        second=("echo", "7"),
        bound="time",
        temporary=(),
    ):
        self.argvs = {"rate": first, "size": second}
        self.bound = bound
        self.temporary = temporary

    def prepare(self, arguments):
        """Leave a file that the commands could use."""
        return (
            base.Command(name="touch", argv=("touch", "data"), timeout=10),
        )

    def facts(self, arguments, outcomes):
        """Return how preparing ended."""
        return {"status": str(outcomes["touch"].exit_status)}

    def metrics(self, arguments):
        """Return both metrics."""
        return (RATE, SIZE)

    def commands(self, arguments, endpoints):
        """Return both commands."""
        return tuple(
            base.Command(
                name=name,
                argv=argv,
                timeout=10,
                bound=self.bound,
                temporary_files=self.temporary,
            )
            for name, argv in self.argvs.items()
        )

    def parse(self, arguments, outcome):
        """Return a sample for each outcome."""
        metric = {"rate": RATE, "size": SIZE}[outcome.name]
        return [sample.Sample(metric, float(outcome.stdout))]


class Case(unittest.TestCase):
    """Two stations on this computer."""

    def setUp(self):
        """Give two stations folders of their own."""
        super().setUp()
        self.stations = [
            roles.Station(
                name=name,
                machine=local.Local(name),
                role="copy",
                folder=str(folders.made(self)),
            )
            for name in ("c1", "c2")
        ]

    def measure(self, workload, label=""):
        """Prepare and measure once; return facts and result."""
        assignments = [assignment.Assignment(workload, {}, label)]
        self.printed = []
        result = measured.Measured(keep_raw=self.printed.append)
        lines = []

        async def both():
            facts = await measure.prepare(
                assignments, self.stations, None, lines.append
            )
            await measure.repetition(
                assignments, self.stations, None, lines.append, result
            )
            return facts

        facts = asyncio.run(both())
        self.assertTrue(any("echo" in line for line in lines))
        return facts, result


class TestMeasure(Case):
    """Available metrics are measured, and missing ones are named."""

    def test_all_stations_report(self):
        """Each station's samples, runs and raw outputs are there."""
        facts, result = self.measure(Echo())
        self.assertEqual({"echo": {"status": "0"}}, facts["c1"])
        self.assertEqual(
            {
                ("c1", "cpu.echo.rate", 5.0),
                ("c1", "cpu.echo.size", 7.0),
                ("c2", "cpu.echo.rate", 5.0),
                ("c2", "cpu.echo.size", 7.0),
            },
            {
                (o.source, o.sample.metric.name, o.sample.value)
                for o in result.observations
            },
        )
        self.assertEqual([], result.missing)
        self.assertEqual(4, len(result.runs))
        for run in result.runs:
            self.assertGreaterEqual(run.result.ended, run.result.started)
        self.assertEqual(
            {(c, f"{n}\n") for c in ("c1", "c2") for n in (5, 7)},
            {(run.machine, run.result.stdout) for run in self.printed},
        )

    def test_one_failed_command_costs_only_its_samples(self):
        """The other command's sample is kept, the reason is given."""
        _, result = self.measure(Echo(first=("false",)))
        self.assertEqual(
            {"cpu.echo.size"},
            {o.sample.metric.name for o in result.observations},
        )
        self.assertEqual(
            {("c1", "cpu.echo.rate"), ("c2", "cpu.echo.rate")},
            {(m.machine, m.name) for m in result.missing},
        )
        self.assertIn(
            "rate ended with exit status 1", result.missing[0].reason
        )

    def test_files_are_brought(self):
        """Each machine has them; the checksum of the operator's is a fact."""
        source = pathlib.Path(self.stations[0].folder).parent / "own"
        source.write_text("5")
        workload = Echo(first=("cat", "mine"), second=("./seven.sh",))
        package = source.parent / "brought_package"
        package.mkdir()
        self.addCleanup(sys.modules.pop, "brought_package", None)
        (package / "script.sh").write_text("#!/bin/sh\necho 7\n")
        workload.files = lambda arguments: (
            base.File(name="mine", path=str(source)),
            base.File(
                name="seven.sh",
                package="brought_package",
                path="script.sh",
                mode=0o755,
            ),
        )
        with mock.patch.object(sys, "path", [str(source.parent), *sys.path]):
            facts, _ = self.measure(workload)
        self.assertEqual(
            {("rate", "5"), ("size", "7\n")},
            {(run.result.name, run.result.stdout) for run in self.printed},
        )
        for place in self.stations:
            self.assertEqual(
                {
                    "status": "0",
                    "mine_sha256": hashlib.sha256(b"5").hexdigest(),
                },
                facts[place.name]["echo"],
            )

    def test_absurd_output_is_missing_and_not_a_number(self):
        """A NaN is a reason, never a value."""
        _, result = self.measure(Echo(first=("echo", "nan")))
        self.assertIn("cpu.echo.rate is nan", result.missing[0].reason)
        self.assertEqual(2, len(result.observations))

    def test_missing_tool_is_named(self):
        """The reason names the command that there is not."""
        _, result = self.measure(Echo(first=("no-such-tool",)))
        self.assertEqual({"cpu.echo.rate"}, {m.name for m in result.missing})

    def test_failed_preparation_stops_at_once(self):
        """Without its data a workload would measure something else."""
        workload = Echo()
        workload.prepare = lambda arguments: (
            base.Command(name="touch", argv=("false",), timeout=10),
        )
        with self.assertRaisesRegex(base.WorkloadError, "preparing echo"):
            self.measure(workload)

    def test_labels_name_the_samples(self):
        """A labelled assignment reports labelled metrics."""
        labelled = assignment.Assignment(Echo(), {}, "big")
        self.assertEqual(
            ["cpu.echo.big.rate", "cpu.echo.big.size"],
            [metric.name for metric in labelled.metrics()],
        )


class Slowing(Echo):
    """A workload whose rate command works ten times as fast at first."""

    def progress(self, arguments, outcome):
        """Return a course of ten seconds."""
        if outcome.name != "rate":
            raise base.WorkloadError("it tells nothing")
        at = outcome.ended
        points = ((at - 10, 0.0), (at - 9.9, 10.0), (at, 109.0))
        return curves.ProgressCurve(
            metrics=frozenset([RATE.name]), points=points
        )


class TestCut(Case):
    """The course of a sample is cut to the time of all machines."""

    def test_cut(self):
        """Without a course, the sample does not change."""
        with mock.patch.object(
            overlap,
            "common_window",
            lambda spans: (
                max(span.ended for span in spans) - 8,
                min(span.ended for span in spans),
            ),
        ):
            _, result = self.measure(Slowing(), label="big")
        values = {
            (
                observation.source,
                observation.sample.metric.name,
            ): observation.sample.value
            for observation in result.observations
        }
        for name in ("c1", "c2"):
            self.assertAlmostEqual(
                5 * 10 / 10.9, values[name, "cpu.echo.big.rate"]
            )
            self.assertEqual(7.0, values[name, "cpu.echo.big.size"])

    def test_one_alone_is_not_cut(self):
        """A single machine does not wait."""
        self.stations.pop()
        _, result = self.measure(Slowing())
        self.assertEqual(
            [5.0, 7.0],
            [observation.sample.value for observation in result.observations],
        )


class TestLost(TestMeasure):
    """A machine that dies costs neither the others nor hours."""

    def setUp(self):
        """Lose the first of the two when it is to measure."""
        super().setUp()
        self.requests = 0
        arm = commands.job.Job.arm

        async def arm_or_lose(station, finished, **options):
            if station.machine.name == "c1":
                self.requests += 1
                raise machines.Unreachable("c1 is away")
            await arm(station, finished, **options)

        patch = mock.patch.object(commands.job.Job, "arm", arm_or_lose)
        patch.start()
        self.addCleanup(patch.stop)

    def test_all_stations_report(self):
        """The other one does."""
        _, result = self.measure(Echo())
        self.assertEqual({"c2"}, {o.source for o in result.observations})
        self.assertEqual(
            {("c1", "cpu.echo.rate"), ("c1", "cpu.echo.size")},
            {(m.machine, m.name) for m in result.missing},
        )
        self.assertIn("c1 is away", result.missing[0].reason)
        self.assertEqual(1, self.requests)

    def test_left_out_from_the_start(self):
        """One that did not answer before the repetition is not asked."""
        result = measured.Measured()
        asyncio.run(
            measure.repetition(
                [assignment.Assignment(Echo(), {})],
                self.stations[:1],
                None,
                lambda line: None,
                result,
                lost={"c1": "c1 no longer answers"},
            )
        )
        self.assertEqual(0, self.requests)
        self.assertEqual(2, len(result.missing))
        self.assertIn("no longer answers", result.missing[0].reason)

    test_one_failed_command_costs_only_its_samples = None
    test_absurd_output_is_missing_and_not_a_number = None
    test_missing_tool_is_named = None


class TestPairs(unittest.TestCase):
    """Stations get partners."""

    def test_every_other_station_has_a_partner(self):
        """The last of an odd number has none."""
        places = [
            roles.Station(
                name=str(n), machine=local.Local("x"), role="guest", folder=""
            )
            for n in range(3)
        ]
        roles.pair_up(places)
        self.assertIs(places[1], places[0].partner)
        self.assertIsNone(places[1].partner)
        self.assertIsNone(places[2].partner)


class TestReturn(Case):
    """A station that is stopped on purpose runs its command again."""

    #: Waits the first time it runs in its directory.
    waits = (
        *("sh", "-c"),
        "[ ! -e waited ] && touch waited && sleep 60; echo 5",
    )

    def measure_stopped(self, workload, answers):
        """Measure with the first station stopped once its command waits.

        :param answers: Whether it answers again.
        """
        waited = pathlib.Path(self.stations[0].folder, "echo", "waited")

        async def wait_for_return():
            while not waited.exists():
                await asyncio.sleep(0.05)
            if not answers:
                waited.with_name("ended").touch()
            return answers

        self.stations[0].wait_for_return = wait_for_return
        return self.measure(workload)

    def values(self, result):
        """Return the values by station and command."""
        return {
            (
                observation.source,
                observation.sample.metric.name.rpartition(".")[2],
            ): observation.sample.value
            for observation in result.observations
        }

    def test_runs_again(self):
        """The other station is not delayed, and nothing is missing."""
        for directory in self.stations[1:]:
            pathlib.Path(directory.folder, "echo").mkdir()
            pathlib.Path(directory.folder, "echo", "waited").touch()
        _, result = self.measure_stopped(Echo(first=self.waits), True)
        self.assertEqual([], result.missing)
        self.assertEqual(5.0, self.values(result)["c1", "rate"])
        self.assertEqual(4, len(result.runs))

    def test_volumes_are_provided_again(self):
        """Before its command runs again; else that is the reason."""
        for directory in self.stations[1:]:
            pathlib.Path(directory.folder, "echo").mkdir()
            pathlib.Path(directory.folder, "echo", "waited").touch()
            pathlib.Path(directory.folder, "echo", "volume-1").touch()
        waited = pathlib.Path(self.stations[0].folder, "echo", "waited")

        async def attach_again():
            waited.with_name("volume-1").touch()

        self.stations[0].attach_again = attach_again
        first = (*self.waits[:2], f"{self.waits[2]}; [ -e volume-1 ]")
        _, result = self.measure_stopped(Echo(first=first), True)
        self.assertEqual(
            [], [gap for gap in result.missing if gap.machine == "c1"]
        )

        async def fail():
            raise machines.MachineError("c1: no volume")

        waited.unlink()
        self.stations[0].attach_again = fail
        _, result = self.measure_stopped(Echo(first=first), True)
        reasons = {gap.machine: gap.reason for gap in result.missing}
        self.assertIn("c1: no volume", reasons["c1"])

    def test_ends_before(self):
        """A command that ends before the stop does not run again."""

        async def never():
            await asyncio.Event().wait()

        self.stations[0].wait_for_return = never
        _, result = self.measure(Echo())
        self.assertEqual(4, len(result.runs))

    def test_does_not_return(self):
        """The reason is that of the command."""
        first = ("sh", "-c", "touch waited; sleep 0.3; exit 3")
        _, result = self.measure_stopped(Echo(first=first), False)
        reasons = {gap.machine: gap.reason for gap in result.missing}
        self.assertIn("exit status 3", reasons["c1"])


class Known(measure.Clocks):
    """Clocks whose readings are given."""

    def __init__(self, readings):
        super().__init__()
        self._first = {
            name: clock.Reading(offset=offset, error=error)
            for name, (offset, error) in readings.items()
        }


def result_of(started, ended, status=0):
    """Return the result of a command."""
    return command_result.CommandResult(
        name="c",
        exit_status=status,
        seconds=ended - started,
        started=started,
        ended=ended,
        stdout="",
        stderr="",
    )


def took_part(
    name, started, ended, kept_up_until=None, bound="time", status=0
):
    """Return a part that is over."""
    place = roles.Station(
        name=name, machine=local.Local(name), role="guest", folder="/w"
    )
    command = base.Command(name="c", argv=("true",), timeout=9, bound=bound)
    synchronised_command = commands.SynchronisedCommand(
        station=place,
        command=command,
        folder="/w",
        servers=servers.Servers(title="", peer=None),
        start_barrier=None,
        clock_offset=0.0,
    )
    synchronised_command.outcome = result_of(started, ended, status)
    synchronised_command.kept_up_until = kept_up_until
    return synchronised_command


def run(machine, started, seconds, status=0):
    """Return a run."""
    return command_result.CommandRun(
        workload="w",
        machine=machine,
        result=result_of(started, started + seconds, status),
    )


def observed(source, name, value):
    """Return an observation."""
    metric = sample.Metric(name=name, unit="ops/s", better="higher")
    return sample.Observation(
        source=source, sample=sample.Sample(metric=metric, value=value)
    )


@ddt.ddt
class TestRan(unittest.TestCase):
    """Starts and ends count by our clock."""

    def settle(self, runs_of_command, readings, runs=()):
        """Return result and findings of one command."""
        result = measured.Measured(runs=list(runs))
        log = measure.CommandLog()
        log.note("w", ["m.one", "m.two"], runs_of_command)
        findings = log.evaluate(Known(readings), result)
        return result, findings

    def test_clocks_are_corrected(self):
        """Two that are an hour apart began within 10 ms."""
        result, findings = self.settle(
            [took_part("a", 100, 110), took_part("b", 3700.01, 3710.01)],
            {"a": (0.0, 0.001), "b": (3600.0, 0.002)},
        )
        (start,) = result.starts
        self.assertAlmostEqual(0.01, start.skew)
        self.assertAlmostEqual(0.003, start.uncertainty)
        self.assertAlmostEqual(0.999, start.overlap)
        self.assertEqual(("m.one", "m.two"), start.metrics)
        self.assertEqual([], findings)

    def test_load_that_is_kept_up_counts(self):
        """By the clock of its machine, too."""
        runs_of_command = [
            took_part("a", 100, 101, 110, "size"),
            took_part("b", 3700, 3710, 3710, "size"),
        ]
        result, _ = self.settle(
            runs_of_command, {"a": (0, 0), "b": (3600.0, 0)}
        )
        self.assertAlmostEqual(1.0, result.starts[0].overlap)

    def test_too_little_overlap_is_found(self):
        """The longer command runs alone for half of the time."""
        _, findings = self.settle(
            [took_part("a", 100, 105), took_part("b", 100, 110)],
            {"a": (0, 0), "b": (0, 0)},
        )
        self.assertEqual(
            [("partial_overlap", "m.one"), ("partial_overlap", "m.two")],
            [(finding.kind, finding.subject) for finding in findings],
        )

    @ddt.data(
        [],
        [took_part("a", 100, 110)],
        [took_part("a", 100, 110), took_part("b", 100, 101, status=1)],
        [took_part("a", 100, 110), took_part("unknown", 100, 101)],
    )
    def test_one_alone_has_no_skew(self, runs_of_command):
        """Failed commands and machines without a clock do not count."""
        result, findings = self.settle(
            runs_of_command, {"a": (0, 0), "b": (0, 0)}
        )
        for start in result.starts:
            self.assertIsNone(start.skew)
        self.assertEqual([], findings)

    def test_samples_are_cut_to_the_time_of_all(self):
        """Each sample is cut by its clock; one without a course is not."""
        early = took_part("a", 100, 110)
        early.progress = curves.ProgressCurve(
            metrics=frozenset(["m.one"]),
            points=((100.0, 0.0), (101.0, 19.0), (110.0, 100.0)),
        )
        late = took_part("b", 3701, 3711)
        late.progress = curves.ProgressCurve(
            metrics=frozenset(["m.one"]),
            points=((3701.0, 0.0), (3710.0, 90.0), (3711.0, 91.0)),
        )
        result = measured.Measured(
            observations=[
                observed("a", "m.one", 10.0),
                observed("a", "m.two", 10.0),
                observed("b", "m.one", 9.1),
                observed("c", "m.one", 10.0),
            ]
        )
        log = measure.CommandLog()
        log.note("w", ["m.one", "m.two"], [early, late])
        log.evaluate(Known({"a": (0.0, 0.0), "b": (3600.0, 0.0)}), result)
        values = [
            observation.sample.value for observation in result.observations
        ]
        # Those of m.one follow by 81 of 100 and 90 of 91 units in nine of ten
        # seconds.
        for expected, value in zip(
            (9.0, 10.0, 10.0, 10.0), values, strict=True
        ):
            self.assertAlmostEqual(expected, value)

    def test_a_cut_rate_that_no_machine_reaches_is_missing(self):
        """It is the machine's own alone; what others did still counts."""
        runs_of_command = [took_part("a", 100, 110), took_part("b", 101, 111)]
        for run in runs_of_command:
            run.progress = curves.ProgressCurve(
                metrics=frozenset(["m.one"]),
                points=((100.0, 0.0), (101.0, 1.0), (111.0, 100.0)),
            )
        result = measured.Measured(
            observations=[
                observed("a", "m.one", 0.98e9),
                observed("b", "m.one", 0.5e9),
            ]
        )
        run = measure.CommandLog()
        run.note("w", ["m.one"], runs_of_command)
        run.evaluate(Known({"a": (0.0, 0.0), "b": (0.0, 0.0)}), result)
        self.assertEqual(
            ["b"], [observation.source for observation in result.observations]
        )
        (gap,) = result.missing
        self.assertEqual(("m.one", "a"), (gap.name, gap.machine))
        self.assertIn("which is not plausible", gap.reason)

    def test_runs_know_their_clocks(self):
        """Only machines whose clocks were read have an offset."""
        result, _ = self.settle(
            [], {"a": (5.0, 0.1)}, [run("a", 100, 10), run("b", 100, 10)]
        )
        self.assertEqual(
            [(5.0, 0.1), (None, None)],
            [(run.clock_offset, run.clock_error) for run in result.runs],
        )

    def test_a_clock_is_judged_by_the_shortest_run_that_did_its_work(self):
        """One that failed at once says nothing."""
        readings = {"a": (0.0, 0.1)}
        for runs, doubted in (
            ([run("a", 100, 10)], False),
            ([run("a", 100, 10), run("a", 120, 0.01, status=1)], False),
            ([run("a", 100, 10), run("a", 120, 0.5)], True),
        ):
            _, findings = self.settle([], readings, runs)
            self.assertEqual(
                ["clock_not_correctable"] * doubted,
                [finding.kind for finding in findings],
            )


def place(name, machine=None):
    """Return a station."""
    machine = machine or testing.FakeMachine(name)
    return roles.Station(name=name, machine=machine, role="guest", folder="/w")


class TestClocks(unittest.IsolatedAsyncioTestCase):
    """Offsets with their errors, and doubts about them."""

    def setUp(self):
        """Have two stations, and clocks that say what a test wants."""
        super().setUp()
        self.stations = [place("g1"), place("g2")]
        self.answers = []
        self.readings = []
        self.now = 1000.0

        async def read_all(machines):
            self.readings.append([machine.name for machine in machines])
            return self.answers.pop(0)

        for where, name, fake in (
            (measure.clock, "read_all", read_all),
            (measure.time, "time", lambda: self.now),
        ):
            patch = mock.patch.object(where, name, fake)
            patch.start()
            self.addCleanup(patch.stop)

    async def read(self, first, last):
        """Read both clocks at 1000 and at 1100."""
        self.answers = [
            [clock.Reading(offset=o, error=e) for o, e in answers]
            for answers in (first, last)
        ]
        station_clocks = measure.Clocks()
        await station_clocks.begin(self.stations)
        self.now = 1100.0
        await station_clocks.end(self.stations)
        return station_clocks

    async def test_a_drift_is_taken_to_be_even(self):
        """The offset of a moment lies between both readings."""
        station_clocks = await self.read(
            [(5.0, 0.001), (0.0, 0.001)], [(6.0, 0.003), (0.0, 0.001)]
        )
        self.assertEqual(5.0, station_clocks.offset("g1"))
        for moment, offset in (
            (900, 5.0),
            (1005, 5.0),
            (1055, 5.5),
            (1105, 6.0),
            (1200, 6.0),
        ):
            reading = station_clocks.at("g1", moment)
            self.assertAlmostEqual(offset, reading.offset)
            self.assertEqual(0.003, reading.error)
        self.assertEqual(0.0, station_clocks.at("g2", 1055).offset)

    async def test_who_is_gone_by_the_end_has_the_first_reading(self):
        """Its runs are corrected all the same."""
        self.answers = [
            [clock.SAME, clock.Reading(offset=2, error=0.1)],
            [clock.SAME, machines.Unreachable("away")],
        ]
        station_clocks = measure.Clocks()
        await station_clocks.begin(self.stations)
        await station_clocks.end(self.stations)
        self.assertEqual(2, station_clocks.at("g2", 1000).offset)

    async def test_a_clock_that_cannot_be_read(self):
        """The reason is kept, by the name of the station."""
        self.answers = [[clock.SAME, machines.Unreachable("g2: away")]]
        station_clocks = measure.Clocks()
        await station_clocks.begin(self.stations)
        self.assertEqual(
            {"g2": "g2: away"},
            {
                name: str(error)
                for name, error in station_clocks.refused.items()
            },
        )
        self.assertIsNone(station_clocks.at("g2", 1000))
        self.assertEqual([], station_clocks.findings({"g2": 1.0}))

    async def test_copies_on_one_machine_share_its_clock(self):
        """The clock is read once, and the copies have no error."""
        machine = testing.FakeMachine("host")
        self.stations = [place("c1", machine), place("c2", machine)]
        station_clocks = await self.read([(7.0, 0.2)], [(7.0, 0.2)])
        self.assertEqual([["host"], ["host"]], self.readings)
        for name in ("c1", "c2"):
            reading = station_clocks.at(name, 1000)
            self.assertEqual((7.0, 0.0), (reading.offset, reading.error))
        self.assertEqual([], station_clocks.findings({"c1": 0.1, "c2": 0.1}))

    async def test_one_station_needs_no_clock(self):
        """Nothing is asked."""
        station_clocks = measure.Clocks()
        await station_clocks.begin(self.stations[:1])
        await station_clocks.end(self.stations[:1])
        self.assertEqual([], self.readings)
        self.assertIsNone(station_clocks.at("g1", 1000))

    async def test_doubts(self):
        """Errors and drifts above a tenth of the shortest run are findings."""
        for first, last, seconds, doubted in (
            ((0.0, 0.01), (0.0, 0.01), 1.0, False),
            ((0.0, 0.11), (0.0, 0.01), 1.0, True),
            ((0.0, 0.01), (0.0, 0.11), 1.0, True),
            ((0.0, 0.01), (-0.2, 0.01), 1.0, True),
            ((0.0, 0.01), (-0.2, 0.01), 10.0, False),
            ((9.0, 0.01), (9.6, 0.01), 1000.0, True),
        ):
            with self.subTest(first=first, last=last, seconds=seconds):
                station_clocks = await self.read(
                    [first, (0, 0)], [last, (0, 0)]
                )
                findings = station_clocks.findings(
                    {"g1": seconds, "g2": seconds}
                )
                self.assertEqual(
                    [("clock_not_correctable", "g1")] * doubted,
                    [(each.kind, each.subject) for each in findings],
                )
