# SPDX-License-Identifier: Apache-2.0
"""Tests of the reports to Rally about a repetition."""

import tempfile
import unittest
from unittest import mock

from rally.common import opts as rally_opts
from rally_openstack.common.cfg import profiler

from rally_vmperf import opts
from rally_vmperf.execution import protocols
from rally_vmperf.guests import models
from rally_vmperf.measurement import repetition
from rally_vmperf.plugins import scenarios
from rally_vmperf.questions import table
from rally_vmperf.runs import calibration
from tests.unit import made

GAP = repetition.Missing(
    name="disk.x", machine="g1", reason="it </script> broke"
)
OTHER_GAP = repetition.Missing(name="disk.y", machine="g1", reason="broken")


def repeated(state, of_condition=(), of_all=()):
    """Return a repetition in a state."""
    condition = made.build_condition(
        2, {}, state=state, missing=tuple(of_condition)
    )
    return made.repetition(2, [condition], state=state, missing=tuple(of_all))


class RequestError(Exception):
    """The end of a run that is requested."""


class TestRequest(unittest.TestCase):
    """The run of a workload has the arguments in Rally's database."""

    def setUp(self):
        """Replace the run of the question by one that stores its request."""
        super().setUp()
        self.requests = []

        def start(question, request, arguments):
            self.requests.append((request, arguments))
            raise RequestError

        question = table.questions()["density"]
        self.enterContext(mock.patch.object(type(question), "start", start))
        rally_opts.register_opts(profiler.OPTS.items())
        scenarios.CONF.register_opts(opts.OPTIONS, group=opts.GROUP)
        scenarios.CONF.set_override(
            "journal_dir",
            self.enterContext(tempfile.TemporaryDirectory()),
            group=opts.GROUP,
        )
        self.addCleanup(
            scenarios.CONF.clear_override, "journal_dir", group=opts.GROUP
        )

    def create_scenario(self, **arguments):
        """Return a scenario whose workload is in Rally's database."""
        stored = {
            "args": arguments,
            "contexts": {"vmperf_guests@openstack": {"count": 2}},
            "sla": {"vmperf_degradation": {}},
            "runner_type": "serial",
            "runner": {"times": 5},
        }
        booted = {
            "booted": models.BootedGuests(
                guests=(), absent=("g2",), client_key="key"
            ),
            "config": {"count": 2, "ssh_timeout": 60},
        }
        self.enterContext(
            mock.patch.object(
                scenarios.db, "workload_get", mock.Mock(return_value=stored)
            )
        )
        return scenarios.SCENARIOS["VMPerf.density"](
            {
                "owner_id": "w",
                "task": {"uuid": "t"},
                "iteration": 1,
                "vmperf_guests": booted,
                "vmperf_host_cpus": 4,
            }
        )

    def run_scenario(self, **arguments):
        """Run a repetition; return the request and the own arguments."""
        scenario = self.create_scenario(**arguments)
        with self.assertRaisesRegex(scenarios.defects.Defect, "RequestError"):
            scenario.run(**arguments)
        (request,) = self.requests
        return request

    def test_arguments_of_the_task(self):
        """The request has the common arguments, the question its own."""
        workloads = [{"name": "sysbench"}]
        request, arguments = self.run_scenario(
            workloads=workloads,
            levels=[1, 2],
            warmup=2,
            peer={"address": "192.0.2.1"},
            cooldown=3,
            reboot="between_repetitions",
        )
        self.assertEqual(
            ("density", "t", "w", 5, 2),
            (
                request.question,
                request.task,
                request.owner,
                request.times,
                request.warmup,
            ),
        )
        self.assertEqual(workloads, request.workloads)
        self.assertEqual({"address": "192.0.2.1"}, request.peer)
        self.assertEqual(
            protocols.Protocol(cooldown=3, reboot="between_repetitions"),
            request.protocol,
        )
        self.assertEqual(("g2",), request.booted.absent)
        self.assertEqual({"count": 2, "ssh_timeout": 60}, request.options)
        self.assertEqual(
            ([1, 2], "shuffled", "running", "rotate", None, None),
            (
                arguments.levels,
                arguments.order,
                arguments.idle_guests,
                arguments.solo_guest,
                arguments.stop,
                arguments.neighbours,
            ),
        )

    def test_loads_that_are_unknown(self):
        """The repetition fails with the reason, for any criteria."""
        run = mock.Mock(
            failure=calibration.CalibrationError("load: no <rate>\x1b"),
            repeat=lambda number: made.record_of(
                repeated("incomplete", [GAP])
            ),
        )
        with (
            mock.patch.object(
                scenarios.open_runs.OPEN_RUNS,
                "get_run",
                autospec=True,
                return_value=run,
            ),
            self.assertRaisesRegex(
                scenarios.IncompleteRepetition, "^load: no .rate"
            ) as raised,
        ):
            self.create_scenario(
                workloads=[{"name": "sysbench"}], levels=[1, 2]
            ).measure()
        self.assertNotRegex(str(raised.exception), "[<\x1b]")

    def test_cpus_of_the_host(self):
        """They are those that the context of guests read."""
        for stated, expected in ((0, 4), (8, 8)):
            levels = {"ratio": [1], "host_cpus": stated, "vcpus": 2}
            self.requests.clear()
            _, arguments = self.run_scenario(
                workloads=[{"name": "sysbench"}], levels=levels
            )
            self.assertEqual(expected, arguments.levels["host_cpus"])

    def test_defaults_of_the_question(self):
        """The question replaces None, the signature has the other values."""
        request, arguments = self.run_scenario(
            workloads=[{"name": "sysbench"}],
            levels=[1, 2],
            stop={"total_falls": True},
        )
        self.assertEqual((0, "listed"), (request.warmup, arguments.order))
        self.assertEqual(protocols.DEFAULT, request.protocol)


class TestTell(unittest.TestCase):
    """Nothing measured is never a pass, and never reported twice."""

    def test_complete(self):
        """A complete repetition raises nothing."""
        scenarios.raise_if_incomplete(repeated("complete"), ())

    def test_interrupted(self):
        """Ctrl-C is passed on, with any criterion."""
        with self.assertRaises(KeyboardInterrupt):
            scenarios.raise_if_incomplete(
                repeated("interrupted"), {"vmperf_overhead": {}}
            )

    def test_incomplete_and_judged(self):
        """The criterion sees what is missing; the log says it."""
        for missing in ({"of_condition": [GAP]}, {"of_all": [GAP]}):
            with self.assertLogs("rally_vmperf", "WARNING") as logs:
                scenarios.raise_if_incomplete(
                    repeated("incomplete", **missing), {"vmperf_overhead": {}}
                )
            self.assertIn("first is disk.x of g1", logs.output[0])
            self.assertNotIn("<", logs.output[0])

    def test_incomplete_and_not_judged(self):
        """No other criterion would notice."""
        for criteria in ((), {"failure_rate": {"max": 0}}):
            with self.assertRaisesRegex(
                scenarios.IncompleteRepetition,
                "2 measurements are missing; the first is disk.x",
            ) as raised:
                scenarios.raise_if_incomplete(
                    repeated("incomplete", [GAP], [OTHER_GAP]), criteria
                )
            self.assertNotIn("<", str(raised.exception))
