# SPDX-License-Identifier: Apache-2.0
"""Tests of how well machines ran a command together."""

import unittest

import ddt

from rally_vmperf.execution import command_log
from rally_vmperf.execution import commands
from rally_vmperf.execution import measured
from rally_vmperf.execution import servers
from rally_vmperf.execution.stations import clocks
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import clock
from rally_vmperf.machines import local
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.samples import curves
from rally_vmperf.measurement.samples import sample
from rally_vmperf.workloads import base


class Known(clocks.Clocks):
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
        log = command_log.CommandLog()
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
        log = command_log.CommandLog()
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
        run = command_log.CommandLog()
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
