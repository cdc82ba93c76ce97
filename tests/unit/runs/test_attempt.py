# SPDX-License-Identifier: Apache-2.0
"""Tests of one measurement of a condition, whatever happens during it."""

import dataclasses
import threading
import unittest

import ddt

from rally_vmperf.execution import assignment
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import guest_metrics
from rally_vmperf.measurement import repetition
from rally_vmperf.measurement.event import phases
from rally_vmperf.measurement.samples import sample
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import conditions
from tests.unit.measurement.samples import test_merged
from tests.unit.runs import fakes
from tests.unit.runs import test_runs

MOVED = test_runs.MOVED
OTHER = finding.Finding("guest_rebooted", "g2", "it was")
LONG = "x" * 600
START = repetition.Synchronisation(
    workload="sysbench",
    command="sysbench",
    bound="time",
    skew=0.1,
    uncertainty=0.01,
    overlap=0.99,
    metrics=(fakes.RATE.name,),
)


class Session(fakes.Session):
    """A session whose workloads leave each kind of result.

    :param found: The findings of the workloads.
    """

    def __init__(self, found=(), **options):
        super().__init__(**options)
        self.found = found

    def repeat(self, result, names, on_measured, assignments=None):
        """Add one result of each kind."""
        super().repeat(result, names, on_measured, assignments)
        run = fakes.command_run("g1", "x")
        measured = dataclasses.replace(run.result, user=0.5, system=0.25)
        result.runs += [run, dataclasses.replace(run, result=measured)]
        result.starts.append(START)
        result.cpu_times["g1"] = guest_metrics.CpuTime(stolen=1, requested=4)
        result.phase = phases.Phase()
        return list(self.found)


def choose(*names, **options):
    """Return a function that chooses these machines."""
    participants = conditions.Participants(names=names, **options)
    return lambda lost, number: participants


def create(session=None, acting=(), guest_findings=None, **condition):
    """Return an attempt, with its lines of progress and its warnings."""
    lines, warnings = [], []
    created = attempt.Attempt(
        attempt.ReadySession(
            session=session or fakes.Session(),
            setting=fakes.SETTING,
            actions=tuple(acting),
            guest_findings=guest_findings or {},
        ),
        conditions.PlannedCondition(**condition),
        set(),
        4,
        keep_raw=lambda run: None,
        progress=lines.append,
        warn=warnings.append,
    )
    created.lines, created.warnings = lines, warnings
    return created


def measure(*arguments, **options):
    """Return the attempt after it was measured, and its result."""
    created = create(*arguments, **options)
    created.measure()
    return created, created.result_of_condition(2)


def list_gaps(condition):
    """Return the name, the machine and the reason of each gap."""
    return [(gap.name, gap.machine, gap.reason) for gap in condition.missing]


class UnpreparedTestCase(unittest.TestCase):
    def test_each_metric_of_each_machine_is_missing(self):
        condition = conditions.PlannedCondition(
            axes={"guests": 2}, choose=choose("g1", "g2")
        )
        other = sample.Metric("disk.x", "B/s", "higher")
        result = attempt.create_unprepared_condition(
            condition, 3, LONG, [fakes.RATE, other]
        )
        self.assertEqual(
            ({"guests": 2}, 3, "incomplete"),
            (result.axes, result.position, result.state),
        )
        self.assertEqual(
            [
                (name, machine, "x" * 500)
                for name in ("cpu.sysbench.rate", "disk.x")
                for machine in ("g1", "g2")
            ],
            list_gaps(result),
        )
        self.assertEqual(
            [("guest_unavailable", name, LONG) for name in ("g1", "g2")],
            [
                (each.kind, each.subject, each.detail)
                for each in result.findings
            ],
        )

    def test_the_first_repetition_without_losses_is_chosen(self):
        calls = []

        def record(lost, number):
            calls.append((lost, number))
            return conditions.Participants(names=())

        attempt.create_unprepared_condition(
            conditions.PlannedCondition(choose=record), 1, "no", [fakes.RATE]
        )
        self.assertEqual([(frozenset(), 1)], calls)

    def test_all_machines(self):
        """Their names are not known."""
        result = attempt.create_unprepared_condition(
            conditions.PlannedCondition(), 1, "no", [fakes.RATE]
        )
        self.assertEqual(((), ()), (result.missing, result.findings))


@ddt.ddt
class ResultTestCase(unittest.TestCase):
    """What a measurement leaves in the condition."""

    def test_results(self):
        session = Session(found=[MOVED, MOVED])
        _, result = measure(session, copies=3)
        self.assertEqual(
            ("complete", 2, ("g1", "g2", "g3"), 1, 3, {}),
            (
                *(result.state, result.position, result.machines),
                *(result.batches, result.reference_copies, result.axes),
            ),
        )
        self.assertEqual((MOVED,), result.findings)
        self.assertEqual((START,), result.synchronisation)
        self.assertEqual(phases.Phase(), result.phase)
        (usage,) = result.command_usage
        self.assertEqual(
            (1, 0.5, 0.25), (usage.runs, usage.user, usage.system)
        )
        self.assertEqual(
            [
                *((name, fakes.RATE.name) for name in ("g1", "g2", "g3")),
                ("g1", guest_metrics.STEAL_PERCENT.name),
            ],
            [
                (observation.source, observation.sample.metric.name)
                for observation in result.observations
            ],
        )
        self.assertEqual([None], session.ran)

    def test_readings_of_all_machines_are_merged(self):
        created = create()
        metric = sample.Metric("network.x.rate", "B/s", "higher")
        points = ((1.0, 2.0), (2.0, 4.0))
        created.result.readings += [
            ("g1", sample.Series(metric=metric, points=points)),
            ("g1", test_merged.FAST),
        ]
        result = created.result_of_condition(1)
        self.assertEqual(
            ([metric], [test_merged.LATENCY]),
            (
                [series.metric for series in result.time_series],
                [merged.metric for merged in result.distributions],
            ),
        )

    def test_raw_outputs(self):
        """They are kept as they come."""
        outputs = []
        created = create(fakes.Session(printed=["x"]))
        again = attempt.Attempt(
            created.ready,
            created.condition,
            set(),
            4,
            keep_raw=outputs.append,
            progress=created.progress,
            warn=created.warn,
        )
        again.measure()
        self.assertEqual(["x"], [run.result.stdout for run in outputs])

    def test_gap(self):
        session = fakes.Session(missing=["disk.x"])
        _, result = measure(session)
        self.assertEqual("incomplete", result.state)

    @ddt.data(
        (KeyboardInterrupt(), "interrupted"),
        (ZeroDivisionError("ours"), "incomplete"),
        (SystemExit(), "incomplete"),
    )
    @ddt.unpack
    def test_end(self, error, state):
        """The error is raised, and the results so far are kept."""
        created = create(fakes.Session(errors={3: error}, missing=["disk.x"]))
        with self.assertRaises(type(error)):
            created.measure()
        result = created.result_of_condition(1)
        self.assertEqual(state, result.state)
        self.assertEqual(3, len(result.observations))

    def test_findings_on_guests(self):
        """Those of participants and of unavailable guests are kept, once."""
        third = finding.Finding("guest_rebooted", "g3", "it was")
        on_guests = {"g1": (MOVED, MOVED), "g2": (OTHER,), "g3": (third,)}
        created = create(
            guest_findings=on_guests,
            choose=choose("g1", unavailable=("g2",), reason="lost"),
        )
        findings = created.result_of_condition(1).findings
        self.assertEqual((MOVED, OTHER), findings)


class ParticipantTestCase(unittest.TestCase):
    """Machines that run, groups, and machines that are lost."""

    def test_choice(self):
        """It depends on lost machines and on the repetition."""
        calls = []
        session = fakes.Session()
        created = create(session)

        def record(lost, number):
            calls.append((lost, number))
            return conditions.Participants(names=("g3", "g1"))

        again = attempt.Attempt(
            created.ready,
            conditions.PlannedCondition(axes={"guests": 2}, choose=record),
            {"g2"},
            4,
            keep_raw=created.keep_raw,
            progress=created.progress,
            warn=created.warn,
        )
        again.measure()
        self.assertEqual([(frozenset({"g2"}), 4)], calls)
        self.assertEqual([("g3", "g1")], session.repeated)
        result = again.result_of_condition(1)
        self.assertEqual(("g3", "g1"), result.machines)
        self.assertEqual(["Condition guests 2: g3, g1"], created.lines)
        self.assertEqual({"g2"}, again.lost)

    def test_groups(self):
        """They run one after another, each with the actions."""
        session = fakes.Session()
        acting = test_runs.Acting()
        groups = (("g1", "g2"), ("g3",))
        created, result = measure(
            session,
            [acting],
            axes={"guests": 3},
            choose=choose("g1", "g2", "g3", batches=groups),
        )
        self.assertEqual([*groups], session.repeated)
        self.assertEqual(2, result.batches)
        self.assertEqual(
            [
                (moment, *names)
                for names in groups
                for moment in ("before", "during", "after")
            ],
            acting.calls,
        )
        self.assertEqual(
            ["Condition guests 3: g1, g2", "Condition guests 3: g3"],
            created.lines,
        )

    def test_one_condition_has_no_line(self):
        created, _ = measure()
        self.assertEqual([], created.lines)

    def test_unavailable(self):
        """Nothing runs, and their metrics are missing."""
        session = fakes.Session()
        created, result = measure(
            session,
            choose=choose("g1", "g2", unavailable=("g2",), reason=LONG),
        )
        self.assertEqual([], session.repeated)
        self.assertEqual(
            [(fakes.RATE.name, "g2", "x" * 500)], list_gaps(result)
        )
        self.assertEqual("incomplete", result.state)
        self.assertEqual(
            [f"The condition cannot be measured: {LONG}"], created.warnings
        )

    def test_silent_machines_of_a_choice_are_lost(self):
        """They are named once, and only those that took part are asked."""
        session = fakes.Session(killed={2: "g2"})
        asked = []
        silent = session.silent

        def ask(names):
            asked.append(names)
            return silent(names)

        session.silent = ask
        groups = (("g1", "g2"), ("g2", "g1"))
        created, _ = measure(
            session, choose=choose("g1", "g2", batches=groups)
        )
        self.assertEqual({"g2"}, created.lost)
        self.assertEqual([*groups], asked)
        self.assertEqual(
            ["g2 stopped answering; later conditions continue without them"],
            created.warnings,
        )

    def test_several_silent_machines_are_sorted(self):
        session = fakes.Session()
        session.silent = lambda names: frozenset(("g3", "g1", "g2"))
        created, _ = measure(session, choose=choose("g1", "g2", "g3"))
        (line,) = created.warnings
        self.assertTrue(line.startswith("g1, g2, g3 stopped answering; "))

    def test_silent_machines_without_a_choice_are_tried_again(self):
        session = fakes.Session(killed={3: "g2"})
        created, _ = measure(session)
        self.assertEqual((set(), []), (created.lost, created.warnings))


class Watching(fakes.Session):
    """A session that remembers its machines and the calls of an action."""

    def __init__(self, action):
        super().__init__()
        self.action, self.seen = action, []
        self.earlier = {*threading.enumerate()}

    def repeat(self, result, names, on_measured, assignments=None):
        """Let actions that are due end."""
        super().repeat(result, names, on_measured, assignments)
        for thread in {*threading.enumerate()} - self.earlier:
            thread.join(10)
        moments = [call[0] for call in self.action.calls]
        self.seen.append((names, moments.count("during")))
        return []


class Evaluating(test_runs.Acting):
    """An action that recovers and evaluates, too."""

    name = "evaluating"
    is_evaluated = True

    def recover(self, current):
        """Remember it."""
        return self._call("recover", current)

    def evaluate(self, current, result):
        """Remember it."""
        return self._call("evaluate", current)


MOMENTS = ("before", "during", "recover", "evaluate", "after")


@ddt.ddt
class ActionTestCase(unittest.TestCase):
    """The results of actions."""

    def test_order(self):
        """Preparations are in order, what follows them in reverse."""
        events = []

        class Ordered(Evaluating):
            def _call(self, moment, current):
                events.append((moment, self.title))
                return super()._call(moment, current)

        acting = [Ordered(), Ordered()]
        for number, action in enumerate(acting, 1):
            action.title = number
        measure(acting=acting)
        self.assertEqual(
            [
                *(("before", 1), ("before", 2)),
                *(("recover", 1), ("recover", 2)),
                *(("evaluate", 1), ("evaluate", 2)),
                *(("after", 2), ("after", 1)),
            ],
            [event for event in events if event[0] != "during"],
        )

    def test_actions_that_do_not_evaluate(self):
        action = Evaluating()
        action.is_evaluated = False
        measure(acting=[action])
        self.assertNotIn("evaluate", [call[0] for call in action.calls])

    @ddt.data(*MOMENTS)
    def test_each_part_of_a_result(self, moment):
        observation = sample.Observation(
            source="g1", sample=sample.Sample(fakes.RATE, 7.0)
        )
        effect = actions.ActionResult(
            lost=frozenset({"g1"}),
            started=frozenset({"g2"}),
            findings=(MOVED,),
            observations=(observation,),
            is_unusable=True,
        )
        created, result = measure(acting=[Evaluating(**{moment: effect})])
        self.assertEqual(
            ({"g1"}, ["g2"], True),
            (created.lost, created.started, created.is_unusable),
        )
        self.assertEqual((MOVED,), result.findings)
        self.assertIn(observation, result.observations)
        self.assertEqual(4, len(result.observations))

    def test_later_actions_do_not_take_back_a_result(self):
        bad = actions.ActionResult(is_unusable=True)
        created, _ = measure(acting=[Evaluating(before=bad), Evaluating()])
        self.assertTrue(created.is_unusable)
        created, _ = measure(acting=[Evaluating()])
        self.assertFalse(created.is_unusable)

    @ddt.data(*MOMENTS)
    def test_findings_that_an_action_explains(self, moment):
        """Of their kind on their subject, whoever found them."""
        effect = actions.ActionResult(
            explained=frozenset({(MOVED.kind, "g1"), (OTHER.kind, "g1")}),
            findings=(MOVED, OTHER),
        )
        _, result = measure(
            acting=[Evaluating(**{moment: effect})],
            guest_findings={"g1": (MOVED,)},
        )
        self.assertEqual((OTHER,), result.findings)

    def test_current_condition(self):
        """Actions see the repetition, what runs and what is lost so far."""
        seen = []

        class Seeing(Evaluating):
            def _call(self, moment, current):
                seen.append((moment, current))
                return super()._call(moment, current)

        effect = actions.ActionResult(lost=frozenset({"g3"}))
        created, _ = measure(
            acting=[Seeing(during=effect)],
            axes={"guests": 2},
            choose=choose("g1", "g2"),
        )
        for moment, current in seen:
            self.assertEqual(
                (created.condition, 4, ("g1", "g2")),
                (current.condition, current.repetition, current.machines),
            )
            lost = {"g3"} if moment == "recover" else set()
            self.assertEqual(lost, current.lost, moment)

    @ddt.data(
        ({"g1": "no", "g3": "none"}, ("g1", "g3"), "no; none"),
        ({"g2": LONG}, ("g2",), LONG),
        ({"g9": "no"}, ("g1", "g2", "g3"), "no"),
    )
    @ddt.unpack
    def test_error_before(self, errors, names, reason):
        """The failed machines have gaps, or all, if none of them failed."""
        session = fakes.Session()
        effect = actions.ActionResult(errors=errors)
        created, result = measure(session, [Evaluating(before=effect)])
        self.assertEqual([], session.repeated)
        self.assertEqual(
            [(fakes.RATE.name, name, reason[:500]) for name in names],
            list_gaps(result),
        )
        self.assertEqual(
            [f"The condition cannot be measured: {reason}"], created.warnings
        )

    @ddt.data("during", "after")
    def test_later_error(self, moment):
        effect = actions.ActionResult(errors={"g1": LONG})
        created, result = measure(acting=[Evaluating(**{moment: effect})])
        self.assertEqual([("evaluating", "g1", "x" * 500)], list_gaps(result))
        self.assertEqual([f"evaluating: {LONG}"], created.warnings)

    def test_error_of_recovery_replaces_the_reason(self):
        """Why a machine did not answer."""
        session = fakes.Session(killed={3: "g2"})
        effect = actions.ActionResult(errors={"g2": "it is deleted"})
        created = create(session, [Evaluating(recover=effect)])
        created.result.unreached.add((fakes.RATE.name, "g2"))
        created.measure()
        self.assertEqual(
            [(fakes.RATE.name, "g2", "it is deleted")],
            list_gaps(created.result_of_condition(1)),
        )
        self.assertEqual([], created.warnings)

    def test_background_action_is_cancelled(self):
        """If the workloads fail before it is due."""
        action = Evaluating(moment=0.3)
        session = fakes.Session(errors={3: ZeroDivisionError("ours")})
        created = create(session, [action])
        earlier = {*threading.enumerate()}
        with self.assertRaises(ZeroDivisionError):
            created.measure()
        for thread in {*threading.enumerate()} - earlier:
            thread.join(10)
        self.assertNotIn("during", [call[0] for call in action.calls])

    def test_background_action_starts_when_workloads_have_ended(self):
        """It does not wait until its result is due."""
        action = Evaluating()
        session = Watching(action)
        measure(session, [action])
        self.assertEqual([(None, 1)], session.seen)


class BetweenTestCase(unittest.TestCase):
    """Actions between two workloads."""

    def setUp(self):
        super().setUp()
        self.session = fakes.Session()
        self.session.assignments = assignment.assign(
            [{"name": name} for name in ("sysbench", "mbw", "bzip2")]
        )

    def measure(self, *acting, **condition):
        """Return the attempt and its result; the first action is between."""
        acting[0].between_workloads = True
        return measure(self.session, acting, **condition)

    def test_background_actions_start_after_the_last_workload(self):
        action = Evaluating()
        assignments = self.session.assignments
        self.session = Watching(action)
        self.session.assignments = assignments
        self.measure(action)
        self.assertEqual([(None, 0), (None, 0), (None, 1)], self.session.seen)

    def test_all_actions_are_called(self):
        """If one of them requires it."""
        acting = Evaluating(), Evaluating()
        self.measure(*acting)
        for action in acting:
            calls = [call[0] for call in action.calls]
            self.assertEqual(2, calls.count("between"))
        self.assertEqual(
            [[each] for each in self.session.assignments], self.session.ran
        )

    def test_participants(self):
        self.measure(Evaluating(), choose=choose("g1"))
        self.assertEqual([("g1",)] * 3, self.session.repeated)

    def test_error(self):
        """The other workloads are missing, and no later action acts."""
        effect = actions.ActionResult(
            errors={"g2": "no"}, findings=(MOVED,), lost=frozenset({"g2"})
        )
        acting = Evaluating(between=effect), Evaluating()
        created, result = self.measure(*acting)
        self.assertEqual([[self.session.assignments[0]]], self.session.ran)
        self.assertNotIn("between", [call[0] for call in acting[1].calls])
        self.assertEqual(
            {"mbw", "bzip2"},
            {gap.name.split(".")[1] for gap in result.missing},
        )
        self.assertEqual((MOVED,), result.findings)
        self.assertEqual({"g2"}, created.lost)

    def test_findings_of_each_workload(self):
        found = iter((MOVED, OTHER, MOVED))
        repeat = self.session.repeat

        def find(*arguments, **options):
            repeat(*arguments, **options)
            return [next(found)]

        self.session.repeat = find
        _, result = self.measure(Evaluating())
        self.assertEqual((MOVED, OTHER), result.findings)
