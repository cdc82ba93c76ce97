# SPDX-License-Identifier: Apache-2.0
"""Tests of repetitions: recorded whatever happens to them."""

import contextlib
import os
import tempfile
import unittest
from unittest import mock

from rally_vmperf.execution import assignment
from rally_vmperf.machines import base
from rally_vmperf.measurement import finding
from rally_vmperf.records import files
from rally_vmperf.records import journal
from rally_vmperf.records import model
from rally_vmperf.runs import actions
from rally_vmperf.runs import attempt
from rally_vmperf.runs import runs
from tests.unit.records import full_disk
from tests.unit.records import raw
from tests.unit.runs import fakes

MOVED = finding.Finding(
    kind="guest_host_changed", subject="g1", detail="moved"
)
VALUES = [66.667, 66.667, 66.667]


class Acting(actions.Action):
    """Remembers when it was called.

    :param effects: moment -> the result of the action
    """

    name = "acting"

    def __init__(self, moment=None, **effects):
        self.moment, self.effects, self.calls = moment, effects, []

    def _call(self, moment, current):
        self.calls.append((moment, *current.machines))
        effect = self.effects.get(moment, actions.ActionResult())
        if isinstance(effect, BaseException):
            raise effect
        return effect

    def before(self, current):
        """Remember it."""
        return self._call("before", current)

    def between(self, current):
        """Remember it."""
        return self._call("between", current)

    def during(self, current):
        """Remember it."""
        return self._call("during", current)

    def after(self, current):
        """Remember it."""
        return self._call("after", current)


class RunTestCase(unittest.TestCase):
    """A record is on disk before it is returned."""

    def setUp(self):
        """Make an empty journal."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = journal.Journal(folder.name, "w")

    def run_of(self, session=None, **changes):
        """Return a run with the journal."""
        return fakes.run_of(
            session or fakes.Session(), self.journal, **changes
        )


class TestRepeat(RunTestCase):
    """Every repetition leaves a record."""

    def test_warm_up_is_recorded_and_not_counted(self):
        """Planned are the counted ones only."""
        run = self.run_of()
        first, second = run.repeat(1), run.repeat(2)
        self.assertEqual(
            (False, 2),
            (first.repetition.counted, first.repetition.planned_repetitions),
        )
        self.assertTrue(second.repetition.counted)
        self.assertEqual([first, second], self.journal.read())
        self.assertEqual("complete", second.repetition.state)
        (only,) = second.repetition.conditions
        self.assertEqual(3, only.reference_copies)
        self.assertEqual(VALUES, fakes.values(second))

    def test_time_left(self):
        """It is reported from the second repetition on, by the last one."""
        lines = []
        run = self.run_of(progress=lines.append)
        clock = mock.Mock()
        clock.monotonic.side_effect = (0, 100, 100, 400, 400, 500)
        with mock.patch.object(runs, "time", clock):
            for number in (1, 2, 3):
                run.repeat(number)
        repetition_lines = [
            line for line in lines if line.startswith("Repetition")
        ]
        self.assertEqual(
            [
                "Repetition 1 of 3 (warm-up, not counted)",
                "Repetition 2 of 3, about 3 minutes left",
                "Repetition 3 of 3, about 5 minutes left",
            ],
            repetition_lines,
        )

    def test_machines_that_cannot_be_made_ready(self):
        """Every repetition reports it; it is tried once."""
        tries = []

        def fail():
            tries.append(1)
            raise base.MachineError("g1: no way in")

        run = self.run_of(open=fail)
        run.prepare()
        for number in (1, 2):
            record = run.repeat(number)
            self.assertEqual("incomplete", record.repetition.state)
            self.assertEqual((), record.repetition.conditions)
            (gap,) = record.repetition.missing
            self.assertEqual(
                ("repetition", "machines", "g1: no way in"),
                (gap.name, gap.machine, gap.reason),
            )
        self.assertEqual([1], tries)
        self.assertEqual(2, len(self.journal.read()))
        run.close()

    def test_machines_that_are_unusable(self):
        """The next repetition opens another session with new guests."""
        sessions = []

        def open_session():
            sessions.append(fakes.Session())
            effect = actions.ActionResult(
                lost=frozenset({"g1"}),
                started=frozenset({"g1"}),
                is_unusable=len(sessions) == 1,
            )
            return attempt.ReadySession(
                session=sessions[-1],
                setting=fakes.SETTING,
                actions=(Acting(during=effect),),
            )

        run = self.run_of(open=open_session)
        self.assertEqual("id-g1#2", run.repeat(1).machines[0].boot_id)
        self.assertEqual((True, set()), (sessions[0].closed, run.lost))
        self.assertEqual("id-g1#2", run.repeat(2).machines[0].boot_id)
        self.assertEqual("id-g1#3", run.repeat(3).machines[0].boot_id)
        self.assertEqual(2, len(sessions))
        self.assertEqual({"g1"}, run.lost)

    def test_machines_of_each_condition(self):
        """They are prepared and left in turn, and new in each repetition."""
        events = []
        lost = actions.ActionResult(
            lost=frozenset({"g1"}), started=frozenset({"g1"})
        )

        @contextlib.contextmanager
        def open_condition(condition):
            events.append(condition.axes["guests"])
            if events[-1] == 3:
                raise base.MachineError("g3: no way in")
            ready = attempt.ReadySession(
                session=fakes.Session(),
                setting=fakes.SETTING,
                actions=(Acting(before=lost),),
            )
            try:
                yield condition, ready
            finally:
                events.append("left")

        run = self.run_of(
            open=None,
            open_condition=open_condition,
            conditions=fakes.guests(1, 2, 3),
        )
        run.prepare()
        for number in (1, 2):
            record = run.repeat(number)
            self.assertEqual(
                ["complete", "complete", "incomplete"],
                [
                    condition.state
                    for condition in record.repetition.conditions
                ],
            )
            self.assertEqual(
                {
                    ("g1", "g3: no way in"),
                    ("g2", "g3: no way in"),
                    ("g3", "g3: no way in"),
                },
                {
                    (gap.machine, gap.reason)
                    for gap in record.repetition.conditions[2].missing
                },
            )
            self.assertEqual("id-g1#3", record.machines[0].boot_id)
        self.assertEqual([1, "left", 2, "left", 3] * 2, events)
        run.close()

    def test_defect_loses_nothing(self):
        """After a defect of the package, the samples are kept."""
        session = fakes.Session(errors={3: ZeroDivisionError("ours")})
        with self.assertRaisesRegex(ZeroDivisionError, "ours"):
            self.run_of(session).repeat(2)
        (record,) = self.journal.read()
        self.assertEqual("incomplete", record.repetition.state)
        (only,) = record.repetition.conditions
        self.assertEqual("incomplete", only.state)
        self.assertEqual(VALUES, fakes.values(record))
        self.assertIn("ZeroDivisionError", record.repetition.missing[0].reason)

    def test_full_disk_costs_no_samples(self):
        """The caller gets the record, and a warning that it is not written."""
        run = self.run_of()
        full_disk.limit(self, 10)
        record = run.repeat(2)
        self.assertEqual("complete", record.repetition.state)
        self.assertEqual(VALUES, fakes.values(record))
        self.assertEqual((None, None), (record.raw_file, record.machines_file))
        self.assertEqual(3, len(run.warnings))
        self.assertIn("raw outputs", run.warnings[0])
        self.assertIn("the samples are still recorded", run.warnings[0])
        self.assertIn("repetition 2 is not in it", run.warnings[2])
        self.assertEqual([record], run.unwritten)

    def test_full_disk_costs_raw_outputs_first(self):
        """It is reported once, and their space is free for the record."""
        printed = [os.urandom(9000).hex() for _ in range(5)]
        run = self.run_of(fakes.Session(printed=printed))
        full_disk.limit(self, 20000)
        record = run.repeat(2)
        self.assertEqual(1, len(run.warnings))
        self.assertEqual([record], self.journal.read())
        self.assertEqual("complete", record.repetition.state)
        self.assertIsNone(record.raw_file)
        self.assertNotIn("w-2.json.gz", os.listdir(self.journal.folder))

    def test_raw_outputs_are_on_disk_as_they_come(self):
        """A controller that is killed meanwhile leaves them."""
        outputs = []
        session = fakes.Session(
            printed=["one", "two"],
            look=lambda: outputs.extend(
                raw.so_far(self.journal.folder / "w-2.json.gz")
            ),
        )
        record = self.run_of(session).repeat(2)
        self.assertEqual("w-2.json.gz", record.raw_file.name)
        self.assertEqual(
            ["one", "two"], [output["stdout"] for output in outputs]
        )
        raw_document = files.read(self.journal.folder, record.raw_file)
        self.assertEqual(outputs, raw_document["outputs"])

    def test_missing_measurement(self):
        """The rest is kept, and the record is incomplete."""
        record = self.run_of(fakes.Session(missing=["disk.x"])).repeat(2)
        self.assertEqual("incomplete", record.repetition.state)
        (only,) = record.repetition.conditions
        self.assertEqual("it broke", only.missing[0].reason)
        self.assertEqual(VALUES, fakes.values(record))

    def test_interrupted(self):
        """Samples that were measured until then are in the journal."""
        session = fakes.Session(
            errors={3: KeyboardInterrupt()}, printed=["one"]
        )
        record = self.run_of(session).repeat(2)
        self.assertEqual("interrupted", record.repetition.state)
        self.assertEqual("interrupted", record.repetition.conditions[0].state)
        self.assertEqual([record], self.journal.read())
        self.assertEqual(VALUES, fakes.values(record))
        raw_document = files.read(self.journal.folder, record.raw_file)
        (output,) = raw_document["outputs"]
        self.assertEqual(
            ({}, "g1", "one"),
            (output["axes"], output["machine"], output["stdout"]),
        )

    def test_a_lost_machine_is_tried_again(self):
        """If all machines take part, none can continue without it."""
        session = fakes.Session(killed={3: "g2"})
        run = self.run_of(session)
        run.repeat(1)
        run.repeat(2)
        self.assertEqual([("g1", "g2", "g3")] * 2, session.repeated)

    def test_it_closes_its_session(self):
        """Once it was opened."""
        session = fakes.Session()
        run = self.run_of(session)
        run.close()
        self.assertFalse(session.closed)
        run.prepare()
        run.close()
        self.assertTrue(session.closed)


class TestConditions(RunTestCase):
    """They are in the order of the task, with their positions."""

    def test_the_order_is_recorded(self):
        """Conditions are measured in it."""
        session = fakes.Session()
        run = self.run_of(
            session,
            conditions=fakes.guests(1, 2, 3),
            order=model.Order(kind="shuffled", seed=5),
        )
        positions = set()
        for number in range(1, 6):
            session.repeated.clear()
            record = run.repeat(number)
            measured = record.repetition.conditions
            self.assertEqual(
                [1, 2, 3], [condition.axes["guests"] for condition in measured]
            )
            ran = sorted(measured, key=lambda condition: condition.position)
            self.assertEqual(
                [len(names) for names in session.repeated],
                [condition.axes["guests"] for condition in ran],
            )
            positions.add(tuple(condition.position for condition in measured))
        self.assertGreater(len(positions), 1)
        self.assertEqual(model.Order(kind="shuffled", seed=5), record.order)

    def test_raw_outputs_name_their_condition(self):
        """Outputs of conditions can be distinguished, also after Ctrl-C."""
        session = fakes.Session(printed=["x"], errors={2: KeyboardInterrupt()})
        run = self.run_of(session, conditions=fakes.guests(1, 2, 3))
        record = run.repeat(1)
        self.assertEqual(
            ["complete", "interrupted"],
            [condition.state for condition in record.repetition.conditions],
        )
        raw_document = files.read(self.journal.folder, record.raw_file)
        self.assertEqual(
            [{"guests": 1}, {"guests": 2}],
            [output["axes"] for output in raw_document["outputs"]],
        )

    def test_enough(self):
        """The following conditions are skipped, with the reason."""
        calls = []

        def enough(repetitions):
            calls.append(
                [
                    [condition.position for condition in repetition]
                    for repetition in repetitions
                ]
            )
            return "two will do" if len(repetitions[-1]) == 2 else ""

        run = self.run_of(conditions=fakes.guests(1, 2, 3), enough=enough)
        record = run.repeat(1)
        self.assertEqual([[[1]], [[1, 2]]], calls)
        calls.clear()
        run.repeat(2)
        run.repeat(3)
        # The first one is a warm-up, and says nothing to later ones.
        self.assertEqual([[[1]], [[1, 2]]], calls[:2])
        self.assertEqual([[[1, 2, 3], [1]], [[1, 2, 3], [1, 2]]], calls[2:])
        self.assertEqual("complete", record.repetition.state)
        last = record.repetition.conditions[2]
        self.assertEqual(
            ("skipped", "two will do", 3),
            (last.state, last.skip_reason, last.position),
        )

    def test_an_incomplete_repetition_does_not_stop(self):
        """Its samples are too few."""
        session = fakes.Session(missing=["disk.x"])
        record = self.run_of(
            session,
            conditions=fakes.guests(1, 2),
            enough=lambda repetitions: "never",
        ).repeat(1)
        self.assertEqual(
            ["incomplete"] * 2,
            [condition.state for condition in record.repetition.conditions],
        )


class TestActions(RunTestCase):
    """Before, in the middle, after."""

    def test_each_part_once(self):
        """It gets the participants; its findings are in the condition."""
        effect = actions.ActionResult(findings=(MOVED,))
        action = Acting(before=effect, during=effect, after=effect)
        record = self.run_of(
            actions=[action], conditions=fakes.guests(2)
        ).repeat(2)
        self.assertEqual(
            [(moment, "g1", "g2") for moment in ("before", "during", "after")],
            action.calls,
        )
        (only,) = record.repetition.conditions
        self.assertEqual(
            ["guest_host_changed"],
            [finding_.kind for finding_ in only.findings],
        )
        self.assertEqual((), record.repetition.findings)

    def test_an_error_before_prevents_the_measurement(self):
        """It would be another condition; what was begun is undone."""
        session = fakes.Session()
        first = Acting()
        second = Acting(before=actions.ActionResult(errors={"g9": "no"}))
        third = Acting()
        run = self.run_of(session, actions=[first, second, third])
        record = run.repeat(2)
        self.assertEqual([], session.repeated)
        self.assertEqual(
            [["before", "after"], ["before", "after"], []],
            [
                [call[0] for call in action.calls]
                for action in (first, second, third)
            ],
        )
        (only,) = record.repetition.conditions
        self.assertEqual("incomplete", only.state)
        self.assertEqual(
            [("cpu.sysbench.rate", name, "no") for name in ("g1", "g2", "g3")],
            [(gap.name, gap.machine, gap.reason) for gap in only.missing],
        )
        self.assertIn("cannot be measured: no", run.warnings[0])

    def test_between_workloads(self):
        """They then run one by one, until an action fails."""
        workloads = assignment.assign(
            [{"name": name} for name in ("sysbench", "mbw", "bzip2")]
        )
        for between, ran in (
            (actions.ActionResult(started=frozenset({"g2"})), 3),
            (actions.ActionResult(errors={"g2": "no"}), 1),
        ):
            session = fakes.Session()
            session.assignments = workloads
            action = Acting(between=between)
            action.between_workloads = True
            record = self.run_of(session, actions=[action]).repeat(2)
            (only,) = record.repetition.conditions
            self.assertEqual(
                [[workload] for workload in workloads[:ran]], session.ran
            )
            self.assertEqual(
                ["before", *["between"] * min(ran, 2), "during", "after"],
                [call[0] for call in action.calls],
            )
            missing = {(gap.machine, gap.reason) for gap in only.missing}
            names = {gap.name.split(".")[1] for gap in only.missing}
            if ran == 3:
                self.assertEqual(set(), missing)
            else:
                self.assertEqual({("g2", "no")}, missing)
                self.assertEqual({"mbw", "bzip2"}, names)

    def test_a_later_error_makes_it_incomplete(self):
        """The samples are there, and so is what was wrong."""
        for moment in ("during", "after"):
            effect = actions.ActionResult(errors={"g1": "no"})
            record = self.run_of(actions=[Acting(**{moment: effect})]).repeat(
                2
            )
            (only,) = record.repetition.conditions
            self.assertEqual("incomplete", only.state)
            (gap,) = only.missing
            self.assertEqual(
                ("acting", "g1", "no"), (gap.name, gap.machine, gap.reason)
            )
            self.assertEqual(VALUES, fakes.values(record))

    def test_a_defect_in_the_middle(self):
        """It is a defect of the repetition, which keeps its samples."""
        action = Acting(during=ZeroDivisionError("ours"))
        with self.assertRaisesRegex(ZeroDivisionError, "ours"):
            self.run_of(actions=[action]).repeat(2)
        self.assertEqual("after", action.calls[-1][0])
        (record,) = self.journal.read()
        self.assertEqual(VALUES, fakes.values(record))

    def test_lost_guests_take_no_part_any_more(self):
        """The function that chooses gets the names of lost guests."""
        lost_guests = []

        def choose(lost, number):
            lost_guests.append(lost)
            return runs.conditions.Participants(names=("g1",))

        effect = actions.ActionResult(
            errors={"g2": "no"}, lost=frozenset({"g2"})
        )
        condition = runs.conditions.PlannedCondition(
            axes={"x": 1}, choose=choose
        )
        run = self.run_of(
            actions=[Acting(before=effect)], conditions=(condition,)
        )
        run.repeat(1)
        run.repeat(2)
        self.assertEqual([set(), {"g2"}], [set(lost) for lost in lost_guests])

    def test_a_guest_that_was_started_anew(self):
        """It is another QEMU process, which the record states."""
        effect = actions.ActionResult(started=frozenset({"g2"}))
        run = self.run_of(actions=[Acting(before=effect)])
        boots = [
            [machine.boot_id for machine in run.repeat(number).machines]
            for number in (1, 2)
        ]
        self.assertEqual(
            [["id-g1#1", f"id-g2#{count}", "id-g3#1"] for count in (2, 3)],
            boots,
        )
