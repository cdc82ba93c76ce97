"""Tests of curves: every level is recorded, whatever happens to a guest."""

import tempfile
import unittest

from rally_vmperf.execution import crowd
from rally_vmperf.execution import stopping
from rally_vmperf.measurement import finding
from rally_vmperf.measurement import sample
from rally_vmperf.plugins.scenarios import climbing
from rally_vmperf.plugins.scenarios import recording
from rally_vmperf.plugins.scenarios import resting
from rally_vmperf.records import build
from rally_vmperf.records import build_density
from rally_vmperf.records import codec
from rally_vmperf.records import journal
from tests.unit import made
from tests.unit.records import raw

RATE = sample.Metric(
    name="cpu.sysbench.rate", unit="events/s", better="higher"
)


class Session:
    """A session on a host with two processors.

    :param killed: number of guests at which a guest dies -> its name
    """

    def __init__(self, killed=None, trouble=None):
        self.killed, self.trouble = killed or {}, trouble or {}
        self.asked, self.gone = [], set()

    def repeat(self, result, names, on_measured):
        """Take a sample of each guest that lives."""
        self.asked.append(tuple(names))
        self.gone |= {self.killed.get(len(names))}
        for name in names:
            if name in self.gone:
                result.miss(RATE.name, name, f"{name} answers no more")
                continue
            value = 100.0 * min(1.0, 2 / len(names))
            result.observations.append(
                sample.Observation(
                    source=name,
                    sample=sample.Sample(metric=RATE, value=value),
                )
            )
            result.keep_raw({"machine": name})
        if len(names) in self.trouble:
            raise self.trouble[len(names)]
        return []

    def silent(self, names):
        """Return who died."""
        return frozenset(names) & self.gone


class Others:
    """Guests that rest, or will not.

    :param formed: number of guests -> what it took to form that level
    """

    kind = "paused"

    def __init__(self, formed=None):
        self.formed, self.asked = formed or {}, []

    def form(self, team, dead):
        """Remember who is to be awake, and who is dead."""
        self.asked.append((tuple(team), frozenset(dead)))
        formed = self.formed.get(len(team), resting.Formed())
        if isinstance(formed, BaseException):
            raise formed
        return formed


class TestRun(unittest.TestCase):
    """One repetition is one curve, on disk before it is returned."""

    def setUp(self):
        """Make an empty journal."""
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.journal = journal.Journal(folder.name, "w")
        self.watched = []

    def watch(self, names):
        """Remember who was looked for; say what is seen of the second."""
        self.watched.append(tuple(names))
        if "g2" not in names:
            return []
        return [
            finding.Finding(
                kind="guest_changed_host", subject="g2", seen="moved"
            )
        ]

    def run_of(self, session, levels=(1, 2, 3), kind="listed", **given):
        """Return a run of three curves on three guests of one host."""
        whole = made.density_record()
        return climbing.Run(
            task="t",
            workload="w",
            times=3,
            warmup=0,
            session=session,
            setting=build.Setting(
                shape=whole["shape"],
                machines=whole["machines"],
                workloads=whole["workloads"],
                expected=[RATE.name],
                metrics=codec.encode_metrics([RATE]),
                reference=None,
                findings=(),
            ),
            journal=self.journal,
            watch=self.watch,
            levels=levels,
            order=build_density.Order(kind=kind, seed=5),
            together=crowd.Crowd((("g1", "g2", "g3"),)),
            references={1: made.record()["reference"]},
            **{"others": Others(), **given},
        )

    def test_a_whole_curve(self):
        """Each level has its guests, its samples and its bare metal."""
        record = self.run_of(Session()).repeat(1)
        self.assertEqual("complete", record["state"])
        self.assertEqual([record], self.journal.read())
        self.assertEqual(
            [["g1"], ["g1", "g2"], ["g1", "g2", "g3"]],
            [level["machines"] for level in record["levels"]],
        )
        self.assertEqual(
            [1, 2, 3], [len(level["samples"]) for level in record["levels"]]
        )
        self.assertEqual(
            ["metal", None, None],
            [(one["reference"] or {}).get("name") for one in record["levels"]],
        )
        recording.tell(record)

    def test_what_nova_says_goes_to_the_level(self):
        """A guest that was moved says nothing of levels without it."""
        record = self.run_of(Session()).repeat(1)
        self.assertEqual(
            [0, 1, 1], [len(level["findings"]) for level in record["levels"]]
        )
        self.assertEqual([], record["findings"])
        self.assertEqual(("g1",), self.watched[0])

    def test_shuffled_order_is_recorded(self):
        """Levels stand in the order of the task, with their positions."""
        session = Session()
        run = self.run_of(session, kind="shuffled")
        positions = set()
        for number in range(1, 6):
            session.asked.clear()
            record = run.repeat(number)
            levels = record["levels"]
            self.assertEqual([1, 2, 3], [one["guests"] for one in levels])
            ran = sorted(levels, key=lambda one: one["position"])
            self.assertEqual(
                [len(names) for names in session.asked],
                [one["guests"] for one in ran],
            )
            positions.add(tuple(one["position"] for one in levels))
        self.assertGreater(len(positions), 1)
        self.assertEqual({"kind": "shuffled", "seed": 5}, record["order"])

    def test_a_guest_that_dies(self):
        """Its level is incomplete, the next goes on without it."""
        session = Session(killed={2: "g2"})
        run = self.run_of(session, levels=(2, 1, 3))
        with self.assertLogs(climbing.LOG.logger, "WARNING") as logs:
            record = run.repeat(1)
        two, one, three = record["levels"]
        self.assertEqual("incomplete", record["state"])
        self.assertEqual("incomplete", two["state"])
        self.assertEqual(["g1"], [s["source"] for s in two["samples"]])
        self.assertEqual("complete", one["state"])
        self.assertEqual("incomplete", three["state"])
        self.assertEqual(
            [
                {
                    "what": RATE.name,
                    "source": "g2",
                    "reason": "3 guests of a host are wanted, 2 of 3 are "
                    "left: g2 answered no more",
                }
            ],
            three["missing"],
        )
        self.assertEqual([("g1", "g2"), ("g1",)], session.asked)
        self.assertEqual(two["missing"] + three["missing"], record["missing"])
        self.assertIn("g2 answered no more", logs.output[0])
        with self.assertRaisesRegex(recording.Incomplete, "2 measurements"):
            recording.tell(record)
        with self.assertLogs(climbing.LOG.logger, "WARNING"):
            second = run.repeat(2)
        self.assertEqual(["g1", "g3"], second["levels"][0]["machines"])
        self.assertEqual("complete", second["levels"][0]["state"])

    def test_each_level_is_formed_before_it_measures(self):
        """The record says what the others did."""
        others = Others()
        record = self.run_of(Session(), others=others).repeat(1)
        self.assertEqual("paused", record["others"])
        self.assertEqual(
            [
                (("g1",), frozenset()),
                (("g1", "g2"), frozenset()),
                (("g1", "g2", "g3"), frozenset()),
            ],
            others.asked,
        )

    def test_another_guest_that_cannot_rest(self):
        """Its level is not measured; the next is tried."""
        trouble = {"g3": "pause guest g3: forbidden"}
        others = Others({2: resting.Formed(trouble=trouble)})
        session = Session()
        with self.assertLogs(climbing.LOG.logger, "WARNING") as logs:
            record = self.run_of(session, others=others).repeat(1)
        self.assertIn("pause guest g3: forbidden", logs.output[0])
        self.assertEqual([("g1",), ("g1", "g2", "g3")], session.asked)
        two = record["levels"][1]
        self.assertEqual("incomplete", two["state"])
        self.assertEqual(
            [
                {
                    "what": RATE.name,
                    "source": name,
                    "reason": "pause guest g3: forbidden",
                }
                for name in ("g1", "g2")
            ],
            two["missing"],
        )
        self.assertEqual(
            ["complete", "complete"],
            [record["levels"][index]["state"] for index in (0, 2)],
        )
        self.assertEqual("incomplete", record["state"])

    def test_a_guest_that_does_not_wake(self):
        """It is missing; levels that can do without it do."""
        late = finding.Finding(kind="still_booting", subject="g1", seen="x")
        formed = resting.Formed(
            trouble={"g2": "no answer"},
            lost=frozenset({"g2"}),
            findings=(late,),
        )
        others = Others({2: formed})
        session = Session()
        run = self.run_of(session, levels=(2, 1), others=others)
        with self.assertLogs(climbing.LOG.logger, "WARNING"):
            record = run.repeat(1)
        two, one = record["levels"]
        self.assertEqual(["g2"], [gap["source"] for gap in two["missing"]])
        self.assertEqual(
            ["still_booting"], [f["kind"] for f in two["findings"]]
        )
        self.assertEqual("complete", one["state"])
        self.assertEqual((("g1",), frozenset({"g2"})), others.asked[1])
        others.formed.clear()
        second = run.repeat(2)
        self.assertEqual(["g1", "g3"], second["levels"][0]["machines"])
        self.assertEqual("complete", second["state"])

    def test_interrupted_while_guests_wake(self):
        """The level that was to come is told of."""
        others = Others({2: KeyboardInterrupt()})
        record = self.run_of(Session(), others=others).repeat(1)
        self.assertEqual(
            ["complete", "interrupted"],
            [level["state"] for level in record["levels"]],
        )

    def test_interrupted(self):
        """Levels that were measured are in the journal."""
        session = Session(trouble={2: KeyboardInterrupt()})
        record = self.run_of(session).repeat(1)
        self.assertEqual("interrupted", record["state"])
        self.assertEqual(
            ["complete", "interrupted"],
            [level["state"] for level in record["levels"]],
        )
        self.assertEqual([record], self.journal.read())
        with self.assertRaises(KeyboardInterrupt):
            recording.tell(record)

    def test_defect_loses_nothing(self):
        """What was measured until then is kept."""
        session = Session(trouble={2: ZeroDivisionError("ours")})
        with self.assertRaisesRegex(ZeroDivisionError, "ours"):
            self.run_of(session).repeat(1)
        (record,) = self.journal.read()
        self.assertEqual("incomplete", record["state"])
        self.assertEqual(2, len(record["levels"][1]["samples"]))
        self.assertIn("ZeroDivisionError", record["missing"][0]["reason"])

    def test_enough_is_enough(self):
        """Levels behind the one that breaks the limit are skipped."""
        rule = stopping.Stop(max_percent={"cpu.*": 20})
        session = Session()
        run = self.run_of(session, levels=(1, 2, 3, 4), stop=rule)
        run.together = crowd.Crowd((("g1", "g2", "g3", "g4"),))
        record = run.repeat(1)
        self.assertEqual(3, len(session.asked))
        self.assertEqual("complete", record["state"])
        last = record["levels"][3]
        self.assertEqual(("skipped", 4), (last["state"], last["position"]))
        self.assertIn("lost 33.3% with 3 guests", last["skipped"])

    def test_an_incomplete_level_stops_nothing(self):
        """Its total is that of too few guests."""
        rule = stopping.Stop(total_falls=True)
        session = Session(killed={2: "g2"})
        with self.assertLogs(climbing.LOG.logger, "WARNING"):
            record = self.run_of(session, levels=(1, 2), stop=rule).repeat(1)
        self.assertEqual(
            ["complete", "incomplete"],
            [level["state"] for level in record["levels"]],
        )

    def test_raw_outputs_name_the_level(self):
        """So that they can be told apart."""
        record = self.run_of(Session()).repeat(1)
        self.assertEqual("w-1.json.gz", record["raw"])
        self.assertEqual(
            [(n, f"g{g}") for n in (1, 2, 3) for g in range(1, n + 1)],
            self.outputs(record),
        )

    def test_raw_outputs_of_an_interrupted_curve(self):
        """Those of all its levels are in one file, which has its end."""
        session = Session(trouble={2: KeyboardInterrupt()})
        record = self.run_of(session).repeat(1)
        self.assertEqual(
            [(1, "g1"), (2, "g1"), (2, "g2")], self.outputs(record)
        )

    def outputs(self, record):
        """Return level and machine of each raw output."""
        path = self.journal.folder / record["raw"]
        return [(one["guests"], one["machine"]) for one in raw.outputs(path)]
