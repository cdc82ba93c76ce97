# SPDX-License-Identifier: Apache-2.0
"""Tests of runs with an increasing number of guests."""

import asyncio
import dataclasses
import functools
import tempfile
import unittest
from unittest import mock

import ddt

from rally_vmperf.measurement import finding
from rally_vmperf.measurement.comparison import verdict
from rally_vmperf.questions import source_judge
from rally_vmperf.questions import table
from rally_vmperf.questions.density import levels as numbers
from rally_vmperf.questions.density import question as density_question
from rally_vmperf.questions.density import run
from rally_vmperf.questions.density import run as density
from rally_vmperf.records import journal
from rally_vmperf.runs import actions
from rally_vmperf.runs import conditions
from tests.unit import made
from tests.unit.guests import made as made_guests
from tests.unit.runs import fakes
from tests.unit.runs import golden
from tests.unit.runs import whole

NO_HOST = (
    "No valid host was found. There are not enough hosts available (MEMORY_MB)"
)


class Idle(actions.Action):
    """Guests that are idle, or will not be.

    :param effects: number of guests -> what it took to form that level
    """

    name = "idle guests"

    def __init__(self, effects=None):
        self.effects, self.calls = effects or {}, []

    def before(self, current):
        """Remember the participants and the lost guests."""
        self.calls.append((tuple(current.machines), frozenset(current.lost)))
        effect = self.effects.get(
            len(current.machines), actions.ActionResult()
        )
        if isinstance(effect, BaseException):
            raise effect
        return effect


class TestRun(unittest.TestCase):
    """Every level is recorded, whatever happens to a guest."""

    def setUp(self):
        """Make an empty journal."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = journal.Journal(folder.name, "w")

    def run_of(self, session, *acting, levels=(1, 2, 3), **changes):
        """Return a run through levels of three guests of one host."""
        groups = density.HostGroups((("g1", "g2", "g3"),))
        return fakes.run_of(
            session,
            self.journal,
            acting,
            question="density",
            warmup=0,
            conditions=tuple(
                conditions.PlannedCondition(
                    axes={"guests": number},
                    choose=functools.partial(groups.choose, number),
                )
                for number in levels
            ),
            **changes,
        )

    def test_a_whole_curve(self):
        """Each level has its guests and its samples."""
        record = self.run_of(fakes.Session()).repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertEqual(
            [("g1",), ("g1", "g2"), ("g1", "g2", "g3")],
            [level.machines for level in record.repetition.conditions],
        )
        self.assertEqual(
            [1, 2, 3],
            [
                len(level.observations)
                for level in record.repetition.conditions
            ],
        )

    def test_each_alone(self):
        """One record of the level has the samples of each solo guest."""
        groups = density.HostGroups((("g1", "g2", "g3"),))
        session, idle = fakes.Session(), Idle()
        run = fakes.run_of(
            session,
            self.journal,
            [idle],
            conditions=(
                conditions.PlannedCondition(
                    axes={"guests": 1}, choose=groups.choose_one_by_one
                ),
            ),
        )
        (level,) = run.repeat(1).repetition.conditions
        self.assertEqual([("g1",), ("g2",), ("g3",)], session.repeated)
        self.assertEqual(session.repeated, [names for names, _ in idle.calls])
        self.assertEqual(("g1", "g2", "g3"), level.machines)
        self.assertEqual(3, level.batches)
        self.assertEqual(3, len(level.observations))

    def test_a_guest_that_dies(self):
        """Its level is incomplete, the next goes on without it."""
        session = fakes.Session(killed={2: "g2"})
        run = self.run_of(session, levels=(2, 1, 3))
        record = run.repeat(1)
        two, single, three = record.repetition.conditions
        self.assertEqual("incomplete", record.repetition.state)
        self.assertEqual("incomplete", two.state)
        self.assertEqual([100, None], fakes.values(record))
        self.assertEqual("complete", single.state)
        self.assertEqual("incomplete", three.state)
        (missing,) = three.missing
        self.assertEqual(
            (fakes.RATE.name, "g2"), (missing.name, missing.machine)
        )
        self.assertIn("g2 stopped answering", missing.reason)
        self.assertEqual([("g1", "g2"), ("g1",)], session.repeated)
        self.assertIn("g2 stopped answering", run.warnings[0])
        second = run.repeat(2)
        self.assertEqual(
            ("g1", "g3"), second.repetition.conditions[0].machines
        )
        self.assertEqual("complete", second.repetition.conditions[0].state)

    def test_another_guest_that_cannot_rest(self):
        """Its level is not measured; the next is tried."""
        errors_by_guest = {"g3": "pause guest g3: forbidden"}
        idle = Idle({2: actions.ActionResult(errors=errors_by_guest)})
        session = fakes.Session()
        run = self.run_of(session, idle)
        record = run.repeat(1)
        self.assertIn("pause guest g3: forbidden", run.warnings[0])
        self.assertEqual([("g1",), ("g1", "g2", "g3")], session.repeated)
        self.assertEqual(
            ["complete", "incomplete", "complete"],
            [level.state for level in record.repetition.conditions],
        )
        self.assertEqual(
            ["g1", "g2"],
            [gap.machine for gap in record.repetition.conditions[1].missing],
        )

    def test_a_guest_that_does_not_wake(self):
        """It is missing; levels that can do without it do."""
        late = finding.Finding(kind="still_booting", subject="g1", detail="x")
        idle = Idle(
            {
                2: actions.ActionResult(
                    errors={"g2": "no answer"},
                    lost=frozenset({"g2"}),
                    findings=(late,),
                )
            }
        )
        run = self.run_of(fakes.Session(), idle, levels=(2, 1))
        two, single = run.repeat(1).repetition.conditions
        self.assertEqual(["g2"], [gap.machine for gap in two.missing])
        self.assertEqual(["still_booting"], [f.kind for f in two.findings])
        self.assertEqual("complete", single.state)
        self.assertEqual((("g1",), frozenset({"g2"})), idle.calls[1])
        idle.effects.clear()
        second = run.repeat(2)
        self.assertEqual(
            ("g1", "g3"), second.repetition.conditions[0].machines
        )
        self.assertEqual("complete", second.repetition.state)

    def test_interrupted_while_guests_wake(self):
        """The level that was about to start is recorded."""
        idle = Idle({2: KeyboardInterrupt()})
        record = self.run_of(fakes.Session(), idle).repeat(1)
        self.assertEqual(
            ["complete", "interrupted"],
            [level.state for level in record.repetition.conditions],
        )

    def test_enough_is_enough(self):
        """Levels behind the one that breaks the limit are skipped."""
        rule = numbers.StopRule(max_percent=verdict.Limits({"cpu.*": 20}))
        session = fakes.Session(printed=())
        run = self.run_of(
            session,
            levels=(1, 3, 2),
            enough=functools.partial(density.find_stop_reason, rule),
        )
        record = run.repeat(1)
        self.assertEqual(2, len(session.repeated))
        last = record.repetition.conditions[2]
        self.assertEqual(("skipped", 3), (last.state, last.position))
        self.assertIn("lost 33.3% with 3 guests", last.skip_reason)


class TestMake(unittest.TestCase):
    """Each level has bare metal of its own, or none."""

    def run_of(
        self, copies, machines=None, levels=(1, 2), absent=None, **changes
    ):
        """Return a run of guests on one host, closed in the end.

        :param copies: The copies of the baseline; None for no baseline.
        :param absent: The guests that failed to boot, with the reasons.
        """
        machines = machines or map(golden.Machine, ("g1", "g2"))
        folder = self.enterContext(tempfile.TemporaryDirectory())
        document = None
        if copies is not None:
            document = whole.baseline(folder, copies)
        run_request = whole.build_request(
            folder, document, *machines, question="density", times=3, warmup=0
        )
        if absent:
            run_request = dataclasses.replace(
                run_request, booted=run_request.booted.without(absent)
            )
        arguments = density_question.Arguments(
            workloads=[],
            **{"levels": list(levels), "order": "listed", **changes},
        )
        run = run_request.run_cache.get_run(
            "w",
            lambda: table.questions()["density"].start(run_request, arguments),
        )
        self.addCleanup(run_request.run_cache.close, "w")
        return run

    def test_each_run_draws_its_order(self):
        """All repetitions of a run record the same seed."""
        seeds = []
        for _ in range(2):
            run = self.run_of(None, order="shuffled")
            first, second = (run.repeat(number) for number in (1, 2))
            self.assertEqual("shuffled", first.order.kind)
            self.assertEqual(first.order, second.order)
            seeds.append(first.order.seed)
        self.assertNotEqual(*seeds)

    def test_without_a_baseline(self):
        """Guests alone."""
        record = self.run_of(None).repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertIsNone(record.bare_metal)
        self.assertEqual(
            [None, None],
            [
                condition.reference_copies
                for condition in record.repetition.conditions
            ],
        )
        self.assertEqual(2, record.shape.copies)

    def test_guests_that_do_not_fit(self):
        """Nova finds no host with the memory of the last guests.

        The levels below are judged, and the verdict names the missing one.
        """
        machines = map(golden.Machine, ("g1", "g2"))
        run = self.run_of(
            None,
            machines=machines,
            levels=(1, 2, 4),
            absent={"g3": NO_HOST, "g4": NO_HOST},
        )
        records = [run.repeat(number) for number in (1, 2, 3)]
        for record in records:
            small, medium, large = record.repetition.conditions
            self.assertEqual("complete", small.state)
            self.assertEqual("complete", medium.state)
            self.assertEqual(2, len({*medium.machines}))
            self.assertEqual("incomplete", large.state)
            self.assertEqual((), large.observations)
            for missing in large.missing:
                self.assertIn(
                    "4 guests of a host are required, 2 of 2 are left: g3, "
                    "g4 failed to boot",
                    missing.reason,
                )
        limits = {"vmperf_degradation": {"max_percent": {"*": 99}}}
        judged = source_judge.judge_source(made.source_of(records, limits))
        (judgement,) = judged.judgements.values()
        sentence = judgement.sentence()
        self.assertFalse(judgement.passed)
        self.assertIn("g3, g4 failed to boot", sentence)
        self.assertIn("within the limit of 99 %, at least 2", sentence)
        self.assertIn(
            ("guest_unavailable", "g3", NO_HOST),
            {
                (each.kind, each.subject, each.detail)
                for each in records[0].repetition.findings
            },
        )
        measured = {
            point.guests
            for row in judgement.curves
            for point in row.points
            if point.samples
        }
        self.assertEqual({1, 2}, measured)

    def test_levels_of_the_baseline(self):
        """As many copies as guests; a level without has none."""
        record = self.run_of((1, 4)).repeat(1)
        self.assertEqual(
            [({"guests": 1}, 1), ({"guests": 2}, None)],
            [
                (condition.axes, condition.reference_copies)
                for condition in record.repetition.conditions
            ],
        )
        self.assertEqual([1], [*record.bare_metal.references])
        self.assertIn(
            "bare_metal_unrestricted",
            {finding_.kind for finding_ in record.repetition.findings},
        )

    def test_a_baseline_of_no_level(self):
        """It is compared with nothing, and without an error."""
        record = self.run_of((4,)).repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertIsNone(record.bare_metal)

    def test_idle_guests_are_paused(self):
        """The participants are woken again."""
        run = self.run_of(None, idle_guests="paused")
        record = run.repeat(1)
        self.assertEqual(
            {"idle_guests": "paused", "solo_guest": "rotate"},
            record.options,
        )
        self.assertEqual("complete", record.repetition.state)
        idle, *_ = run.ready.actions
        cloud = idle.connection
        self.assertEqual(1, cloud.calls.count("pause_server"))
        self.assertEqual(1, cloud.calls.count("unpause_server"))
        kinds = {
            finding.kind
            for condition in record.repetition.conditions
            for finding in condition.findings
        }
        # The machine that runs the tests may be busy.
        self.assertEqual(set(), kinds - {"controller_busy"})

    def test_a_stopped_guest_has_another_boot(self):
        """For it is another QEMU process; another one is alone each time."""
        run = self.run_of(None, idle_guests="stopped")
        with mock.patch("time.sleep", autospec=True):
            boots = [
                [machine.boot_id[-2:] for machine in run.repeat(n).machines]
                for n in (1, 2)
            ]
        self.assertEqual([["#1", "#2"], ["#2", "#2"]], boots)

    def test_neighbours(self):
        """Each level without and with them; the last guests work there."""
        self.enterContext(mock.patch.object(asyncio, "sleep", autospec=True))
        quiet, loud = golden.Noisy("g3"), {"neighbours": golden.NEIGHBOURS}
        record = self.run_of(
            None, (golden.Machine("g1"), golden.Machine("g2"), quiet), **loud
        ).repeat(1)
        self.assertEqual("complete", record.repetition.state)
        self.assertEqual(
            [
                ({"guests": guests, "neighbours": neighbours}, guests)
                for guests in (1, 2)
                for neighbours in (0, 1)
            ],
            [
                (condition.axes, len(condition.machines))
                for condition in record.repetition.conditions
            ],
        )
        self.assertEqual(2, record.shape.copies)
        self.assertEqual("sysbench", record.options["neighbours"]["workload"])
        self.assertEqual(["start", "await", "cancel"] * 2, quiet.verbs)
        self.assertEqual([], quiet.jobs)

    def test_neighbours_are_paused_where_they_rest(self):
        """They are woken for the conditions in which they work."""
        self.enterContext(mock.patch.object(asyncio, "sleep", autospec=True))
        run = self.run_of(
            None,
            (golden.Machine("g1"), golden.Noisy("g2")),
            levels=(1,),
            idle_guests="paused",
            neighbours=golden.NEIGHBOURS,
        )
        self.assertEqual("complete", run.repeat(1).repetition.state)
        calls = run.ready.actions[0].connection.calls
        switched = [call for call in calls if call.endswith("pause_server")]
        self.assertEqual(["pause_server", "unpause_server"], switched)

    def test_guests_that_share_no_host(self):
        """Every record has the finding."""
        run = self.run_of(None, levels=(1,))
        kinds = {
            finding_.kind for finding_ in run.repeat(1).repetition.findings
        }
        self.assertIn("level_placement_wrong", kinds)


def guests(*host_ids):
    """Return booted guests on these hosts."""
    return [
        made_guests.guest(f"g{number}", host_id=host)
        for number, host in enumerate(host_ids, 1)
    ]


@ddt.ddt
class TestHosts(unittest.TestCase):
    """Guests that are to share a host are looked for on it."""

    @ddt.data(
        (("a", "a", "a"), 3, (("g1", "g2", "g3"),)),
        (("a", "b", "a", "b"), 2, (("g1", "g3"), ("g2", "g4"))),
        (("a", "b"), 1, (("g1",), ("g2",))),
    )
    @ddt.unpack
    def test_as_requested(self, hosts, largest, groups):
        """They are grouped by host, without a finding."""
        grouping = run.group_by_host(guests(*hosts), largest)
        self.assertEqual((run.HostGroups(groups), []), grouping)

    @ddt.data(
        (("a", "a", "b"), 3, "3 guests on one host .*: g1, g2; g3"),
        (("a", "a", "a", "a"), 2, "2 guests on each of 2 hosts .*: g1, g2, g"),
    )
    @ddt.unpack
    def test_elsewhere(self, hosts, largest, detail):
        """The finding names the guests of each host."""
        together, (placement_finding,) = run.group_by_host(
            guests(*hosts), largest
        )
        self.assertEqual("level_placement_wrong", placement_finding.kind)
        self.assertEqual("void", placement_finding.severity)
        self.assertRegex(placement_finding.detail, detail)
        self.assertEqual(
            len(hosts) // largest, len(together.choose(1, ()).names)
        )

    def test_guests_that_booted(self):
        """Absent ones void nothing; the levels beyond are not formed."""
        there = guests("a", "a", "b", "b", "b")
        grouping, findings = run.group_by_host(there, 3, ("g6",))
        self.assertEqual([], findings)
        self.assertEqual((("g1", "g2"), ("g3", "g4", "g5")), grouping.groups)
        names = grouping.choose(2, ()).names
        self.assertEqual(("g1", "g2", "g3", "g4"), names)
        participants = grouping.choose(3, ())
        self.assertEqual(("g6",), participants.unavailable)
        self.assertEqual(
            "3 guests of a host are required, 2 of 2 are left: "
            "g6 failed to boot",
            participants.reason,
        )

    def test_more_hosts_than_requested(self):
        """An absent guest does not excuse one that is elsewhere."""
        _, (placement_finding,) = run.group_by_host(
            guests("a", "b"), 3, ("g3",)
        )
        self.assertEqual("level_placement_wrong", placement_finding.kind)

    def test_host_that_is_unknown(self):
        """The placement is unknown, which is not the same as wrong."""
        together, (placement_finding,) = run.group_by_host(
            guests("a", None), 2
        )
        self.assertEqual("placement_unknown", placement_finding.kind)
        self.assertEqual(("g1", "g2"), together.choose(2, ()).names)


class TestEachAlone(unittest.TestCase):
    """Every guest is the solo guest of its host, one after another."""

    def test_hosts_at_once(self):
        """Guests of different hosts do not disturb each other."""
        groups = run.HostGroups((("g1", "g2"), ("g3", "g4")))
        participants = groups.choose_one_by_one(())
        self.assertEqual((("g1", "g3"), ("g2", "g4")), participants.batches)
        self.assertEqual(("g1", "g3", "g2", "g4"), participants.names)

    def test_lost_ones_are_left_out(self):
        """A host without any leaves nothing to compare with."""
        groups = run.HostGroups((("g1", "g2"), ("g3", "g4")))
        participants = groups.choose_one_by_one({"g3"}, 2)
        self.assertEqual((("g1", "g4"), ("g2",)), participants.batches)
        none = groups.choose_one_by_one({"g3", "g4"})
        self.assertEqual(("g3", "g4"), none.unavailable)


class TestTeam(unittest.TestCase):
    """A level takes the first guests of each host that are alive."""

    def setUp(self):
        """Put three guests on each of two hosts."""
        super().setUp()
        groups = (("g1", "g3", "g5"), ("g2", "g4", "g6"))
        self.together = run.HostGroups(groups)

    def test_all_alive(self):
        """The same number of guests is chosen on each host."""
        self.assertEqual(("g1", "g2"), self.together.choose(1, ()).names)
        names = self.together.choose(2, ()).names
        self.assertEqual(("g1", "g3", "g2", "g4"), names)

    def test_solo_guests_take_turns(self):
        """Over the repetitions; several guests are the first ones."""
        for number, names in (
            (1, ("g1", "g2")),
            (2, ("g3", "g4")),
            (3, ("g5", "g6")),
            (4, ("g1", "g2")),
        ):
            team = self.together.choose(1, (), number)
            self.assertEqual(names, team.names)
            two = self.together.choose(2, (), number)
            self.assertEqual(("g1", "g3", "g2", "g4"), two.names)

    def test_without_the_dead(self):
        """Other guests of the same host replace it if there are any."""
        team = self.together.choose(2, {"g1"})
        self.assertEqual(("g3", "g5", "g2", "g4"), team.names)
        self.assertEqual("", team.reason)

    def test_too_few_left(self):
        """The level cannot be formed; the reason names the guest."""
        team = self.together.choose(3, {"g4"})
        self.assertEqual(("g4",), team.unavailable)
        self.assertEqual(
            "3 guests of a host are required, 2 of 3 are left: g4 stopped "
            "answering",
            team.reason,
        )
