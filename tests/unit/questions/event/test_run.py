# SPDX-License-Identifier: Apache-2.0
"""Tests of runs with the phases of a migration."""

import asyncio
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.execution import measured
from rally_vmperf.execution import sessions
from rally_vmperf.execution.stations import event_monitor
from rally_vmperf.execution.stations import health
from rally_vmperf.execution.stations import roles
from rally_vmperf.machines import testing as machines
from rally_vmperf.measurement import command_result
from rally_vmperf.measurement.event import downtime
from rally_vmperf.measurement.event import figures
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.questions import table
from rally_vmperf.questions.event import question
from rally_vmperf.questions.event import run
from rally_vmperf.questions.event import run as migration
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from rally_vmperf.runs import event_types
from rally_vmperf.runs import loads
from tests.unit.questions.tuning import test_run
from tests.unit.runs import golden
from tests.unit.runs import test_guest_power
from tests.unit.runs import whole

ARGUMENTS = question.Arguments(workloads=[])
IOPS = sample.Metric("disk.fio.randwrite.iops", "ops/s", "higher")
RESPONSE_TIME = sample.Metric(
    "network.h2load.response_time_mean", "s", "lower"
)
#: When the phase begins, and when the migration is requested and ends.
BEGUN, REQUESTED, ENDED = 1000.0, 1030.0, 1038.0


class TestRun(unittest.TestCase):
    """The guests are booted again if one of them is not usable any more."""

    def setUp(self):
        """Have two guests, of which the first one is migrated."""
        super().setUp()
        self.enterContext(mock.patch.object(asyncio, "sleep", autospec=True))
        machine = golden.Machine("g1")
        self.request = whole.build_request(
            self.enterContext(tempfile.TemporaryDirectory()),
            None,
            machine,
            question="event",
            connect_admin=lambda: self.cloud,
        )
        self.cloud = self.request.connect()
        self.boots = test_run.GroupBoots(self.request.booted.guests, {})
        self.boots.booted = self.request.booted
        self.boots.is_new = True
        cache = self.request.run_cache
        cache.keep_group_boots("w", self.boots)
        self.addCleanup(cache.close, "w")
        self.run_of_task = cache.get_run(
            "w",
            lambda: table.questions()["event"].start(self.request, ARGUMENTS),
        )

    def test_another_boot(self):
        """The guests of the context are measured first."""
        run = self.run_of_task
        effects = iter(
            actions.ActionResult(is_unusable=is_unusable)
            for is_unusable in (False, True, *[False] * 4)
        )
        with (
            mock.patch.object(
                migration.GuestEvent,
                "before",
                autospec=True,
                return_value=actions.ActionResult(),
            ),
            mock.patch.object(
                migration.GuestEvent,
                "evaluate",
                autospec=True,
                side_effect=lambda *_: next(effects),
            ),
        ):
            first = run.repeat(1)
            self.assertEqual([], self.boots.events)
            second = run.repeat(2)
        self.assertEqual([None], self.boots.events)
        self.assertNotEqual(
            first.machines[0].boot_id, second.machines[0].boot_id
        )

    def test_the_load_of_the_control_machine(self):
        """It does not end before a migration that lasts until its deadline."""
        load = loads.ControlLoad(control=None, measured=(), peer=None)
        action = loads.ControlAction(load, None)
        self.assertIs(
            action, migration._replace_watch(action, [], deadline=86400.0)
        )
        self.assertEqual(86400.0, load.further_seconds)


def current(phase, repetition=1):
    """Return a phase that is to be measured."""
    return conditions.CurrentCondition(
        condition=conditions.PlannedCondition(axes={"phase": phase}),
        repetition=repetition,
        machines=("g1", "g2"),
    )


def run_workload(rates_by_guest, begun=BEGUN):
    """Return the results of a workload with a rate each second."""
    result = measured.Measured()
    for name, rates in rates_by_guest.items():
        points = tuple((float(end), rate) for end, rate in enumerate(rates, 1))
        series = sample.Series(metric=IOPS, points=points)
        result.readings.append((name, series))
        result.runs.append(
            command_result.CommandRun(
                workload="fio",
                machine=name,
                result=command_result.CommandResult(
                    name="randwrite",
                    exit_status=0,
                    seconds=len(rates),
                    started=begun,
                    ended=begun + len(rates),
                    stdout="",
                    stderr="",
                ),
                clock_offset=0.0,
            )
        )
    return result


def add_times(result, times, name="g1"):
    """Add response times of a guest to the results of a workload."""
    points = tuple((float(end), time) for end, time in enumerate(times, 1))
    series = sample.Series(metric=RESPONSE_TIME, points=points)
    result.readings.append((name, series))
    return result


def event(**changes):
    """Return a completed migration."""
    return phases.EventRecord(
        **{
            "guest": "g1",
            "outcome": "completed",
            "source": "a",
            "target": "b",
            "request": "req-1",
            "requested": REQUESTED,
            "ended": ENDED,
            **changes,
        }
    )


class Monitor(event_monitor.Monitor):
    """A monitor that saw a downtime of 0.3 s and a gap of 0.4 s."""

    async def begin(self):
        for step in range(3000):
            at = BEGUN + step / 50
            late = 0.3 if at >= 1035 else 0.0
            self.readings.append(
                downtime.OffsetReading(at=at, offset=-late, error=0.001)
            )
        self.replies = [
            BEGUN + step / 100
            for step in range(6000)
            if not 3480 < step < 3520
        ]

    async def end(self):
        """Do nothing."""


@mock.patch.object(event_monitor, "Monitor", new=Monitor)
@ddt.ddt
class TestGuestMigration(test_guest_power.Case):
    """Three phases of a repetition."""

    usual = (198.0, 200.0, 202.0, 200.0) * 15

    def setUp(self):
        super().setUp()
        self.session.peer = mock.Mock()
        self.action = self.create()

    def create(self, **changes):
        """Return the action."""
        return run.GuestEvent(
            **{
                "connection": self.cloud,
                "guests": list(self.guests),
                "session": self.session,
                "timeout": 5,
                "progress": lambda line: None,
                "admin": self.cloud,
                "event": event_types.parse(None),
                "subject": "g1",
                "create_prober": mock.Mock(),
                "request_after": 30.0,
                "deadline": 300.0,
                **changes,
            }
        )

    def repeat(self, happened, during=None, others=None):
        """Run the phases before and during; return result and effects."""
        action = self.action
        action.before(current("before"))
        self.assertIsNone(action.moment)
        before = run_workload({"g1": self.usual, "g2": self.usual}, 900.0)
        action.evaluate(current("before"), before)
        self.assertIsNone(before.phase.event)
        action.before(current("during"))
        self.assertEqual(30, action.moment)
        with mock.patch.object(
            event_types.EventType,
            "happen",
            autospec=True,
            return_value=happened,
        ) as happen:
            effect = action.during(current("during"))
        self.occasions = [call.args[1] for call in happen.mock_calls]
        result = run_workload(
            {"g1": during or self.usual, "g2": others or self.usual}
        )
        return result, effect, action.evaluate(current("during"), result)

    def values(self, effect):
        """Return the values of observations by guest and metric."""
        return {
            (
                observation.source,
                observation.sample.metric,
            ): observation.sample.value
            for observation in effect.observations
        }

    def test_figures(self):
        rates = list(self.usual)
        rates[34:40] = [120.0] * 6
        others = list(self.usual)
        others[30:38] = [180.0] * 8
        result, effect, evaluated = self.repeat(event(), rates, others)
        self.assertEqual((), effect.findings)
        self.assertEqual(event(), result.phase.event)
        self.assertEqual([], result.missing)
        values = self.values(evaluated)
        for metric, expected, tolerance in (
            (figures.DOWNTIME, 0.3, 0.002),
            (figures.PACKET_GAP, 0.4, 0.02),
            (figures.DURATION, 8, 0),
            (figures.DIP, 40, 1),
            (figures.DIP_DURATION, 6, 0.3),
            (figures.RECOVERY_TIME, 10, 0.3),
        ):
            self.assertAlmostEqual(
                expected, values["g1", metric], delta=tolerance
            )
        self.assertAlmostEqual(
            10, values["g2", figures.OTHERS_LOSS], delta=0.5
        )

    def test_response_times(self):
        """They are 60 times as long for 5 s; the rate is what it was."""
        usual = [0.0099, 0.01, 0.0101, 0.01] * 15
        during = list(usual)
        during[33:38] = [0.6] * 5
        self.action.before(current("before"))
        before = add_times(run_workload({"g1": self.usual}, 900.0), usual)
        self.action.evaluate(current("before"), before)
        self.action.before(current("during"))
        with mock.patch.object(
            event_types.EventType,
            "happen",
            autospec=True,
            return_value=event(),
        ):
            self.action.during(current("during"))
        result = add_times(run_workload({"g1": self.usual}), during)
        evaluated = self.action.evaluate(current("during"), result)
        self.assertEqual(
            [IOPS, RESPONSE_TIME],
            [line.metric for line in result.phase.lines],
        )
        values = self.values(evaluated)
        self.assertEqual(0, values["g1", figures.DIP])
        peak, spike = (
            values["g1", create(RESPONSE_TIME)]
            for create in (figures.create_peak, figures.create_spike_duration)
        )
        self.assertAlmostEqual(0.6, peak, delta=0.02)
        self.assertAlmostEqual(5, spike, delta=0.3)

    def test_response_times_of_others(self):
        """They are half as long again until the end of the event."""
        usual = [0.0099, 0.01, 0.0101, 0.01] * 15
        slow = list(usual)
        slow[30:38] = [0.015] * 8
        self.action.before(current("before"))
        workload = {"g1": self.usual, "g2": self.usual}
        before = add_times(run_workload(workload, 900.0), usual, "g2")
        self.action.evaluate(current("before"), before)
        self.action.before(current("during"))
        with mock.patch.object(
            event_types.EventType,
            "happen",
            autospec=True,
            return_value=event(),
        ):
            self.action.during(current("during"))
        result = add_times(run_workload(workload), slow, "g2")
        values = self.values(self.action.evaluate(current("during"), result))
        self.assertAlmostEqual(
            50, values["g2", figures.OTHERS_SLOWDOWN], delta=8
        )

    def test_lost_response_times(self):
        """They were there before, and their figures are missing."""
        self.action.before(current("before"))
        before = add_times(
            run_workload({"g1": self.usual}, 900.0), [0.01] * 60
        )
        self.action.evaluate(current("before"), before)
        self.action.before(current("during"))
        with mock.patch.object(
            event_types.EventType,
            "happen",
            autospec=True,
            return_value=event(),
        ):
            self.action.during(current("during"))
        result = run_workload({"g1": self.usual})
        self.action.evaluate(current("during"), result)
        self.assertEqual(
            {
                figures.create_peak(RESPONSE_TIME).name,
                figures.create_spike_duration(RESPONSE_TIME).name,
            },
            {gap.name for gap in result.missing},
        )

    @ddt.data(
        ("cpu.sysbench.rate", "higher", 90.0),
        ("control.h2load.response_time_mean", "lower", 110.0),
    )
    @ddt.unpack
    def test_control_machine(self, name, better, slow):
        """Its loss is that in the same seconds."""
        machine = machines.FakeMachine("control")
        self.session.control = sessions.Control(
            station=roles.Station(
                name="control", machine=machine, role="control", folder="f"
            ),
            work=None,
        )
        metric = sample.Metric(name, "", better)

        def add_line(result, begun, figures):
            points = enumerate(figures, 1)
            result.control = phases.Line(
                machine="control",
                metric=metric,
                begun=begun,
                points=tuple((2.0 * end, figure) for end, figure in points),
            )

        before, during = [99.0, 101.0] * 15, [99.0, 101.0] * 15
        during[15:19] = [slow] * 4
        self.action.before(current("before"))
        result = run_workload({"g1": self.usual}, 900.0)
        add_line(result, 900.0, before)
        self.action.evaluate(current("before"), result)
        self.assertEqual(
            ["g1", "control"],
            [line.machine for line in result.phase.lines],
        )
        self.action.before(current("during"))
        with mock.patch.object(
            event_types.EventType,
            "happen",
            autospec=True,
            return_value=event(),
        ):
            self.action.during(current("during"))
        result = run_workload({"g1": self.usual})
        add_line(result, BEGUN, during)
        values = self.values(self.action.evaluate(current("during"), result))
        self.assertAlmostEqual(
            10, values["control", figures.CONTROL_LOSS], delta=0.5
        )

    def test_late_migration(self):
        """Its effects are after the workload, and not measured."""
        result, _, evaluated = self.repeat(event(ended=1061.0))
        self.assertEqual(
            {figures.DURATION, figures.OTHERS_LOSS},
            {
                observation.sample.metric
                for observation in evaluated.observations
            },
        )
        self.assertEqual(
            {
                figures.DOWNTIME.name,
                figures.PACKET_GAP.name,
                figures.DIP.name,
                figures.DIP_DURATION.name,
                figures.RECOVERY_TIME.name,
                figures.NOT_RECOVERED.name,
            },
            {gap.name for gap in result.missing},
        )
        self.assertIn("longer phase", result.missing[0].reason)

    @ddt.data("aborted", "failed", "server_error")
    def test_not_completed(self, outcome):
        """It has a name, voids the repetition, and has no figures."""
        happened = event(outcome=outcome, detail="why", target="")
        result, effect, evaluated = self.repeat(happened)
        (migration_finding,) = effect.findings
        self.assertEqual(
            ("event_not_completed", "g1"),
            (migration_finding.kind, migration_finding.subject),
        )
        self.assertIn(f"{outcome}: why", migration_finding.detail)
        self.assertEqual("void", migration_finding.severity)
        self.assertEqual(outcome == "server_error", effect.is_unusable)
        self.assertEqual((), evaluated.observations)
        self.assertEqual(outcome, result.phase.event.outcome)

    def test_home(self):
        """It is the host before the first event."""
        homes = []
        for source in ("a", "b", "a"):
            self.repeat(event(source=source))
            homes += [occasion.home for occasion in self.occasions]
        self.assertEqual(["", "a", "a"], homes)

    def counters(self, up, at):
        """Return counters of g1."""
        return health.Counters(
            boot="b",
            busy=0,
            stolen=0,
            swapped=0,
            killed=0,
            up=up,
            requested_at=at,
            answered_at=at,
        )

    @ddt.data((59.4, True), (58.0, False), (60.6, False))
    @ddt.unpack
    def test_clock(self, passed, is_explained):
        """It is late by the downtime, and by nothing else."""
        self.session._before = {"g1": self.counters(10.0, 100.0)}
        self.session.last_look["g1"] = self.counters(10.0 + passed, 160.0)
        *_, evaluated = self.repeat(event())
        kinds = {kind for kind, _ in evaluated.explained}
        self.assertEqual(is_explained, "clock_wrong" in kinds)

    def move(self, host_id, updated):
        """Have the server of g1 on another host."""
        server = self.cloud.compute.all_servers[self.guests[0].id]
        server.host_id = host_id
        server.compute_host = "b"
        server.updated_at = updated

    def test_watch_accepts_the_requested_migration(self):
        self.action.before(current("before"))
        self.action.after(current("before"))
        self.action.before(current("during"))
        actions = [
            {
                "action": "live-migration",
                "request_id": request,
                "start_time": start,
            }
            for request, start in (
                ("req-1", "2026-01-01T10:01:00"),
                ("req-2", "2026-01-01T10:02:30"),
            )
        ]

        def migrate(*arguments):
            self.move("d2", "2026-01-01T10:02:00Z")
            return event()

        with mock.patch.object(
            event_types.EventType, "happen", autospec=True, side_effect=migrate
        ):
            self.action.during(current("during"))
        answer = {"instanceActions": actions[:1]}
        with self.actions_of(answer):
            self.assertEqual((), self.action.after(current("during")).findings)
        answer["instanceActions"] = actions
        self.move("d2", "2026-01-01T10:03:00Z")
        with self.actions_of(answer):
            (migration_finding,) = self.action.after(current("after")).findings
        self.assertEqual("guest_host_changed", migration_finding.kind)
        # It concerns this repetition, and not the next one.
        self.move("d3", "2026-01-01T10:04:00Z")
        self.action.before(current("before", 2))
        with self.actions_of(answer):
            self.assertEqual(
                (), self.action.after(current("before", 2)).findings
            )

    def actions_of(self, answer):
        """Have Nova list actions on the server."""
        return mock.patch.object(
            self.cloud.compute,
            "get",
            new=mock.Mock(
                return_value=mock.Mock(ok=True, json=lambda: answer)
            ),
        )


class StopMonitor(Monitor):
    """A monitor of a guest that was away from 1031 s to 1051 s."""

    async def begin(self):
        await super().begin()
        self.readings = [
            reading
            for reading in self.readings
            if not 1031 <= reading.at < 1051
        ]
        self.replies = [
            reply for reply in self.replies if not 1031 <= reply < 1050
        ]
        self.stop = downtime.Stop(
            last=1031.0, silent=1031.02, absent=1050.5, answered=1051.0
        )


@mock.patch.object(event_monitor, "Monitor", new=StopMonitor)
class TestStoppedGuest(test_guest_power.Case):
    """A guest that reboots runs its workload again."""

    usual = (198.0, 200.0, 202.0, 200.0) * 15
    #: When the workload runs again.
    restarted = 1052.0

    def begin(self):
        """Measure the phase before, and begin the phase during."""
        self.session.peer = mock.Mock()
        self.action = TestGuestMigration.create(
            self, event=event_types.parse({"name": "reboot"})
        )
        self.action.before(current("before"))
        before = run_workload({"g1": self.usual, "g2": self.usual}, 900.0)
        self.action.evaluate(current("before"), before)
        return self.action.before(current("during"))

    def reboot(self, rates):
        """Return the results and the effect of a reboot.

        :param rates: The rates after it.
        """
        happened = event(
            name="reboot", source="a", target="a", stops_guest=True
        )
        with mock.patch.object(
            event_types.EventType,
            "happen",
            autospec=True,
            return_value=happened,
        ):
            self.action.during(current("during"))
        result = run_workload({"g2": self.usual})
        again = run_workload({"g1": rates}, self.restarted)
        result.readings += again.readings
        result.runs += again.runs
        return result, self.action.evaluate(current("during"), result)

    def test_figures(self):
        """It is away for 20 s, and needs 5 s more for its usual rate."""
        self.assertEqual({}, self.begin().errors)
        (station, *_) = self.session.stations
        self.assertIsNotNone(station.wait_for_return)
        rates = [50.0] * 4 + list(self.usual)[:56]
        result, effect = self.reboot(rates)
        self.assertEqual([], result.missing)
        self.assertIsNone(station.wait_for_return)
        values = TestGuestMigration.values(self, effect)
        for metric, expected, tolerance in (
            (figures.DOWNTIME, 19.75, 0.3),
            (figures.PACKET_GAP, 19, 0.05),
            (figures.DIP, 100, 1),
            (figures.RECOVERY_TIME, 25.5, 1),
            (figures.NOT_RECOVERED, 0, 0),
        ):
            self.assertAlmostEqual(
                expected, values["g1", metric], delta=tolerance
            )
        self.assertAlmostEqual(0, values["g2", figures.OTHERS_LOSS], delta=1)
        self.assertEqual({"g1"}, effect.started)
        self.assertEqual(
            {
                ("guest_rebooted", "g1"),
                ("clock_wrong", "g1"),
                ("clock_not_correctable", "g1"),
            },
            effect.explained,
        )

    def test_not_stopped(self):
        """A reboot that nobody sees has no figures, and explains nothing."""
        self.begin()
        self.action._monitor.stop = None
        result, effect = self.reboot(self.usual)
        self.assertEqual(frozenset(), effect.explained)
        self.assertEqual(frozenset(), effect.started)
        self.assertIn(
            (figures.DOWNTIME.name, "the guest did not stop"),
            {(gap.name, gap.reason) for gap in result.missing},
        )
